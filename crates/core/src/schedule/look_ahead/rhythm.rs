//! How long phases of high and of low load last, whenever they come.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::schedule::Phase;

/// Phases of each kind that are remembered.
const REMEMBERED: usize = 16;

/// Phases of each kind from which something is foreseen.
const ENOUGH: usize = 2;

/// A phase that has lasted longer than any before goes on for this share of its age.
const OVERTIME: f64 = 0.25;

/// Lengths of past phases, in seconds, and of the present one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rhythm {
    high: Vec<f64>,
    low: Vec<f64>,
    /// The present phase; absent before anybody looked.
    #[serde(skip)]
    now: Option<Phase>,
    #[serde(skip)]
    lasted: f64,
    /// The present phase was seen from its beginning, as the first one never is.
    #[serde(skip)]
    whole: bool,
}

impl Rhythm {
    /// Whether all numbers are lengths.
    pub fn is_sound(&self) -> bool {
        let all = self.high.iter().chain(&self.low);
        all.copied()
            .all(|length| length.is_finite() && length >= 0.0)
    }

    /// An interval of a phase has passed.
    pub fn pass(&mut self, phase: Phase, interval: Duration) {
        if self.now != Some(phase) {
            self.end_phase();
            self.whole = self.now.is_some();
            (self.now, self.lasted) = (Some(phase), 0.0);
        }
        self.lasted += interval.as_secs_f64();
    }

    /// Remembers how long the present phase lasted, if all of it was seen.
    fn end_phase(&mut self) {
        let lengths = match self.now {
            Some(Phase::High) if self.whole => &mut self.high,
            Some(Phase::Low) if self.whole => &mut self.low,
            _ => return,
        };
        lengths.push(self.lasted);
        if lengths.len() > REMEMBERED {
            lengths.remove(0);
        }
    }

    /// Seconds of the present phase so far.
    pub fn lasted(&self) -> f64 {
        self.lasted
    }

    /// How long the present high phase is expected to go on: the mean of what past
    /// ones lasted beyond its age. `None` while too few are known, or when the load is
    /// low.
    pub fn remaining(&self) -> Option<Duration> {
        if self.now != Some(Phase::High) || self.high.len() < ENOUGH {
            return None;
        }
        let longer = self.high.iter().filter(|length| **length > self.lasted);
        let (count, sum) = longer.fold((0u32, 0.0), |(count, sum), length| {
            (count + 1, sum + length - self.lasted)
        });
        let seconds = if count == 0 {
            OVERTIME * self.lasted
        } else {
            sum / f64::from(count)
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// What a low phase lasts at least, three times in four.
    pub fn usual_low(&self) -> Option<Duration> {
        if self.low.len() < ENOUGH {
            return None;
        }
        let mut lengths = self.low.clone();
        lengths.sort_by(f64::total_cmp);
        Duration::try_from_secs_f64(lengths[lengths.len() / 4]).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(rhythm: &mut Rhythm, phase: Phase, seconds: u64) {
        for _ in 0..seconds {
            rhythm.pass(phase, Duration::from_secs(1));
        }
    }

    #[test]
    fn after_two_cycles_the_end_of_a_phase_is_foreseen() {
        let mut rhythm = Rhythm::default();
        for _ in 0..3 {
            pass(&mut rhythm, Phase::Low, 20);
            pass(&mut rhythm, Phase::High, 100);
        }
        assert_eq!(
            rhythm.remaining(),
            Some(Duration::from_secs(25)),
            "overtime"
        );
        pass(&mut rhythm, Phase::Low, 20);
        assert_eq!(rhythm.remaining(), None);
        assert_eq!(rhythm.usual_low(), Some(Duration::from_secs(20)));
        pass(&mut rhythm, Phase::High, 40);
        assert_eq!(rhythm.remaining(), Some(Duration::from_secs(60)));
    }

    #[test]
    fn what_was_seen_only_in_part_is_no_length() {
        let after = |phases: [Phase; 3]| {
            let mut rhythm = Rhythm::default();
            for (phase, seconds) in phases.into_iter().zip([3, 10, 7]) {
                pass(&mut rhythm, phase, seconds);
            }
            (rhythm.low, rhythm.high)
        };
        let (low, high) = (Phase::Low, Phase::High);
        assert_eq!(after([low, high, low]), (vec![], vec![10.0]));
        assert_eq!(after([high, low, high]), (vec![10.0], vec![]));
    }
}
