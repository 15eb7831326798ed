//! A tuner's share of the time.

use std::time::Duration;

use lissom_core::tuner::{AHEAD, SHARE};

/// Time that missions have earned for a tuner, less what it took. A call is not known to be
/// dear before it was made, so the balance may fall under zero; then the tuner is not asked
/// until the mission that runs has earned it back. [`AHEAD`] is given before it is earned,
/// and as much may be saved up, so that one that keeps to [`SHARE`] by itself, as `lerp`
/// does, is asked after every mission.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Allowance {
    seconds: f64,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { seconds: AHEAD }
    }
}

impl Allowance {
    /// The tuner took so long.
    pub(super) fn spend(&mut self, took: Duration) {
        self.seconds -= took.as_secs_f64();
    }

    /// A mission of this length has ended.
    pub(super) fn pass(&mut self, mission: Duration) {
        let earned = SHARE * mission.as_secs_f64();
        self.seconds = (self.seconds + earned).min(2.0 * AHEAD);
    }

    /// Whether nothing is owed when a mission ends that has lasted so long.
    pub(super) fn pays(&self, mission: Duration) -> bool {
        self.seconds + SHARE * mission.as_secs_f64() >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a tuner is asked that takes so long each time, while missions could end
    /// `due` times, every 50 ms.
    fn asked(answer: Duration, due: u32) -> u32 {
        let mut allowance = Allowance::default();
        let (mut mission, mut asked) = (Duration::ZERO, 0);
        for _ in 0..due {
            mission += Duration::from_millis(50);
            if allowance.pays(mission) {
                allowance.pass(mission);
                allowance.spend(answer);
                mission = Duration::ZERO;
                asked += 1;
            }
        }
        asked
    }

    #[test]
    fn a_slow_tuner_takes_its_share_and_what_it_had_in_advance() {
        let answer = Duration::from_millis(20);
        let asked = asked(answer, 1_000);
        // Of 50 s half a percent is 250 ms; 50 ms in advance, and the last answer.
        let spent = answer * asked;
        assert!(spent <= Duration::from_millis(320), "{spent:?}");
        assert!(spent >= Duration::from_millis(280), "{spent:?}");
    }

    #[test]
    fn one_that_takes_little_is_asked_after_every_mission() {
        assert_eq!(asked(Duration::from_micros(200), 10_000), 10_000);
    }

    #[test]
    fn what_is_saved_up_is_bounded() {
        let mut allowance = Allowance::default();
        allowance.pass(Duration::MAX);
        let fifth = Duration::from_millis(20);
        (0..5).for_each(|_| allowance.spend(fifth));
        assert!(allowance.pays(Duration::from_millis(1)));
        allowance.spend(fifth);
        assert!(!allowance.pays(Duration::from_secs(3)));
        assert!(allowance.pays(Duration::from_secs(5)));
    }
}
