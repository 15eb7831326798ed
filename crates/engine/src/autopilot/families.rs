//! Column families that come and go while the autopilot runs.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use parking_lot::RwLock;
use rust_rocksdb::AsColumnFamilyRef;

use super::shared::Family;
use super::{Autopilot, check, mission};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::options::{Hooks, Preparation};

/// For how long compactions of a family that is released are aborted at a time, and for how long they
/// are not at first, while somebody else has its gate.
const ABORTED: Duration = Duration::from_secs(1);
const BRAKING: Duration = Duration::from_secs(20);

/// Closes a family's gate for ever, and returns what keeps its compactions aborted until then.
///
/// `abort` ends pieces at once, and RocksDB's brake on L0 too. Who holds the gate for an ingestion may
/// wait for a writer whom that L0 holds back: so the brake has its turns, each twice as long as the
/// last one, since it begins anew in each.
fn close_for_ever<T>(gate: &RwLock<bool>, abort: impl Fn() -> T) -> T {
    let mut braking = BRAKING;
    loop {
        let aborted = abort();
        if let Some(mut open) = gate.try_write_for(ABORTED) {
            *open = false;
            return aborted;
        }
        drop(aborted);
        if let Some(mut open) = gate.try_write_for(braking) {
            *open = false;
            return abort();
        }
        braking = braking.saturating_mul(2);
    }
}

impl Autopilot {
    /// False when there is one of that name already: what it runs must not be forgotten.
    pub(super) fn seat(&self, name: &str, hooks: Hooks) -> bool {
        let counters = self.shared.events.counters(name);
        if let Some(handle) = self.shared.db.cf_handle(name) {
            counters.belong_to(handle.id());
        }
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
        let abort = || {
            let handle = handle.as_ref();
            handle.and_then(|handle| CfRef::of(handle).and_then(CfRef::abort_compactions).ok())
        };
        let urgent = self.shared.priorities.urgent();
        let aborted = close_for_ever(&family.gate, abort);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    /// Compactions are aborted as long as one of these is there.
    struct Aborted<'a>(&'a AtomicUsize);

    impl<'a> Aborted<'a> {
        fn new(count: &'a AtomicUsize) -> Self {
            count.fetch_add(1, Relaxed);
            Aborted(count)
        }
    }

    impl Drop for Aborted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }

    #[test]
    fn who_has_the_gate_is_not_kept_from_what_only_a_compaction_ends() {
        let (gate, aborted) = (RwLock::new(true), AtomicUsize::new(0));
        thread::scope(|scope| {
            let held = gate.write();
            let releasing = scope.spawn(|| close_for_ever(&gate, || Aborted::new(&aborted)));
            for awaited in [1, 0] {
                while aborted.load(Relaxed) != awaited {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            drop(held);
            let guard = releasing.join().expect("released");
            assert_eq!(aborted.load(Relaxed), 1, "until the family is gone");
            drop(guard);
        });
        assert!(!*gate.read());
    }

    #[test]
    fn an_open_gate_is_closed_at_once() {
        let (gate, aborted) = (RwLock::new(true), AtomicUsize::new(0));
        let guard = close_for_ever(&gate, || Aborted::new(&aborted));
        assert!(!*gate.read());
        assert_eq!(aborted.load(Relaxed), 1);
        drop(guard);
    }
}
