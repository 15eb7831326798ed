//! What others may see of a round.

use lissom_core::journal::TreeSummary;
use lissom_core::schedule::{DeepOrder, Level0Order};
use lissom_core::{Layout, Observation, Plan, planner};

use super::Pilot;
use super::debt::{debt_bytes, level0_merging_bytes};

impl Pilot {
    /// `plans` is what was wanted, and `seen` has in flight what of it has begun. `busy` is
    /// whoever compacts beside the autopilot, a tuner that is about to be asked, or a memory
    /// that is still to be made durable.
    pub(super) fn show(&self, seen: &Observation, plans: &[Plan], busy: bool) {
        let debt = debt_bytes(seen, plans);
        // What waits is not done; at the bound of L0 what was set apart from it does.
        let orders_all = (seen.level0, seen.deep) == (Level0Order::Merge, DeepOrder::All);
        let waits = debt > 0 && (!orders_all || seen.at_bound);
        // Files that are not counted yet may be full of tombstones.
        let unseen = self.counts.has_more();
        let busy = busy || self.awaits_answer();
        let at_rest = plans.is_empty() && seen.in_flight.is_empty() && !busy;
        let idle = at_rest && !waits && !unseen;
        let mut view = self.family.view.lock();
        self.learner.name().clone_into(&mut view.policy);
        view.tuner_broken = self.learner.is_broken();
        view.limits = self.state.limits.clone();
        view.tree = TreeSummary::of(&seen.tree, &Layout::V1);
        view.flushed = self.looked.map_or(view.flushed, |look| look.flushed);
        view.entries = seen.tree.iter().map(|(_, file)| file.entries).sum();
        view.space_amplification = seen.tree.space_amplification();
        view.debt_bytes = debt;
        view.level0_merging_bytes = level0_merging_bytes(seen);
        view.level0_held_up = planner::is_held_up(&seen.in_flight, &Layout::V1);
        view.room_waits = planner::room_waits(seen);
        view.deep_bytes = seen.state.drained_bytes(&seen.tree);
        view.waiting = planner::waiting_below_level0(seen);
        view.idle_at = self.looked.filter(|_| idle).map(|look| look.changes);
        view.looks += 1;
    }
}
