//! What runs beside the user: flushes and compactions.

use lissom_core::layout::PhysicalLevel;
use lissom_core::observation::InFlight;
use lissom_core::plan::Plan;
use lissom_core::planner;

use crate::content::Density;
use crate::limiter;
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

impl Work {
    fn is_flush(&self) -> bool {
        matches!(self, Work::Flush { .. })
    }

    /// Bytes that it reads and writes.
    fn bytes(&self) -> f64 {
        match self {
            Work::Flush { bytes, .. } => *bytes,
            Work::Compaction(it) => it.merged.read_bytes + it.merged.write_bytes,
        }
    }
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
    /// Share of its full speed that the rate limiter leaves it, over 0.
    share: f64,
    /// Share of the demand that is still to do.
    left: f64,
}

impl Job {
    /// Bytes a second when nobody else runs.
    fn full_speed(&self) -> f64 {
        let alone = self.demand.alone();
        if alone > 0.0 {
            self.work.bytes() / alone
        } else {
            0.0
        }
    }

    /// Seconds for all of it: as the machine or as the rate limiter lets it, whichever
    /// is slower.
    fn seconds(&self, crowding: &Crowding) -> f64 {
        let crowded = crowding.seconds(self.demand);
        if self.share < 1.0 {
            crowded.max(self.demand.alone() / self.share)
        } else {
            crowded
        }
    }
}

/// All jobs, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jobs {
    running: Vec<Job>,
    /// Bytes a second that all may read and write together.
    rate: Option<f64>,
}

/// A job with less of it to do has ended.
const DONE: f64 = 1e-9;

impl Jobs {
    pub(crate) fn begin(&mut self, work: Work, demand: Demand, now: f64) {
        self.running.push(Job {
            work,
            begun: now,
            demand,
            share: 1.0,
            left: 1.0,
        });
        self.throttle();
    }

    /// Sets what all may read and write together, bytes a second.
    pub(crate) fn limit(&mut self, rate: Option<u64>) {
        self.rate = rate.map(|rate| rate.max(1) as f64);
        self.throttle();
    }

    /// Shares the rate among those that run.
    fn throttle(&mut self) {
        let (mut flushes, mut merges) = (0.0, 0.0);
        for job in &self.running {
            let sum = if job.work.is_flush() {
                &mut flushes
            } else {
                &mut merges
            };
            *sum += job.full_speed();
        }
        let (of_flush, of_merge) = match self.rate {
            Some(rate) => limiter::shares(rate, flushes, merges),
            None => (1.0, 1.0),
        };
        for job in &mut self.running {
            job.share = if job.work.is_flush() {
                of_flush
            } else {
                of_merge
            };
        }
    }

    /// All demands, each with the share of time in which its thread does not wait for
    /// the rate limiter.
    pub(crate) fn demands(&self) -> impl Iterator<Item = (Demand, f64)> + '_ {
        self.running.iter().map(|job| (job.demand, job.share))
    }

    /// Bytes a second that all read and write now.
    pub(crate) fn bytes_per_second(&self, crowding: &Crowding) -> f64 {
        let speed = |job: &Job| {
            let seconds = job.seconds(crowding);
            if seconds > 0.0 {
                job.work.bytes() / seconds
            } else {
                0.0
            }
        };
        self.running.iter().map(speed).sum()
    }

    /// Seconds until the first ends; infinite without any.
    pub(crate) fn first_end(&self, crowding: &Crowding) -> f64 {
        self.running
            .iter()
            .map(|job| job.left * job.seconds(crowding))
            .fold(f64::INFINITY, f64::min)
    }

    /// Lets all work go on, and returns what has ended.
    pub(crate) fn advance(&mut self, crowding: &Crowding, seconds: f64) -> Vec<Job> {
        for job in &mut self.running {
            let whole = job.seconds(crowding);
            job.left -= if whole > 0.0 { seconds / whole } else { 1.0 };
        }
        let (ended, running): (Vec<Job>, Vec<Job>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|job| job.left <= DONE);
        self.running = running;
        if !ended.is_empty() {
            self.throttle();
        }
        ended
    }

    pub(crate) fn flushing(&self) -> bool {
        self.running.iter().any(|job| job.work.is_flush())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    fn compactions(&self) -> impl Iterator<Item = &Compaction> {
        self.running.iter().filter_map(|job| match &job.work {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_slows_what_runs_until_it_is_lifted() {
        let machine = Machine::default();
        let mut jobs = Jobs::default();
        let bytes = 100e6;
        let flush = Work::Flush {
            content: Vec::new(),
            bytes,
        };
        jobs.begin(flush, flushing(&machine, bytes), 0.0);
        let crowding = |jobs: &Jobs| Crowding::of(&machine, jobs.demands());
        let full = jobs.first_end(&crowding(&jobs));
        jobs.limit(Some(10_000_000));
        let slow = crowding(&jobs);
        assert!((jobs.first_end(&slow) - 10.0).abs() < 1e-9);
        assert!((jobs.bytes_per_second(&slow) - 10e6).abs() < 1e-3);
        assert!(jobs.advance(&slow, 5.0).is_empty());
        jobs.limit(None);
        let left = jobs.first_end(&crowding(&jobs));
        assert!((left - full / 2.0).abs() < 1e-9, "{left} {full}");
    }
}
