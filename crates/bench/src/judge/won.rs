//! What arms won of what there was to win.

use serde::{Deserialize, Serialize};

use super::arm::ArmVerdict;
use super::figure::{Figure, Standing};
use super::headroom::{Bound, Gap, Headroom};
use crate::arms::ArmName;

/// The same seconds summed in another order differ by less than this share of them.
const ROUNDING: f64 = 1e-9;

/// An arm that is not static, against one thing that it can be measured by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Won {
    /// The arm.
    pub arm: ArmName,
    /// What it is measured by.
    pub yardstick: Yardstick,
    /// Its time over the yardstick's, less 1.
    pub over: f64,
    /// What it saved against the best static arm, as a share of what the yardstick saves;
    /// below 0 where it lost. `None` where there was nothing to win.
    pub share: Option<f64>,
}

/// What arms are measured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Yardstick {
    /// The best of each session, over the arms that one store can switch between.
    Switchable,
    /// The same chosen in the other rounds.
    SwitchableInOtherRounds,
    /// The best of each session, over all arms of the hull.
    All,
    /// The same chosen in the other rounds.
    AllInOtherRounds,
    /// The run with perfect knowledge.
    Oracle,
}

/// Seconds of a yardstick and of the best static arm beside it.
struct Measure {
    yardstick: Yardstick,
    seconds: f64,
    best_static: f64,
    /// Whether both are means over the rounds, and not medians.
    means: bool,
    /// Whether the difference is more than spread.
    to_win: bool,
}

/// Every arm that is neither static nor knows the sessions, by every yardstick that there is. Who
/// was over the space bound has won nothing.
pub fn won(headroom: &Headroom, arms: &[ArmVerdict]) -> Vec<Won> {
    let measures = measures(headroom);
    let judged = arms
        .iter()
        .filter(|arm| !arm.arm.is_static() && !arm.over_space_bound)
        .filter(|arm| arm.arm.schedule().is_none());
    judged
        .flat_map(|arm| measures.iter().map(move |measure| measure.of(arm)))
        .collect()
}

fn measures(headroom: &Headroom) -> Vec<Measure> {
    use Yardstick::{All, AllInOtherRounds, Oracle, Switchable, SwitchableInOtherRounds};
    let total = &headroom.best_static_seconds;
    let mut all = Vec::new();
    if let Some(own) = &headroom.switchable {
        all.extend(of_bound(own, total, [Switchable, SwitchableInOtherRounds]));
    }
    let same = |own: &Bound| own.arms == headroom.all.arms;
    if !headroom.switchable.as_ref().is_some_and(same) {
        all.extend(of_bound(&headroom.all, total, [All, AllInOtherRounds]));
    }
    all.extend(headroom.oracle_seconds.as_ref().map(|oracle| Measure {
        yardstick: Oracle,
        seconds: oracle.median,
        best_static: total.median,
        means: false,
        to_win: headroom.oracle_standing() == Some(Standing::Win),
    }));
    all
}

/// Whether there is anything in it but the rounding of sums.
fn is_any(gap: &Gap) -> bool {
    gap.share > ROUNDING
}

fn of_bound(bound: &Bound, total: &Figure, names: [Yardstick; 2]) -> Vec<Measure> {
    let to_win = !bound.inside_spread && is_any(&bound.headroom);
    let low = Measure {
        yardstick: names[0],
        seconds: bound.seconds,
        best_static: total.median,
        means: false,
        to_win,
    };
    let others = bound.in_other_rounds.as_ref().map(|others| Measure {
        yardstick: names[1],
        seconds: others.mean_seconds,
        best_static: others.mean_seconds + others.headroom.seconds,
        means: true,
        to_win: to_win && is_any(&others.headroom),
    });
    std::iter::once(low).chain(others).collect()
}

impl Measure {
    fn of(&self, arm: &ArmVerdict) -> Won {
        let total = &arm.total_seconds;
        let own = if self.means {
            total.values.iter().sum::<f64>() / total.values.len().max(1) as f64
        } else {
            total.median
        };
        let saved = (self.best_static - own) / (self.best_static - self.seconds);
        Won {
            arm: arm.arm.clone(),
            yardstick: self.yardstick,
            over: own / self.seconds.max(1e-9) - 1.0,
            share: self.to_win.then_some(saved),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_to_win(seconds: f64, best_static: f64) -> bool {
        is_any(&Gap {
            seconds,
            share: seconds / best_static,
        })
    }

    #[test]
    fn what_rounding_leaves_is_nothing_to_win() {
        let left = (0.1 + 0.2 + 0.3) - (0.1 + (0.2 + 0.3));
        assert!(left > 0.0 && !is_to_win(left, 0.6));
        assert!(!is_to_win(0.0, 0.6) && !is_to_win(-0.1, 0.6));
        assert!(is_to_win(0.0006, 0.6));
    }
}
