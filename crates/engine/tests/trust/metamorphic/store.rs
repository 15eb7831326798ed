//! A database under test: stock RocksDB, or Lissom.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lissom::{Db, RocksDb};
use rust_rocksdb::properties::{NUM_RUNNING_COMPACTIONS, NUM_RUNNING_FLUSHES};
use rust_rocksdb::{BoundColumnFamily, ColumnFamilyDescriptor, MergeOperands, Options};

use super::history::{Cf, family_name};
use super::model::{self, Answer};

pub type Answered = Result<Answer, String>;

pub enum Store {
    Stock(RocksDb),
    Lissom(Box<Db>),
}

/// The merge operator of both.
pub fn with_merge(options: &mut Options) {
    options.set_merge_operator_associative(
        c"trust.join",
        |_: &[u8], existing: Option<&[u8]>, operands: &MergeOperands| {
            let joined = operands
                .into_iter()
                .fold(existing.map(<[u8]>::to_vec), |so_far, operand| {
                    Some(model::merge(so_far.as_deref(), operand))
                });
            joined.or_else(|| Some(Vec::new()))
        },
    );
}

impl Store {
    /// RocksDB as it comes, with small buffers so that it compacts too.
    pub fn stock(path: &Path) -> Result<Store, String> {
        let mut options = stock_options();
        options.create_if_missing(true);
        let names = RocksDb::list_cf(&options, path).unwrap_or_else(|_| vec!["default".into()]);
        let families = names
            .into_iter()
            .map(|name| ColumnFamilyDescriptor::new(name, stock_options()));
        RocksDb::open_cf_descriptors(&options, path, families)
            .map(Store::Stock)
            .map_err(|error| format!("stock RocksDB does not open: {error}"))
    }

    pub fn rocks(&self) -> &RocksDb {
        match self {
            Store::Stock(db) => db,
            Store::Lissom(db) => db,
        }
    }

    pub fn handle(&self, cf: Cf) -> Result<Arc<BoundColumnFamily<'_>>, String> {
        let name = family_name(cf);
        self.rocks()
            .cf_handle(&name)
            .ok_or_else(|| format!("the column family {name} is gone"))
    }

    pub fn create(&self, cf: Cf) -> Result<(), String> {
        match self {
            Store::Stock(db) => db
                .create_cf(family_name(cf), &stock_options())
                .map_err(text),
            Store::Lissom(db) => db.create_cf(&family_name(cf)).map_err(text),
        }
    }

    pub fn drop_family(&self, cf: Cf) -> Result<(), String> {
        match self {
            Store::Stock(db) => {
                let held = db.cf_handle(&family_name(cf));
                db.drop_cf(&family_name(cf)).map_err(text)?;
                // Its jobs look at the options of a family that was dropped meanwhile.
                wait_for_jobs(db);
                drop(held);
                Ok(())
            }
            Store::Lissom(db) => db.drop_cf(&family_name(cf)).map_err(text),
        }
    }

    pub fn lives(&self, cf: Cf) -> bool {
        self.rocks().cf_handle(&family_name(cf)).is_some()
    }
}

fn wait_for_jobs(db: &RocksDb) {
    let running = |property| db.property_int_value(property).ok().flatten().unwrap_or(0);
    while running(NUM_RUNNING_COMPACTIONS) + running(NUM_RUNNING_FLUSHES) > 0 {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn stock_options() -> Options {
    let mut options = Options::default();
    options.set_write_buffer_size(64 << 10);
    options.set_target_file_size_base(64 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    with_merge(&mut options);
    options
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
