//! What an operation takes, by run limits.
//!
//! time = gets * (a + b * false positives) + scans * (c + d * runs) + writes * e
//!        + f * compaction
//!
//! and never less than compactions take to keep up: clients * compaction / workers.
//! Here compaction is seconds of compaction for each operation, and clients are the
//! operations under way at once. The constants a to f are fitted ([`super::fit`]);
//! what compaction takes for each byte is measured.

use serde::{Deserialize, Serialize};

use super::fit::{Fit, TERMS, Terms};
use super::structure::{Shaped, Structure};
use super::times::waited;
use super::usual::Usual;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::RunLimits;
use crate::tree::Tree;

/// Seconds before anything was seen: an SSD and a core of 2020 or later.
const PRIOR: Terms = [60e-6, 120e-6, 80e-6, 60e-6, 12e-6, 0.5];

/// How wrong the prior may be, relative.
const DOUBT: f64 = 1.0;

/// Seconds for whoever knows nothing, and how wrong they may be.
const NO_PRIOR: Terms = [50e-6, 50e-6, 50e-6, 50e-6, 50e-6, 0.5];
const NO_PRIOR_DOUBT: f64 = 100.0;

/// Weight of a mission against all before it.
const NEWEST: f64 = 0.25;

/// The same where missions are blurred before they are learned: as many as a compaction
/// takes, two or three.
const BLUR: f64 = 0.5;

/// Rate of false positives, and what asking a run costs beside, in such rates,
/// before filters were seen at work.
const FALSE_POSITIVES: f64 = 0.02;
const ASKING: f64 = 0.005;

/// Probes from which a level's rate is believed.
const ENOUGH_PROBES: f64 = 1_000.0;

/// Seconds of compaction for a byte that can be believed: 10 GB/s to 1 MB/s.
const FASTEST_BYTE: f64 = 1e-10;
const SLOWEST_BYTE: f64 = 1e-6;

/// A mission with more of its time in stalls shows how fast compactions can go.
const STALLED: f64 = 0.2;

/// Means that follow the missions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Cost {
    fit: Fit,
    /// Without the prior, for comparisons; not kept over a restart.
    #[serde(skip)]
    ignorant: bool,
    /// What missions met and took is blurred before it is learned; not kept over a
    /// restart.
    #[serde(skip)]
    blurs: bool,
    #[serde(skip)]
    blurred: Option<(Terms, f64)>,
    /// Limits are chosen for what their runs will meet, not for the present alone.
    #[serde(skip)]
    hedges: bool,
    #[serde(default)]
    usual: Usual,
    /// Missions that the present workload is expected to last in all.
    #[serde(skip)]
    lasts: f64,
    /// An operation of late; not kept over a restart.
    #[serde(skip)]
    seen: Option<Seen>,
    /// Rates of false positives by level.
    false_positives: Vec<f64>,
    /// Seconds of compaction for each byte that it writes.
    byte: f64,
    /// Bytes that compactions write, over what the structure foretells.
    rewrites: f64,
    /// Both of late: the sums of which `rewrites` is the ratio.
    #[serde(default)]
    compacted: f64,
    #[serde(default)]
    foretold: f64,
    /// Compactions that go on at once when they cannot keep up.
    workers: f64,
}

/// An operation of late, on average.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seen {
    /// In a mission.
    operations: f64,
    gets: f64,
    scans: f64,
    writes: f64,
    written: f64,
    compaction: f64,
    compacted: f64,
    clients: f64,
    /// Stalls left out.
    took: f64,
}

/// The time of writes that were held back counts as stall, their own work too: at least
/// this share of a wait is no stall.
const NO_STALL: f64 = 0.2;

impl Seen {
    fn of(mission: &Mission) -> Option<Seen> {
        let mix = &mission.operations;
        let gets = mix.gets_found as f64 + mix.gets_absent as f64;
        let (scans, writes) = (mix.scans as f64, mix.writes as f64 + mix.deletes as f64);
        let operations = gets + scans + writes;
        let waited = waited(mission)?;
        let each = |amount: f64| amount / operations;
        let duration = mission.duration.as_secs_f64().max(1e-6);
        Some(Seen {
            operations,
            gets: each(gets),
            scans: each(scans),
            writes: each(writes),
            written: each(mission.user_write_bytes as f64),
            compaction: each(mission.compaction_seconds()),
            compacted: each(mission.compaction_write_bytes as f64),
            clients: (waited / duration).clamp(0.01, 1024.0),
            took: each((waited - mission.stall.as_secs_f64()).max(NO_STALL * waited)),
        })
    }

    fn towards(self, newer: Seen) -> Seen {
        let mix = |old: f64, new: f64| old + NEWEST * (new - old);
        Seen {
            operations: mix(self.operations, newer.operations),
            gets: mix(self.gets, newer.gets),
            scans: mix(self.scans, newer.scans),
            writes: mix(self.writes, newer.writes),
            written: mix(self.written, newer.written),
            compaction: mix(self.compaction, newer.compaction),
            compacted: mix(self.compacted, newer.compacted),
            clients: mix(self.clients, newer.clients),
            took: mix(self.took, newer.took),
        }
    }
}

impl Cost {
    /// Costs before anything was seen, with or without a prior for them.
    pub fn new(prior: bool) -> Cost {
        Cost {
            fit: Fit::new(),
            ignorant: !prior,
            blurs: false,
            blurred: None,
            hedges: false,
            usual: Usual::default(),
            lasts: 0.0,
            seen: None,
            false_positives: Vec::new(),
            byte: 8e-9,
            rewrites: 1.0,
            compacted: 0.0,
            foretold: 0.0,
            workers: 2.0,
        }
    }

    /// The same, with or without the prior.
    pub fn believing(mut self, prior: bool) -> Cost {
        self.ignorant = !prior;
        self
    }

    /// The same, each mission learned together with those before it, or alone.
    pub fn blurring(mut self, blurs: bool) -> Cost {
        self.blurs = blurs;
        self
    }

    /// The same, which looks at the whole life of runs, or at the present alone.
    pub fn hedging(mut self, hedges: bool) -> Cost {
        self.hedges = hedges;
        self
    }

    /// The present workload is expected to last so many missions in all.
    pub fn expect(&mut self, missions: f64) {
        self.lasts = missions;
    }

    fn constants(&self) -> Terms {
        if self.ignorant {
            self.fit.constants(&NO_PRIOR, NO_PRIOR_DOUBT)
        } else {
            self.fit.constants(&PRIOR, DOUBT)
        }
    }

    /// Whether all numbers are such as this code makes.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.byte, self.rewrites, self.workers];
        let positive = |number: &f64| number.is_finite() && *number > 0.0;
        let sums = [self.compacted, self.foretold];
        let sum = |number: &f64| number.is_finite() && *number >= 0.0;
        let rates = |rate: &f64| (0.0..=1.0).contains(rate);
        self.fit.is_sound()
            && numbers.iter().all(positive)
            && sums.iter().all(sum)
            && self.usual.is_sound()
            && self.false_positives.iter().all(rates)
    }

    /// The workload is another one: its means begin anew, the constants stay.
    pub fn begin_anew(&mut self) {
        self.seen = None;
    }

    /// Takes up a mission and the tree after it.
    pub fn learn(
        &mut self,
        structure: &Structure<'_>,
        tree: &Tree,
        mission: &Mission,
        limits: &RunLimits,
    ) {
        let Some(now) = Seen::of(mission) else {
            return;
        };
        self.learn_filters(mission);
        let seen = self.seen.map_or(now, |before| before.towards(now));
        self.seen = Some(seen);
        self.usual
            .learn(now.gets, now.scans, now.writes, now.written);
        if seen.compacted > 0.0 && seen.compaction > 0.0 {
            let byte = seen.compaction / seen.compacted;
            self.byte += NEWEST * (byte.clamp(FASTEST_BYTE, SLOWEST_BYTE) - self.byte);
        }
        let duration = mission.duration.as_secs_f64().max(1e-6);
        if mission.stall.as_secs_f64() / duration > STALLED {
            let at_once = mission.compaction_seconds() / duration;
            self.workers += NEWEST * (at_once.clamp(1.0, 64.0) - self.workers);
        }
        self.learn_rewrites(structure, mission, limits);
        let layout = &structure.shape().layout;
        let runs: Vec<f64> = layout
            .logical_levels()
            .take(structure.levels)
            .map(|level| tree.runs_of(layout, level).len() as f64)
            .collect();
        let level0 = tree.level0().len() as f64;
        let met = self.terms(&now, &runs, level0, now.compaction);
        let (met, took) = self.blur(met, now.took);
        self.fit.learn(&met, took);
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

    /// Merges come in lumps, the large ones seldom: what one mission saw over what it
    /// should have seen is mostly nothing, and then far too much. So sums are compared,
    /// over the writes that turn the tree over, and the structure holds for as many.
    fn learn_rewrites(&mut self, structure: &Structure<'_>, mission: &Mission, limits: &RunLimits) {
        if mission.user_write_bytes == 0 {
            return;
        }
        let rewrites = structure.under(limits).rewrites;
        let foretold = mission.user_write_bytes as f64 * rewrites;
        let turn = structure.turnover() * rewrites;
        let kept = (-foretold / (2.0 * turn)).exp();
        self.foretold = self.foretold * kept + foretold;
        self.compacted = self.compacted * kept + mission.compaction_write_bytes as f64;
        let ratio = (self.compacted + turn) / (self.foretold + turn);
        self.rewrites = ratio.clamp(0.25, 4.0);
    }

    fn learn_filters(&mut self, mission: &Mission) {
        for (at, level) in mission.levels.iter().enumerate() {
            if self.false_positives.len() <= at {
                self.false_positives.push(FALSE_POSITIVES);
            }
            let wrong = level.filter_false_positive() as f64;
            let asked = wrong + level.filter_useful as f64;
            if asked > ENOUGH_PROBES {
                let rate = &mut self.false_positives[at];
                *rate += NEWEST * (wrong / asked - *rate);
            }
        }
    }

    /// What asking a run of a level is counted as, in reads of a block.
    fn asking(&self, at: usize) -> f64 {
        let known = self.false_positives.get(at).copied();
        known.unwrap_or(FALSE_POSITIVES) + ASKING
    }

    fn terms(&self, seen: &Seen, runs: &[f64], level0: f64, compaction: f64) -> Terms {
        let by_level = runs.iter().enumerate();
        let asked: f64 = by_level.map(|(at, runs)| runs * self.asking(at)).sum();
        let terms: [f64; TERMS] = [
            seen.gets,
            seen.gets * (asked + level0 * self.asking(0)),
            seen.scans,
            seen.scans * (runs.iter().sum::<f64>() + level0),
            seen.writes,
            compaction,
        ];
        terms
    }

    /// What an operation would save if a level had so many runs fewer, and what a
    /// byte that compactions write is felt, both in seconds.
    pub fn of_runs(&self, level: LogicalLevel, fewer: f64) -> Option<(f64, f64)> {
        let seen = self.seen?;
        let constants = self.constants();
        let asking = self.asking(usize::from(level.0) - 1);
        let saved = seen.gets * constants[1] * asking + seen.scans * constants[3];
        Some((saved * fewer, self.byte * constants[TERMS - 1]))
    }

    /// Seconds of an operation under these limits, once they have taken effect.
    /// `None` before anything was seen.
    pub fn under(&self, structure: &Structure<'_>, limits: &RunLimits) -> Option<f64> {
        let seen = self.seen?;
        let shaped = structure.under(limits);
        let met = self.foretold(&seen, structure, &shaped);
        let constants = self.constants();
        let time: f64 = met
            .iter()
            .zip(&constants)
            .map(|(met, each)| met * each)
            .sum();
        let compaction = seen.written * shaped.rewrites * self.rewrites * self.byte;
        Some(time.max(seen.clients * compaction / self.workers))
    }

    /// What an operation will meet on average, each level by what its runs will see.
    fn foretold(&self, seen: &Seen, structure: &Structure<'_>, shaped: &Shaped) -> Terms {
        let trigger = f64::from(structure.shape().level0_file_num_compaction_trigger);
        let mut met = self.terms(seen, &[], trigger / 2.0, 0.0);
        for (at, (runs, rewritten)) in shaped.runs.iter().zip(&shaped.rewritten).enumerate() {
            let later = self.later(seen, structure, at);
            let compaction = later.written * rewritten * self.rewrites * self.byte;
            met[1] += later.gets * runs * self.asking(at);
            met[3] += later.scans * runs;
            met[TERMS - 1] += compaction;
        }
        met
    }

    /// An operation as the runs of a level will see it: the present workload while it
    /// lasts, and what is usual for as much of their life as it may not.
    fn later(&self, seen: &Seen, structure: &Structure<'_>, at: usize) -> Seen {
        let life = structure.life(at) / (seen.written * seen.operations).max(1.0);
        let share = if self.hedges {
            life / (life + self.lasts.max(1.0))
        } else {
            0.0
        };
        let mix = |now: f64, usual: f64| now + share * (usual - now);
        Seen {
            gets: mix(seen.gets, self.usual.gets),
            scans: mix(seen.scans, self.usual.scans),
            written: mix(seen.written, self.usual.writes * self.usual.entry),
            ..*seen
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::observation::{Latency, LevelMission, OperationMix};
    use crate::shape::RunLimit;
    use crate::testing::{numbered_files, small_shape};

    /// A tree of two levels, the deepest with 20,000 bytes.
    fn tree() -> Tree {
        let layout = small_shape().layout;
        let mut levels = vec![Vec::new(); usize::from(layout.num_levels())];
        levels[usize::from(layout.span(LogicalLevel(1)).1.0)] = numbered_files(10);
        levels[usize::from(layout.span(LogicalLevel(2)).1.0)] = numbered_files(200);
        Tree::new(levels).expect("runs")
    }

    fn mission(written: u64, compacted: u64) -> Mission {
        Mission {
            duration: Duration::from_secs(1),
            operations: OperationMix {
                writes: written,
                ..OperationMix::default()
            },
            put: Latency {
                mean: Duration::from_micros(10),
                ..Latency::default()
            },
            user_write_bytes: written,
            compaction_write_bytes: compacted,
            ..Mission::default()
        }
    }

    #[test]
    fn the_deepest_level_is_not_given_up_to_what_has_just_begun() {
        let (shape, tree) = (small_shape(), tree());
        let structure = Structure::of(&shape, &tree).expect("levels");
        let ten = RunLimits::uniform(RunLimit::clamped(10));
        let many_below = |one: u16| {
            let mut limits = ten.clone();
            limits.set(LogicalLevel(1), RunLimit::clamped(one));
            limits
        };
        let few_below = |one: u16| {
            let mut limits = RunLimits::uniform(RunLimit::ONE);
            limits.set(LogicalLevel(1), RunLimit::clamped(one));
            limits
        };
        // Nothing but writes, of 1,000 bytes; the data is written again in five missions.
        let mut writes = mission(4, 0);
        writes.user_write_bytes = 4_000;
        let gain = |hedges: bool, lasts: f64| {
            let mut cost = Cost::new(true).hedging(hedges);
            cost.learn(&structure, &tree, &writes, &ten);
            cost.expect(lasts);
            let under = |limits: &RunLimits| cost.under(&structure, limits).expect("seen");
            under(&few_below(10)) - under(&many_below(10))
        };
        // What many runs below spare.
        let (present, early, late) = (gain(false, 1.0), gain(true, 1.0), gain(true, 1_000.0));
        assert!(early < 0.9 * present, "{early} {present}");
        assert!(
            (late - present).abs() < 0.05 * present.abs(),
            "{late} {present}"
        );
    }

    /// Compactions that take half of their time from the user, and end in the mission
    /// after the one that feels them.
    fn felt(blurs: bool) -> f64 {
        let (shape, tree) = (small_shape(), tree());
        let structure = Structure::of(&shape, &tree).expect("levels");
        let limits = RunLimits::uniform(RunLimit::ONE);
        let mut cost = Cost::new(true).blurring(blurs);
        let mut ended = 0.0;
        for at in 0..400u32 {
            // Busy for five missions of ten.
            let busy = f64::from(u8::from(at % 10 < 5)) * 40e-6;
            let mut mission = mission(50_000, 50_000);
            mission.put.mean = Duration::from_secs_f64(12e-6 + 0.5 * busy);
            mission.levels = vec![LevelMission {
                compaction_time: Duration::from_secs_f64(ended * 50_000.0),
                ..LevelMission::default()
            }];
            cost.learn(&structure, &tree, &mission, &limits);
            ended = busy;
        }
        cost.constants()[TERMS - 1]
    }

    #[test]
    fn compactions_that_end_late_are_felt_no_less() {
        let (blurred, alone) = (felt(true), felt(false));
        assert!(
            (blurred - 0.5).abs() < (alone - 0.5).abs(),
            "{blurred} {alone}"
        );
        assert!(alone < 0.4, "{alone}");
    }

    #[test]
    fn merges_in_lumps_count_like_merges_at_an_even_rate() {
        let (shape, tree) = (small_shape(), tree());
        let structure = Structure::of(&shape, &tree).expect("levels");
        let limits = RunLimits::uniform(RunLimit::ONE);
        let each = (100.0 * structure.under(&limits).rewrites) as u64;
        let mut cost = Cost::new(true);
        for mission_number in 0..1_000u64 {
            // All of it in one mission of forty.
            let lump = u64::from(mission_number % 40 == 39) * 40 * each;
            cost.learn(&structure, &tree, &mission(100, lump), &limits);
        }
        assert!((0.8..1.25).contains(&cost.rewrites), "{}", cost.rewrites);
    }
}
