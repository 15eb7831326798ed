//! The schedule: what it is told, and what its order changes.

use lissom_core::schedule::{Debt, Order};
use lissom_core::{Layout, planner};

use super::Run;
use crate::outcome::Ordered;
use crate::scheduler::Scheduler;

impl Run<'_> {
    /// Seconds until the schedule is asked; infinite where nobody asks.
    pub(super) fn until_asked(&self) -> f64 {
        let scheduler = self.scheduler.as_ref();
        scheduler.map_or(f64::INFINITY, Scheduler::left)
    }

    /// Time passes; when the interval is over, a new order holds.
    pub(super) fn ask_schedule(&mut self, seconds: f64) {
        let over = self.scheduler.as_mut().is_some_and(|it| it.pass(seconds));
        if !over {
            return;
        }
        let debt = self.debt();
        let block_bytes = self.scenario.store.block_bytes;
        let counters = self.total.counters(self.now, block_bytes);
        let Some(scheduler) = &mut self.scheduler else {
            return;
        };
        let order = scheduler.order(counters, debt);
        self.hold_to(order);
    }

    /// L0 may have come to its bound since the schedule was asked: then the order that holds
    /// is bounded at once, and its rate ends.
    pub(super) fn keep_bound(&mut self) {
        if self.scheduler.is_none() || self.pilot.order.at_bound {
            return;
        }
        let debt = self.of_level0();
        let bounds = &self.scenario.store.debt_bounds;
        if debt.is_at(bounds) {
            let order = debt.bounded(bounds, self.pilot.order.clone());
            self.hold_to(order);
        }
    }

    /// What waits in L0; what runs is not told.
    fn of_level0(&self) -> Debt {
        let (level0_files, level0_bytes) = self.tree.level0();
        let trigger = self.scenario.store.shape.level0_file_num_compaction_trigger;
        Debt {
            level0_files,
            level0_bytes,
            level0_delayed_bytes: Debt::delayed(level0_files, level0_bytes, trigger),
            ..Debt::default()
        }
    }

    fn hold_to(&mut self, order: Order) {
        self.jobs.limit(order.bytes_per_second);
        if !self.pilot.order.is_like(&order) {
            self.news = true;
            self.outcome.orders.push(Ordered {
                at: self.now - self.began,
                session: self.measured.unwrap_or(0),
                order: order.clone(),
            });
        }
        self.pilot.order = order;
    }

    /// What the tree owes; looked up again once it has changed.
    fn debt(&mut self) -> Debt {
        if let Some(debt) = self.debt {
            return debt;
        }
        let tree = self.tree.manifest().clone();
        let seen = self.pilot.observation(tree, self.jobs.in_flight());
        let running = &seen.in_flight;
        let is_merged = |number: u64| running.iter().any(|job| job.files.contains(&number));
        let mut debt = Debt {
            level0_merging_bytes: seen.tree.level0_bytes_of(is_merged),
            level0_held_up: planner::is_held_up(running, &Layout::V1),
            deep_bytes: seen.state.drained_bytes(&seen.tree),
            ..self.of_level0()
        };
        debt.add_waiting(&planner::waiting_below_level0(&seen));
        self.debt = Some(debt);
        debt
    }
}
