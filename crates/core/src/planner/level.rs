//! A logical level as the planner sees it, and where a new run would go.

use super::urgency::FEW_SLOTS;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::{InFlight, Observation};
use crate::shape::RunLimit;
use crate::state::Drain;

/// One run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub physical: PhysicalLevel,
    pub bytes: u64,
}

/// A logical level without the runs that are being drained.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub level: LogicalLevel,
    /// Runs that no drain takes altogether, newest first.
    pub fresh: Vec<Run>,
    /// Something is being merged or moved into the level, or within it; or its limit is one run,
    /// and it gives up a range of keys: what comes in meanwhile would be one run more.
    pub inbound: bool,
    /// The newest run that is being drained.
    pub drained_from: Option<PhysicalLevel>,
    /// Slots for new runs come of that. A run that goes to its seat leaves those above it where
    /// they are.
    pub frees_slots: bool,
}

impl View {
    /// Bytes of the fresh runs.
    pub fn bytes(&self) -> u64 {
        self.fresh.iter().map(|run| run.bytes).sum()
    }

    /// Nothing is merged into the level or drained from it.
    pub fn at_rest(&self) -> bool {
        !self.inbound && self.drained_from.is_none()
    }

    /// Whether the level is drained whatever a tuner wants of it: a change of limits has it merged
    /// down, or it is full.
    pub fn is_drained_anyway(&self, seen: &Observation) -> bool {
        let is_forced = seen.state.forced.contains(&self.level);
        is_forced || seen.shape.is_full(self.level, self.bytes())
    }

    /// The slot for a new run: just above the newest one.
    pub fn free_slot(&self, seen: &Observation) -> Option<PhysicalLevel> {
        let (first, last) = seen.shape.layout.span(self.level);
        let newest = self
            .fresh
            .first()
            .map(|run| run.physical)
            .or(self.drained_from);
        match newest {
            None => Some(last),
            Some(run) => (run > first).then(|| PhysicalLevel(run.0 - 1)),
        }
    }

    /// Whether the newest run admits no more merges.
    pub fn sealed(&self, seen: &Observation) -> bool {
        let Some((active, sealed)) = self.fresh.split_first() else {
            return true;
        };
        let limit = seen.state.limits.get(self.level);
        let sealed_bytes = sealed.iter().map(|run| run.bytes).sum();
        let seal = seen
            .shape
            .sealed_at(self.level, limit, sealed.len() as u16, sealed_bytes);
        active.bytes >= seal
    }

    /// Where a run of its own would go, though the newest one still admits merges;
    /// `None` while something is merged into the level, and when slots get few: then
    /// [`View::receiver`] tells where a merge goes all the same.
    pub fn slot_apart(&self, seen: &Observation) -> Option<PhysicalLevel> {
        let (first, _) = seen.shape.layout.span(self.level);
        let enough = |slot: &PhysicalLevel| slot.0 - first.0 >= FEW_SLOTS;
        self.free_slot(seen)
            .filter(|slot| !self.inbound && enough(slot))
    }

    /// Where a merge into this level goes: the active run; or a new run if that
    /// one is sealed; or the sealed run all the same if no slot is free and no
    /// drain is about to free some. `None` while another merge comes in, and
    /// while a sealed run waits for the level's drain.
    pub fn receiver(&self, seen: &Observation) -> Option<PhysicalLevel> {
        if self.inbound {
            return None;
        }
        let newest = self.fresh.first().map(|run| run.physical);
        if self.sealed(seen) {
            self.free_slot(seen)
                .or(newest.filter(|_| !self.frees_slots))
        } else {
            newest
        }
    }
}

/// Whether a drain takes runs of a level down.
fn takes_from(seen: &Observation, level: LogicalLevel, drain: &Drain) -> bool {
    let (first, last) = seen.shape.layout.span(level);
    drain.top <= last && drain.target > first && drain.top >= first
        || drain.top < first && drain.target > last
}

/// Whether a level gives up a range of its keys to a drain, and keeps its runs with the rest: its
/// limit is one run, however many it holds.
pub(super) fn keeps_its_run(seen: &Observation, level: LogicalLevel, drain: &Drain) -> bool {
    let of_one = seen.state.limits.get(level) == RunLimit::ONE;
    of_one && drain.range.is_some() && takes_from(seen, level, drain)
}

/// The view of a level.
pub(super) fn view(seen: &Observation, level: LogicalLevel) -> View {
    let (first, last) = seen.shape.layout.span(level);
    let within = |physical: PhysicalLevel| first <= physical && physical <= last;
    let drains = &seen.state.drains;
    let gives = |drain: &Drain| keeps_its_run(seen, level, drain);
    let takes = |drain: &&Drain| takes_from(seen, level, drain) && !gives(drain);
    let taking = || drains.iter().filter(takes);
    let drained_from = taking().map(|drain| drain.top.max(first)).min();
    let receives = |drain: &Drain| drain.top < first && within(drain.target);
    let waits_for = |drain: &Drain| gives(drain) || receives(drain);
    let busy = |job: &InFlight| job.drain.is_none() && job.top <= last && job.output >= first;
    View {
        level,
        fresh: seen
            .tree
            .runs_within(first, last)
            .into_iter()
            .filter(|run| drained_from.is_none_or(|top| *run < top))
            .map(|physical| Run {
                physical,
                bytes: seen.tree.bytes(physical),
            })
            .collect(),
        inbound: drains.iter().any(waits_for) || seen.in_flight.iter().any(busy),
        drained_from,
        frees_slots: taking().any(|drain| !drain.reason.is_reseat()),
    }
}
