//! Directories of plain RocksDB, and what it reads from them.

use std::path::{Path, PathBuf};

use lissom::apply::{Applied, Applier, Section, Wanted};
use rust_rocksdb::{ColumnFamilyDescriptor, DB, DBCompressionType, MergeOperands, Options};

use super::contents::{Contents, contents_with};

/// What a rebuild is asked for.
pub const FEWER_LEVELS: &str = "[CFOptions \"default\"]\nnum_levels=4\ncompression=kLZ4Compression\n\
    [TableOptions/BlockBasedTable \"default\"]\nblock_size=16K\n";

/// A directory for a database that is not there yet, with room beside it.
pub struct Place {
    parent: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place {
            parent: tempfile::tempdir().expect("a directory"),
        }
    }

    pub fn path(&self) -> PathBuf {
        self.parent.path().join("data")
    }

    pub fn beside(&self, end: &str) -> PathBuf {
        self.parent.path().join(format!("data{end}"))
    }

    /// The directories beside each other.
    pub fn all(&self) -> Vec<PathBuf> {
        let parent = self.parent.path();
        self.names().iter().map(|name| parent.join(name)).collect()
    }

    /// The names beside each other.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.parent.path()).expect("readable");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

pub fn join(_: &[u8], existing: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let mut all = existing.map(<[u8]>::to_vec).unwrap_or_default();
    operands.iter().for_each(|operand| all.extend(operand));
    Some(all)
}

pub fn options() -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_write_buffer_size(128 << 10);
    options.set_target_file_size_base(64 << 10);
    options.set_max_bytes_for_level_base(256 << 10);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_compression_type(DBCompressionType::None);
    options
}

pub fn key(number: u64) -> String {
    format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Three column families, one of them empty, with overwrites, deletions of keys and of
/// ranges, files that overlap, and a log that is not empty.
pub fn make(path: &Path, keys: u64) {
    make_with(path, keys, &options());
}

pub fn make_with(path: &Path, keys: u64, options: &Options) {
    make_filled(path, keys, options, b'.');
}

/// With values that end in a letter of one's own: other data in files of the same size.
pub fn make_filled(path: &Path, keys: u64, options: &Options, letter: u8) {
    let families = ["default", "second", "third"]
        .map(|name| ColumnFamilyDescriptor::new(name, options.clone()));
    let db = DB::open_cf_descriptors(options, path, families).expect("a new database");
    let second = db.cf_handle("second").expect("it was made");
    for round in 0..3u64 {
        for number in (round..keys).step_by(1 + round as usize) {
            let key = key(number);
            let mut value = format!("{round}/{number}/").into_bytes();
            value.resize(150, letter);
            match (round, number % 7) {
                (2, 0) => db.delete(&key).expect("a delete"),
                _ => db.put(&key, &value).expect("a put"),
            }
            if number % 3 == 0 {
                db.put_cf(&second, &key, &value).expect("a put");
            }
        }
    }
    db.flush().expect("a flush");
    db.delete_range_cf(&second, &b"3"[..], &b"5"[..])
        .expect("a range is deleted");
    db.put_cf(&second, "4444", "after the range")
        .expect("a put");
    db.put("in the log", "alone").expect("a put");
    db.put("", "an empty key").expect("a put");
    db.put("an empty value", "").expect("a put");
}

/// Everything, as a RocksDB reads it that knows nothing of Lissom.
pub fn contents(path: &Path) -> Contents {
    contents_with(path, &Options::default())
}

pub fn wanted(text: &str) -> Wanted {
    Wanted::parse(text).expect("well-formed")
}

pub fn apply(path: &Path, text: &str) -> Applied {
    Applier::new(path, wanted(text))
        .apply(&mut |_| ())
        .expect("applied")
}

pub fn rewrite(path: &Path, text: &str) -> Applied {
    Applier::new(path, wanted(text))
        .rewrite(true)
        .apply(&mut |_| ())
        .expect("rebuilt")
}

/// With what a rebuild is refused, or stops.
#[track_caller]
pub fn refusal(path: &Path, text: &str) -> String {
    Applier::new(path, wanted(text))
        .rewrite(true)
        .apply(&mut |_| ())
        .expect_err("refused")
        .to_string()
}

fn newest_options_file(path: &Path) -> PathBuf {
    let entries = std::fs::read_dir(path).expect("readable");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            name.starts_with("OPTIONS-") && !name.ends_with(".dbtmp")
        })
        .max()
        .expect("an OPTIONS file")
}

/// The text of the newest OPTIONS file.
pub fn recorded(path: &Path) -> String {
    std::fs::read_to_string(newest_options_file(path)).expect("readable")
}

/// Puts something else into the newest OPTIONS file.
pub fn record(path: &Path, from: &str, to: &str) {
    let text = recorded(path);
    assert!(text.contains(from), "{from} is not in it");
    std::fs::write(newest_options_file(path), text.replace(from, to)).expect("written");
}

pub fn family(name: &str) -> Section {
    Section::Family(name.into())
}
