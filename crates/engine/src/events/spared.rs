//! Files of a merge that may turn out unreadable without RocksDB stopping all writes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use lissom_core::{PhysicalLevel, Plan};
use rust_rocksdb::ErrorKind;
use rust_rocksdb::event_listener::DBBackgroundErrorReason;

use crate::execute::{files_named, is_for_want};

thread_local! {
    /// Absent where no compaction of the autopilot's runs on this thread.
    static INPUTS: RefCell<Option<Inputs>> = const { RefCell::new(None) };
}

/// The files that a compaction reads.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// In L0.
    level0: BTreeSet<u64>,
    /// Below it.
    deep: BTreeSet<u64>,
}

impl Inputs {
    pub(crate) fn of(plan: &Plan) -> Inputs {
        let mut all = Inputs::default();
        for input in &plan.inputs {
            let of_place = match input.level {
                PhysicalLevel::L0 => &mut all.level0,
                _ => &mut all.deep,
            };
            of_place.extend(input.files.iter().copied());
        }
        all
    }

    /// A failed compaction changes nothing: what it wrote is removed, and a file of its that
    /// cannot be read is left alone from then on. Not spared are
    /// - files of L0 that cannot be read: one that cannot leave L0 would hold writers up for ever,
    ///   and an error is better than that;
    /// - what names no table: the manifest, say;
    /// - a full disk, on which RocksDB keeps an eye itself, and goes on by itself.
    fn spares(&self, kind: ErrorKind, message: &str) -> bool {
        let files: BTreeSet<u64> = files_named(message).collect();
        let is_deep = !files.is_disjoint(&self.deep);
        match kind {
            ErrorKind::Corruption => is_deep,
            ErrorKind::IOError if message.contains("No space left") => is_deep,
            ErrorKind::IOError => {
                let is_input_of_level0 = !files.is_disjoint(&self.level0);
                !files.is_empty() && (is_for_want(message) || !is_input_of_level0)
            }
            _ => false,
        }
    }
}

/// Runs a compaction on this thread, whose failure is no reason for RocksDB to stop all writes
/// where the inputs or outputs below L0, or a lack of descriptors or memory, are to blame.
pub(crate) fn sparing<T>(inputs: Inputs, compact: impl FnOnce() -> T) -> T {
    struct Forget;
    impl Drop for Forget {
        fn drop(&mut self) {
            INPUTS.with_borrow_mut(|inputs| *inputs = None);
        }
    }
    INPUTS.with_borrow_mut(|known| *known = Some(inputs));
    let _forget = Forget;
    compact()
}

/// Whether an error of a compaction on this thread is to be spared.
pub(super) fn is_spared(reason: DBBackgroundErrorReason, error: &rust_rocksdb::Error) -> bool {
    let spares = |inputs: &Inputs| inputs.spares(error.kind(), error.as_ref());
    reason == DBBackgroundErrorReason::KCompaction
        && INPUTS.with_borrow(|inputs| inputs.as_ref().is_some_and(spares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_harms_nothing_stops_no_writes() {
        let inputs = Inputs {
            level0: [120].into(),
            deep: [45].into(),
        };
        use ErrorKind::{Corruption, IOError};
        for (kind, message, spared) in [
            (
                Corruption,
                "block checksum mismatch in /d/000045.sst offset 7",
                true,
            ),
            (
                Corruption,
                "block checksum mismatch in /d/000120.sst offset 7",
                false,
            ),
            (
                Corruption,
                "block checksum mismatch in /d/000999.sst offset 7",
                false,
            ),
            (
                IOError,
                "While pread: /d/000045.sst: Input/output error",
                true,
            ),
            (
                IOError,
                "While pread: /d/000120.sst: Input/output error",
                false,
            ),
            (
                IOError,
                "While appending to file: /d/000999.sst: Input/output error",
                true,
            ),
            (
                IOError,
                "While open a file for appending: /d/000999.sst: Too many open files",
                true,
            ),
            (
                IOError,
                "While open a file for random read: /d/000120.sst: Too many open files",
                true,
            ),
            (
                IOError,
                "No space left on device: While appending to file: /d/000999.sst",
                false,
            ),
            (
                IOError,
                "While open a file for appending: /d/MANIFEST-000005: Too many open files",
                false,
            ),
            (ErrorKind::Aborted, "/d/000045.sst", false),
        ] {
            assert_eq!(inputs.spares(kind, message), spared, "{message}");
        }
    }

    #[test]
    fn on_other_threads_nothing_is_spared() {
        let is_known = || INPUTS.with_borrow(Option::is_some);
        assert!(!is_known());
        assert!(sparing(Inputs::default(), is_known));
        assert!(!is_known());
    }
}
