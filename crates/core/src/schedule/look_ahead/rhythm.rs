//! How long phases of high and of low load last, whenever they come.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Foreseen;
use crate::schedule::{Phase, is_amount};

/// Phases of each kind that are remembered.
const REMEMBERED: usize = 16;

/// Phases of each kind from which something is foreseen.
const ENOUGH: usize = 2;

/// A phase that has lasted longer than any before goes on for this share of its age.
const OVERTIME: f64 = 0.25;

/// What is foreseen is worth so much of what it would be otherwise, where nobody saw the
/// present phase begin, and where none before has lasted as long.
const UNLIKE: f64 = 0.5;

/// A clock that was set back by no more is right, seconds.
const CLOCK: f64 = 1.0;

/// Lengths of past phases, in seconds, and the present one.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rhythm {
    high: Vec<f64>,
    low: Vec<f64>,
    /// Absent before anybody looked, and in state files that do not tell it.
    #[serde(default)]
    now: Option<Running>,
    /// It is seen without a gap: not only what an earlier process has kept.
    #[serde(skip)]
    is_present: bool,
    /// Seconds for which it has not been settled whether the phase of an earlier look goes on.
    #[serde(skip)]
    unsettled: f64,
}

/// The phase that runs.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct Running {
    phase: Phase,
    /// Seconds so far.
    lasted: f64,
    /// It was seen from its beginning, as the first one never is.
    whole: bool,
    /// By the system's clock, when it was last seen.
    at: f64,
}

impl Rhythm {
    /// Whether all numbers are lengths, no more of them than are remembered, and the clock's is a
    /// time.
    pub fn is_sound(&self) -> bool {
        let few = self.high.len().max(self.low.len()) <= REMEMBERED;
        let mut all = self.high.iter().chain(&self.low).copied();
        let of_now = |now: Running| is_amount(now.lasted) && now.at.is_finite();
        few && all.all(is_amount) && self.now.is_none_or(of_now)
    }

    /// Nobody has looked for a while: what is seen next may be of another phase.
    pub fn look_away(&mut self) {
        self.is_present = false;
    }

    /// An interval of a phase has passed, at whose end the system's clock says `clock`.
    pub fn pass(&mut self, phase: Phase, interval: Duration, clock: Duration) {
        let (seconds, at) = (interval.as_secs_f64(), clock.as_secs_f64());
        if !self.is_present && !self.take_up(phase, at - seconds) {
            self.unsettled += seconds;
            return;
        }
        let goes_on = self.now.filter(|now| now.phase == phase);
        if goes_on.is_none() {
            self.end_phase();
        }
        let begun = goes_on.unwrap_or(Running {
            phase,
            lasted: 0.0,
            whole: self.now.is_some(),
            at,
        });
        self.now = Some(Running {
            lasted: begun.lasted + seconds,
            at,
            ..begun
        });
    }

    /// Somebody looks at a load again, from this time on and of this phase. What an earlier
    /// look saw of the same phase goes on, where none of the other kind was ever so short that
    /// it may have come between. Whether that is settled: users of a store that has just
    /// opened come back little by little, so that a high phase waits for them as long, by the
    /// clock or by the intervals, since the clock may stand still.
    fn take_up(&mut self, phase: Phase, begun: f64) -> bool {
        let Some(before) = self.now else {
            self.is_present = true;
            return true;
        };
        let others = match before.phase {
            Phase::High => &self.low,
            Phase::Low => &self.high,
        };
        let shortest = others.iter().copied().reduce(f64::min).unwrap_or(0.0);
        let away = begun - before.at;
        let may_go_on = (-CLOCK..shortest).contains(&away);
        let waits = may_go_on && self.unsettled < shortest;
        if waits && (before.phase, phase) == (Phase::High, Phase::Low) {
            return false;
        }
        let goes_on = may_go_on && before.phase == phase;
        self.now = goes_on.then_some(Running {
            lasted: before.lasted + away.max(self.unsettled),
            ..before
        });
        (self.is_present, self.unsettled) = (true, 0.0);
        true
    }

    /// Remembers how long the present phase lasted, if all of it was seen.
    fn end_phase(&mut self) {
        let Some(now) = self.now.filter(|now| now.whole) else {
            return;
        };
        let lengths = match now.phase {
            Phase::High => &mut self.high,
            Phase::Low => &mut self.low,
        };
        lengths.push(now.lasted);
        if lengths.len() > REMEMBERED {
            lengths.remove(0);
        }
    }

    /// Seconds of the present phase so far.
    pub fn lasted(&self) -> f64 {
        self.now.map_or(0.0, |now| now.lasted)
    }

    /// How long the present high phase goes on, and the low one after it lasts. `None` while
    /// too few are known, or when the load is low.
    pub fn next_low(&self) -> Option<Foreseen> {
        Some(Foreseen {
            high: self.remaining()?,
            low: self.usual_low()?,
            support: self.support(),
        })
    }

    /// How long the present high phase is expected to go on: the mean of what past
    /// ones lasted beyond its age.
    fn remaining(&self) -> Option<Duration> {
        let now = self.now.filter(|now| now.phase == Phase::High)?;
        if self.high.len() < ENOUGH {
            return None;
        }
        let longer = self.high.iter().filter(|length| **length > now.lasted);
        let (count, sum) = longer.fold((0u32, 0.0), |(count, sum), length| {
            (count + 1, sum + length - now.lasted)
        });
        let seconds = if count == 0 {
            OVERTIME * now.lasted
        } else {
            sum / f64::from(count)
        };
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// What a low phase lasts at least, three times in four.
    fn usual_low(&self) -> Option<Duration> {
        if self.low.len() < ENOUGH {
            return None;
        }
        Duration::try_from_secs_f64(quantile(&self.low, 4)).ok()
    }

    /// How far phases were as long as each other, and how many there were of either kind.
    fn support(&self) -> f64 {
        let count = self.high.len().min(self.low.len()) as f64;
        let alike = 1.0 / (1.0 + spread(&self.high) + spread(&self.low));
        let is_like = self.now.is_some_and(|now| {
            let longest = self.high.iter().copied().fold(0.0, f64::max);
            now.whole && now.lasted < longest
        });
        count / (count + 1.0) * alike * if is_like { 1.0 } else { UNLIKE }
    }
}

/// The length that one in so many stays under.
fn quantile(lengths: &[f64], of: usize) -> f64 {
    let mut sorted = lengths.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / of).copied().unwrap_or(0.0)
}

/// Mean distance from the median, as a share of that; 0 without any.
fn spread(lengths: &[f64]) -> f64 {
    let median = quantile(lengths, 2).max(f64::MIN_POSITIVE);
    let distances = lengths.iter().map(|length| (length - median).abs());
    distances.sum::<f64>() / lengths.len().max(1) as f64 / median
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phases one after the other, by the clock.
    #[derive(Default)]
    struct Seen {
        rhythm: Rhythm,
        clock: u64,
    }

    impl Seen {
        fn pass(&mut self, phase: Phase, seconds: u64) {
            for _ in 0..seconds {
                self.clock += 1;
                let clock = Duration::from_secs(self.clock);
                self.rhythm.pass(phase, Duration::from_secs(1), clock);
            }
        }

        /// Three times 20 s of low load and 100 s of high load.
        fn cycles() -> Seen {
            let mut seen = Seen::default();
            for _ in 0..3 {
                seen.pass(Phase::Low, 20);
                seen.pass(Phase::High, 100);
            }
            seen
        }

        /// Another process, so many seconds later.
        fn reopened(&self, away: u64) -> Seen {
            let state = serde_json::to_value(&self.rhythm).expect("it is kept");
            let rhythm: Rhythm = serde_json::from_value(state).expect("its own state");
            assert!(rhythm.is_sound());
            Seen {
                rhythm,
                clock: self.clock + away,
            }
        }

        fn remaining(&self) -> Option<u64> {
            self.rhythm.next_low().map(|it| it.high.as_secs())
        }

        fn support(&self) -> f64 {
            self.rhythm.next_low().map_or(0.0, |it| it.support)
        }
    }

    #[test]
    fn after_two_cycles_the_end_of_a_phase_is_foreseen() {
        let mut seen = Seen::cycles();
        assert_eq!(seen.remaining(), Some(25), "overtime");
        seen.pass(Phase::Low, 20);
        assert_eq!(seen.remaining(), None);
        seen.pass(Phase::High, 40);
        assert_eq!(seen.remaining(), Some(60));
        let foreseen = seen.rhythm.next_low().expect("two cycles");
        assert_eq!(foreseen.low, Duration::from_secs(20));
    }

    #[test]
    fn what_was_seen_only_in_part_is_no_length() {
        let after = |phases: [Phase; 3]| {
            let mut seen = Seen::default();
            for (phase, seconds) in phases.into_iter().zip([3, 10, 7]) {
                seen.pass(phase, seconds);
            }
            (seen.rhythm.low, seen.rhythm.high)
        };
        let (low, high) = (Phase::Low, Phase::High);
        assert_eq!(after([low, high, low]), (vec![], vec![10.0]));
        assert_eq!(after([high, low, high]), (vec![10.0], vec![]));
    }

    /// A restart of seven seconds within a high phase, after which users need three to come
    /// back; no low phase was ever as short as ten.
    #[test]
    fn the_phase_that_runs_goes_on_over_a_restart() {
        let mut before = Seen::cycles();
        before.pass(Phase::Low, 20);
        before.pass(Phase::High, 40);
        let mut seen = before.reopened(7);
        seen.pass(Phase::Low, 3);
        assert_eq!(seen.rhythm.lasted(), 40.0, "nobody knows yet");
        seen.pass(Phase::High, 5);
        assert_eq!((seen.rhythm.lasted(), seen.remaining()), (55.0, Some(45)));
        seen.pass(Phase::High, 45);
        seen.pass(Phase::Low, 1);
        assert_eq!(seen.rhythm.high.last(), Some(&100.0));
    }

    #[test]
    fn a_phase_that_may_have_ended_meanwhile_begins_anew() {
        let mut before = Seen::cycles();
        before.pass(Phase::Low, 20);
        before.pass(Phase::High, 40);
        let lasted = |away: u64, first: u64| {
            let mut seen = before.reopened(away);
            seen.pass(Phase::Low, first);
            seen.pass(Phase::High, 5);
            (seen.rhythm.lasted(), seen.rhythm.high.clone())
        };
        let lengths = before.rhythm.high.clone();
        assert_eq!(lasted(19, 0), (64.0, lengths.clone()));
        assert_eq!(lasted(21, 0), (5.0, lengths.clone()), "a low one fits in");
        assert_eq!(lasted(7, 30), (5.0, lengths), "they did not come back");
        let mut back = before.reopened(0);
        back.clock -= 100;
        back.pass(Phase::High, 5);
        assert_eq!(back.rhythm.lasted(), 5.0, "the clock was set back");
    }

    /// As in journals that do not tell the time.
    #[test]
    fn where_the_clock_stands_still_intervals_settle_it() {
        let pass = |rhythm: &mut Rhythm, phase: Phase, seconds: u64| {
            for _ in 0..seconds {
                rhythm.pass(phase, Duration::from_secs(1), Duration::ZERO);
            }
        };
        let mut before = Rhythm::default();
        for _ in 0..3 {
            pass(&mut before, Phase::Low, 20);
            pass(&mut before, Phase::High, 100);
        }
        before.look_away();
        let mut back = before.clone();
        pass(&mut back, Phase::Low, 3);
        pass(&mut back, Phase::High, 5);
        assert_eq!(back.lasted(), 108.0);
        pass(&mut before, Phase::Low, 30);
        assert_eq!(before.lasted(), 10.0, "as long as none was before");
    }

    #[test]
    fn more_lengths_than_are_remembered_are_not_sound() {
        let mut rhythm = Rhythm {
            high: vec![1.0; REMEMBERED],
            ..Rhythm::default()
        };
        assert!(rhythm.is_sound());
        rhythm.high.push(1.0);
        assert!(!rhythm.is_sound());
    }

    #[test]
    fn a_state_without_the_phase_that_runs_is_taken_up() {
        let seen = Seen::cycles();
        let mut state = serde_json::to_value(&seen.rhythm).expect("it is kept");
        state.as_object_mut().expect("an object").remove("now");
        let mut older: Rhythm = serde_json::from_value(state).expect("an older one");
        assert_eq!(older.high, seen.rhythm.high);
        let second = Duration::from_secs(1);
        older.pass(Phase::High, second, Duration::from_secs(999));
        assert_eq!(older.lasted(), 1.0);
    }

    #[test]
    fn equal_lengths_support_more_than_unequal_ones() {
        let mut equal = Seen::cycles();
        equal.pass(Phase::Low, 20);
        equal.pass(Phase::High, 40);
        let mut unequal = Seen::default();
        for high in [20, 100, 300] {
            unequal.pass(Phase::Low, 20);
            unequal.pass(Phase::High, high);
        }
        unequal.pass(Phase::Low, 20);
        unequal.pass(Phase::High, 40);
        assert_eq!(equal.support(), 0.75, "three of either kind");
        assert!(unequal.support() < 0.5, "{}", unequal.support());
        let whole = equal.support();
        equal.pass(Phase::High, 60);
        assert_eq!(equal.support(), UNLIKE * whole, "as long as none before");
        let mut anew = equal.reopened(1_000);
        anew.pass(Phase::High, 1);
        assert!(anew.support() < 0.75 * whole, "nobody saw it begin");
    }
}
