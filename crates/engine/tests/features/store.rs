//! A store of small buffers, and a model of what it should hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lissom::core::{Layout, LogicalLevel};
use lissom::statistics::Pieces;
use lissom::{Autopilot, Db, Preparation, RocksDb, Settings};
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

use crate::common;

/// No test should come near it.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a store should hold.
pub type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// Level 1 holds 512 KiB, level 2 holds 2 MiB, level 3 holds 8 MiB.
pub fn settings(policy: &str) -> Settings {
    Settings {
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 64 << 10,
        level0_file_num_compaction_trigger: 2,
        memory_budget_bytes: 16 << 20,
        ..common::small(policy)
    }
}

pub fn open(path: &Path, policy: &str) -> Db {
    Db::open(path, settings(policy)).expect("opened")
}

pub fn open_with(path: &Path, change: impl Fn(&mut Options) + Send + Sync + 'static) -> Db {
    Db::opening(path, settings("fixed-3"))
        .customise(move |_, options| change(options))
        .open()
        .expect("opened")
}

pub fn key(number: u64) -> Vec<u8> {
    format!("key-{number:06}").into_bytes()
}

pub fn value(number: u64, version: u64) -> Vec<u8> {
    let mut value = format!("{number}-{version}-").into_bytes();
    value.resize(160, b'.');
    value
}

/// The numbers below `count`, in an order that jumps over the whole range.
pub fn scattered(count: u64) -> impl Iterator<Item = u64> {
    // 7919 is a prime, and no count here is a multiple of it.
    (0..count).map(move |step| step * 7_919 % count)
}

/// Writes every number below `count` once: several levels from 10,000 on.
pub fn load(db: &RocksDb, model: &mut Model, count: u64, version: u64) {
    for number in scattered(count) {
        put(db, model, key(number), value(number, version));
    }
}

pub fn put(db: &RocksDb, model: &mut Model, key: Vec<u8>, value: Vec<u8>) {
    db.put(&key, &value).expect("a put");
    model.insert(key, value);
}

/// The store holds what the model holds, by scan and by get.
pub fn agree(db: &RocksDb, model: &Model) {
    let mut iterator = db.raw_iterator();
    iterator.seek_to_first();
    for (key, value) in model {
        let found = iterator
            .item()
            .unwrap_or_else(|| panic!("{key:?} is missing"));
        assert_eq!(found, (&**key, &**value));
        iterator.next();
    }
    assert_eq!(iterator.item(), None, "something that should not be there");
    iterator.status().expect("a scan");
    for (key, value) in model.iter().step_by(model.len() / 500 + 1) {
        assert_eq!(db.get(key).expect("a get").as_ref(), Some(value));
        let absent = [key, &b"x"[..]].concat();
        assert_eq!(db.get(absent).expect("a get"), None);
    }
}

/// Everything is flushed and merged as the limits ask for, and no compaction
/// failed or did something else than planned.
pub fn settle(db: &RocksDb, autopilot: &Autopilot) {
    for (name, pieces) in settled(db, autopilot) {
        assert_eq!(pieces.mismatched, 0, "{name}: {pieces:#?}");
    }
}

/// What merges of each family did, once nothing is left to do and all is well.
fn settled(db: &RocksDb, autopilot: &Autopilot) -> BTreeMap<String, Pieces> {
    db.flush().expect("a flush");
    let idle = autopilot.wait_until_idle(PATIENCE);
    let statistics = autopilot.statistics().expect("statistics");
    let health = autopilot.health();
    assert!(idle, "not idle in time: {health:#?} {statistics:#?}");
    assert!(health.running && health.trouble.is_none(), "{health:#?}");
    assert!(health.unreadable.is_empty(), "{health:#?}");
    let families = statistics.families.into_iter();
    let families: BTreeMap<_, _> = families.map(|(name, seen)| (name, seen.pieces)).collect();
    for (name, pieces) in &families {
        assert_eq!(pieces.failed, 0, "{name}: {pieces:#?}");
    }
    families
}

/// As [`settle_and_agree`], after RocksDB compacted, too: what ends between the autopilot's
/// last look and the start of a merge changes what RocksDB takes, which is seldom.
pub fn settle_after_others_and_agree(db: &Db, model: &Model) {
    for (name, pieces) in settled(db, db.autopilot()) {
        assert!(pieces.merged > 10, "{name}: {pieces:#?}");
        assert!(
            10 * pieces.mismatched <= pieces.merged,
            "{name}: {pieces:#?}"
        );
    }
    agree(db, model);
}

/// As [`settle`], then compares.
pub fn settle_and_agree(db: &Db, model: &Model) {
    settle(db, db.autopilot());
    agree(db, model);
}

pub fn pieces(autopilot: &Autopilot) -> Pieces {
    let statistics = autopilot.statistics().expect("statistics");
    statistics.families["default"].pieces.clone()
}

/// Files by physical level, of those levels that have any.
pub fn files_by_level(db: &RocksDb) -> BTreeMap<i32, usize> {
    let mut files = BTreeMap::new();
    for file in db.live_files().expect("live files") {
        *files.entry(file.level).or_default() += 1;
    }
    files
}

/// Data has sunk below level 1, through more than one compaction: the test means
/// something.
pub fn went_deep(db: &RocksDb) {
    let files = files_by_level(db);
    let deepest = files.keys().next_back().copied().unwrap_or(0);
    let (first, _) = Layout::V1.span(LogicalLevel(2));
    assert!(
        deepest >= i32::from(first.0),
        "nothing below level 1: {files:?}"
    );
}

/// Opens any directory as plain RocksDB would, with the options in its OPTIONS
/// file, and runs a check.
pub fn with_plain_rocksdb(path: &Path, check: impl FnOnce(&RocksDb)) {
    let options = plain_options();
    let names = RocksDb::list_cf(&options, path).expect("column families");
    let families: Vec<_> = names.iter().map(|name| (name, plain_options())).collect();
    let db = RocksDb::open_cf_with_opts(&options, path, families).expect("opened by RocksDB");
    check(&db);
}

/// RocksDB's own options, but for the number of levels, which a directory must
/// be opened with.
pub fn plain_options() -> Options {
    let mut options = Options::default();
    options.set_num_levels(i32::from(Layout::V1.num_levels()));
    options.set_level_compaction_dynamic_level_bytes(false);
    options
}

/// The application opens RocksDB itself and attaches an autopilot.
pub fn attach(
    path: &Path,
    change: impl Fn(&mut Options),
) -> lissom::Result<(Arc<RocksDb>, Autopilot)> {
    let (options, preparation) = prepared(change)?;
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, path, [family]).expect("opened");
    let db = Arc::new(db);
    let autopilot = Autopilot::attach(db.clone(), preparation)?;
    Ok((db, autopilot))
}

/// Options of one column family, changed after Lissom made them.
pub fn prepared(change: impl Fn(&mut Options)) -> lissom::Result<(Options, Preparation)> {
    let settings = settings("fixed-3");
    let mut preparation = Preparation::new(&settings)?;
    let mut options = preparation.options("default", &settings)?;
    change(&mut options);
    Ok((options, preparation))
}
