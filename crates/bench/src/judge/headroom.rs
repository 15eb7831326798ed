//! How much there is to win: the best static arm against the oracles.

use serde::{Deserialize, Serialize};

use super::arm::{ArmVerdict, SessionVerdict};
use super::figure::Figure;
use crate::arms::ArmName;
use crate::workload::CLOSING_SESSION;

/// The hull and its bound. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    /// The static arm with the lowest median total.
    pub best_static: ArmName,
    /// Its total.
    pub best_static_seconds: Figure,
    /// For each closed session the static arm that was best in it.
    pub best_per_session: Vec<BestInSession>,
    /// Sum of the best of each session: no switch between these arms can do better.
    pub bound_seconds: f64,
    /// What is between the best static arm and the bound.
    pub headroom_seconds: f64,
    /// The same as a share of the best static arm's total.
    pub headroom_share: f64,
    /// Whether it is smaller than the best static arm's spread, and so nothing.
    pub inside_spread: bool,
    /// The real run with perfect knowledge, if there was one.
    pub oracle_seconds: Option<Figure>,
    /// Longest over shortest of the sessions' best times, the closing one left out;
    /// sessions are sized well when this is near 1.
    pub balance: f64,
}

/// The best static arm in one session; in the closing one with the debt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestInSession {
    /// The session.
    pub session: String,
    /// The arm.
    pub arm: ArmName,
    /// Its median seconds.
    pub seconds: f64,
}

/// The headroom over the arms of the hull; `None` if the hull is empty.
pub fn headroom(arms: &[ArmVerdict]) -> Option<Headroom> {
    let hull: Vec<&ArmVerdict> = arms.iter().filter(|arm| arm.in_hull).collect();
    let by_total = |a: &&&ArmVerdict, b: &&&ArmVerdict| {
        a.total_seconds.median.total_cmp(&b.total_seconds.median)
    };
    let best = hull.iter().min_by(by_total)?;
    let best_per_session = best_per_session(&hull);
    let bound_seconds: f64 = best_per_session.iter().map(|best| best.seconds).sum();
    let total = &best.total_seconds;
    // Medians of sessions need not add up to the median of totals.
    let headroom_seconds = (total.median - bound_seconds).max(0.0);
    let oracle = arms.iter().find(|arm| arm.arm.is_oracle());
    Some(Headroom {
        best_static: best.arm.clone(),
        best_static_seconds: total.clone(),
        bound_seconds,
        headroom_seconds,
        headroom_share: if total.median > 0.0 {
            headroom_seconds / total.median
        } else {
            0.0
        },
        inside_spread: headroom_seconds <= total.max - total.min,
        oracle_seconds: oracle.map(|arm| arm.total_seconds.clone()),
        balance: balance(&best_per_session),
        best_per_session,
    })
}

fn best_per_session(hull: &[&ArmVerdict]) -> Vec<BestInSession> {
    let sessions = hull.first().map_or(&[][..], |arm| &arm.sessions[..]);
    let closed = sessions
        .iter()
        .enumerate()
        .filter(|(_, session)| !session.open);
    closed
        .filter_map(|(i, session)| {
            let times = hull
                .iter()
                .filter_map(|arm| Some((arm, charged(arm, arm.sessions.get(i)?))));
            let (arm, seconds) = times.min_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(BestInSession {
                session: session.name.clone(),
                arm: arm.arm.clone(),
                seconds,
            })
        })
        .collect()
}

/// Median seconds of a session; the closing one carries the debt.
fn charged(arm: &ArmVerdict, session: &SessionVerdict) -> f64 {
    let debt = if session.name == CLOSING_SESSION {
        arm.debt_seconds.median
    } else {
        0.0
    };
    session.seconds.median + debt
}

fn balance(best: &[BestInSession]) -> f64 {
    let times = best
        .iter()
        .filter(|b| b.session != CLOSING_SESSION)
        .map(|b| b.seconds);
    let (shortest, longest) = times.fold((f64::INFINITY, 0.0_f64), |(low, high), t| {
        (low.min(t), high.max(t))
    });
    if shortest > 0.0 && shortest.is_finite() {
        longest / shortest
    } else {
        1.0
    }
}
