//! When in the day the load is high: a decayed profile by quarters of an hour.
//!
//! All days are alike to it: a Sunday is foreseen as the days before it were, and what was
//! seen is half forgotten with each day. Nothing finer than a quarter of an hour is in it,
//! nor how high the load was.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::schedule::Phase;

/// Parts of a day.
const PARTS: usize = 96;

/// Seconds of a part.
const PART: f64 = 86_400.0 / PARTS as f64;

/// What is known of a part of the day is half forgotten with each further day.
const FORGETTING: f64 = 0.5;

/// Share of a part that was high, from which it counts as high.
const HIGH: f64 = 0.5;

/// Share of a part that must have been seen for it to count.
const SEEN: f64 = 0.25;

/// One part of the day: seconds seen and seconds of high load, older days less.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Part {
    seen: f64,
    high: f64,
}

/// All parts of the day.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Profile {
    parts: Vec<Part>,
    /// The part that runs, and its seconds so far; it counts once it is over. It is kept, so
    /// that restarts lose nothing of it; absent in state files that do not tell it.
    #[serde(default)]
    now: Option<(usize, Part)>,
}

impl Default for Profile {
    fn default() -> Profile {
        Profile {
            parts: vec![Part::default(); PARTS],
            now: None,
        }
    }
}

impl Profile {
    /// Whether all numbers are seconds.
    pub fn is_sound(&self) -> bool {
        let sound = |part: &Part| part.seen.is_finite() && (0.0..=part.seen).contains(&part.high);
        let is_part = |(at, part): (usize, Part)| at < PARTS && sound(&part);
        let of_now = self.now.is_none_or(is_part);
        self.parts.len() == PARTS && self.parts.iter().all(sound) && of_now
    }

    /// An interval of a phase has passed.
    pub fn pass(&mut self, time_of_day: Duration, phase: Phase, interval: Duration) {
        let at = part_of(time_of_day);
        match &mut self.now {
            Some((part, _)) if *part == at => {}
            now => {
                if let Some((over, seen)) = now.replace((at, Part::default())) {
                    let part = &mut self.parts[over];
                    part.seen = part.seen * FORGETTING + seen.seen;
                    part.high = part.high * FORGETTING + seen.high;
                }
            }
        }
        if let Some((_, now)) = &mut self.now {
            let seconds = interval.as_secs_f64();
            now.seen += seconds;
            now.high += if phase == Phase::High { seconds } else { 0.0 };
        }
    }

    /// How long until the next low phase, and how long that is, when the profile knows
    /// the hours from now until its end and held the present one for high.
    pub fn next_low(&self, time_of_day: Duration) -> Option<(Duration, Duration)> {
        let first = part_of(time_of_day);
        let is_high = |ahead: usize| {
            let part = self.parts[(first + ahead) % PARTS];
            (part.seen >= SEEN * PART).then_some(part.high > HIGH * part.seen)
        };
        if !is_high(0)? {
            return None;
        }
        let mut ahead = 1;
        while is_high(ahead)? {
            ahead += 1;
            if ahead >= PARTS {
                return None;
            }
        }
        let begins = ahead;
        while ahead < begins + PARTS && is_high(ahead) == Some(false) {
            ahead += 1;
        }
        let passed = time_of_day.as_secs_f64() % PART;
        let until = begins as f64 * PART - passed;
        let length = (ahead - begins) as f64 * PART;
        Some((
            Duration::try_from_secs_f64(until).ok()?,
            Duration::try_from_secs_f64(length).ok()?,
        ))
    }
}

fn part_of(time_of_day: Duration) -> usize {
    (time_of_day.as_secs_f64() / PART) as usize % PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600;

    /// A minute of a day that is high from 8 to 20 o'clock.
    fn minute(profile: &mut Profile, minute: u64) {
        let time = Duration::from_secs(minute * 60 % 86_400);
        let high = (8 * HOUR..20 * HOUR).contains(&time.as_secs());
        let phase = if high { Phase::High } else { Phase::Low };
        profile.pass(time, phase, Duration::from_secs(60));
    }

    fn days(profile: &mut Profile, days: u64) {
        (0..days * 24 * 60).for_each(|at| minute(profile, at));
    }

    #[test]
    fn after_a_day_the_evening_is_foreseen() {
        let mut profile = Profile::default();
        let at = |hour| Duration::from_secs(hour * HOUR);
        assert_eq!(profile.next_low(at(10)), None);
        days(&mut profile, 2);
        assert!(profile.is_sound());
        assert_eq!(profile.next_low(at(10)), Some((at(10), at(12))));
        assert_eq!(profile.next_low(at(3)), None, "it is low");
    }

    /// A store that is never open for a whole quarter of an hour.
    #[test]
    fn restarts_lose_nothing_of_the_day() {
        let (mut whole, mut restarted) = (Profile::default(), Profile::default());
        for at in 0..2 * 24 * 60_u64 {
            minute(&mut whole, at);
            minute(&mut restarted, at);
            if at.is_multiple_of(7) {
                let state = serde_json::to_value(&restarted).expect("it is kept");
                restarted = serde_json::from_value(state).expect("its own state");
                assert!(restarted.is_sound());
            }
        }
        assert_eq!(restarted, whole);
        restarted.now = Some((PARTS, Part::default()));
        assert!(!restarted.is_sound(), "no such part");
    }

    #[test]
    fn a_state_without_the_part_that_runs_is_taken_up() {
        let mut profile = Profile::default();
        minute(&mut profile, 7);
        let mut state = serde_json::to_value(&profile).expect("it is kept");
        state.as_object_mut().expect("an object").remove("now");
        let older: Profile = serde_json::from_value(state).expect("an older one");
        assert_eq!(older, Profile::default());
    }
}
