//! How long workloads last.
//!
//! In seconds: a mission of a load that fills the store takes a tenth of one that reads it, and
//! a hundred of those say nothing of how many of these are to come.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Workloads that must be over before their mean speaks for another one. The first is a load, as
/// a rule, and what it lasts says nothing of those that read.
const ENOUGH: u32 = 3;

/// Workloads that the mean looks back on, about.
const MEMORY: u32 = 8;

/// A mission counts as at most so long. It ends with the first operation after its time, which is
/// a second by default: one that is longer than this waited for somebody to come, as at night, or
/// for a process that was stopped, and the hours say nothing of how long anybody stays.
const LONGEST: Duration = Duration::from_secs(60);

/// The lengths of workloads that are over.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Lengths {
    over: u32,
    /// On average.
    seconds: f64,
}

/// The present workload so far.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Course {
    missions: u64,
    seconds: f64,
}

impl Lengths {
    /// A workload is over.
    pub fn learn(&mut self, ended: &Course) {
        self.over = self.over.saturating_add(1);
        let weight = 1.0 / f64::from(self.over.min(MEMORY));
        self.seconds += weight * (ended.seconds - self.seconds);
    }

    /// Missions that the present workload will still last: the rest of the mean; beyond it
    /// as long again, since what has lasted long lasts on. `None` before some were over.
    pub fn left(&self, present: &Course) -> Option<f64> {
        let left = self.seconds - present.seconds;
        let left = if left > 0.0 { left } else { present.seconds };
        (self.over >= ENOUGH).then(|| present.missions_in(left))
    }

    /// Missions that the present workload will last in all.
    pub fn whole(&self, present: &Course) -> f64 {
        present.missions_in(self.seconds.max(present.seconds))
    }

    /// Whether all numbers are such as this code makes.
    pub fn is_sound(&self) -> bool {
        self.seconds.is_finite() && self.seconds >= 0.0
    }
}

impl Course {
    /// A mission is over.
    pub fn pass(&mut self, duration: Duration) {
        self.missions += 1;
        self.seconds += duration.min(LONGEST).as_secs_f64();
    }

    /// Missions that so many seconds hold.
    fn missions_in(&self, seconds: f64) -> f64 {
        if self.seconds > 0.0 {
            seconds * self.missions as f64 / self.seconds
        } else {
            self.missions as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(missions: u32, each: Duration) -> Course {
        let mut course = Course::default();
        (0..missions).for_each(|_| course.pass(each));
        course
    }

    #[test]
    fn workloads_last_as_those_before_and_then_as_long_again() {
        let second = Duration::from_secs(1);
        let present = |missions: u32| course(missions, second);
        let mut lengths = Lengths::default();
        for ended in [10, 20, 30] {
            assert_eq!(lengths.left(&present(5)), None);
            lengths.learn(&present(ended));
        }
        assert_eq!(lengths.left(&present(5)), Some(15.0));
        assert_eq!(lengths.left(&present(50)), Some(50.0));
        let whole = [5, 50].map(|missions| lengths.whole(&present(missions)));
        assert_eq!(whole, [20.0, 50.0]);
    }

    #[test]
    fn many_short_missions_last_no_longer_than_a_few_long_ones() {
        let mut lengths = Lengths::default();
        for _ in 0..ENOUGH {
            lengths.learn(&course(200, Duration::from_millis(100)));
        }
        let present = course(4, Duration::from_secs(1));
        assert_eq!(lengths.left(&present).map(f64::round), Some(16.0));
        assert_eq!(lengths.whole(&present).round(), 20.0);
    }

    #[test]
    fn missions_that_took_no_time_are_missions_all_the_same() {
        let lengths = Lengths::default();
        let present = course(3, Duration::ZERO);
        assert_eq!(
            (lengths.whole(&present), lengths.left(&present)),
            (3.0, None)
        );
    }

    /// One operation after a night.
    #[test]
    fn time_in_which_nobody_comes_is_no_part_of_a_workload() {
        let second = Duration::from_secs(1);
        let mut lengths = Lengths::default();
        for _ in 0..ENOUGH {
            let mut ended = course(50, second);
            ended.pass(8 * 3_600 * second);
            lengths.learn(&ended);
        }
        let present = course(10, second);
        assert_eq!(lengths.whole(&present).round(), 110.0);
    }

    #[test]
    fn what_an_older_program_counted_in_missions_is_forgotten() {
        let old: Lengths = serde_json::from_str(r#"{"seen":4,"mean":120.0}"#).expect("older");
        assert_eq!(old, Lengths::default());
    }
}
