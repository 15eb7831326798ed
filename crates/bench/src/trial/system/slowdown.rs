//! Writers whom RocksDB slows down, and a process that was stopped meanwhile.
//!
//! RocksDB grants them so many bytes for each second that goes by, those of a stop
//! included (`WriteController::GetDelay`): after minutes of it nobody is slowed down any
//! more. What was granted is taken back when a slowdown begins, so it is ended and begun
//! anew, at a rate that RocksDB has raised a little meanwhile. Between the two changes a
//! memtable more than allowed may fill, and is flushed like the others.

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{DBWithThreadMode, ThreadMode, properties};

use crate::error::{BenchError, Place, Result};

const LEVEL0: &str = "level0_slowdown_writes_trigger";
const LEVEL0_STOP: &str = "level0_stop_writes_trigger";
const PENDING: &str = "soft_pending_compaction_bytes_limit";
const MEMTABLES: &str = "max_write_buffer_number";

/// RocksDB slows writers down when all memtables but one are full: where so many more are
/// allowed it slows down nobody.
const MORE_MEMTABLES: u64 = 2;

/// When writers are slowed down, in the words of RocksDB's options.
pub(super) struct Slowdown {
    level0: String,
    level0_stop: String,
    pending: String,
    memtables: u64,
}

impl Slowdown {
    /// By the options that RocksDB says that it uses.
    ///
    /// # Errors
    /// One of them is not among these, or is no number where it must be one.
    pub(super) fn of(used: &OptionsFile) -> Result<Self> {
        let get = |name: &str| {
            let value = used.get(Section::Cf, name).map(str::to_owned);
            value.ok_or_else(|| {
                BenchError::new(format!("RocksDB's OPTIONS file has no {name}: report this"))
            })
        };
        Ok(Self {
            level0: get(LEVEL0)?,
            level0_stop: get(LEVEL0_STOP)?,
            pending: get(PENDING)?,
            memtables: get(MEMTABLES)?.parse::<u64>().place(MEMTABLES)?,
        })
    }

    /// Takes back what writers were granted while the process was stopped.
    ///
    /// # Errors
    /// RocksDB's.
    pub(super) fn begin_anew<T: ThreadMode>(&self, db: &DBWithThreadMode<T>) -> Result<()> {
        let rate = db.property_int_value(properties::ACTUAL_DELAYED_WRITE_RATE)?;
        if rate.unwrap_or(0) == 0 {
            return Ok(());
        }
        self.lift(db)?;
        self.restore(db)
    }

    /// Nobody is slowed down; who is stopped stays so.
    fn lift<T: ThreadMode>(&self, db: &DBWithThreadMode<T>) -> Result<()> {
        let memtables = (self.memtables + MORE_MEMTABLES).to_string();
        let none = [
            (LEVEL0, self.level0_stop.as_str()),
            (PENDING, "0"),
            (MEMTABLES, memtables.as_str()),
        ];
        Ok(db.set_options(&none)?)
    }

    fn restore<T: ThreadMode>(&self, db: &DBWithThreadMode<T>) -> Result<()> {
        let memtables = self.memtables.to_string();
        let usual = [
            (LEVEL0, self.level0.as_str()),
            (PENDING, self.pending.as_str()),
            (MEMTABLES, memtables.as_str()),
        ];
        Ok(db.set_options(&usual)?)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lissom::{Db, Settings};
    use rust_rocksdb::{DB, Options};

    use super::*;
    use crate::arms::options_file::applied;

    /// What the newest OPTIONS file says.
    fn used(directory: &Path) -> OptionsFile {
        applied::used(directory).unwrap()
    }

    #[test]
    fn a_slowdown_ends_and_its_options_are_as_before() {
        let directory = tempfile::tempdir().unwrap();
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_level_zero_slowdown_writes_trigger(7);
        options.set_level_zero_stop_writes_trigger(9);
        options.set_max_write_buffer_number(5);
        let db = DB::open(&options, directory.path()).unwrap();
        let before = used(directory.path());
        let slowdown = Slowdown::of(&before).unwrap();
        slowdown.lift(&db).unwrap();
        let lifted = used(directory.path());
        assert_eq!(lifted.get(Section::Cf, LEVEL0), Some("9"));
        assert_eq!(lifted.get(Section::Cf, PENDING), Some("0"));
        assert_eq!(lifted.get(Section::Cf, MEMTABLES), Some("7"));
        slowdown.restore(&db).unwrap();
        // Nobody is slowed down, so nothing is to be done.
        slowdown.begin_anew(&db).unwrap();
        let after = used(directory.path());
        assert_eq!(after.get(Section::Cf, LEVEL0), Some("7"));
        for name in [LEVEL0, LEVEL0_STOP, PENDING, MEMTABLES] {
            let same = after.get(Section::Cf, name) == before.get(Section::Cf, name);
            assert!(same, "{name}");
        }
        let error = Slowdown::of(&OptionsFile::default()).err().unwrap();
        assert!(error.to_string().contains(LEVEL0), "{error}");
    }

    #[test]
    fn it_ends_in_lissom_too() {
        let directory = tempfile::tempdir().unwrap();
        let db = Db::open(directory.path(), Settings::default()).unwrap();
        let before = used(directory.path());
        let slowdown = Slowdown::of(&before).unwrap();
        let rocksdb: &lissom::RocksDb = db.rocksdb();
        slowdown.lift(rocksdb).unwrap();
        let lifted = used(directory.path());
        let stop = before.get(Section::Cf, LEVEL0_STOP);
        assert_eq!(lifted.get(Section::Cf, LEVEL0), stop);
        slowdown.restore(rocksdb).unwrap();
        slowdown.begin_anew(rocksdb).unwrap();
        let after = used(directory.path());
        for name in [LEVEL0, LEVEL0_STOP, PENDING, MEMTABLES] {
            let same = after.get(Section::Cf, name) == before.get(Section::Cf, name);
            assert!(same, "{name}");
        }
    }
}
