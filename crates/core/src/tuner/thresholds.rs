//! The threshold rule that RusKey compares itself with (its figure 12).

use super::step::stepped;
use super::{Change, NOTHING_EXPECTED, Policy, Question, Trial, TrialId, Tuner};
use crate::observation::Mission;

/// Raises every level's limit by one after a mission with fewer reads than
/// `low`, lowers it by one after a mission with more reads than `high`.
///
/// It raises no limit above the size ratio.
///
/// The paper detects the share of lookups per level; a lookup passes all levels
/// and a write reaches all, so the share of the whole mission serves for each.
#[derive(Clone, Debug)]
pub struct Thresholds {
    low: f64,
    high: f64,
    asked: u64,
}

impl Thresholds {
    /// A rule with two thresholds, shares of reads from 0 to 1 (h_bottom and
    /// h_top).
    ///
    /// # Errors
    /// When they are not in `0 <= low <= high <= 1`.
    pub fn new(low: f64, high: f64) -> Result<Thresholds, String> {
        if (0.0..=1.0).contains(&low) && (low..=1.0).contains(&high) {
            Ok(Thresholds {
                low,
                high,
                asked: 0,
            })
        } else {
            Err(format!(
                "thresholds {low} and {high} are out of order: give shares of reads with 0 <= low <= high <= 1"
            ))
        }
    }

    /// The change that a share of reads asks for, and why.
    fn step(&self, read_share: f64) -> Option<(i32, String)> {
        let (by, than) = if read_share < self.low {
            (1, format!("fewer than {} %", percent(self.low)))
        } else if read_share > self.high {
            (-1, format!("more than {} %", percent(self.high)))
        } else {
            return None;
        };
        let percent = read_share * 100.0;
        let why = format!("{percent:.0} % reads, {than}; {NOTHING_EXPECTED}");
        Some((by, why))
    }
}

/// A share in percent, as names spell it: the nearest number of nine decimals. Without rounding
/// 0.29 would read 28.999999999999996.
pub(super) fn percent(share: f64) -> f64 {
    const DECIMALS: f64 = 1e9;
    (share * 100.0 * DECIMALS).round() / DECIMALS
}

impl Tuner for Thresholds {
    fn name(&self) -> String {
        let Thresholds { low, high, .. } = *self;
        Policy::Thresholds { low, high }.to_string()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        let mut limits = seen.limits.clone();
        let mut changes = Vec::new();
        let share = seen.mission.operations.read_share();
        if let Some((by, why)) = share.and_then(|share| self.step(share)) {
            for level in seen.shape.layout.logical_levels() {
                let next = stepped(limits.get(level), by, seen.shape.size_ratio);
                if next != limits.get(level) {
                    limits.set(level, next);
                    changes.push(Change {
                        level,
                        why: why.clone(),
                    });
                }
            }
        }
        Trial::of_limits(TrialId(self.asked), limits, changes)
    }

    fn tell(&mut self, _trial: TrialId, _outcome: &Mission) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LogicalLevel;
    use crate::observation::OperationMix;
    use crate::shape::{RunLimit, RunLimits, Shape};
    use crate::testing::small_shape;
    use crate::tree::Tree;

    /// The answer of thresholds of 12.5 and 80 % to so many reads in a hundred operations, where
    /// each level may hold 8 runs and the size ratio has fallen to 7.
    fn answer(gets_found: u64) -> Trial {
        let operations = OperationMix {
            gets_found,
            writes: 100 - gets_found,
            ..OperationMix::default()
        };
        let mission = Mission {
            operations,
            ..Mission::default()
        };
        let shape = Shape {
            size_ratio: 7,
            ..small_shape()
        };
        let mut rule = Thresholds::new(0.125, 0.8).expect("in order");
        rule.ask(&Question {
            shape: &shape,
            tree: &Tree::default(),
            limits: &RunLimits::uniform(RunLimit::clamped(8)),
            refused: &[],
            mission: &mission,
        })
    }

    #[test]
    fn few_reads_leave_a_limit_above_the_size_ratio_as_it_is() {
        let few = answer(10);
        assert_eq!(few.limits.get(LogicalLevel(1)).get(), 8);
        assert!(few.changes.is_empty(), "{:?}", few.changes);
        let many = answer(90);
        assert_eq!(many.limits.get(LogicalLevel(1)).get(), 7);
    }

    #[test]
    fn reasons_spell_thresholds_as_names_do() {
        let rule = Thresholds::new(0.125, 0.8).expect("in order");
        let (_, why) = rule.step(0.1).expect("few reads");
        assert!(why.starts_with("10 % reads, fewer than 12.5 %; "), "{why}");
        let (_, why) = rule.step(0.9).expect("many reads");
        assert!(why.starts_with("90 % reads, more than 80 %; "), "{why}");
    }
}
