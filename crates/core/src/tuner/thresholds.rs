//! The threshold rule that RusKey compares itself with (its figure 12).

use super::{Change, NOTHING_EXPECTED, Question, Trial, TrialId, Tuner};
use crate::observation::Mission;
use crate::shape::RunLimit;

/// Raises every level's limit by one after a mission with fewer reads than
/// `low`, lowers it by one after a mission with more reads than `high`.
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
            (1, format!("fewer than {:.0} %", self.low * 100.0))
        } else if read_share > self.high {
            (-1, format!("more than {:.0} %", self.high * 100.0))
        } else {
            return None;
        };
        let percent = read_share * 100.0;
        let why = format!("{percent:.0} % reads, {than}; {NOTHING_EXPECTED}");
        Some((by, why))
    }
}

impl Tuner for Thresholds {
    fn name(&self) -> String {
        format!(
            "thresholds-{}-{}",
            (self.low * 100.0).round(),
            (self.high * 100.0).round()
        )
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        let mut limits = seen.limits.clone();
        let mut changes = Vec::new();
        let share = seen.mission.operations.read_share();
        if let Some((by, why)) = share.and_then(|share| self.step(share)) {
            let most = i32::try_from(seen.shape.size_ratio).unwrap_or(i32::MAX);
            for level in seen.shape.layout.logical_levels() {
                let now = i32::from(limits.get(level).get());
                let next = RunLimit::clamped((now + by).clamp(1, most) as u16);
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
