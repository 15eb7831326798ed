//! What a RocksDB that knows nothing of Lissom reads from a directory.

use std::collections::BTreeMap;
use std::path::Path;

use rust_rocksdb::{DB, IteratorMode, Options};

/// By column family, every key with its value.
pub type Contents = BTreeMap<String, BTreeMap<Vec<u8>, Vec<u8>>>;

/// Everything, read with these options of every column family.
pub fn contents_with(path: &Path, options: &Options) -> Contents {
    let names = DB::list_cf(&Options::default(), path).expect("a manifest");
    let families: Vec<_> = names
        .iter()
        .map(|name| (name.clone(), options.clone()))
        .collect();
    let db = DB::open_cf_with_opts_for_read_only(&Options::default(), path, families, false)
        .expect("a readable database");
    names
        .iter()
        .map(|name| {
            let family = db.cf_handle(name).expect("it was opened");
            let all = db
                .iterator_cf(&family, IteratorMode::Start)
                .map(|entry| entry.expect("readable"))
                .map(|(key, value)| (key.to_vec(), value.to_vec()))
                .collect();
            (name.clone(), all)
        })
        .collect()
}
