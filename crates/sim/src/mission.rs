//! Counting what a mission does, as the store's own counters would.

use std::time::Duration;

use lissom_core::layout::{Layout, PhysicalLevel};
use lissom_core::observation::{Latency, LevelMission, Mission, OperationMix};
use lissom_core::plan::Reason;

use crate::jobs::Compaction;
use crate::noise::Longer;
use crate::outcome::LevelCost;
use crate::reads::Costs;
use crate::scenario::Session;
use crate::scheduler::Counters;

/// Sums since a mission, a session or the run began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) operations: f64,
    pub(crate) seconds: f64,
    pub(crate) user_bytes: f64,
    pub(crate) flush_bytes: f64,
    /// Seconds of CPU that operations took.
    pub(crate) user_cpu: f64,
    stall: f64,
    gets_found: f64,
    gets_absent: f64,
    scans: f64,
    scan_entries: f64,
    writes: f64,
    deletes: f64,
    get_seconds: f64,
    scan_seconds: f64,
    put_seconds: f64,
    level1_compacted_bytes: f64,
    level0_merged_bytes: f64,
    levels: Vec<Level>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Level {
    read_bytes: f64,
    write_bytes: f64,
    for_reads_bytes: f64,
    seconds: f64,
    block_reads: f64,
    useful: f64,
    positive: f64,
    true_positive: f64,
}

/// Seconds that one operation of each kind took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) get: f64,
    pub(crate) scan: f64,
    pub(crate) put: f64,
}

impl Counts {
    fn level(&mut self, at: usize) -> &mut Level {
        if self.levels.len() <= at {
            self.levels.resize(at + 1, Level::default());
        }
        &mut self.levels[at]
    }

    /// Operations of a session.
    pub(crate) fn operations(
        &mut self,
        session: &Session,
        count: f64,
        costs: &Costs,
        times: Times,
    ) {
        let mix = &session.mix;
        self.operations += count;
        self.gets_found += count * mix.get_present;
        self.gets_absent += count * mix.get_absent;
        self.scans += count * mix.scan;
        self.scan_entries += count * mix.scan * session.scan_length;
        self.writes += count * (mix.put + mix.update);
        self.deletes += count * mix.delete;
        self.get_seconds += count * (mix.get_present + mix.get_absent) * times.get;
        self.scan_seconds += count * mix.scan * times.scan;
        self.put_seconds += count * mix.writes() * times.put;
        for at in 0..costs.block_reads.len() {
            let level = self.level(at);
            level.block_reads += count * costs.block_reads[at];
            level.useful += count * costs.filter_useful[at];
            level.positive += count * costs.filter_positive[at];
            level.true_positive += count * costs.filter_true_positive[at];
        }
    }

    /// Writers were held back.
    pub(crate) fn stalled(&mut self, seconds: f64) {
        self.stall += seconds;
    }

    /// Seconds in which writers were held back.
    pub(crate) fn stall(&self) -> f64 {
        self.stall
    }

    /// A compaction that has ended.
    pub(crate) fn compaction(&mut self, layout: &Layout, ended: &Compaction, seconds: f64) {
        let logical = |level: PhysicalLevel| {
            let found = layout.logical(level);
            found.map_or(0, |(level, _)| usize::from(level.0) - 1)
        };
        let to = self.level(logical(ended.plan.output));
        to.write_bytes += ended.merged.write_bytes;
        to.seconds += seconds;
        for (level, bytes) in &ended.merged.read_from {
            self.level(logical(*level)).read_bytes += bytes;
            if *level == PhysicalLevel::L0 {
                self.level0_merged_bytes += bytes;
            }
        }
        if let Reason::Consolidate { level } = ended.plan.reason {
            let merged = self.level(usize::from(level.0) - 1);
            merged.for_reads_bytes += ended.merged.write_bytes;
        }
        if logical(ended.plan.output) == 0 && ended.plan.drain.is_none() {
            self.level1_compacted_bytes += ended.merged.read_bytes + ended.merged.write_bytes;
        }
    }

    /// Bytes that compactions wrote.
    pub(crate) fn compaction_bytes(&self) -> f64 {
        self.levels.iter().map(|level| level.write_bytes).sum()
    }

    /// As a schedule is told of it.
    pub(crate) fn counters(&self, at: f64, block_bytes: f64) -> Counters {
        let sum = |of: fn(&Level) -> f64| self.levels.iter().map(of).sum::<f64>();
        Counters {
            at,
            gets: self.gets_found + self.gets_absent,
            scans: self.scans,
            writes: self.writes + self.deletes,
            cached_bytes: sum(|level| level.block_reads) * block_bytes,
            logged_bytes: self.user_bytes,
            flushed_bytes: self.flush_bytes,
            compacted_bytes: sum(|level| level.read_bytes + level.write_bytes),
            level1_compacted_bytes: self.level1_compacted_bytes,
            level0_merged_bytes: self.level0_merged_bytes,
            compacted_seconds: sum(|level| level.seconds),
            user_cpu: self.user_cpu,
        }
    }

    /// As the tuner is told of it, with times longer than they were. Users wait for reads
    /// that take longer, so the mission does too.
    pub(crate) fn mission(&self, number: u64, block_bytes: f64, longer: Longer) -> Mission {
        let time = |seconds: f64| Duration::from_secs_f64((seconds * longer.all).max(0.0));
        let (gets, scans) = (
            self.get_seconds * longer.reads,
            self.scan_seconds * longer.reads,
        );
        let more = gets - self.get_seconds + scans - self.scan_seconds;
        let latency = |count: f64, seconds: f64| {
            let mean = time(if count > 0.0 { seconds / count } else { 0.0 });
            Latency {
                count: count as u64,
                mean,
                p50: mean,
                p99: mean,
            }
        };
        Mission {
            number,
            duration: time(self.seconds + more),
            operations: OperationMix {
                gets_found: self.gets_found.round() as u64,
                gets_absent: self.gets_absent.round() as u64,
                scans: self.scans.round() as u64,
                scan_entries: self.scan_entries.round() as u64,
                writes: self.writes.round() as u64,
                deletes: self.deletes.round() as u64,
            },
            get: latency(self.gets_found + self.gets_absent, gets),
            put: latency(self.writes + self.deletes, self.put_seconds),
            seek: latency(self.scans, scans),
            timed_scan_entries: None,
            levels: self
                .levels
                .iter()
                .map(|level| LevelMission {
                    compaction_read_bytes: level.read_bytes as u64,
                    compaction_write_bytes: level.write_bytes as u64,
                    for_reads_write_bytes: level.for_reads_bytes as u64,
                    compaction_time: time(level.seconds),
                    read_ios: level.block_reads as u64,
                    read_bytes: (level.block_reads * block_bytes) as u64,
                    filter_useful: level.useful as u64,
                    filter_positive: level.positive as u64,
                    filter_true_positive: level.true_positive as u64,
                })
                .collect(),
            user_write_bytes: self.user_bytes as u64,
            flush_write_bytes: self.flush_bytes as u64,
            compaction_write_bytes: self.compaction_bytes() as u64,
            stall: time(self.stall),
            tuner_time: Duration::ZERO,
        }
    }

    /// What each level cost, level 1 first.
    pub(crate) fn by_level(&self) -> Vec<LevelCost> {
        let cost = |level: &Level| LevelCost {
            block_reads: level.block_reads,
            filter_probes: level.useful + level.positive,
            false_positives: level.positive - level.true_positive,
            merge_seconds: level.seconds,
            merge_read_bytes: level.read_bytes,
            merge_write_bytes: level.write_bytes,
        };
        self.levels.iter().map(cost).collect()
    }

    /// Mean seconds of a get and of a scan, and block reads for each operation.
    pub(crate) fn means(&self) -> (f64, f64, f64) {
        let over = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        let block_reads: f64 = self.levels.iter().map(|level| level.block_reads).sum();
        (
            over(self.get_seconds, self.gets_found + self.gets_absent),
            over(self.scan_seconds, self.scans),
            over(block_reads, self.operations),
        )
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::layout::LogicalLevel;
    use lissom_core::plan::{Input, Plan, PlanKind};
    use lissom_core::shape::{RunLimit, RunLimits};
    use lissom_core::state::TreeState;
    use lissom_core::testing::small_shape;

    use super::*;
    use crate::content::Density;
    use crate::tree::{SimTree, key};

    /// A merge of level 1 into level 2 for a reason.
    fn merge(reason: Reason) -> Compaction {
        let layout = Layout::V1;
        let [level, output] = [1, 2].map(|level| layout.span(LogicalLevel(level)).1);
        let mut tree = SimTree::new(usize::from(layout.num_levels()), 100.0);
        let run = Density {
            fresh: 50.0,
            ..Density::default()
        };
        tree.place_run(usize::from(level.0), vec![run], 10_000.0);
        let files = tree.manifest().files(level).iter();
        let files = files.map(|file| file.number).collect();
        let plan = Plan {
            kind: PlanKind::Merge,
            inputs: vec![Input { level, files }],
            output,
            output_file_size: 10_000,
            range: (key(0.0), key(1.0)),
            input_bytes: tree.manifest().total_bytes(),
            drain: None,
            excess: None,
            awaited: false,
            hurried: false,
            reason,
        };
        let state = TreeState::new(RunLimits::uniform(RunLimit::ONE));
        let merged = tree.merge(&plan, &small_shape(), &state);
        Compaction {
            plan,
            merged,
            brake: false,
        }
    }

    /// What a mission tells of such a merge: bytes that were written for the reads' sake, by level,
    /// and all that were written.
    fn told(reason: Reason) -> (Vec<u64>, u64) {
        let mut counts = Counts::default();
        counts.compaction(&Layout::V1, &merge(reason), 1.0);
        let as_it_was = Longer {
            all: 1.0,
            reads: 1.0,
        };
        let mission = counts.mission(1, 4096.0, as_it_was);
        let levels = mission.levels.iter();
        let for_reads = levels.map(|level| level.for_reads_write_bytes);
        (for_reads.collect(), mission.compaction_write_bytes)
    }

    #[test]
    fn what_is_merged_for_the_reads_sake_counts_for_the_level_that_is_merged() {
        let level = LogicalLevel(1);
        let (for_reads, written) = told(Reason::Consolidate { level });
        assert!(written > 0);
        assert_eq!(for_reads, [written, 0]);
        assert_eq!(told(Reason::Transition { level }), (vec![0, 0], written));
    }
}
