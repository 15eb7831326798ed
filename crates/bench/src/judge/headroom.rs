//! How much there is to win: the best static arm against the oracles.

use serde::{Deserialize, Serialize};

use super::arm::{ArmVerdict, SessionVerdict};
use super::figure::{Figure, Standing};
use super::other_rounds::{Times, chosen_in_other_rounds, lowest_medians};
use crate::arms::ArmName;
use crate::workload::CLOSING_SESSION;

/// The hull and what switching within it could win. Times in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    /// The static arm with the lowest median total.
    pub best_static: ArmName,
    /// Its total.
    pub best_static_seconds: Figure,
    /// Over all arms of the hull. No store can switch between stock RocksDB and Lissom.
    pub all: Bound,
    /// Over the arms that one store can switch between, where there are at least two.
    pub switchable: Option<Bound>,
    /// The real run with perfect knowledge, if there was one within the space bound.
    pub oracle_seconds: Option<Figure>,
    /// Longest over shortest of the sessions' best times, the closing one left out;
    /// sessions are sized well when this is near 1.
    pub balance: f64,
}

/// The sum of the best static sessions of some arms. Hardly any switching between them does
/// better, but a tree that another limit left behind may be a better start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The arms, in the plan's order.
    pub arms: Vec<ArmName>,
    /// For each closed session the arm with the lowest median.
    pub best_per_session: Vec<BestInSession>,
    /// Sum of the lowest medians. Too low, for a minimum over noisy medians is partly luck.
    pub seconds: f64,
    /// What is left between it and the best static arm's median total.
    pub headroom: Gap,
    /// The same without that luck; `None` with a single round.
    pub in_other_rounds: Option<OtherRounds>,
    /// Whether the headroom, without luck where that is known, is smaller than the best
    /// static arm's spread, and so nothing.
    pub inside_spread: bool,
}

/// A bound with each session's arm chosen in the other rounds and timed in this one. Who
/// knows more than two or three rounds tell may choose better, so the truth lies between
/// this and the sum of the lowest medians.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherRounds {
    /// By round.
    pub seconds: Figure,
    /// Their mean.
    pub mean_seconds: f64,
    /// What is left between it and the best static arm, which is chosen in the other
    /// rounds and timed in this one as well; mean over the rounds.
    pub headroom: Gap,
}

/// What there is to win. Below 0 where the arms of a bound do worse than the best static
/// arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    /// Seconds.
    pub seconds: f64,
    /// The same as a share of the best static arm's time.
    pub share: f64,
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

impl Headroom {
    /// How the run with perfect knowledge stands against the best static arm; what lies
    /// between them is something to win where it is a win.
    pub fn oracle_standing(&self) -> Option<Standing> {
        let oracle = self.oracle_seconds.as_ref()?;
        Some(oracle.against(&self.best_static_seconds))
    }
}

/// Whether arms are judged by time: where every session but the closing one offers a rate, all
/// that is left is the seconds of that one and the debt, and what the arms did stands in neither.
pub(crate) fn by_time(arms: &[ArmVerdict]) -> bool {
    let mut sessions = arms.iter().flat_map(|arm| &arm.sessions);
    sessions.any(|session| !session.open && session.name != CLOSING_SESSION)
}

/// The headroom over the arms of the hull; `None` if the hull is empty, and where arms are not
/// judged by time.
pub fn headroom(arms: &[ArmVerdict]) -> Option<Headroom> {
    if !by_time(arms) {
        return None;
    }
    let hull: Vec<&ArmVerdict> = arms.iter().filter(|arm| arm.in_hull).collect();
    let by_total = |a: &&&ArmVerdict, b: &&&ArmVerdict| {
        a.total_seconds.median.total_cmp(&b.total_seconds.median)
    };
    let best = hull.iter().min_by(by_total)?;
    let total = &best.total_seconds;
    let totals: Vec<Times> = hull
        .iter()
        .map(|arm| vec![arm.total_seconds.values.clone()])
        .collect();
    let by_round = chosen_in_other_rounds(&totals);
    let over = |arms: &[&ArmVerdict]| bound(arms, total, by_round.as_deref());
    let own: Vec<&ArmVerdict> = hull
        .iter()
        .copied()
        .filter(|arm| arm.arm.is_switchable())
        .collect();
    let all = over(&hull);
    let oracle = oracle_of(arms);
    Some(Headroom {
        best_static: best.arm.clone(),
        best_static_seconds: total.clone(),
        balance: balance(&all.best_per_session),
        all,
        switchable: (own.len() > 1).then(|| over(&own)),
        oracle_seconds: oracle.map(|arm| arm.total_seconds.clone()),
    })
}

/// The run with perfect knowledge that is a yardstick: the first in the plan that stayed
/// within the space bound.
pub fn oracle_of(arms: &[ArmVerdict]) -> Option<&ArmVerdict> {
    arms.iter()
        .find(|arm| arm.arm.is_oracle() && !arm.over_space_bound)
}

/// The bound over `arms`; `total` is the best static arm's, `by_round` that of who was
/// the best static arm in the other rounds.
fn bound(arms: &[&ArmVerdict], total: &Figure, by_round: Option<&[f64]>) -> Bound {
    let times: Vec<Times> = arms.iter().map(|arm| times(arm)).collect();
    let best_per_session = best_per_session(arms, &times);
    let seconds = best_per_session.iter().map(|best| best.seconds).sum();
    let headroom = Gap::between(total.median, seconds);
    let in_other_rounds = by_round.and_then(|by_round| OtherRounds::of(&times, by_round));
    let to_win = in_other_rounds.as_ref().map_or(headroom, |it| it.headroom);
    Bound {
        arms: arms.iter().map(|arm| arm.arm.clone()).collect(),
        best_per_session,
        seconds,
        headroom,
        inside_spread: to_win.seconds <= total.max - total.min,
        in_other_rounds,
    }
}

impl OtherRounds {
    fn of(times: &[Times], best_static: &[f64]) -> Option<Self> {
        let seconds = Figure::of(chosen_in_other_rounds(times)?)?;
        let mean_seconds = mean(&seconds.values);
        Some(Self {
            headroom: Gap::between(mean(best_static), mean_seconds),
            mean_seconds,
            seconds,
        })
    }
}

impl Gap {
    fn between(best_static: f64, bound: f64) -> Self {
        let seconds = best_static - bound;
        let share = if best_static > 0.0 {
            seconds / best_static
        } else {
            0.0
        };
        Self { seconds, share }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn best_per_session(arms: &[&ArmVerdict], times: &[Times]) -> Vec<BestInSession> {
    let sessions = arms.first().map_or(&[][..], |arm| &arm.sessions[..]);
    let closed = sessions.iter().filter(|session| !session.open);
    closed
        .zip(lowest_medians(times))
        .filter_map(|(session, (arm, seconds))| {
            Some(BestInSession {
                session: session.name.clone(),
                arm: arms.get(arm)?.arm.clone(),
                seconds,
            })
        })
        .collect()
}

/// Seconds of the closed sessions.
fn times(arm: &ArmVerdict) -> Times {
    let closed = arm.sessions.iter().filter(|session| !session.open);
    closed.map(|session| charged(arm, session)).collect()
}

/// Seconds of a session by round; the closing one carries the debt.
fn charged(arm: &ArmVerdict, session: &SessionVerdict) -> Vec<f64> {
    let seconds = &session.seconds.values;
    let debts = arm.debt_seconds.as_ref();
    let Some(debts) = debts.filter(|_| session.name == CLOSING_SESSION) else {
        return seconds.clone();
    };
    let both = seconds.iter().zip(&debts.values);
    both.map(|(own, debt)| own + debt).collect()
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
