//! Column families that come and go while the autopilot runs.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::shared::Family;
use super::{Autopilot, check, mission};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::options::{Hooks, Preparation};

impl Autopilot {
    /// False when there is one of that name already: what it runs must not be forgotten.
    pub(super) fn seat(&self, name: &str, hooks: Hooks) -> bool {
        let counters = self.shared.events.counters(name);
        let totals = mission::totals(&self.shared, &counters);
        let family = Family::new(name, hooks, counters, totals);
        if check::compresses_in_parallel(&self.shared.db, name) {
            let why =
                "threads that compress in parallel (parallel_threads) could not be called back";
            self.shared.priorities.lose(why);
        }
        let mut families = self.shared.families.write();
        let is_free = !families.contains_key(name);
        if is_free {
            families.insert(name.to_owned(), Arc::new(family));
        }
        if families.len() > 1 {
            self.shared.several.store(true, Relaxed);
        }
        is_free
    }

    /// Takes over a column family that was created after the start with options
    /// from `preparation`.
    ///
    /// # Errors
    /// When there is no such column family, its options are foreign, it is driven
    /// already, or an attached autopilot cannot see what its policy follows.
    pub fn attach_cf(&self, name: &str, preparation: &Preparation) -> Result<()> {
        let hooks = preparation.hooks.get(name).ok_or_else(|| {
            Error::fix(format!(
                "the preparation has no options for \"{name}\": call Preparation::options first"
            ))
        })?;
        self.shared.check_policy(name, &hooks.settings.policy)?;
        self.adopt_cf(name, hooks.clone())
    }

    pub(crate) fn adopt_cf(&self, name: &str, hooks: Hooks) -> Result<()> {
        check::family(&self.shared.db, name, &hooks)?;
        if !self.seat(name, hooks) {
            return Err(Error::fix(format!(
                "a column family \"{name}\" is driven already: if that one was dropped, call \
                 Autopilot::release_cf first"
            )));
        }
        self.shared.events.bell().ring();
        Ok(())
    }

    /// Leaves a column family alone. Its compactions are aborted, which changes
    /// no data, and have ended when this returns.
    ///
    /// An application that drops a column family releases it first: RocksDB
    /// 11.12 takes a move that meets the drop for a failure of the disk, and
    /// refuses all later writes.
    pub fn release_cf(&self, name: &str) {
        let Some(family) = self.shared.family(name) else {
            return;
        };
        let handle = self.shared.db.cf_handle(name);
        let aborted = handle
            .as_ref()
            .and_then(|handle| CfRef::of(handle).and_then(CfRef::abort_compactions).ok());
        let urgent = self.shared.priorities.urgent();
        *family.gate.write() = false;
        drop(urgent);
        // Only now: who ingests looks for the gate here.
        self.shared.families.write().remove(name);
        drop(aborted);
        self.shared.events.forget(name);
        self.shared.events.bell().ring();
    }

    /// Does something while the autopilot compacts nothing in a column family:
    /// waits for the pieces that run, and lets none start before `act` returns.
    /// Compactions of RocksDB's own, its brake on L0 and those of `CompactRange`, go on
    /// merging; before they commit each waits for `act` to return, a second at most.
    ///
    /// Ingestion needs it. RocksDB 11.12 chooses an ingested file's level by two
    /// views of the tree, which for a moment differ when a compaction was
    /// committed together with another change of the manifest; the file then
    /// comes to lie below older versions of its keys.
    /// [`Db`](crate::Db) sees to it, and copies the files before; an application that
    /// attached an autopilot ingests in here, and links them
    /// (`IngestExternalFileOptions::set_move_files`): a copy may take longer than a second.
    /// `act` must neither call this, nor release the family, nor stop the autopilot.
    pub fn without_compactions<T>(&self, family: &str, act: impl FnOnce() -> T) -> T {
        let driven = self.shared.family(family);
        let urgent = self.shared.priorities.urgent();
        let _alone = driven.as_ref().map(|driven| driven.gate.write());
        drop(urgent);
        // It fails only where memory has run out, and nothing is held then.
        let _held = self.shared.commits.close(family).ok();
        act()
    }
}
