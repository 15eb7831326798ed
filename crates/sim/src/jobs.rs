//! What runs beside the user: flushes and compactions.

use lissom_core::layout::PhysicalLevel;
use lissom_core::observation::InFlight;
use lissom_core::plan::Plan;
use lissom_core::planner;

use crate::content::Density;
use crate::machine::{Crowding, Demand, Machine};
use crate::tree::Merged;

/// What a job will have done.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// A memtable becomes a file of L0.
    Flush { content: Vec<Density>, bytes: f64 },
    /// The autopilot's, or RocksDB's own of L0.
    Compaction(Box<Compaction>),
}

/// A compaction with its result.
#[derive(Clone, Debug)]
pub(crate) struct Compaction {
    pub(crate) plan: Plan,
    pub(crate) merged: Merged,
    /// RocksDB's emergency brake: it takes none of the autopilot's workers.
    pub(crate) brake: bool,
}

/// Work that runs.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) begun: f64,
    demand: Demand,
    /// Share of it that is still to do.
    left: f64,
}

/// All jobs, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs(Vec<Job>);

/// A job with less of it to do has ended.
const DONE: f64 = 1e-9;

impl Jobs {
    pub(crate) fn begin(&mut self, work: Work, demand: Demand, now: f64) {
        self.0.push(Job {
            work,
            begun: now,
            demand,
            left: 1.0,
        });
    }

    /// All demands, each of a thread that never waits.
    pub(crate) fn demands(&self) -> impl Iterator<Item = (Demand, f64)> + '_ {
        self.0.iter().map(|job| (job.demand, 1.0))
    }

    /// Seconds until the first ends; infinite without any.
    pub(crate) fn first_end(&self, crowding: &Crowding) -> f64 {
        self.0
            .iter()
            .map(|job| job.left * crowding.seconds(job.demand))
            .fold(f64::INFINITY, f64::min)
    }

    /// Lets all work go on, and returns what has ended.
    pub(crate) fn advance(&mut self, crowding: &Crowding, seconds: f64) -> Vec<Job> {
        for job in &mut self.0 {
            let whole = crowding.seconds(job.demand);
            job.left -= if whole > 0.0 { seconds / whole } else { 1.0 };
        }
        let (ended, running) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|job| job.left <= DONE);
        self.0 = running;
        ended
    }

    pub(crate) fn flushing(&self) -> bool {
        let flush = |job: &Job| matches!(job.work, Work::Flush { .. });
        self.0.iter().any(flush)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn compactions(&self) -> impl Iterator<Item = &Compaction> {
        self.0.iter().filter_map(|job| match &job.work {
            Work::Compaction(compaction) => Some(&**compaction),
            Work::Flush { .. } => None,
        })
    }

    /// Workers of the autopilot that are busy.
    pub(crate) fn workers(&self) -> usize {
        self.compactions().filter(|it| !it.brake).count()
    }

    pub(crate) fn in_flight(&self) -> Vec<InFlight> {
        let plans = self.compactions().map(|it| planner::in_flight(&it.plan));
        plans.collect()
    }

    /// Whether anybody compacts L0 or the landing level.
    pub(crate) fn on_level0(&self) -> bool {
        self.compactions()
            .any(|it| it.plan.top() <= PhysicalLevel::LANDING)
    }
}

/// What a merge takes.
pub(crate) fn merging(machine: &Machine, merged: &Merged) -> Demand {
    Demand {
        cpu: machine.compaction
            + merged.read_bytes * machine.merge_byte_cpu
            + merged.read_entries * machine.merge_entry_cpu,
        device: merged.read_bytes * machine.byte_read + merged.write_bytes * machine.byte_write,
    }
}

/// What a flush takes.
pub(crate) fn flushing(machine: &Machine, bytes: f64) -> Demand {
    Demand {
        cpu: bytes * machine.flush_byte_cpu,
        device: bytes * machine.byte_write,
    }
}
