//! Asking the planner, behind a fence.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lissom_core::journal::Event;
use lissom_core::{Observation, Plan, TreeState, planner};

use super::super::shared::Shared;
use super::Pilot;
use crate::error::{Error, Result};

impl Pilot {
    /// What the planner proposes, of which nothing has started. Its new memory
    /// is taken up.
    pub(super) fn plan(&mut self, shared: &Shared, seen: &mut Observation) -> Result<Vec<Plan>> {
        let planned = catch_unwind(AssertUnwindSafe(|| planner::plan(seen))).map_err(|_| {
            Error::bug(format!(
                "the planner panicked on the tree of column family \"{}\"; RocksDB goes on alone",
                self.family.name
            ))
        })?;
        self.write_drains(shared, &planned.state);
        self.state = planned.state;
        seen.state = self.state.clone();
        Ok(planned.plans)
    }

    fn write_drains(&self, shared: &Shared, next: &TreeState) {
        let name = &self.family.name;
        let lacks = |state: &TreeState, id| state.drains.iter().all(|drain| drain.id != id);
        for drain in &self.state.drains {
            if lacks(next, drain.id) {
                shared
                    .journal
                    .write(name, Event::DrainEnd { drain: drain.id });
                self.family.view.lock().drains_ended += 1;
            }
        }
        for drain in &next.drains {
            if lacks(&self.state, drain.id) {
                let drain = drain.clone();
                shared.journal.write(name, Event::DrainBegin { drain });
            }
        }
    }
}
