//! What was measured since the workload last changed: which limits were tried, at
//! what cost, and which steps proved wrong.

use super::bars::{Bar, Bars};
use crate::shape::RunLimits;

/// Missions after a change of limits that still show the old ones.
const SETTLING: u32 = 2;

/// Missions from which a mean is believed.
const ENOUGH: u32 = 4;

/// Missions that a mean looks back on, about.
const MEMORY: u32 = 24;

/// Measurements older than so many missions are forgotten: data grows and caches fill.
const OLD: u64 = 300;

/// Limits that were left so many missions ago are no measure of the present ones: a tree that
/// fills with old versions gets slower under any limits.
const RECENT: u64 = 48;

/// Data that is so many times as large, or as small, is another tree's.
const GROWN: f64 = 1.25;

/// A cost is worse when it is higher by this, relative.
pub(super) const WORSE: f64 = 0.05;

/// Deviation of missions from their mean, relative, that is expected before they show
/// their own, and missions for which that counts.
const SPREAD: f64 = 0.1;
const EXPECTED: f64 = 2.0;

/// A mission counts with at most so many times the mean: few of its operations are timed, and
/// one that met a pause of the machine stands for a hundred that did not.
const MOST: f64 = 4.0;

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
    /// One mission under these limits, or what stands for one.
    fn once(limits: &RunLimits, cost: f64, at: u64) -> Tried {
        Tried {
            limits: limits.clone(),
            missions: 1,
            mean: cost,
            variance: 0.0,
            last: at,
        }
    }

    fn learn(&mut self, cost: f64, at: u64) {
        self.missions += 1;
        self.last = at;
        let cost = cost.min(MOST * self.mean);
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

/// Limits that were left before they were measured, so that nothing measured calls back.
#[derive(Clone, Debug)]
struct Left {
    /// They, and what an operation is believed to take under them.
    tried: Tried,
    /// What the model expected of those to come.
    promised: f64,
    /// Those have been measured since.
    proved: bool,
}

/// One workload, for as long as it lasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// Means count as different only by their spread.
    by_spread: bool,
    missions: u64,
    /// Bytes of the data that was measured.
    data: Option<f64>,
    tried: Vec<Tried>,
    /// Missions since the limits last changed.
    pub held: u32,
    now: Option<RunLimits>,
    left: Option<Left>,
    pub bars: Bars,
    /// Levels that marched together proved wrong: they march one by one.
    pub one_by_one: bool,
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
        self.bars = Bars::remembered(bars);
        self
    }

    /// The limits are to be measured before they are left, for a reason that the
    /// missions do not show.
    pub fn measure_first(&mut self) {
        self.missions += 1;
    }

    /// Missions so far.
    #[cfg(test)]
    pub fn missions(&self) -> u64 {
        self.missions
    }

    /// Whether the limits have not changed since the first mission, nor with it.
    pub fn has_held_from_the_start(&self) -> bool {
        u64::from(self.held) == self.missions
    }

    /// The tree holds so many bytes of data. What was measured of a much smaller or larger one
    /// is forgotten: while a tree grows everything gets slower, under any limits.
    pub fn grow(&mut self, data: f64) {
        let measured = *self.data.get_or_insert(data);
        if data > GROWN * measured || data * GROWN < measured {
            self.data = Some(data);
            self.tried.clear();
            self.left = None;
        }
    }

    /// A mission under these limits took so long for each operation, if that is
    /// known.
    pub fn record(&mut self, limits: &RunLimits, cost: Option<f64>) {
        self.missions += 1;
        self.bars.pass();
        if self.now.as_ref().is_some_and(|now| now.is_same(limits)) {
            self.held += 1;
        } else {
            self.now = Some(limits.clone());
            self.held = 1;
        }
        let Some(cost) = cost.filter(|_| self.held > SETTLING) else {
            return;
        };
        let last = self.missions;
        match self.tried.iter_mut().find(|it| it.limits.is_same(limits)) {
            Some(tried) => tried.learn(cost, last),
            None => self.tried.push(Tried::once(limits, cost, last)),
        }
        self.tried.retain(|it| last - it.last < OLD);
    }

    /// What an operation took under limits that held long enough.
    pub fn mean(&self, limits: &RunLimits) -> Option<f64> {
        self.known(limits).map(|it| it.mean)
    }

    fn known(&self, limits: &RunLimits) -> Option<&Tried> {
        let known = self.tried.iter().find(|it| it.limits.is_same(limits));
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

    /// Limits that were clearly better than these, with both costs. That they are barred
    /// is no reason to stay: they were measured.
    pub fn better(&self, limits: &RunLimits) -> Option<(RunLimits, f64, f64)> {
        self.settled()?;
        let now = self.known(limits)?;
        let recent = |it: &&Tried| it.missions >= ENOUGH && self.missions - it.last <= RECENT;
        let known = self.tried.iter().filter(recent);
        let best = known.min_by(|a, b| a.mean.total_cmp(&b.mean))?;
        let clearly = self.apart(best, now, WORSE);
        clearly.then(|| (best.limits.clone(), best.mean, now.mean))
    }

    /// These limits are left before they were measured. An operation is believed to take
    /// `cost` under them, and the model expects `promised` of those to come.
    pub fn leave(&mut self, limits: &RunLimits, cost: f64, promised: f64) {
        self.left = Some(Left {
            tried: Tried::once(limits, cost, self.missions),
            promised,
            proved: false,
        });
    }

    /// The limits that were left unmeasured, where the present ones have proved worse, with
    /// both costs and what was promised of these. It is said once.
    pub fn regret(&mut self, limits: &RunLimits) -> Option<(RunLimits, [f64; 3])> {
        self.settled()?;
        let mut left = self.left.take()?;
        let old = self.missions - left.tried.last > RECENT;
        if old || left.tried.limits.is_same(limits) {
            return None;
        }
        if let Some(now) = self.known(limits) {
            let unforeseen = now.mean > left.promised * (1.0 + WORSE);
            if unforeseen && self.apart(&left.tried, now, WORSE) {
                let costs = [left.tried.mean, now.mean, left.promised];
                return Some((left.tried.limits, costs));
            }
            left.proved = true;
        }
        self.left = Some(left);
        None
    }

    /// Limits that were left unmeasured for others that are not measured yet either.
    pub fn unproved(&self) -> Option<&RunLimits> {
        let left = self.left.as_ref().filter(|left| !left.proved)?;
        let recent = self.missions - left.tried.last <= RECENT;
        recent.then_some(&left.tried.limits)
    }

    /// The present limits, if they have held long enough to speak of.
    pub fn settled(&self) -> Option<&RunLimits> {
        self.now.as_ref().filter(|_| self.held >= SETTLING + ENOUGH)
    }
}

#[cfg(test)]
#[path = "phase_tests.rs"]
mod tests;
