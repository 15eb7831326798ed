//! What reads took, by the clock.
//!
//! One operation in many is timed, so that what a mission took is known to a fifth or a tenth. But
//! clients that each begin an operation when their last one is over, a closed loop, have all of
//! their time in operations: what they waited is the mission's duration, times as many as they
//! are. That share is of many missions, and the duration without error (a ratio estimator: Cochran,
//! Sampling Techniques, 1977, chapter 6).
//!
//! Where clients come as they like, missions differ in that share by more than their samples
//! explain, or nobody is there for most of the time, and samples are all there is. Those that pass
//! for a closed loop all the same are told late: the share follows within some twenty missions.
//! A mission that its samples contradict, as one with a pause, is told by them, and is not in the
//! share; two in a row on one side, or many a little, are other clients, and the share begins anew.

use std::time::Duration;

use super::times::{error, waited};
use crate::observation::Mission;

/// Weight that the missions before keep.
const KEPT: f64 = 0.95;

/// Missions after which the share is known.
const ENOUGH: u32 = 6;

/// Missions that the share is of, about.
const MOST: f64 = 20.0;

/// A smaller share is of clients that come as they like.
const LEAST_SHARE: f64 = 0.75;

/// Missions that differ by squares so many times those of their samples' errors differ by themselves.
/// Times spread wider than they are long where some operations wait for merges, and their samples
/// with them.
const UNEXPLAINED: f64 = 3.0;

/// So many errors of its samples off a mission contradicts the share: with fewer chance would do so
/// often, where samples are at their worst. So many of their sum missions drift away from it.
const MOST_ERRORS: f64 = 2.5;

/// Reads that take a smaller part of the time are not known by what is left of it.
const LEAST_READS: f64 = 0.5;

/// Samples that are off by more are of something that went wrong.
const MOST_OFF: f64 = 4.0;

/// The clients of late.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    missions: u32,
    /// Seconds that clients waited, by samples, and seconds that missions lasted.
    waited: f64,
    lasted: f64,
    /// Squares of what missions were off by, relative, and of what their samples explain.
    off: f64,
    explained: f64,
    /// The sum of what they were off by, in errors of their samples, and the squares of its weights.
    drift: f64,
    weights: f64,
    /// The side on which the last mission contradicted the share; 0 where it did not.
    contradicted: f64,
    /// Relative error of what the last mission took, where the clock has told it.
    pub error: Option<f64>,
}

impl Clock {
    /// The mission, its reads told as the clock tells them, if it does.
    pub fn tell(&mut self, mut mission: Mission) -> Mission {
        self.error = None;
        let sampled = error(&mission);
        let lasted = mission.duration.as_secs_f64();
        let Some(waited) = waited(&mission).filter(|_| lasted > 0.0 && sampled > 0.0) else {
            return mission;
        };
        if self.contradicts(waited, lasted, sampled) {
            return mission;
        }
        self.see(waited, lasted, sampled);
        if let Some(factor) = self.factor(&mission, waited, lasted) {
            for kind in [&mut mission.get, &mut mission.seek] {
                let told = Duration::try_from_secs_f64(kind.mean.as_secs_f64() * factor);
                kind.mean = told.unwrap_or(kind.mean);
            }
            self.error = Some(sampled / f64::from(self.missions).min(MOST).sqrt());
        }
        mission
    }

    /// What users waited, relative to what the share says.
    fn off(&self, waited: f64, lasted: f64) -> f64 {
        waited / (self.share() * lasted) - 1.0
    }

    /// Whether a mission is not one of these clients. After two in a row they are others.
    fn contradicts(&mut self, waited: f64, lasted: f64, sampled: f64) -> bool {
        let off = self.off(waited, lasted);
        let side = off.signum();
        if self.missions == 0 || off.abs() <= MOST_ERRORS * sampled {
            self.contradicted = 0.0;
            return false;
        }
        if self.contradicted == side {
            *self = Clock::default();
            return false;
        }
        self.contradicted = side;
        true
    }

    fn see(&mut self, waited: f64, lasted: f64, sampled: f64) {
        if self.missions > 0 {
            let off = self.off(waited, lasted);
            self.off = KEPT * self.off + off.powi(2);
            self.explained = KEPT * self.explained + sampled.powi(2);
            self.drift = KEPT * self.drift + off / sampled;
            self.weights = KEPT * KEPT * self.weights + 1.0;
        }
        if self.drift.powi(2) > MOST_ERRORS.powi(2) * self.weights * self.wider() {
            *self = Clock::default();
        }
        self.waited = KEPT * self.waited + waited;
        self.lasted = KEPT * self.lasted + lasted;
        self.missions = self.missions.saturating_add(1);
    }

    /// Missions differ by squares so many times those of their samples' errors, 1 at least.
    fn wider(&self) -> f64 {
        if self.explained > 0.0 {
            (self.off / self.explained).max(1.0)
        } else {
            1.0
        }
    }

    fn share(&self) -> f64 {
        self.waited / self.lasted
    }

    fn is_closed_loop(&self) -> bool {
        self.missions >= ENOUGH && self.share() >= LEAST_SHARE && self.wider() <= UNEXPLAINED
    }

    /// What reads took by the clock, against what their samples tell. Each write is timed, or
    /// counted where it was held back.
    fn factor(&self, mission: &Mission, waited: f64, lasted: f64) -> Option<f64> {
        if !self.is_closed_loop() {
            return None;
        }
        let [gets, scans, _] = mission
            .kinds()
            .map(|(count, it)| count * it.mean.as_secs_f64());
        let reads = gets + scans;
        let writes = waited - reads;
        let factor = (self.share() * lasted - writes) / reads;
        let sound = (1.0 / MOST_OFF..=MOST_OFF).contains(&factor);
        (reads >= LEAST_READS * waited && sound).then_some(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Latency, OperationMix};
    use crate::tuner::chance::by_chance;

    const GETS: u64 = 3_000;
    const TIMED: u64 = 25;

    /// Exponentially distributed numbers of mean 1, the same in each run.
    struct Drawn(u64);

    impl Drawn {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            -((self.0 >> 11) as f64 + 0.5)
                .mul_add(1.0 / (1u64 << 53) as f64, 0.0)
                .ln()
        }

        fn mean(&mut self, of: u64) -> f64 {
            (0..of).map(|_| self.next()).sum::<f64>() / of as f64
        }
    }

    /// Gets that take so many seconds each, some of which are timed, beside as many writes of 10 us.
    fn mission(drawn: &mut Drawn, get: f64, lasted: f64) -> Mission {
        Mission {
            duration: Duration::from_secs_f64(lasted),
            operations: OperationMix {
                gets_found: GETS,
                writes: GETS,
                ..OperationMix::default()
            },
            get: Latency {
                mean: Duration::from_secs_f64(get * drawn.mean(TIMED)),
                count: TIMED,
                ..Latency::default()
            },
            put: Latency {
                mean: Duration::from_micros(10),
                count: GETS,
                ..Latency::default()
            },
            ..Mission::default()
        }
    }

    /// Relative errors of gets as told, after the first missions. Each takes so much by its
    /// number, and lasts by what its operations take.
    fn errors(get: impl Fn(u32) -> f64, lasts: impl Fn(f64) -> f64) -> Vec<f64> {
        let (mut drawn, mut clock) = (Drawn(7), Clock::default());
        let mut found = Vec::new();
        for number in 0..200 {
            let get = get(number);
            let took = GETS as f64 * (get + 10e-6);
            let told = clock.tell(mission(&mut drawn, get, lasts(took)));
            if number >= 30 {
                found.push(told.get.mean.as_secs_f64() / get - 1.0);
            }
        }
        found
    }

    #[test]
    fn a_time_beyond_all_bounds_is_told_as_it_is() {
        let longest = Mission {
            duration: Duration::MAX,
            operations: OperationMix {
                gets_found: 1,
                ..OperationMix::default()
            },
            get: Latency {
                mean: Duration::MAX,
                count: 1,
                ..Latency::default()
            },
            ..Mission::default()
        };
        let mut clock = Clock::default();
        for _ in 0..20 {
            assert_eq!(clock.tell(longest.clone()).get.mean, Duration::MAX);
        }
        assert!(clock.error.is_some(), "the clock tells it");
    }

    fn deviation(errors: &[f64]) -> f64 {
        (errors.iter().map(|off| off * off).sum::<f64>() / errors.len() as f64).sqrt()
    }

    /// Which take half as long again by turns of ten missions.
    fn by_turns(number: u32) -> f64 {
        if (number / 10).is_multiple_of(2) {
            100e-6
        } else {
            150e-6
        }
    }

    #[test]
    fn a_closed_loop_is_told_by_its_clock() {
        let sampled = by_chance(TIMED);
        for clients in [1.0, 4.0] {
            let errors = errors(by_turns, |took| took / (0.98 * clients));
            assert!(
                deviation(&errors) < 0.35 * sampled,
                "{}",
                deviation(&errors)
            );
        }
    }

    /// The first missions after the clients have become others, of one there and of many: what gets
    /// were told to take, relative to what they did, on average.
    fn told_after(before: f64, after: f64) -> f64 {
        let (mut drawn, mut clock) = (Drawn(11), Clock::default());
        let took = GETS as f64 * 110e-6;
        let mut told = |clients: f64| {
            let told = clock.tell(mission(&mut drawn, 100e-6, took / clients));
            told.get.mean.as_secs_f64() / 100e-6
        };
        (0..40).for_each(|_| {
            told(before);
        });
        (0..20).map(|_| told(after)).sum::<f64>() / 20.0
    }

    #[test]
    fn other_clients_are_told_by_themselves() {
        for (before, after) in [(1.0, 4.0), (4.0, 1.0), (2.0, 3.0), (3.0, 2.0)] {
            let told = told_after(before, after);
            assert!((told - 1.0).abs() < 0.1, "{before} to {after}: {told}");
        }
    }

    /// In two thirds of a mission nobody was there, and once for an hour.
    #[test]
    fn a_pause_is_not_told_as_slow_reads() {
        for paused in [2.0, 1e4] {
            let (mut drawn, mut clock) = (Drawn(5), Clock::default());
            let took = GETS as f64 * 110e-6;
            let mut by_clock = |missions: usize, lasted: f64| {
                let told = (0..missions).map(|_| {
                    clock.tell(mission(&mut drawn, 100e-6, lasted));
                    clock.error.is_some()
                });
                told.filter(|told| *told).count()
            };
            by_clock(40, took);
            assert_eq!(by_clock(1, took * (1.0 + paused)), 0, "{paused}");
            let after = by_clock(20, took);
            assert!(after >= 17, "{paused}: {after}");
        }
    }

    #[test]
    fn a_load_that_is_offered_is_told_by_its_samples() {
        let tells = |lasts: &dyn Fn(f64) -> f64, get: &dyn Fn(u32) -> f64| {
            let (mut drawn, mut clock) = (Drawn(3), Clock::default());
            let mut told = 0;
            for number in 0..200 {
                let get = get(number);
                let took = GETS as f64 * (get + 10e-6);
                let before = mission(&mut drawn, get, lasts(took));
                let sample = before.get.mean;
                let after = clock.tell(before);
                assert_eq!(after.get.mean != sample, clock.error.is_some());
                told += u32::from(clock.error.is_some());
            }
            told
        };
        let steady = |_| 100e-6;
        assert_eq!(
            tells(&|took| 3.0 * took, &steady),
            0,
            "mostly nobody is there"
        );
        let twice = |number: u32| {
            if (number / 10).is_multiple_of(2) {
                100e-6
            } else {
                250e-6
            }
        };
        let many = tells(&|_| 0.4, &twice);
        assert!(
            many < 100,
            "as many in a second, whatever they take: {many}"
        );
        assert!(tells(&|took| took, &steady) > 150);
    }

    #[test]
    fn what_cannot_be_changes_nothing() {
        let mut drawn = Drawn(1);
        let mut clock = Clock::default();
        let told = (0..20).map(|_| {
            clock.tell(mission(&mut drawn, 100e-6, 0.33));
            clock.error.is_some()
        });
        assert!(told.filter(|told| *told).count() > 10);
        for lasted in [0.0, 1e-9, 1e9] {
            let odd = mission(&mut drawn, 100e-6, lasted);
            let sample = odd.get.mean;
            assert_eq!(clock.tell(odd).get.mean, sample, "{lasted}");
            assert_eq!(clock.error, None);
        }
        assert_eq!(clock.tell(Mission::default()), Mission::default());
    }
}
