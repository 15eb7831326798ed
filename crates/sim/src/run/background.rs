//! What goes on beside the user: flushes, compactions, the planner, the brake.

use lissom_core::layout::PhysicalLevel;
use lissom_core::plan::{Input, Plan, PlanKind, Reason};
use lissom_core::tree::Tree;

use super::{NOTHING, PATIENCE, Run, Stuck};
use crate::content::Density;
use crate::jobs::{Compaction, Work, flushing, merging};
use crate::machine::Crowding;
use crate::memtable::Memtable;

impl Run<'_> {
    /// Users rest until nothing is left to do, and nothing waits for a better time.
    pub(super) fn settle(&mut self) -> Result<(), Stuck> {
        if self.memtable.bytes > 0.0 {
            let fresh = Memtable::new(&self.keys);
            self.waiting
                .push(std::mem::replace(&mut self.memtable, fresh));
        }
        self.seal_memtable();
        self.plan();
        let mut waited = 0.0;
        while !self.jobs.is_empty() || self.pilot.holds_back() {
            let crowding = Crowding::of(&self.scenario.machine, self.jobs.demands());
            let seconds = self.jobs.first_end(&crowding).min(self.until_asked());
            waited = if self.jobs.is_empty() {
                waited + seconds
            } else {
                0.0
            };
            if waited > PATIENCE {
                return Err(Stuck(format!(
                    "{} holds compactions back though nobody has been there for an hour: {}",
                    self.scenario.schedule, self.pilot.order.why
                )));
            }
            self.pass(&crowding, seconds);
            self.seal_memtable();
        }
        Ok(())
    }

    /// The session that ends waits for what it owes.
    pub(super) fn settle_session(&mut self) -> Result<(), Stuck> {
        let begun = self.now;
        self.settle()?;
        let seconds = self.now - begun;
        for counts in self.counts() {
            counts.seconds += seconds;
        }
        self.note_limits();
        Ok(())
    }

    pub(super) fn memtable_is_full(&self) -> bool {
        let size = self.scenario.store.shape.write_buffer_size as f64;
        self.memtable.bytes >= size * (1.0 - NOTHING)
    }

    /// The one that takes writes, and those that are not flushed yet.
    pub(super) fn memtables(&self) -> usize {
        1 + self.waiting.len() + usize::from(self.jobs.flushing())
    }

    /// A full memtable waits for its flush, if another may take its place.
    pub(super) fn seal_memtable(&mut self) {
        let store = &self.scenario.store;
        if self.memtable_is_full() && self.memtables() < store.max_write_buffer_number {
            let fresh = Memtable::new(&self.keys);
            self.waiting
                .push(std::mem::replace(&mut self.memtable, fresh));
        }
        if !self.waiting.is_empty() && !self.jobs.flushing() {
            let content = self.waiting.remove(0).content();
            let entries: f64 = content.iter().map(Density::entries).sum();
            let bytes = entries * store.entry_bytes;
            let demand = flushing(&self.scenario.machine, bytes);
            self.jobs
                .begin(Work::Flush { content, bytes }, demand, self.now);
        }
    }

    /// Time passes; what ends takes effect, the schedule is asked when it is due, and the
    /// planner looks.
    pub(super) fn pass(&mut self, crowding: &Crowding, seconds: f64) {
        self.now += seconds;
        for job in self.jobs.advance(crowding, seconds) {
            match job.work {
                Work::Flush { content, bytes } => {
                    for counts in self.counts() {
                        counts.flush_bytes += bytes;
                    }
                    self.tree.flush(content);
                }
                Work::Compaction(ended) => {
                    let layout = &self.scenario.store.shape.layout;
                    let seconds = self.now - job.begun;
                    for counts in self.counts() {
                        counts.compaction(layout, &ended, seconds);
                    }
                    self.tree.install(&ended.plan, ended.merged);
                }
            }
            self.changed();
        }
        self.ask_schedule(seconds);
        self.keep_bound();
        self.plan();
    }

    pub(super) fn changed(&mut self) {
        self.costs = None;
        self.debt = None;
        self.news = true;
        self.note_space();
        self.note_level0();
    }

    pub(super) fn note_level0(&mut self) {
        let (files, bytes) = self.tree.level0();
        self.watch.level0(files, bytes as f64);
    }

    pub(super) fn note_space(&mut self) {
        let live: f64 = self.keys.iter().sum::<f64>() * self.scenario.store.entry_bytes;
        if live > 0.0 {
            self.outcome.peak_space = self.outcome.peak_space.max(self.tree.bytes() / live);
        }
    }

    /// Moves take effect at once, so the planner looks again after them.
    pub(super) fn plan(&mut self) {
        while self.news {
            self.news = false;
            self.brake();
            if self.jobs.workers() >= self.scenario.store.workers {
                return;
            }
            // Drains may begin and end.
            self.debt = None;
            for plan in self
                .pilot
                .plan(self.tree.manifest().clone(), self.jobs.in_flight())
            {
                self.start(plan, false);
            }
        }
    }

    pub(super) fn start(&mut self, plan: Plan, brake: bool) {
        let store = &self.scenario.store;
        let merged = self.tree.merge(&plan, &store.shape, &self.pilot.state);
        if plan.kind == PlanKind::Move {
            self.tree.install(&plan, merged);
            self.changed();
            return;
        }
        self.outcome.largest_merge = self.outcome.largest_merge.max(merged.read_bytes);
        let demand = merging(&self.scenario.machine, &merged);
        let compaction = Compaction {
            plan,
            merged,
            brake,
        };
        self.debt = None;
        self.jobs
            .begin(Work::Compaction(Box::new(compaction)), demand, self.now);
    }

    /// RocksDB's own compaction of L0 into the landing level.
    pub(super) fn brake(&mut self) {
        let trigger = self.scenario.store.shape.level0_slowdown_writes_trigger as usize;
        if self.tree.files(0).len() >= trigger && !self.jobs.on_level0() {
            let plan = braking(self.tree.manifest(), &self.scenario.store.shape);
            self.start(plan, true);
        }
    }
}

/// All of L0 and of the landing level, into the landing level.
fn braking(tree: &Tree, shape: &lissom_core::Shape) -> Plan {
    let levels = [PhysicalLevel::L0, PhysicalLevel::LANDING];
    let inputs: Vec<Input> = levels
        .into_iter()
        .map(|level| Input {
            level,
            files: tree.files(level).iter().map(|file| file.number).collect(),
        })
        .filter(|input| !input.files.is_empty())
        .collect();
    let bytes = levels.iter().map(|level| tree.bytes(*level)).sum();
    Plan {
        kind: PlanKind::Merge,
        inputs,
        output: PhysicalLevel::LANDING,
        output_file_size: shape.target_file_size(tree.total_bytes()),
        range: (crate::tree::key(0.0), crate::tree::key(1.0)),
        input_bytes: bytes,
        drain: None,
        excess: None,
        awaited: false,
        hurried: false,
        reason: Reason::Landing { bytes },
    }
}
