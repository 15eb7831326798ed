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

/// But not while less was flushed since than comes so many times into the first level in which
/// they differ: then there was hardly anything to compare them with.
const RECENT_INFLOWS: f64 = 2.0;

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

/// What runs will meet later is a model's word, and moves with what is usual: so much of it may be
/// wrong, relative. Who is called back by it is not called again by a little more of it.
const DOUBT: f64 = 0.5;

/// Limits that held, and what an operation took under them.
#[derive(Clone, Debug)]
struct Tried {
    limits: RunLimits,
    missions: u32,
    /// Bytes that were flushed meanwhile.
    flushed: f64,
    mean: f64,
    /// Of the missions around their mean.
    variance: f64,
    last: u64,
    /// Bytes that had been flushed in the phase by then.
    until: f64,
}

impl Tried {
    /// These limits, of which this is expected and nothing known.
    fn new(limits: &RunLimits, expected: f64) -> Tried {
        Tried {
            limits: limits.clone(),
            missions: 0,
            flushed: 0.0,
            mean: expected,
            variance: 0.0,
            last: 0,
            until: 0.0,
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

    /// Whether so much was flushed as comes at once into a level in which they differ from the
    /// others: before that their trees are one, and there is nothing to measure.
    fn shows(&self, others: &RunLimits, inflows: &[f64]) -> bool {
        let least = least_inflow(&self.limits, others, inflows);
        least.is_none_or(|inflow| self.flushed >= inflow)
    }
}

/// Bytes that come at once into the first level of the tree in which limits differ.
fn least_inflow(one: &RunLimits, other: &RunLimits, inflows: &[f64]) -> Option<f64> {
    let levels = one.differences(other);
    let mut inflows = levels.filter_map(|level| inflows.get(usize::from(level.0) - 1));
    inflows.next().copied()
}

/// Limits that were left before they were measured, so that nothing measured calls back.
#[derive(Clone, Debug)]
struct Left {
    /// They, and what an operation is believed to take under them.
    tried: Tried,
    /// What the model expected of those to come.
    promised: f64,
    /// Those have been measured since, and found another.
    proved: bool,
    /// The tree has become much larger or smaller: there is nothing to prove the limits gone to
    /// against any more, and they stay unproved for as long as this is recent.
    stale: bool,
}

/// One workload, for as long as it lasts.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase {
    /// Means count as different only by their spread.
    by_spread: bool,
    missions: u64,
    /// Bytes of the data that was measured.
    data: Option<f64>,
    /// Bytes that come at once into each level of the tree, level 1 first.
    inflows: Vec<f64>,
    /// Bytes that were flushed so far.
    flushed: f64,
    tried: Vec<Tried>,
    /// Missions since the limits last changed.
    pub held: u32,
    now: Option<RunLimits>,
    /// Bytes that were flushed under these and stand in no [`Tried`] yet.
    fresh: f64,
    left: Option<Left>,
    pub bars: Bars,
    /// Levels that marched together proved wrong: for so many missions they march one by one.
    pub one_by_one: u64,
}

impl Phase {
    /// A workload of which nothing is known; whether means are compared by their spread.
    pub fn new(by_spread: bool) -> Phase {
        Phase {
            by_spread,
            ..Phase::default()
        }
    }

    /// The same workload was seen before, and had these bars; for so many missions levels were yet
    /// to march one by one.
    pub fn remembering(mut self, bars: &[Bar], one_by_one: u64) -> Phase {
        self.bars = Bars::remembered(bars);
        self.one_by_one = one_by_one;
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

    /// The tree holds so many bytes of data, and these come at once into its levels. What was
    /// measured of a much smaller or larger one is forgotten: while a tree grows everything gets
    /// slower, under any limits. What was left unmeasured stays so.
    pub fn grow(&mut self, data: f64, inflows: Vec<f64>) {
        self.inflows = inflows;
        let measured = *self.data.get_or_insert(data);
        if data > GROWN * measured || data * GROWN < measured {
            self.data = Some(data);
            self.tried.clear();
            self.left = self.left.take().filter(|left| !left.proved);
            if let Some(left) = &mut self.left {
                left.stale = true;
            }
        }
    }

    /// A mission under these limits, in which so many bytes were flushed, took so long for each
    /// operation, if that is known.
    pub fn record(&mut self, limits: &RunLimits, cost: Option<f64>, flushed: u64) {
        self.missions += 1;
        self.bars.pass();
        self.one_by_one = self.one_by_one.saturating_sub(1);
        if self.now.as_ref().is_some_and(|now| now.is_same(limits)) {
            self.held += 1;
        } else {
            self.now = Some(limits.clone());
            (self.held, self.fresh) = (1, 0.0);
        }
        self.flushed += flushed as f64;
        self.fresh += flushed as f64;
        let Some(cost) = cost.filter(|_| self.held > SETTLING) else {
            return;
        };
        let at = self.tried.iter().position(|it| it.limits.is_same(limits));
        let at = at.unwrap_or_else(|| {
            self.tried.push(Tried::new(limits, cost));
            self.tried.len() - 1
        });
        let (last, tried) = (self.missions, &mut self.tried[at]);
        tried.learn(cost, last);
        tried.flushed += std::mem::take(&mut self.fresh);
        tried.until = self.flushed;
        let mut tried = std::mem::take(&mut self.tried);
        tried.retain(|it| last - it.last < OLD || self.awaits_inflow(it, limits));
        self.tried = tried;
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
    /// relative, and by more than missions differ. What the runs under limits will meet later,
    /// which no mission shows, costs `later` more than what they meet now.
    pub fn clearly(
        &self,
        better: &RunLimits,
        worse: &RunLimits,
        by: f64,
        later: impl Fn(&RunLimits) -> f64,
    ) -> bool {
        let known = self.known(better).zip(self.known(worse));
        known.is_some_and(|(better, worse)| self.apart(better, worse, by, &later))
    }

    fn apart(
        &self,
        better: &Tried,
        worse: &Tried,
        by: f64,
        later: &impl Fn(&RunLimits) -> f64,
    ) -> bool {
        let error = if self.by_spread {
            (better.error() + worse.error()).sqrt()
        } else {
            0.0
        };
        let to_come = later(&worse.limits) - later(&better.limits);
        let gap = worse.mean - better.mean + to_come - DOUBT * to_come.abs();
        self.differ(better, worse) && gap > better.mean * by && gap > ERRORS * error
    }

    /// Whether there is a difference between their trees: those of the present limits are as the
    /// others have left them at first.
    fn differ(&self, one: &Tried, other: &Tried) -> bool {
        let now = self.now.as_ref();
        let (now, before) = match now.is_some_and(|now| now.is_same(&one.limits)) {
            true => (one, other),
            false => (other, one),
        };
        now.shows(&before.limits, &self.inflows)
    }

    /// Whether the present limits could have shown how they differ from these.
    pub fn have_shown(&self, limits: &RunLimits, others: &RunLimits) -> bool {
        let known = self.known(limits);
        known.is_some_and(|it| it.shows(others, &self.inflows))
    }

    /// Whether limits held lately, or these could not be compared with them since.
    fn is_recent(&self, tried: &Tried, now: &RunLimits) -> bool {
        self.missions - tried.last <= RECENT || self.awaits_inflow(tried, now)
    }

    /// Whether little was flushed since limits held, for what these would change.
    fn awaits_inflow(&self, tried: &Tried, now: &RunLimits) -> bool {
        let inflow = least_inflow(&tried.limits, now, &self.inflows);
        let since = self.flushed - tried.until;
        inflow.is_some_and(|inflow| since <= RECENT_INFLOWS * inflow)
    }

    /// Limits that were clearly better than these, with both costs. That they are barred
    /// is no reason to stay: they were measured. `later` as in [`Phase::clearly`].
    pub fn better(
        &self,
        limits: &RunLimits,
        later: impl Fn(&RunLimits) -> f64,
    ) -> Option<(RunLimits, f64, f64)> {
        self.settled()?;
        let now = self.known(limits)?;
        let better = |it: &&Tried| {
            it.missions >= ENOUGH
                && self.is_recent(it, limits)
                && self.apart(it, now, WORSE, &later)
        };
        let counts = |it: &Tried| it.mean + later(&it.limits);
        let best = self.tried.iter().filter(better);
        let best = best.min_by(|a, b| counts(a).total_cmp(&counts(b)))?;
        Some((best.limits.clone(), best.mean, now.mean))
    }

    /// These limits are left before they were measured. An operation is believed to take
    /// `cost` under them, and the model expects `promised` of those to come.
    pub fn leave(&mut self, limits: &RunLimits, cost: f64, promised: f64) {
        self.left = Some(Left {
            // It stands for one mission.
            tried: Tried {
                missions: 1,
                last: self.missions,
                until: self.flushed,
                ..Tried::new(limits, cost)
            },
            promised,
            proved: false,
            stale: false,
        });
    }

    /// The limits that were left unmeasured, where the present ones have proved worse, with
    /// both costs and what was promised of these. It is said once. `later` as in
    /// [`Phase::clearly`].
    pub fn regret(
        &mut self,
        limits: &RunLimits,
        later: impl Fn(&RunLimits) -> f64,
    ) -> Option<(RunLimits, [f64; 3])> {
        self.settled()?;
        let mut left = self.left.take_if(|left| !left.stale)?;
        if !self.is_recent(&left.tried, limits) || left.tried.limits.is_same(limits) {
            return None;
        }
        if let Some(now) = self.known(limits) {
            let unforeseen = now.mean > left.promised * (1.0 + WORSE);
            if unforeseen && self.apart(&left.tried, now, WORSE, &later) {
                let costs = [left.tried.mean, now.mean, left.promised];
                return Some((left.tried.limits, costs));
            }
            left.proved |= self.differ(&left.tried, now);
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
