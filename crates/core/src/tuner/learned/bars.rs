//! Limits that proved wrong under a workload, and are not gone to for a while. They bar the
//! way forward alone: back goes whoever has measured that it was better there.

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, LogicalLevel};
use crate::shape::{RunLimit, RunLimits};

/// Missions under a workload for which a limit is barred that proved wrong under it, and
/// twice as many each time that it proves wrong again, but not for ever: data grows.
pub(super) const TERM: u64 = 300;

/// A bar lasts at most 2^6 times as long as the first.
const MOST_DOUBLINGS: u32 = 6;

/// A limit that proved wrong under a workload, or that was tried and proved no better.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Bar {
    level: LogicalLevel,
    limit: RunLimit,
    /// How often it did.
    proved: u32,
    /// Missions for which it is barred yet. At 0 it is not, and how often it proved wrong is
    /// kept. The whole term where that is not told, as by older programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    /// It proved no better, which is no reason to stay away where the model asks for it: it bars
    /// trials alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    trials_alone: bool,
}

impl Bar {
    /// It proved wrong for the first time, just now.
    pub fn new(level: LogicalLevel, limit: RunLimit) -> Bar {
        Bar {
            level,
            limit,
            proved: 1,
            left: None,
            trials_alone: false,
        }
    }

    fn term(&self) -> u64 {
        TERM << self.proved.saturating_sub(1).min(MOST_DOUBLINGS)
    }

    fn left(&self) -> u64 {
        let term = self.term();
        self.left.map_or(term, |left| left.min(term))
    }

    fn is_of(&self, level: LogicalLevel, limit: RunLimit) -> bool {
        self.level == level && self.limit == limit
    }

    /// Whether it is of a level that there is, as in a state file it may not be.
    pub fn is_sound(&self) -> bool {
        (1..=Layout::V1.levels).contains(&self.level.0)
    }
}

/// All bars under a workload, those that have run out too.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Bars(Vec<Bar>);

impl Bars {
    /// Those that were there when the workload was last seen.
    pub fn remembered(bars: &[Bar]) -> Bars {
        Bars(bars.to_vec())
    }

    /// All of them, to be remembered.
    pub fn all(&self) -> Vec<Bar> {
        self.0.clone()
    }

    /// A mission under the workload is over.
    pub fn pass(&mut self) {
        for bar in &mut self.0 {
            bar.left = Some(bar.left().saturating_sub(1));
        }
    }

    fn standing(&self, level: LogicalLevel, limit: RunLimit) -> impl Iterator<Item = &Bar> {
        let bars = self.0.iter();
        bars.filter(move |bar| bar.is_of(level, limit) && bar.left() > 0)
    }

    /// Whether a limit is barred.
    pub fn stand(&self, level: LogicalLevel, limit: RunLimit) -> bool {
        self.standing(level, limit).any(|bar| !bar.trials_alone)
    }

    /// Whether no trial of a limit is to be made.
    pub fn stop_trials(&self, level: LogicalLevel, limit: RunLimit) -> bool {
        self.standing(level, limit).next().is_some()
    }

    /// A limit has proved wrong.
    pub fn bar(&mut self, level: LogicalLevel, limit: RunLimit) {
        self.put(Bar::new(level, limit));
    }

    /// A trial of a limit has proved it no better.
    pub fn bar_trials(&mut self, level: LogicalLevel, limit: RunLimit) {
        self.put(Bar {
            trials_alone: true,
            ..Bar::new(level, limit)
        });
    }

    /// What stands is not lengthened. The two kinds are counted apart.
    fn put(&mut self, new: Bar) {
        let is_same =
            |it: &&mut Bar| it.is_of(new.level, new.limit) && it.trials_alone == new.trials_alone;
        match self.0.iter_mut().find(is_same) {
            Some(again) if again.left() == 0 => {
                again.proved = again.proved.saturating_add(1);
                again.left = None;
            }
            Some(_) => {}
            None => self.0.push(new),
        }
    }

    /// Bars the farther half of a way that proved wrong, and all beyond its end: cost has
    /// one valley along a limit. So a way is tried again at most as often as it can be
    /// halved, not one limit shorter each time.
    pub fn bar_way(&mut self, level: LogicalLevel, good: RunLimit, bad: RunLimit) {
        let (good, bad) = (good.get(), bad.get());
        let open = good.abs_diff(bad) / 2;
        let barred = if bad > good {
            good + open + 1..=Layout::V1.max_run_limit()
        } else {
            1..=good.saturating_sub(open + 1)
        };
        for limit in barred {
            self.bar(level, RunLimit::clamped(limit));
        }
    }

    /// These limits have proved best: none of them is wrong.
    pub fn lift(&mut self, limits: &RunLimits) {
        self.0.retain(|bar| limits.get(bar.level) != bar.limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: LogicalLevel = LogicalLevel(1);

    fn limit(runs: u16) -> RunLimit {
        RunLimit::clamped(runs)
    }

    /// Missions until a limit is barred no more.
    fn lasts(bars: &mut Bars, runs: u16) -> u64 {
        let mut missions = 0;
        while bars.stand(LEVEL, limit(runs)) {
            bars.pass();
            missions += 1;
        }
        missions
    }

    fn open(bars: &Bars) -> Vec<u16> {
        let open = |runs: &u16| !bars.stand(LEVEL, limit(*runs));
        (1..=12).filter(open).collect()
    }

    #[test]
    fn a_limit_that_proves_wrong_again_is_barred_for_twice_as_long() {
        let mut bars = Bars::default();
        let told = [(); 9].map(|()| {
            bars.bar(LEVEL, limit(2));
            bars.bar(LEVEL, limit(2));
            lasts(&mut bars, 2) / TERM
        });
        assert_eq!(told, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    }

    #[test]
    fn what_proved_no_better_bars_trials_alone_until_it_proves_wrong() {
        let mut bars = Bars::default();
        let barred = |bars: &Bars| {
            (
                bars.stand(LEVEL, limit(2)),
                bars.stop_trials(LEVEL, limit(2)),
            )
        };
        let terms = [(); 3].map(|()| {
            bars.bar_trials(LEVEL, limit(2));
            let mut missions = 0;
            while barred(&bars) == (false, true) {
                bars.pass();
                missions += 1;
            }
            missions / TERM
        });
        assert_eq!((terms, barred(&bars)), ([1, 2, 4], (false, false)));
        bars.bar_trials(LEVEL, limit(2));
        bars.bar(LEVEL, limit(2));
        bars.bar_trials(LEVEL, limit(2));
        assert_eq!(barred(&bars), (true, true));
        let text = serde_json::to_string(&bars.all()).expect("data");
        let read: Vec<Bar> = serde_json::from_str(&text).expect(&text);
        assert_eq!(Bars::remembered(&read), bars);
        assert_eq!(lasts(&mut bars, 2), TERM, "it proved wrong once");
        bars.bar_trials(LEVEL, limit(2));
        bars.bar(LEVEL, limit(2));
        assert_eq!(lasts(&mut bars, 2), 2 * TERM, "and twice by now");
    }

    #[test]
    fn what_is_left_of_a_bar_is_remembered_and_one_that_has_run_out_bars_nothing() {
        let mut bars = Bars::default();
        bars.bar(LEVEL, limit(2));
        lasts(&mut bars, 2);
        bars.bar(LEVEL, limit(3));
        for _ in 0..100 {
            bars.pass();
        }
        let text = serde_json::to_string(&bars.all()).expect("data");
        let read: Vec<Bar> = serde_json::from_str(&text).expect(&text);
        let mut later = Bars::remembered(&read);
        assert_eq!(later, bars);
        assert_eq!(open(&later), [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(lasts(&mut later, 3), TERM - 100);
        later.bar(LEVEL, limit(2));
        assert_eq!(lasts(&mut later, 2), 2 * TERM, "it proved wrong before");
    }

    #[test]
    fn a_bar_of_an_older_program_lasts_its_whole_term() {
        let old = r#"[{"level":1,"limit":2,"proved":2}]"#;
        let read: Vec<Bar> = serde_json::from_str(old).expect(old);
        assert_eq!(lasts(&mut Bars::remembered(&read), 2), 2 * TERM);
        let long = r#"[{"level":1,"limit":2,"proved":1,"left":18446744073709551615}]"#;
        let read: Vec<Bar> = serde_json::from_str(long).expect(long);
        assert_eq!(lasts(&mut Bars::remembered(&read), 2), TERM);
    }

    #[test]
    fn a_way_that_proved_wrong_is_halved() {
        let open = |ways: &[(u16, u16)]| {
            let mut bars = Bars::default();
            for (good, bad) in ways {
                bars.bar_way(LEVEL, limit(*good), limit(*bad));
            }
            open(&bars)
        };
        assert_eq!(open(&[(1, 10)]), [1, 2, 3, 4, 5]);
        assert_eq!(open(&[(1, 10), (1, 5), (1, 3), (1, 2)]), [1]);
        assert_eq!(open(&[(10, 1)]), [6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(open(&[(2, 1)]), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn limits_that_proved_best_are_not_barred_any_more() {
        let mut bars = Bars::default();
        bars.bar_way(LEVEL, limit(4), limit(5));
        bars.bar(LogicalLevel(2), limit(6));
        let mut best = RunLimits::uniform(limit(1));
        best.set(LEVEL, limit(6));
        bars.lift(&best);
        assert_eq!(open(&bars), [1, 2, 3, 4, 6]);
        assert!(bars.stand(LogicalLevel(2), limit(6)), "of another level");
    }
}
