//! What a mission teaches.

use super::super::fit::{Terms, dot};
use super::super::structure::Structure;
use super::super::times::error;
use super::seen::Seen;
use super::{Cost, FALSE_POSITIVES, NEWEST, Scan};
use crate::observation::Mission;
use crate::shape::RunLimits;
use crate::tree::Tree;

/// Weight of a mission where missions are blurred before they are learned: as many as a
/// compaction takes, two or three.
const BLUR: f64 = 0.5;

/// Probes that were looked at, beside which a level's rate before counts half: with one false
/// positive in a hundred it is known to a quarter of itself.
const PROBES: f64 = 1_000.0;

/// Seconds of compaction for a byte that can be believed: 10 GB/s to 1 MB/s.
const FASTEST_BYTE: f64 = 1e-10;
pub(super) const SLOWEST_BYTE: f64 = 1e-6;

/// Weight of a mission whose compactions were slower than those before it: they may have given
/// way to whoever wanted the device.
pub(super) const HINDERED: f64 = 0.02;

/// Weight that what compactions took keeps from mission to mission: their lumps are as many.
const LATELY: f64 = 0.95;

/// Weight of a mission in which more went on than is believed: one that gave way may be told in a
/// lump of minutes.
const MORE: f64 = 0.02;

/// More compactions at once are not believed.
const MOST_WORKERS: f64 = 64.0;

/// Times that what L0 holds is written until what was flushed before counts as nothing.
const BUFFERS: f64 = 16.0;

/// A mission with more of its time in stalls shows how fast compactions can go.
const STALLED: f64 = 0.2;

impl Cost {
    /// Takes up a mission and the tree after it. So many of the bytes that its compactions wrote
    /// are no rewrites of what came in: the learner had them merged for the reads' sake, and no
    /// limits would have been dearer or cheaper. `clocked` is the relative error of what its
    /// operations took, where a clock tells it better than their samples. Whether it tells what
    /// operations take.
    pub fn learn(
        &mut self,
        structure: &Structure<'_>,
        tree: &Tree,
        mission: &Mission,
        limits: &RunLimits,
        for_reads: f64,
        clocked: Option<f64>,
    ) -> bool {
        let Some(now) = Seen::of(mission) else {
            return false;
        };
        self.learn_filters(mission);
        let clients = now.clients;
        let (now, seen) = match self.seen {
            Some(before) => {
                let now = now.near(&before);
                (now, before.towards(now))
            }
            None => (now, now),
        };
        self.seen = Some(seen);
        self.usual.learn(&now);
        // Without a compaction of its own a mission tells what those before it did, once more.
        if now.compacted > 0.0 && now.compaction > 0.0 {
            self.learn_byte(seen.compaction / seen.compacted);
        }
        self.learn_workers(mission, clients);
        self.learn_stored(structure, mission);
        self.learn_rewrites(structure, mission, limits, for_reads);
        let met = self.met(&now, structure, tree);
        let (constants, error) = (self.constants(), clocked.unwrap_or_else(|| error(mission)));
        self.fit.compare(now.took, dot(&met, &constants), error);
        let (met, took) = self.blur(met, now.took);
        self.fit.learn(&met, took, dot(&met, &constants), error)
    }

    /// What operations like these met in the tree as it is.
    pub(super) fn met(&self, now: &Seen, structure: &Structure<'_>, tree: &Tree) -> Terms {
        let layout = &structure.shape().layout;
        let runs: Vec<f64> = layout
            .logical_levels()
            .take(structure.levels)
            .map(|level| tree.runs_of(layout, level).len() as f64)
            .collect();
        let level0 = tree.level0().len() as f64;
        let scan = scan(structure, tree, now.entries_of_scan());
        let compaction = now.compacted * self.byte;
        self.terms(now, &runs, level0, scan, compaction)
    }

    /// Slower than before may mean that compactions gave way, and is believed slowly; the first
    /// that are timed stand for themselves. How long they take beside others follows at once.
    fn learn_byte(&mut self, byte: f64) {
        let byte = byte.clamp(FASTEST_BYTE, SLOWEST_BYTE);
        let least = if byte < self.byte { NEWEST } else { HINDERED };
        self.timed = self.timed.saturating_add(1);
        let weight = (1.0 / f64::from(self.timed)).max(least);
        self.byte += weight * (byte - self.byte);
        let weight = if self.beside > 0.0 { NEWEST } else { 1.0 };
        self.beside += weight * (byte - self.beside);
    }

    /// A compaction is felt while it runs and counted in the mission in which it ends.
    /// Mission by mission its cost is sought where it is not, and found too small. What
    /// is linear stays so when both sides are averaged alike.
    fn blur(&mut self, met: Terms, took: f64) -> (Terms, f64) {
        // One number that is none would stay in the mean for ever.
        let finite = took.is_finite() && met.iter().all(|it| it.is_finite());
        if !self.blurs || !finite {
            return (met, took);
        }
        let (mut terms, mut time) = self.blurred.unwrap_or((met, took));
        for (old, new) in terms.iter_mut().zip(&met) {
            *old += BLUR * (new - *old);
        }
        time += BLUR * (took - time);
        self.blurred = Some((terms, time));
        (terms, time)
    }

    /// Where clients are held back, compactions are as many at once as can be; where they are not,
    /// there may be more, but no fewer than go on. Each client that waits counts its own stall.
    fn learn_workers(&mut self, mission: &Mission, clients: f64) {
        let duration = mission.duration.as_secs_f64().max(1e-6);
        let seconds = mission.compaction_seconds();
        // The first is not alone: it may be a lump.
        if self.time_of_late <= 0.0 {
            self.time_of_late = duration.max(1.0) / (1.0 - LATELY);
        }
        self.worked_of_late = LATELY * self.worked_of_late + seconds;
        self.time_of_late = LATELY * self.time_of_late + duration;
        if mission.stall.as_secs_f64() > STALLED * duration * clients.max(1.0) {
            let at_once = (seconds / duration).clamp(1.0, MOST_WORKERS);
            self.workers += NEWEST * (at_once - self.workers);
        } else {
            let of_late = (self.worked_of_late / self.time_of_late).min(MOST_WORKERS);
            self.workers += MORE * (of_late - self.workers).max(0.0);
        }
    }

    /// A flush comes once a buffer is full, so that sums are compared, and as much as L0 holds is
    /// taken to be stored as it is written.
    fn learn_stored(&mut self, structure: &Structure<'_>, mission: &Mission) {
        let written = mission.user_write_bytes as f64;
        let level0 = structure.shape().level0_bytes().max(1) as f64;
        if self.written <= 0.0 {
            (self.written, self.flushed) = (level0, level0);
        }
        let kept = (-written / (BUFFERS * level0)).exp();
        self.written = self.written * kept + written;
        self.flushed = self.flushed * kept + mission.flush_write_bytes as f64;
    }

    /// Merges come in lumps, the large ones seldom: what one mission saw over what it
    /// should have seen is mostly nothing, and then far too much. So sums are compared,
    /// over the writes that turn the tree over, and the structure holds for as many. What is no
    /// rewrite is taken out of the mission that counts it: where nobody wrote nothing is counted.
    fn learn_rewrites(
        &mut self,
        structure: &Structure<'_>,
        mission: &Mission,
        limits: &RunLimits,
        for_reads: f64,
    ) {
        if mission.user_write_bytes == 0 {
            return;
        }
        let rewrites = structure.under(limits).rewrites;
        let foretold = mission.user_write_bytes as f64 * rewrites;
        let turn = structure.turnover() * rewrites;
        let kept = (-foretold / (2.0 * turn)).exp();
        self.foretold = self.foretold * kept + foretold;
        let compacted = mission.compaction_write_bytes as f64 - for_reads;
        self.compacted = self.compacted * kept + compacted.max(0.0);
        let ratio = (self.compacted + turn) / (self.foretold + turn);
        self.rewrites = ratio.clamp(0.25, 4.0);
    }

    /// Probes are told scaled up from those of the gets that were looked at, and count by these.
    fn learn_filters(&mut self, mission: &Mission) {
        let [(gets, told), ..] = mission.kinds();
        let looked_at = match told.count {
            0 => 1.0,
            timed => (timed as f64 / gets.max(1.0)).min(1.0),
        };
        for (at, level) in mission.levels.iter().enumerate() {
            if self.false_positives.len() <= at {
                self.false_positives.push(FALSE_POSITIVES);
            }
            let wrong = level.filter_false_positive() as f64;
            let asked = wrong + level.filter_useful as f64;
            if asked > 0.0 {
                let probes = asked * looked_at;
                let rate = &mut self.false_positives[at];
                let weight = (probes / (probes + PROBES)).min(NEWEST);
                *rate += weight * (wrong / asked - *rate);
            }
        }
    }
}

/// What a scan of so many entries takes of the tree as it is.
fn scan(structure: &Structure<'_>, tree: &Tree, entries: f64) -> Scan {
    let sizes = tree.runs().map(|run| tree.bytes(run) as f64);
    let level0 = tree.level0().len() as f64;
    Scan {
        reads: sizes
            .map(|bytes| structure.reads(bytes, entries))
            .sum::<f64>()
            + structure.reads_of_level0(level0, entries),
        passed: structure.passed_now(),
    }
}
