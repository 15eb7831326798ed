//! What the files of a directory say is refused before the database is opened.

use std::fs;
use std::path::{Path, PathBuf};

use lissom::ErrorKind;
use lissom::adopt::{Adopter, Detacher};
use rust_rocksdb::{
    ColumnFamilyDescriptor, DB, DBCompactionStyle, DBCompressionType, MergeOperands, Options,
};

pub fn new_options() -> Options {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.create_missing_column_families(true);
    options.set_compression_type(DBCompressionType::Lz4);
    options
}

/// A database of one entry in one table.
pub fn made(path: &Path, change: impl FnOnce(&mut Options)) {
    let mut options = new_options();
    change(&mut options);
    let db = DB::open(&options, path).expect("a new database");
    db.put("key", "value").expect("a put");
    db.flush().expect("a flush");
}

fn files(path: &Path, is_one: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).expect("a directory");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|file| is_one(&file.file_name().expect("a name").to_string_lossy()))
        .collect();
    files.sort();
    files
}

fn options_files(path: &Path) -> Vec<PathBuf> {
    files(path, |name| name.starts_with("OPTIONS-"))
}

/// Puts other text into the newest OPTIONS file.
fn edit(path: &Path, change: impl Fn(&str) -> String) {
    let file = options_files(path).pop().expect("an OPTIONS file");
    let text = fs::read_to_string(&file).expect("a text file");
    let other = change(&text);
    assert_ne!(text, other, "nothing was replaced");
    fs::write(&file, other).expect("written");
}

/// Whoever opens the database notices.
fn break_tables(path: &Path) {
    for table in files(path, |name| name.ends_with(".sst")) {
        fs::write(table, "no table").expect("written");
    }
}

/// Adopting is refused with these words, without opening the database.
pub fn refused_at(path: &Path, words: &str) {
    break_tables(path);
    let adopter = Adopter::new(path);
    for error in [
        adopter.forecast().expect_err(words),
        adopter.adopt(&mut |_| ()).expect_err(words),
    ] {
        assert_eq!(error.kind(), ErrorKind::Fix);
        let error = error.to_string();
        assert!(error.contains(words), "{error}");
        let begin = format!("{} cannot be adopted: ", path.display());
        assert!(error.starts_with(&begin), "{error}");
    }
    assert!(!path.join("LISSOM").exists());
}

/// The same of a database that was made so.
pub fn refused(change: impl FnOnce(&mut Options), words: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    made(directory.path(), change);
    refused_at(directory.path(), words);
}

/// The same of a database whose OPTIONS file says so.
fn refused_as_recorded(change: impl Fn(&str) -> String, words: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    made(directory.path(), |_| ());
    edit(directory.path(), change);
    refused_at(directory.path(), words);
}

#[test]
fn what_is_not_refused_is_opened() {
    let directory = tempfile::tempdir().expect("a directory");
    made(directory.path(), |_| ());
    break_tables(directory.path());
    let error = Adopter::new(directory.path())
        .forecast()
        .expect_err("no table");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

const ORDER: &str = "its comparator is mine, and Lissom needs RocksDB's bytewise order: copy the \
                     data into a new database with keys that sort bytewise, or open it with \
                     RocksDB alone";

#[test]
fn other_orders_of_keys() {
    refused(
        |options| options.set_comparator("mine", Box::new(|a, b| b.cmp(a))),
        &format!("column family \"default\": {ORDER}"),
    );
}

#[test]
fn one_column_family_in_another_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut other = new_options();
    other.set_comparator("mine", Box::new(|a, b| b.cmp(a)));
    let families = [
        ColumnFamilyDescriptor::new("default", new_options()),
        ColumnFamilyDescriptor::new("second", other),
    ];
    let db = DB::open_cf_descriptors(&new_options(), directory.path(), families);
    drop(db.expect("a new database"));
    refused_at(
        directory.path(),
        &format!("column family \"second\": {ORDER}"),
    );
}

/// With the name and the size of RocksDB's own.
#[test]
fn user_timestamps() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut options = new_options();
    options.set_comparator_with_ts(
        "leveldb.BytewiseComparator.u64ts",
        8,
        Box::new(|a, b| a.cmp(b)),
        Box::new(|a, b| a.cmp(b)),
        Box::new(|a, _, b, _| a.cmp(b)),
    );
    let db = DB::open(&options, directory.path()).expect("a new database");
    db.put_with_ts("key", 7_u64.to_le_bytes(), "value")
        .expect("a put");
    drop(db);
    refused_at(
        directory.path(),
        "column family \"default\": its keys carry user timestamps, which order versions of one \
         key: open it with RocksDB alone",
    );
}

#[test]
fn a_style_that_drops_data() {
    refused(
        |options| options.set_compaction_style(DBCompactionStyle::Fifo),
        "its compaction style is kCompactionStyleFIFO, which drops old data by design: Lissom \
         keeps data, so open it with RocksDB alone",
    );
}

#[test]
fn the_last_level() {
    for (was, is, words) in [
        (
            "  allow_ingest_behind=false",
            "  allow_ingest_behind=true",
            "allow_ingest_behind keeps RocksDB's last level free for older data, which Lissom \
             uses: open it once with RocksDB and allow_ingest_behind off",
        ),
        (
            "cf_allow_ingest_behind=false",
            "cf_allow_ingest_behind=true",
            "cf_allow_ingest_behind keeps RocksDB's last level free for older data, which Lissom \
             uses: open it once with RocksDB and turn it off",
        ),
        (
            "preclude_last_level_data_seconds=0",
            "preclude_last_level_data_seconds=60",
            "preclude_last_level_data_seconds is set, which knows RocksDB's last level only: \
             open it once with RocksDB and set it to 0",
        ),
    ] {
        refused_as_recorded(|text| text.replace(was, is), words);
    }
}

#[test]
fn a_log_that_lies_elsewhere() {
    let logs = tempfile::tempdir().expect("a directory");
    refused(
        |options| options.set_wal_dir(logs.path()),
        "its write-ahead log lies elsewhere, in ",
    );
}

const BLOBS: &str = "it keeps values in blob files, whose bytes the planner does not see: open \
                     it with RocksDB, enable_blob_files off and enable_blob_garbage_collection \
                     on, compact it, and try again";

#[test]
fn blob_files() {
    refused(|options| options.set_enable_blob_files(true), BLOBS);
}

#[test]
fn blob_files_that_are_left_and_those_to_come() {
    let left = tempfile::tempdir().expect("a directory");
    made(left.path(), |options| options.set_enable_blob_files(true));
    drop(DB::open(&new_options(), left.path()).expect("opened without the option"));
    refused_at(left.path(), BLOBS);

    let to_come = tempfile::tempdir().expect("a directory");
    let mut options = new_options();
    options.set_enable_blob_files(true);
    let db = DB::open(&options, to_come.path()).expect("a new database");
    db.put("key", "in the log").expect("a put");
    drop(db);
    refused_at(
        to_come.path(),
        "enable_blob_files is on, and the planner does not see the bytes of blob files: open it \
         once with RocksDB and turn it off",
    );
}

/// RocksDB's other formats, and one of an application.
#[test]
fn other_formats_of_tables() {
    for kind in ["PlainTable", "CuckooTable", "Mine"] {
        let of_this_kind = |text: &str| {
            let (before, _) = text.split_once("[TableOptions/").expect("a section");
            let name = format!("table_factory={kind}");
            let before = before.replace("table_factory=BlockBasedTable", &name);
            format!("{before}[TableOptions/{kind} \"default\"]\n")
        };
        let words = format!(
            "its files are of the kind {kind}, and Lissom reads and writes BlockBasedTable: copy \
             the data into a new database"
        );
        refused_as_recorded(of_this_kind, &words);
    }
}

fn recorded_as_snappy(text: &str) -> String {
    let lz4 = "  compression=kLZ4Compression";
    text.replace(lz4, "  compression=kSnappyCompression")
}

#[test]
fn a_compression_that_this_program_lacks() {
    refused_as_recorded(
        recorded_as_snappy,
        "column family \"default\": its compression is kSnappyCompression, and this program was \
         built with LZ4 and Zstandard: open it with RocksDB, choose one of them, and compact it \
         whole",
    );
}

/// As in many directories, in which nothing was ever put into the default column family.
#[test]
fn a_compression_that_no_table_may_have_is_passed_over() {
    let in_the_log = tempfile::tempdir().expect("a directory");
    let db = DB::open(&new_options(), in_the_log.path()).expect("a new database");
    db.put("key", "value").expect("a put");
    drop(db);
    edit(in_the_log.path(), recorded_as_snappy);

    let in_tables = tempfile::tempdir().expect("a directory");
    made(in_tables.path(), |options| {
        options.set_bottommost_compression_type(DBCompressionType::Zstd);
    });
    edit(in_tables.path(), recorded_as_snappy);

    for directory in [in_the_log, in_tables] {
        Adopter::new(directory.path())
            .adopt(&mut |_| ())
            .expect("adopted");
        let db = lissom::Db::open(directory.path(), lissom::Settings::default());
        let value = db.expect("it opens").get("key").expect("a get");
        assert_eq!(value.as_deref(), Some(&b"value"[..]));
    }
}

pub fn join(_: &[u8], existing: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let mut all = existing.map(<[u8]>::to_vec).unwrap_or_default();
    operands.iter().for_each(|operand| all.extend(operand));
    Some(all)
}

/// RocksDB cannot read such a log without the operator.
#[test]
fn merges_that_only_the_log_holds() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut options = new_options();
    options.set_merge_operator_associative("join", join);
    let db = DB::open(&options, directory.path()).expect("a new database");
    db.merge("key", "+").expect("a merge");
    drop(db);
    let advice = "take it over from the program that has it, with \
                  lissom::adopt::Adopter::customise";
    refused_at(
        directory.path(),
        &format!("its merge operator is join, and this program has none: {advice}"),
    );
    let error = Adopter::new(directory.path())
        .customise(|_, options| options.set_merge_operator_associative("other", join))
        .forecast()
        .expect_err("another operator")
        .to_string();
    let words = format!("its merge operator is join, and other was given: {advice}");
    assert!(error.contains(&words), "{error}");

    let error = Detacher::new(directory.path())
        .forecast()
        .expect_err("no operator")
        .to_string();
    let words = "the merge operator of column family \"default\" is join, which this program does \
                 not have; do it in the program that has it, with \
                 lissom::adopt::Detacher::customise";
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_directory_without_an_options_file() {
    let directory = tempfile::tempdir().expect("a directory");
    made(directory.path(), |_| ());
    for file in options_files(directory.path()) {
        fs::remove_file(file).expect("removed");
    }
    let error = Adopter::new(directory.path())
        .forecast()
        .expect_err("no OPTIONS file")
        .to_string();
    assert!(error.contains("no readable OPTIONS file in"), "{error}");
    let advice = "open it once with the RocksDB that wrote it, which makes one";
    assert!(error.contains(advice), "{error}");
}
