//! A machine that obeys a formula.

use std::time::Duration;

use crate::cost_model::AccessPattern;
use crate::layout::LogicalLevel;
use crate::observation::{Latency, LevelMission, Mission, OperationMix};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::testing::{numbered_files, small_shape};
use crate::tree::Tree;
use crate::tuner::learned::Learned;
use crate::tuner::learned::structure::{Shaped, Structure};
use crate::tuner::learned::times::took;
use crate::tuner::{Question, Trial, Tuner};

const OPERATIONS: u64 = 50_000;

/// A tree of two levels with so many runs in each, the oldest of 20,000 bytes.
pub(super) fn tree(runs: &[f64]) -> Tree {
    let layout = small_shape().layout;
    let (_, deepest) = layout.span(LogicalLevel(2));
    let mut levels = vec![Vec::new(); usize::from(deepest.0) + 1];
    for (at, runs) in runs.iter().enumerate() {
        let (_, last) = layout.span(LogicalLevel(at as u16 + 1));
        for run in 0..runs.round() as u16 {
            levels[usize::from(last.0 - run)] = numbered_files(1);
        }
    }
    levels[usize::from(deepest.0)] = numbered_files(200);
    Tree::new(levels).expect("runs")
}

/// What the model expects of limits.
pub(super) fn shaped(shape: &Shape, limits: &RunLimits) -> Shaped {
    let tree = tree(&[1.0, 1.0]);
    let structure = Structure::of(shape, &tree).expect("levels");
    structure.under(limits)
}

/// Another structure than the model's, RusKey's of section 5.2 in every level: a read
/// meets half of the runs, and each byte is rewritten T / K times. So the deepest level
/// is rewritten nearly twice as much at one run as the model has it, and a third at ten.
pub(super) fn textbook(shape: &Shape, limits: &RunLimits) -> Shaped {
    let limits = [1, 2].map(|level| f64::from(limits.get(LogicalLevel(level)).get()));
    let ratio = f64::from(shape.size_ratio);
    let rewritten = limits.map(|limit| ratio / limit);
    Shaped {
        runs: limits.map(|limit| f64::midpoint(limit, 1.0)).to_vec(),
        rewrites: rewritten.iter().sum(),
        rewritten: rewritten.to_vec(),
        newer: vec![0.0; 2],
    }
}

/// What an operation takes: reads by runs, writes by rewrites, and more for the runs of
/// level 1, which the model does not know of.
pub(super) struct MachineOfTests {
    pub shaped: fn(&Shape, &RunLimits) -> Shaped,
    pub run: f64,
    pub byte: f64,
    /// Of a write, for each run of level 1.
    pub extra: f64,
    /// Of a write, where level 1 may have more than one.
    pub cliff: f64,
    /// How many times as long everything takes.
    pub slower: f64,
    /// The same of gets alone.
    pub gets: f64,
    /// There is one client, so that a mission lasts as long as its operations; otherwise it
    /// lasts a second.
    pub alone: bool,
}

pub(super) const MACHINE: MachineOfTests = MachineOfTests {
    shaped,
    run: 8e-6,
    byte: 10e-9,
    extra: 0.0,
    cliff: 0.0,
    slower: 1.0,
    gets: 1.0,
    alone: false,
};

pub(super) const ALONE: MachineOfTests = MachineOfTests {
    alone: true,
    ..MACHINE
};

impl MachineOfTests {
    pub fn mission(&self, shape: &Shape, limits: &RunLimits, read_share: f64) -> Mission {
        let shaped = (self.shaped)(shape, limits);
        let reads = (OPERATIONS as f64 * read_share) as u64;
        let writes = OPERATIONS - reads;
        let bytes = writes as f64 * 1000.0;
        let compacted = bytes * shaped.rewrites;
        let runs: f64 = shaped.runs.iter().sum();
        let seconds = compacted * self.byte * self.slower;
        let first = f64::from(limits.get(LogicalLevel(1)).get());
        let cliff = if first > 1.0 { self.cliff } else { 0.0 };
        let felt = 0.5 * seconds / writes.max(1) as f64;
        let get = (50e-6 + self.run * runs) * self.slower * self.gets;
        let put = felt + (10e-6 + self.extra * first + cliff) * self.slower;
        let waited = reads as f64 * get + writes as f64 * put;
        let mean = |seconds: f64| Latency {
            mean: Duration::from_secs_f64(seconds),
            ..Latency::default()
        };
        Mission {
            number: 1,
            duration: Duration::from_secs_f64(if self.alone { waited } else { 1.0 }),
            operations: OperationMix {
                gets_found: reads,
                writes,
                ..OperationMix::default()
            },
            get: mean(get),
            put: mean(put),
            levels: vec![LevelMission {
                compaction_time: Duration::from_secs_f64(seconds),
                ..LevelMission::default()
            }],
            user_write_bytes: bytes as u64,
            flush_write_bytes: bytes as u64,
            compaction_write_bytes: compacted as u64,
            ..Mission::default()
        }
    }

    pub fn cost(&self, limits: &RunLimits, read_share: f64) -> f64 {
        let mission = self.mission(&small_shape(), limits, read_share);
        let pattern = AccessPattern::of_mission(&mission.operations).expect("operations");
        took(&mission, &pattern).expect("timed")
    }

    pub fn best(&self, read_share: f64) -> f64 {
        let all = (1..=10).flat_map(|one| (1..=10).map(move |two| (one, two)));
        all.map(|(one, two)| {
            let mut limits = RunLimits::uniform(RunLimit::clamped(two));
            limits.set(LogicalLevel(1), RunLimit::clamped(one));
            self.cost(&limits, read_share)
        })
        .fold(f64::INFINITY, f64::min)
    }

    /// The answer to a mission under these limits, of which it is told the same.
    pub fn ask(&self, tuner: &mut Learned, limits: &RunLimits, read_share: f64) -> Trial {
        let shape = small_shape();
        let tree = tree(&(self.shaped)(&shape, limits).runs);
        let mission = self.mission(&shape, limits, read_share);
        let trial = tuner.ask(&Question {
            shape: &shape,
            tree: &tree,
            limits,
            refused: &[],
            mission: &mission,
        });
        for level in shape.layout.logical_levels() {
            let (old, new) = (limits.get(level).get(), trial.limits.get(level).get());
            let told = trial.changes.iter().any(|change| change.level == level);
            assert_eq!(old != new, told, "{level}");
        }
        tuner.tell(trial.id, &mission);
        trial
    }

    /// So many missions under limits that somebody holds.
    pub fn hold(&self, tuner: &mut Learned, limits: &RunLimits, read_share: f64, missions: u32) {
        for _ in 0..missions {
            self.ask(tuner, limits, read_share);
        }
    }

    /// The limits after so many missions.
    pub fn fly(
        &self,
        tuner: &mut Learned,
        limits: &RunLimits,
        read_share: f64,
        missions: u32,
    ) -> RunLimits {
        let mut limits = limits.clone();
        self.watch(tuner, &mut limits, read_share, missions);
        limits
    }

    /// The same, with a reason for each mission after which limits changed.
    pub fn watch(
        &self,
        tuner: &mut Learned,
        limits: &mut RunLimits,
        read_share: f64,
        missions: u32,
    ) -> Vec<String> {
        let mut reasons = Vec::new();
        for _ in 0..missions {
            let trial = self.ask(tuner, limits, read_share);
            let mut changes = trial.changes.into_iter();
            reasons.extend(changes.next().map(|change| change.why));
            *limits = trial.limits;
        }
        reasons
    }
}

pub(super) fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}
