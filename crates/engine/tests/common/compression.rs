//! How table files are compressed, as they say themselves.

use std::collections::BTreeSet;

use lissom::core::{Layout, LogicalLevel};
use lissom::ffi::CfRef;
use lissom::ffi::snapshot::table_properties;
use lissom::{Compression, RocksDb};

/// RocksDB's name in a table file.
fn name(compression: Compression) -> &'static str {
    match compression {
        Compression::None => "NoCompression",
        Compression::Lz4 => "LZ4",
        Compression::Zstd => "ZSTD",
    }
}

/// Fewer entries may not show in a file's size how they were compressed.
const TELLING: u64 = 16;

/// Every file of a store at rest is compressed as the setting says for its logical level;
/// L0 and the landing level count as level 1. Values must compress by a third at least.
/// Returns the levels that hold files.
pub fn follows_the_levels(db: &RocksDb, compression: &[Compression]) -> BTreeSet<LogicalLevel> {
    let family = db.cf_handle("default").expect("there always is one");
    let seen = lissom::observe::observe(&family).expect("a tree");
    let family = CfRef::of(&family).expect("the plug-in fits the binding");
    let tables = table_properties(family).expect("properties");
    let last = *compression.last().expect("an entry");
    let mut levels = BTreeSet::new();
    for (physical, file) in seen.tree.iter() {
        let place = Layout::V1.logical(physical);
        let level = place.map_or(LogicalLevel(1), |(level, _)| level);
        let wanted = compression.get(usize::from(level.0) - 1);
        let wanted = *wanted.unwrap_or(&last);
        let table = &tables[&file.number];
        assert_eq!(table.compression, name(wanted), "{level}: {table:?}");
        let raw = table.raw_key_size + table.raw_value_size;
        let small = table.data_size < raw * 3 / 4;
        if table.entries >= TELLING {
            assert_eq!(small, wanted != Compression::None, "{level}: {table:?}");
        }
        levels.insert(level);
    }
    levels
}
