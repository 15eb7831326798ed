//! Directories as RocksDB alone makes them, and what it reads from them.

use std::path::Path;

use rust_rocksdb::{ColumnFamilyDescriptor, DB, DBCompactionStyle, DBCompressionType, Options};

use super::contents::{Contents, contents_with};

/// Which tree RocksDB builds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Style {
    Dynamic,
    Static,
    Universal,
}

pub fn options(style: Style) -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_write_buffer_size(64 << 10);
    options.set_target_file_size_base(64 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    options.set_compression_type(DBCompressionType::Lz4);
    match style {
        Style::Dynamic => options.set_level_compaction_dynamic_level_bytes(true),
        Style::Static => options.set_level_compaction_dynamic_level_bytes(false),
        Style::Universal => options.set_compaction_style(DBCompactionStyle::Universal),
    }
    options
}

/// A directory with two column families, overwrites and deletes.
pub fn make(path: &Path, style: Style, keys: u64) {
    let families =
        ["default", "second"].map(|name| ColumnFamilyDescriptor::new(name, options(style)));
    let db = DB::open_cf_descriptors(&options(style), path, families).expect("a new database");
    let second = db.cf_handle("second").expect("it was made");
    for round in 0..3u64 {
        for number in (round..keys).step_by(1 + round as usize) {
            let key = format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut value = format!("{round}/{number}/").into_bytes();
            value.resize(120, b'.');
            match (round, number % 7) {
                (2, 0) => db.delete(&key).expect("a delete"),
                _ => db.put(&key, &value).expect("a put"),
            }
            if number % 3 == 0 {
                db.put_cf(&second, &key, &value).expect("a put");
            }
        }
    }
    // The last writes stay in the write-ahead log.
    db.flush().expect("a flush");
    db.put("in the log", "alone").expect("a put");
}

/// Everything, as a RocksDB reads it that knows nothing of Lissom; `levels` must
/// be as many as the manifest has.
pub fn contents(path: &Path, levels: i32) -> Contents {
    let mut options = Options::default();
    options.set_num_levels(levels);
    contents_with(path, &options)
}

/// The levels that hold files in a directory, over all column families.
pub fn occupied(path: &Path, levels: i32) -> Vec<i32> {
    let mut options = Options::default();
    options.set_num_levels(levels);
    let names = DB::list_cf(&Options::default(), path).expect("a manifest");
    let db = DB::open_cf_for_read_only(&options, path, names, false).expect("readable");
    let mut found: Vec<i32> = db
        .live_files()
        .expect("metadata")
        .iter()
        .map(|file| file.level)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
