//! What an operation takes, by run limits.
//!
//! time = gets * (a + b * false positives) + gets of present keys * c
//!        + scans * (d + e * reads of all runs) + writes * f
//!        + busy * compaction * (g * (1 - reading) + i * reading)
//!        + entries that scans return * h * (1 + passed)
//!
//! and never less than compactions take to keep up: clients * compaction / workers.
//! Here compaction is seconds of compaction for each operation, and clients are the
//! operations under way at once. The constants a to i are fitted ([`super::fit`]);
//! what compaction takes for each byte is measured where nothing hinders it. One that gives way
//! takes several times as long, and is felt for what it moves: told by its time, all that reads
//! take beside it would be laid to it, and nothing to the runs. When it ends is told by the time
//! that it takes beside them.
//!
//! Busy is the share of the time in which a user is there at all: what is merged while nobody
//! is teaches nothing of what merges cost. Reading is the share of their own time that users
//! read. Merges are felt by reads, which wait for the same device, far more than by writes,
//! which wait for memory: in bench/results/hull-five-sessions.json a get takes 0.12 ms beside
//! no merge and 0.52 ms beside 1.25 busy workers, a put 7.5 and 9.6 us. With one constant for
//! both, a load would teach that merges cost nothing, and the reads after it would pay for that.
//!
//! A scan is a seek in each run and then a sequence: Endure's Q = S_RQ * N / B + runs
//! (VLDB 2022, equation 15). Blocks of the sequence are not read one by one, but ahead
//! ([`readahead`](crate::cost_model::readahead)), so a scan of 100 entries takes six reads of one
//! run that holds them all and thirteen of three that share them. Its first part is told here by
//! these and by the entries that scans return. With each of them a scan passes others, obsolete versions and tombstones
//! ([`super::passing`], after Dostoevsky, SIGMOD 2018). Merging the runs is part of h: with
//! twice as many runs an entry is compared once more at most, which is little beside reading
//! it. So the longer scans are, the less of their time goes by runs, and the more by what the
//! deepest level holds twice. Without h the fit would lay the time of long scans to the runs
//! that they happen to meet.
//!
//! A get passes no tombstone: it ends at the first entry of its key, and a tombstone is one.
//! Where nobody scans nothing is passed, and h changes none of the other constants.

mod expected;
mod learn;
mod seen;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(super) use self::expected::Expected;
pub(super) use self::seen::Seen;
use super::fit::{Fit, TERMS, Terms, dot};
use super::structure::Structure;
use super::usual::Usual;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::RunLimits;
use crate::tree::Tree;

/// The terms, in the order of the formula.
const GETS: usize = 0;
const FALSE: usize = 1;
const FOUND: usize = 2;
const SCANS: usize = 3;
const SCAN_READS: usize = 4;
const WRITES: usize = 5;
const COMPACTION: usize = 6;
const PASSED: usize = 7;
const BESIDE_READS: usize = 8;

/// Seconds before anything was seen: an SSD and a core of 2020 or later. What reads bring of a
/// scan is theirs: an entry that is passed takes the merging of runs, and its share of the
/// bytes that are read ahead.
const PRIOR: Terms = [20e-6, 120e-6, 40e-6, 80e-6, 45e-6, 12e-6, 0.5, 2e-6, 0.5];

/// How wrong the prior may be, relative.
const DOUBT: f64 = 1.0;

/// Seconds for whoever knows nothing, and how wrong they may be. An entry is no operation.
const NO_PRIOR: Terms = [
    50e-6,
    50e-6,
    50e-6,
    50e-6,
    50e-6,
    50e-6,
    0.5,
    50e-6 / 12.0,
    0.5,
];
const NO_PRIOR_DOUBT: f64 = 100.0;

/// Weight of a mission against all before it.
const NEWEST: f64 = 0.25;

/// Rate of false positives, and what asking a run costs beside, in such rates,
/// before filters were seen at work.
const FALSE_POSITIVES: f64 = 0.02;
const ASKING: f64 = 0.005;

/// Bytes that are stored of each that users write, by what can be believed: a key of its own may be
/// as long as its value.
const LEAST_STORED: f64 = 0.01;
const MOST_STORED: f64 = 4.0;

/// An operation that is evened takes at most so many times as long as it did, and as little.
const MOST_EVENED: f64 = 4.0;

/// Missions after which one that was hindered counts no more than it may.
fn many() -> u32 {
    (1.0 / learn::HINDERED) as u32
}

/// Means that follow the missions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Cost {
    fit: Fit,
    /// What the fit has seen of scans is told in reads; older programs told it in runs.
    #[serde(default)]
    tells_reads: bool,
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
    /// The same beside whatever else went on: how long merges take. 0 before any.
    #[serde(default)]
    beside: f64,
    /// Missions that told `byte`. What an older program learned stands for many.
    #[serde(default = "many")]
    timed: u32,
    /// Bytes that compactions write, over what the structure foretells.
    rewrites: f64,
    /// Both of late: the sums of which `rewrites` is the ratio.
    #[serde(default)]
    compacted: f64,
    #[serde(default)]
    foretold: f64,
    /// Compactions that go on at once when they cannot keep up.
    workers: f64,
    /// Seconds that compactions took of late, and that missions lasted; not kept over a restart.
    #[serde(skip)]
    worked_of_late: f64,
    #[serde(skip)]
    time_of_late: f64,
    /// Bytes that users wrote of late, and that were flushed of them.
    #[serde(default)]
    written: f64,
    #[serde(default)]
    flushed: f64,
}

/// What a scan takes of the runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    /// Reads of the device, if nothing is cached.
    pub reads: f64,
    /// Entries that it passes for each one that it returns, beside that one.
    pub passed: f64,
}

/// The terms that so many seconds of compaction count in beside operations like these, and how
/// much in each.
fn compactions(seen: &Seen, seconds: f64) -> [(usize, f64); 2] {
    let felt = seconds * seen.busy();
    [
        (COMPACTION, felt * (1.0 - seen.reading)),
        (BESIDE_READS, felt * seen.reading),
    ]
}

/// Seconds that operations like these feel of a second of compaction.
fn felt(constants: &Terms, seen: &Seen) -> f64 {
    let terms = compactions(seen, 1.0).into_iter();
    terms.map(|(at, amount)| amount * constants[at]).sum()
}

impl Cost {
    /// Costs before anything was seen, with or without a prior for them.
    pub fn new(prior: bool) -> Cost {
        Cost {
            fit: Fit::new(),
            tells_reads: true,
            ignorant: !prior,
            blurs: false,
            blurred: None,
            hedges: false,
            usual: Usual::default(),
            lasts: 0.0,
            seen: None,
            false_positives: Vec::new(),
            byte: 8e-9,
            beside: 0.0,
            timed: 0,
            rewrites: 1.0,
            compacted: 0.0,
            foretold: 0.0,
            workers: 2.0,
            worked_of_late: 0.0,
            time_of_late: 0.0,
            written: 0.0,
            flushed: 0.0,
        }
    }

    /// What a program had learned, as far as it means the same to this one. Of one that did not
    /// tell scans by their reads only what it learned without scans does: what else they took
    /// would be counted twice.
    pub fn translated(mut self) -> Cost {
        if !self.tells_reads {
            if self.fit.has_met(SCANS) {
                self.fit = Fit::new();
            }
            self.tells_reads = true;
        }
        self
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

    /// Bytes that come into the tree for each that users write: they are compressed, and of what is
    /// overwritten in memory only the last is stored. 1 before anything was seen.
    pub fn stored(&self) -> f64 {
        if self.written > 0.0 {
            (self.flushed / self.written).clamp(LEAST_STORED, MOST_STORED)
        } else {
            1.0
        }
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
        let believed = self.byte.max(self.beside) <= learn::SLOWEST_BYTE;
        let positive = |number: &f64| number.is_finite() && *number > 0.0;
        let sums = [
            self.beside,
            self.compacted,
            self.foretold,
            self.written,
            self.flushed,
        ];
        let sum = |number: &f64| number.is_finite() && *number >= 0.0;
        let rates = |rate: &f64| (0.0..=1.0).contains(rate);
        self.fit.is_sound()
            && believed
            && numbers.iter().all(positive)
            && sums.iter().all(sum)
            && self.usual.is_sound()
            && self.false_positives.iter().all(rates)
    }

    /// The workload is another one: its means begin anew, the constants stay.
    pub fn begin_anew(&mut self) {
        self.seen = None;
    }

    /// What asking a run of a level is counted as, in reads of a block.
    fn asking(&self, at: usize) -> f64 {
        let known = self.false_positives.get(at).copied();
        known.unwrap_or(FALSE_POSITIVES) + ASKING
    }

    /// What an operation meets in these runs and files of L0.
    fn terms(&self, seen: &Seen, runs: &[f64], level0: f64, scan: Scan, compaction: f64) -> Terms {
        let by_level = runs.iter().enumerate();
        let asked: f64 = by_level.map(|(at, runs)| runs * self.asking(at)).sum();
        let mut terms = [0.0; TERMS];
        terms[GETS] = seen.gets;
        terms[FALSE] = seen.gets * (asked + level0 * self.asking(0));
        terms[FOUND] = seen.found;
        terms[SCANS] = seen.scans;
        terms[SCAN_READS] = seen.scans * scan.reads;
        terms[WRITES] = seen.writes;
        terms[PASSED] = seen.scanned * (1.0 + scan.passed);
        for (at, amount) in compactions(seen, compaction) {
            terms[at] = amount;
        }
        terms
    }

    /// For how long one worker compacts so many bytes beside what else goes on.
    pub fn compaction_seconds(&self, bytes: f64) -> f64 {
        bytes * self.byte.max(self.beside)
    }

    /// What an operation would save if a level had so many runs fewer and each scan, of so many
    /// entries, were spared this, and what a byte that compactions write is charged, both in
    /// seconds.
    pub fn of_runs(
        &self,
        level: LogicalLevel,
        fewer: f64,
        spared: impl Fn(f64) -> Scan,
    ) -> Option<(f64, f64)> {
        let seen = self.seen?;
        let constants = self.constants();
        let asking = self.asking(usize::from(level.0) - 1);
        let spared = spared(seen.entries_of_scan());
        let saved = seen.gets * constants[FALSE] * asking * fewer
            + seen.scans * constants[SCAN_READS] * spared.reads
            + seen.scanned * constants[PASSED] * spared.passed;
        Some((saved, self.byte * felt(&constants, &seen.charged())))
    }

    /// What an operation of a mission took, had its tree been the one that these limits mean on
    /// average, and compactions gone on at their even rate. A tree comes to that as its levels fill,
    /// and merges come in lumps, of which what earlier limits left is merged under the present ones:
    /// taken as they come, a few missions would speak for whoever just had no merge to do, or for
    /// the limits before. So what the mission met is taken out, and what was foretold is put in its
    /// place, each as it is felt: a control variate (Lavenberg and Welch, 1981) whose mean the
    /// structure tells. What the model knows of neither stays.
    pub fn evened(
        &self,
        structure: &Structure<'_>,
        tree: &Tree,
        mission: &Mission,
        limits: &RunLimits,
        took: f64,
    ) -> f64 {
        let Some(now) = Seen::of(mission) else {
            return took;
        };
        let constants = self.constants();
        let met = self.met(&now, structure, tree);
        let foretold = self.foretold(&now, structure, &structure.under(limits), false);
        let evened = took + dot(&foretold, &constants) - dot(&met, &constants);
        evened.clamp(took / MOST_EVENED, took * MOST_EVENED)
    }
}
