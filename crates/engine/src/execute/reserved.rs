//! Space on the disk that RocksDB reserves for what it is asked to move, and never gives
//! back: in the end it would hold all compactions for too large.

use lissom_core::Plan;
use rust_rocksdb::{AsColumnFamilyRef, ErrorKind};

use crate::ffi::CfRef;

/// Gives back what RocksDB reserved for a move.
pub(super) fn release(family: &impl AsColumnFamilyRef, plan: &Plan) {
    // It fails only where memory has run out, and nothing else depends on it.
    let _ = CfRef::of(family).and_then(|family| family.release_reserved_space(plan.input_bytes));
}

/// Gives back what RocksDB reserved for a move that failed, as where the manifest could not be
/// written or a file not be opened at its new level.
///
/// What it refuses has reserved nothing, and comes out as another kind of error. A rewrite in
/// the place of a move, which has `merged`, gives back by itself: twice would be too much.
pub(super) fn release_after(
    family: &impl AsColumnFamilyRef,
    plan: &Plan,
    error: &rust_rocksdb::Error,
    merged: bool,
) {
    let has_reserved = matches!(
        error.kind(),
        ErrorKind::IOError | ErrorKind::Corruption | ErrorKind::ColumnFamilyDropped
    );
    if has_reserved && !merged {
        release(family, plan);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lissom_core::journal::Outcome;
    use lissom_core::plan::Input;
    use lissom_core::{File, Key, PhysicalLevel, PlanKind, Reason};
    use rust_rocksdb::{CompactionOptions, SstFileManager};
    use tempfile::TempDir;

    use super::super::{Executed, execute};
    use super::*;
    use crate::observe::observe;
    use crate::{Db, Settings};

    const OUTPUT: PhysicalLevel = PhysicalLevel(2);

    /// A database that begins a manifest with each change of its tree, and whose autopilot
    /// does nothing.
    struct Store {
        // Before the directory: a database closes before its files go.
        db: Db,
        directory: TempDir,
        manager: SstFileManager,
    }

    fn store() -> Store {
        let directory = tempfile::tempdir().expect("a directory");
        let manager = SstFileManager::new();
        let given = manager.clone();
        let db = Db::opening(directory.path(), Settings::default())
            .customise(move |_, options| {
                options.set_sst_file_manager(&given);
                options.set_max_manifest_file_size(1);
                options.set_max_manifest_space_amp_pct(0);
            })
            .open()
            .expect("opened");
        db.autopilot().pause();
        Store {
            db,
            directory,
            manager,
        }
    }

    impl Store {
        /// A file of L0 with this key alone.
        fn flush(&self, key: &str) -> File {
            self.db.put(key, "value").expect("a put");
            self.db.flush().expect("a flush");
            let handle = self.db.cf_handle("default").expect("there always is one");
            observe(&handle).expect("a tree").tree.level0()[0].clone()
        }

        fn execute(&self, files: &[File]) -> Executed {
            let handle = self.db.cf_handle("default").expect("there always is one");
            execute(self.db.rocksdb(), &handle, &move_of(files), 1)
        }

        /// RocksDB moves a file, and nobody gives back what it reserves.
        fn move_and_reserve(&self, file: &File) {
            let handle = self.db.cf_handle("default").expect("there always is one");
            let mut options = CompactionOptions::default();
            options.set_allow_trivial_move(true);
            let names = [format!("{:06}.sst", file.number)];
            let output = i32::from(OUTPUT.0);
            let moved = self.db.compact_files_cf(&handle, &options, &names, output);
            moved.expect("moved");
        }

        /// Puts directories in the place of the next manifests.
        fn break_manifest(&self) {
            for number in 0..100 {
                let path = self.directory.path().join(format!("MANIFEST-{number:06}"));
                // The present one is there.
                let _ = fs::create_dir(path);
            }
        }

        fn has_reserved(&self) -> bool {
            let manager = &self.manager;
            // A byte more than there is: no room for any reservation.
            manager.set_max_allowed_space_usage(manager.get_total_size() + 1);
            let has_reserved = manager.is_max_allowed_space_reached_including_compactions();
            manager.set_max_allowed_space_usage(0);
            has_reserved
        }
    }

    fn move_of(files: &[File]) -> Plan {
        Plan {
            kind: PlanKind::Move,
            inputs: vec![Input {
                level: PhysicalLevel::L0,
                files: files.iter().map(|file| file.number).collect(),
            }],
            output: OUTPUT,
            output_file_size: 1 << 20,
            range: (Key::from("a"), Key::from("z")),
            input_bytes: files.iter().map(|file| file.size).sum(),
            drain: None,
            excess: None,
            awaited: false,
            hurried: false,
            reason: Reason::Manual,
        }
    }

    fn has_failed(executed: &Executed) -> bool {
        matches!(executed.outcome, Outcome::Failed { .. })
    }

    #[test]
    fn a_move_leaves_no_space_reserved_whether_it_succeeds_or_fails() {
        let store = store();
        let moved = store.execute(&[store.flush("a")]);
        let rewrote_nothing = matches!(moved.outcome, Outcome::Done { write_bytes: 0, .. });
        assert!(rewrote_nothing && !store.has_reserved(), "{moved:?}");
        let file = store.flush("b");
        store.break_manifest();
        let failed = store.execute(&[file]);
        assert!(has_failed(&failed) && !store.has_reserved(), "{failed:?}");
    }

    #[test]
    fn what_others_have_reserved_stays_where_a_rewrite_fails_that_should_have_moved() {
        let store = store();
        store.move_and_reserve(&store.flush("a"));
        let older = store.flush("b");
        let newer = store.flush("b");
        store.break_manifest();
        let failed = store.execute(&[newer, older]);
        assert!(has_failed(&failed) && store.has_reserved(), "{failed:?}");
    }
}
