//! What a round sees of its column family.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use lissom_core::journal::Event;
use lissom_core::{Observation, Shape, Tree};
use rust_rocksdb::BoundColumnFamily;

use super::super::shared::{Family, Shared};
use super::counts::Counts;
use super::{Look, Pilot};
use crate::error::Result;
use crate::ffi::CfRef;
use crate::ffi::snapshot::table_properties_at;
use crate::observe::{Seen, observe};

impl Pilot {
    /// The observation, and whether somebody else compacts.
    pub(super) fn look(
        &mut self,
        shared: &Shared,
        handle: &Arc<BoundColumnFamily<'_>>,
        pinned: bool,
        now: Instant,
    ) -> Result<(Observation, bool)> {
        let family = &self.family;
        // Counted before looking: what changes meanwhile is looked at again.
        self.looked = Some(Look {
            at: now,
            changes: family.counters.changes.load(Relaxed),
            ended: family.ended.load(Relaxed),
            flushed: family.counters.flushed(),
            drains_elsewhere: shared.drains_elsewhere(family),
        });
        // Own jobs before the manifest: one that ends in between is then held
        // for running, which is safe, rather than for unknown.
        let mut in_flight = family.own_jobs();
        let seen = observe(handle)?;
        let foreign = seen.foreign(&in_flight);
        let busy_elsewhere = foreign.is_some();
        in_flight.extend(foreign);
        let Seen { mut tree, .. } = seen;
        let counts = &mut self.counts;
        count_files(counts, shared, family, handle, &mut tree, now);
        // A question that is open was asked over the dimensions of before, and so its mission
        // is to stand behind them in the journal.
        if !self.learner.is_asked() {
            tell_shape(&mut self.shape, shared, family);
        }
        let unreadable = self.left_out(&tree, now);
        let observation = Observation {
            shape: self.shape.fitted(&tree),
            tree,
            state: self.state.clone(),
            in_flight,
            unreadable,
            workers: shared.settings.workers,
            drains_elsewhere: shared.drains_elsewhere(family),
            level0: self.order.level0,
            at_bound: self.order.at_bound,
            deep: shared.deep_left(&self.order, family),
            pinned,
            drains_begin: true,
            moves_rewrite: self.moves_rewrite,
        };
        Ok((observation, busy_elsewhere))
    }

    /// Files of the tree that no plan may take.
    fn left_out(&self, tree: &Tree, now: Instant) -> BTreeSet<u64> {
        let mut quarantine = self.family.quarantine.lock();
        if !quarantine.files().is_empty() {
            let places = tree.places();
            let is_there = |file: u64| places.contains_key(&file);
            quarantine.review(now, tree.newest_in_level0(), is_there);
        }
        quarantine.files()
    }
}

/// Takes up other dimensions of the tree. They stand in the journal before the mission that
/// ends over them, so that a replay goes by the same.
fn tell_shape(told: &mut Shape, shared: &Shared, family: &Family) {
    let shape = family.shape();
    if shape != *told {
        let before = std::mem::replace(told, shape.clone());
        let changed = Event::Shape { before, shape };
        shared.journal.write(&family.name, changed);
    }
}

/// Reads what some files hold, where L0 needs no merge at once: that comes first.
fn count_files(
    counts: &mut Counts,
    shared: &Shared,
    family: &Family,
    handle: &Arc<BoundColumnFamily<'_>>,
    tree: &mut Tree,
    now: Instant,
) {
    if tree.level0().len() >= family.level0_trigger() as usize {
        return counts.fill_in(tree);
    }
    let read = |keys: &[&[u8]]| -> Result<_> { Ok(table_properties_at(CfRef::of(handle)?, keys)?) };
    if let Err(error) = counts.complete(tree, now, read) {
        // No reason to merge nothing: these files' tombstones are not known, no more.
        let sentence = format!("the entries of some files stay unknown: {error}");
        shared.complain(&family.name, sentence);
    }
}
