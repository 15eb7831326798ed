//! What was measured since the workload last changed: which limits were tried, at
//! what cost, and which steps proved wrong.

use serde::{Deserialize, Serialize};

use crate::layout::{Layout, LogicalLevel};
use crate::shape::{RunLimit, RunLimits};

/// Missions after a change of limits that still show the old ones.
const SETTLING: u32 = 2;

/// Missions from which a mean is believed.
const ENOUGH: u32 = 4;

/// Missions that a mean looks back on, about.
const MEMORY: u32 = 24;

/// Measurements older than so many missions are forgotten: data grows and caches fill. A
/// limit that proved wrong is barred for as long, and twice as long each time that it proves
/// wrong again, but not for ever.
const OLD: u64 = 300;

/// Limits that were left so many missions ago are no measure of the present ones: a tree that
/// fills with old versions gets slower under any limits.
const RECENT: u64 = 48;

/// A bar lasts at most 2^6 times as long as the first.
const MOST_DOUBLINGS: u32 = 6;

/// A cost is worse when it is higher by this, relative.
pub(super) const WORSE: f64 = 0.05;

/// Deviation of missions from their mean, relative, that is expected before they show
/// their own, and missions for which that counts.
const SPREAD: f64 = 0.1;
const EXPECTED: f64 = 2.0;

/// Means that lie as many standard errors apart are different.
const ERRORS: f64 = 2.0;

/// Limits that held, and what an operation took under them.
#[derive(Clone, Debug)]
struct Tried {
    limits: RunLimits,
    missions: u32,
    mean: f64,
    /// Of the missions around their mean.
    variance: f64,
    last: u64,
}

impl Tried {
    fn learn(&mut self, cost: f64, at: u64) {
        self.missions += 1;
        self.last = at;
        let weight = 1.0 / f64::from(self.missions.min(MEMORY));
        let off = cost - self.mean;
        self.mean += weight * off;
        self.variance = (1.0 - weight) * (self.variance + weight * off * off);
    }

    /// Of the mean: the square of its standard error.
    fn error(&self) -> f64 {
        let missions = f64::from(self.missions.min(MEMORY));
        let expected = (SPREAD * self.mean).powi(2);
        let variance = (EXPECTED * expected + missions * self.variance) / (EXPECTED + missions);
        variance / missions.max(1.0)
    }
}

/// A limit that proved wrong under a workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Bar {
    level: LogicalLevel,
    limit: RunLimit,
    /// How often it did.
    proved: u32,
}

impl Bar {
    /// Missions that it lasts.
    fn lasts(&self) -> u64 {
        OLD << self.proved.saturating_sub(1).min(MOST_DOUBLINGS)
    }
}

/// A bar, and when it was last put up.
#[derive(Clone, Debug)]
struct Barred {
    bar: Bar,
    at: u64,
}

/// One workload, for as long as it lasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// Means count as different only by their spread.
    by_spread: bool,
    missions: u64,
    tried: Vec<Tried>,
    /// Missions since the limits last changed.
    pub held: u32,
    now: Option<RunLimits>,
    /// Those that have run out are kept, with how often they were proved right.
    barred: Vec<Barred>,
    /// Levels that marched together proved wrong: they march one by one.
    pub one_by_one: bool,
}

/// Whether two spellings mean the same limits.
pub(super) fn same(a: &RunLimits, b: &RunLimits) -> bool {
    let mut levels = Layout::V1.logical_levels();
    levels.all(|level| a.get(level) == b.get(level))
}

impl Phase {
    /// A workload of which nothing is known; whether means are compared by their spread.
    pub fn new(by_spread: bool) -> Phase {
        Phase {
            by_spread,
            ..Phase::default()
        }
    }

    /// The same workload was seen before, and had these bars.
    pub fn remembering(mut self, bars: &[Bar]) -> Phase {
        let barred = bars.iter().map(|bar| Barred {
            bar: bar.clone(),
            at: 0,
        });
        self.barred = barred.collect();
        self
    }

    /// The bars that were ever put up.
    pub fn bars(&self) -> impl Iterator<Item = &Bar> {
        self.barred.iter().map(|it| &it.bar)
    }

    /// The limits are to be measured before they are left, for a reason that the
    /// missions do not show.
    pub fn measure_first(&mut self) {
        self.missions += 1;
    }

    /// Missions so far.
    pub fn missions(&self) -> u64 {
        self.missions
    }

    /// Whether the limits have not changed since the first mission, nor with it.
    pub fn has_held_from_the_start(&self) -> bool {
        u64::from(self.held) == self.missions
    }

    /// A mission under these limits took so long for each operation, if that is
    /// known.
    pub fn record(&mut self, limits: &RunLimits, cost: Option<f64>) {
        self.missions += 1;
        if self.now.as_ref().is_some_and(|now| same(now, limits)) {
            self.held += 1;
        } else {
            self.now = Some(limits.clone());
            self.held = 1;
        }
        let Some(cost) = cost.filter(|_| self.held > SETTLING) else {
            return;
        };
        let last = self.missions;
        match self.tried.iter_mut().find(|it| same(&it.limits, limits)) {
            Some(tried) => tried.learn(cost, last),
            None => self.tried.push(Tried {
                limits: limits.clone(),
                missions: 1,
                mean: cost,
                variance: 0.0,
                last,
            }),
        }
        self.tried.retain(|it| last - it.last < OLD);
    }

    /// What an operation took under limits that held long enough.
    pub fn mean(&self, limits: &RunLimits) -> Option<f64> {
        self.known(limits).map(|it| it.mean)
    }

    fn known(&self, limits: &RunLimits) -> Option<&Tried> {
        let known = self.tried.iter().find(|it| same(&it.limits, limits));
        known.filter(|it| it.missions >= ENOUGH)
    }

    /// Whether the first limits were measured to be better than the others by so much,
    /// relative, and by more than missions differ.
    pub fn clearly(&self, better: &RunLimits, worse: &RunLimits, by: f64) -> bool {
        let known = self.known(better).zip(self.known(worse));
        known.is_some_and(|(better, worse)| self.apart(better, worse, by))
    }

    fn apart(&self, better: &Tried, worse: &Tried, by: f64) -> bool {
        let error = if self.by_spread {
            (better.error() + worse.error()).sqrt()
        } else {
            0.0
        };
        let gap = worse.mean - better.mean;
        gap > better.mean * by && gap > ERRORS * error
    }

    /// Limits that were clearly better than these, with both costs.
    pub fn better(&self, limits: &RunLimits) -> Option<(RunLimits, f64, f64)> {
        if self.held < SETTLING + ENOUGH {
            return None;
        }
        let now = self.known(limits)?;
        let open = |it: &&Tried| {
            let levels = Layout::V1.logical_levels();
            let mut changed = levels.filter(|level| it.limits.get(*level) != limits.get(*level));
            it.missions >= ENOUGH
                && self.missions - it.last <= RECENT
                && !changed.any(|level| self.is_barred(level, it.limits.get(level)))
        };
        let known = self.tried.iter().filter(open);
        let best = known.min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let clearly = self.apart(best, now, WORSE);
        clearly.then(|| (best.limits.clone(), best.mean, now.mean))
    }

    /// The present limits, if they have held long enough to speak of.
    pub fn settled(&self) -> Option<&RunLimits> {
        self.now.as_ref().filter(|_| self.held >= SETTLING + ENOUGH)
    }

    /// Forbids a limit for a while.
    pub fn bar(&mut self, level: LogicalLevel, limit: RunLimit) {
        let at = self.missions;
        let of = |it: &&mut Barred| it.bar.level == level && it.bar.limit == limit;
        match self.barred.iter_mut().find(of) {
            Some(again) if at - again.at >= again.bar.lasts() => {
                again.bar.proved += 1;
                again.at = at;
            }
            Some(_) => {}
            None => {
                let bar = Bar {
                    level,
                    limit,
                    proved: 1,
                };
                self.barred.push(Barred { bar, at });
            }
        }
    }

    /// Forbids the farther half of a way that proved wrong, and all beyond its end: cost
    /// has one valley along a limit. So a way is tried again at most as often as it can
    /// be halved, not one limit shorter each time.
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

    /// Whether a limit proved wrong, not too long ago.
    pub fn is_barred(&self, level: LogicalLevel, limit: RunLimit) -> bool {
        let holds = |it: &Barred| {
            let is_of = it.bar.level == level && it.bar.limit == limit;
            is_of && self.missions - it.at < it.bar.lasts()
        };
        self.barred.iter().any(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    fn hold(phase: &mut Phase, limit: u16, cost: f64, missions: u32) {
        for _ in 0..missions {
            phase.record(&limits(limit), Some(cost));
        }
    }

    #[test]
    fn a_step_that_made_it_worse_is_known_and_one_inside_the_noise_is_not() {
        let mut phase = Phase::default();
        hold(&mut phase, 1, 10.0, 20);
        hold(&mut phase, 2, 12.0, SETTLING + ENOUGH - 1);
        assert_eq!(phase.better(&limits(2)), None, "not believed yet");
        hold(&mut phase, 2, 12.0, 1);
        let (back, best, now) = phase.better(&limits(2)).expect("worse");
        assert_eq!((back, best, now), (limits(1), 10.0, 12.0));
        hold(&mut phase, 3, 10.4, 20);
        assert_eq!(phase.better(&limits(3)), None);
    }

    #[test]
    fn what_is_old_or_barred_calls_nobody_back() {
        let mut phase = Phase::default();
        hold(&mut phase, 1, 10.0, 20);
        hold(&mut phase, 2, 12.0, OLD as u32 + 20);
        assert_eq!(phase.better(&limits(2)), None, "too long ago");
        hold(&mut phase, 3, 9.0, 20);
        phase.bar(LogicalLevel(1), RunLimit::clamped(3));
        hold(&mut phase, 2, 12.0, 20);
        assert_eq!(phase.better(&limits(2)), None, "barred");
        hold(&mut phase, 2, 12.0, OLD as u32);
        assert!(!phase.is_barred(LogicalLevel(1), RunLimit::clamped(3)));
    }

    #[test]
    fn a_limit_that_proves_wrong_again_is_barred_for_twice_as_long() {
        let (level, two) = (LogicalLevel(1), RunLimit::clamped(2));
        let lasts = |phase: &mut Phase| {
            phase.bar(level, two);
            phase.bar(level, two);
            (0..).find(|_| {
                hold(phase, 1, 10.0, 1);
                !phase.is_barred(level, two)
            })
        };
        let mut phase = Phase::default();
        let told: Vec<u64> = (0..3).filter_map(|_| lasts(&mut phase)).collect();
        assert_eq!(told, [OLD - 1, 2 * OLD - 1, 4 * OLD - 1]);
        let bars: Vec<Bar> = phase.bars().cloned().collect();
        let mut later = Phase::default().remembering(&bars);
        assert!(later.is_barred(level, two));
        hold(&mut later, 1, 10.0, 4 * OLD as u32);
        assert!(!later.is_barred(level, two));
        assert_eq!(lasts(&mut later), Some(8 * OLD - 1));
    }

    #[test]
    fn a_difference_within_the_spread_is_none() {
        let worse_than_noise = |by_spread: bool| {
            let mut phase = Phase::new(by_spread);
            for limit in [1u16, 2] {
                // Means of 10.0 and 11.0, where missions differ by as much as 8.
                for at in 0..10 {
                    let swing = if at % 2 == 0 { 4.0 } else { -4.0 };
                    let cost = 9.0 + f64::from(limit) + swing;
                    phase.record(&limits(limit), Some(cost));
                }
            }
            phase.better(&limits(2)).is_some()
        };
        assert!(worse_than_noise(false) && !worse_than_noise(true));
        let mut even = Phase::new(true);
        hold(&mut even, 1, 10.0, 20);
        hold(&mut even, 2, 11.0, 20);
        assert!(even.better(&limits(2)).is_some());
    }

    #[test]
    fn a_way_that_proved_wrong_is_halved() {
        let level = LogicalLevel(1);
        let open = |ways: &[(u16, u16)]| -> Vec<u16> {
            let mut phase = Phase::default();
            for (good, bad) in ways {
                phase.bar_way(level, RunLimit::clamped(*good), RunLimit::clamped(*bad));
            }
            (1..=12)
                .filter(|limit| !phase.is_barred(level, RunLimit::clamped(*limit)))
                .collect()
        };
        assert_eq!(open(&[(1, 10)]), [1, 2, 3, 4, 5]);
        assert_eq!(open(&[(1, 10), (1, 5), (1, 3), (1, 2)]), [1]);
        assert_eq!(open(&[(10, 1)]), [6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(open(&[(2, 1)]), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }

    #[test]
    fn limits_are_the_same_however_they_are_spelled() {
        let mut long = limits(4);
        long.set(LogicalLevel(3), RunLimit::clamped(4));
        assert!(same(&long, &limits(4)));
        let mut phase = Phase::default();
        phase.record(&limits(4), Some(1.0));
        phase.record(&long, Some(1.0));
        assert_eq!(phase.held, 2);
    }
}
