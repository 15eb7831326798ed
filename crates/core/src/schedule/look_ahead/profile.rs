//! When in the day, or in the hour, the load is high: a decayed profile by equal parts.
//!
//! All days are alike to it, and all hours: a Sunday is foreseen as the days before it were,
//! and what was seen is half forgotten each time that it comes again. Nothing finer than a
//! part is in it, nor how high the load was.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Foreseen;
use crate::schedule::Phase;

/// What is known of a part is half forgotten with each further time that all of it is seen.
const FORGETTING: f64 = 0.5;

/// Share of a part that was high, from which it counts as high.
const HIGH: f64 = 0.5;

/// Share of a part that must have been seen for it to count.
const SEEN: f64 = 0.25;

/// What is foreseen is judged as if so much more of each part had been seen, and had been
/// otherwise: a load that was seen once need not come again.
const DOUBT: f64 = 0.5;

/// By quarters of an hour.
pub(super) type Daily = Profile<86_400, 96>;

/// By minutes.
pub(super) type Hourly = Profile<3_600, 60>;

/// One part: seconds seen and seconds of high load, older ones less.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Part {
    seen: f64,
    high: f64,
}

impl Part {
    /// Seconds that were as most of it was.
    fn agreed(&self) -> f64 {
        self.high.max(self.seen - self.high)
    }

    /// So much more was seen of it. What was known is forgotten by the share of `all` that
    /// this is: a visit of a minute tells little of a quarter of an hour.
    fn add(&mut self, seen: &Part, all: f64) {
        let kept = FORGETTING.powf((seen.seen / all).min(1.0));
        self.seen = self.seen * kept + seen.seen;
        self.high = self.high * kept + seen.high;
    }
}

/// All parts of a time of `PERIOD` seconds that comes again and again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Profile<const PERIOD: u64, const PARTS: usize> {
    parts: Vec<Part>,
    /// The part that runs, and its seconds so far; it counts once it is over. It is kept, so
    /// that restarts lose nothing of it; absent in state files that do not tell it.
    #[serde(default)]
    now: Option<(usize, Part)>,
}

impl<const PERIOD: u64, const PARTS: usize> Default for Profile<PERIOD, PARTS> {
    fn default() -> Self {
        Profile {
            parts: vec![Part::default(); PARTS],
            now: None,
        }
    }
}

impl<const PERIOD: u64, const PARTS: usize> Profile<PERIOD, PARTS> {
    /// Seconds of a part.
    const PART: f64 = PERIOD as f64 / PARTS as f64;

    /// Whether all numbers are seconds.
    pub fn is_sound(&self) -> bool {
        let sound = |part: &Part| part.seen.is_finite() && (0.0..=part.seen).contains(&part.high);
        let is_part = |(at, part): (usize, Part)| at < PARTS && sound(&part);
        let of_now = self.now.is_none_or(is_part);
        self.parts.len() == PARTS && self.parts.iter().all(sound) && of_now
    }

    /// An interval of a phase has passed.
    pub fn pass(&mut self, time_of_day: Duration, phase: Phase, interval: Duration) {
        let (at, _) = Self::part_of(time_of_day);
        match &mut self.now {
            Some((part, _)) if *part == at => {}
            now => {
                if let Some((over, seen)) = now.replace((at, Part::default())) {
                    self.parts[over].add(&seen, Self::PART);
                }
            }
        }
        if let Some((_, now)) = &mut self.now {
            let seconds = interval.as_secs_f64();
            now.seen += seconds;
            now.high += if phase == Phase::High { seconds } else { 0.0 };
        }
    }

    /// How long until the next low phase, and how long that is, when the profile knows all
    /// parts from now until its end and held the present one for high.
    pub fn next_low(&self, time_of_day: Duration) -> Option<Foreseen> {
        let (first, passed) = Self::part_of(time_of_day);
        let part = |ahead: usize| self.parts[(first + ahead) % PARTS];
        let is_high = |ahead: usize| {
            let part = part(ahead);
            (part.seen >= SEEN * Self::PART).then_some(part.high > HIGH * part.seen)
        };
        if !is_high(0)? {
            return None;
        }
        let begins = (1..PARTS).find(|ahead| is_high(*ahead) != Some(true))?;
        is_high(begins)?;
        let ends = (begins..PARTS).find(|ahead| is_high(*ahead) != Some(false));
        let ends = ends.unwrap_or(PARTS);
        let until = begins as f64 * Self::PART - passed;
        let length = (ends - begins) as f64 * Self::PART;
        Some(Foreseen {
            high: Duration::try_from_secs_f64(until).ok()?,
            low: Duration::try_from_secs_f64(length).ok()?,
            support: Self::support((0..ends).map(part)),
        })
    }

    /// How far the parts that something is foreseen from were always as they mostly were.
    fn support(parts: impl Iterator<Item = Part>) -> f64 {
        let (agreed, seen) = parts.fold((0.0, 0.0), |(agreed, seen), part| {
            let seen_at_all = part.seen + DOUBT * Self::PART;
            (agreed + part.agreed(), seen + seen_at_all)
        });
        (2.0 * agreed / seen - 1.0).max(0.0)
    }

    /// The part that runs, and the seconds of it that have passed.
    fn part_of(time_of_day: Duration) -> (usize, f64) {
        let seconds = time_of_day.as_secs_f64() % PERIOD as f64;
        (
            (seconds / Self::PART) as usize % PARTS,
            seconds % Self::PART,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600;

    /// A minute of a day that is high from 8 to 20 o'clock.
    fn minute(profile: &mut Daily, minute: u64) {
        let time = Duration::from_secs(minute * 60 % 86_400);
        let high = (8 * HOUR..20 * HOUR).contains(&time.as_secs());
        let phase = if high { Phase::High } else { Phase::Low };
        profile.pass(time, phase, Duration::from_secs(60));
    }

    fn days(profile: &mut Daily, days: u64) {
        (0..days * 24 * 60).for_each(|at| minute(profile, at));
    }

    /// When the next low phase begins, and how long it is.
    fn low<const PERIOD: u64, const PARTS: usize>(
        profile: &Profile<PERIOD, PARTS>,
        time_of_day: Duration,
    ) -> Option<(Duration, Duration)> {
        let foreseen = profile.next_low(time_of_day);
        foreseen.map(|it| (it.high, it.low))
    }

    #[test]
    fn after_a_day_the_evening_is_foreseen() {
        let mut profile = Daily::default();
        let at = |hour| Duration::from_secs(hour * HOUR);
        assert_eq!(low(&profile, at(10)), None);
        days(&mut profile, 2);
        assert!(profile.is_sound());
        assert_eq!(low(&profile, at(10)), Some((at(10), at(12))));
        assert_eq!(low(&profile, at(3)), None, "it is low");
    }

    /// Ten seconds at a time of hours whose first twenty minutes are high, at any hour of the
    /// day.
    #[test]
    fn what_comes_every_hour_is_foreseen_by_the_minute() {
        let mut profile = Hourly::default();
        let seconds = Duration::from_secs;
        for at in (0..2 * HOUR + 10).step_by(10) {
            let is_high = at % HOUR < 20 * 60;
            let phase = if is_high { Phase::High } else { Phase::Low };
            profile.pass(seconds(5 * HOUR + at), phase, seconds(10));
        }
        let at = |hour: u64, minute: u64| low(&profile, seconds(hour * HOUR + minute * 60));
        let left = |minutes: u64| Some((seconds(minutes * 60), seconds(40 * 60)));
        assert_eq!((at(7, 5), at(23, 18)), (left(15), left(2)));
        assert_eq!(at(7, 30), None, "it is low");
        let state = serde_json::to_value(&profile).expect("it is kept");
        let daily: Daily = serde_json::from_value(state).expect("seconds");
        assert!(!daily.is_sound(), "an hour is no day");
    }

    /// A load that alternates within a part, or from day to day, supports nothing.
    #[test]
    fn what_was_always_so_is_supported_and_the_more_the_oftener() {
        let support = |days: u64, is_high: fn(u64, u64) -> bool| {
            let mut profile = Daily::default();
            for at in 0..days * 24 * 60 {
                let (day, minute) = (at / (24 * 60), at % (24 * 60));
                let high = is_high(day, minute);
                let phase = if high { Phase::High } else { Phase::Low };
                let time = Duration::from_secs(minute * 60);
                profile.pass(time, phase, Duration::from_secs(60));
            }
            let noon = Duration::from_secs(12 * HOUR);
            profile.next_low(noon).map(|it| it.support)
        };
        let by_day: fn(u64, u64) -> bool = |_, minute| (480..1_200).contains(&minute);
        let [one, two, many] = [1, 2, 9].map(|days| support(days, by_day).expect("known"));
        assert!(0.2 < one && one < two && two < many, "{one} {two} {many}");
        assert!(many < 0.7, "{many}");
        let mixed = support(9, |_, minute| {
            (480..1_200).contains(&minute) && minute % 3 > 0
        });
        assert!(mixed.is_some_and(|it| it < 0.75 * many), "{mixed:?}");
    }

    /// Three whole days, and then three visits of a minute, each at another load than before.
    #[test]
    fn a_short_visit_forgets_little() {
        let mut profile = Daily::default();
        days(&mut profile, 3);
        let night = Duration::from_secs(3 * HOUR);
        for _ in 0..3 {
            profile.pass(night, Phase::High, Duration::from_secs(60));
            profile.pass(Duration::ZERO, Phase::Low, Duration::from_secs(60));
        }
        let (at, _) = Daily::part_of(night);
        let part = profile.parts[at];
        assert!(part.seen > 1.5 * Daily::PART, "{part:?}");
        assert!((120.0..=180.0).contains(&part.high), "{part:?}");
        assert!(profile.is_sound());
    }

    /// A store that is never open for a whole quarter of an hour.
    #[test]
    fn restarts_lose_nothing_of_the_day() {
        let (mut whole, mut restarted) = (Daily::default(), Daily::default());
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
        restarted.now = Some((96, Part::default()));
        assert!(!restarted.is_sound(), "no such part");
    }

    #[test]
    fn a_state_without_the_part_that_runs_is_taken_up() {
        let mut profile = Daily::default();
        minute(&mut profile, 7);
        let mut state = serde_json::to_value(&profile).expect("it is kept");
        state.as_object_mut().expect("an object").remove("now");
        let older: Daily = serde_json::from_value(state).expect("an older one");
        assert_eq!(older, Daily::default());
    }
}
