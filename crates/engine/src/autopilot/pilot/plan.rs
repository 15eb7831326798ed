//! Asking the planner, behind a fence.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use lissom_core::journal::Event;
use lissom_core::{Observation, Plan, Tree, TreeState, planner};

use super::super::memory::Memory;
use super::super::shared::Shared;
use super::Pilot;
use crate::error::{Error, Result};

impl Pilot {
    /// What the planner proposes, of which nothing has started. Its new memory is taken up, and
    /// is durable. Where it cannot be made so, no drain begins and all else goes on: the planner
    /// converges from any tree and any memory, but a drain that was forgotten halfway would have
    /// been begun for nothing.
    pub(super) fn plan(
        &mut self,
        shared: &Shared,
        memory: &mut Memory,
        seen: &mut Observation,
        now: Instant,
    ) -> Result<Vec<Plan>> {
        let before = self.state.clone();
        seen.drains_begin = !self.saving_rests(now);
        let mut plans = self.propose(seen)?;
        let durable = self.remember(shared, memory, now);
        if seen.drains_begin && !durable {
            self.state = before.clone();
            seen.state = before.clone();
            seen.drains_begin = false;
            plans = self.propose(seen)?;
        }
        plans = self.beside_resting(seen, plans)?;
        self.write_drains(shared, &before, &seen.tree);
        Ok(plans)
    }

    /// These plans, and others for the places of the pieces of drains that rest. What rests is
    /// handed to no worker, so that no more run than may, and where the merge of L0 rests, the
    /// worker that is kept for it stays so. No drain begins, for it would not be durable.
    fn beside_resting(
        &mut self,
        seen: &mut Observation,
        mut plans: Vec<Plan>,
    ) -> Result<Vec<Plan>> {
        let (workers, drains_begin) = (seen.workers, seen.drains_begin);
        seen.drains_begin = false;
        loop {
            let places = workers + self.resting_pieces(&plans);
            if places <= seen.workers {
                break;
            }
            seen.workers = places;
            plans = self.propose(seen)?;
        }
        (seen.workers, seen.drains_begin) = (workers, drains_begin);
        Ok(plans)
    }

    fn resting_pieces(&self, plans: &[Plan]) -> usize {
        let (back_off, now) = (self.family.back_off.lock(), Instant::now());
        let pieces = plans.iter().filter(|plan| plan.drain.is_some());
        pieces.filter(|plan| back_off.rests(plan, now)).count()
    }

    fn propose(&mut self, seen: &mut Observation) -> Result<Vec<Plan>> {
        let planned = catch_unwind(AssertUnwindSafe(|| planner::plan(seen))).map_err(|_| {
            Error::bug(format!(
                "the planner panicked on the tree of column family \"{}\"; RocksDB goes on alone",
                self.family.name
            ))
        })?;
        self.state = planned.state;
        seen.state = self.state.clone();
        Ok(planned.plans)
    }

    /// Writes down which drains have ended and begun since `before`, over this tree.
    fn write_drains(&self, shared: &Shared, before: &TreeState, tree: &Tree) {
        let name = &self.family.name;
        let lacks = |state: &TreeState, id| state.drains.iter().all(|drain| drain.id != id);
        for drain in &before.drains {
            if lacks(&self.state, drain.id) {
                let ended = Event::DrainEnd {
                    drain: drain.id,
                    left_bytes: drain.bytes_left(tree),
                };
                shared.journal.write(name, ended);
                self.family.view.lock().drains_ended += 1;
            }
        }
        for drain in &self.state.drains {
            if lacks(before, drain.id) {
                let drain = drain.clone();
                shared.journal.write(name, Event::DrainBegin { drain });
            }
        }
    }
}
