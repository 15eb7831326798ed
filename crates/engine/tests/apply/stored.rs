//! What may lie in a database besides keys and plain values: copied whole, or refused.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lissom::RocksDb;
use lissom::apply::{Applier, finish};
use lissom::ffi::CfRef;
use lissom::ffi::copy::{read_piece, write_entries};
use lissom::ffi::options_text::{Lines, change_options};
use rust_rocksdb::{DB, DBCompactionStyle, DBPath, Options, TransactionDB, TransactionDBOptions};

use super::data::{Place, contents, key, make, make_with, options, rewrite, wanted};

const OTHERWISE: &str = "[CFOptions \"default\"]\nnum_levels=5\nwrite_buffer_size=64K\n";

/// A rebuild is refused in these words, and nothing is made beside the database.
fn refused(place: &Place, words: &str) {
    for plan_only in [true, false] {
        let applier = Applier::new(place.path(), wanted(OTHERWISE)).rewrite(true);
        let answer = match plan_only {
            true => applier.plan().map(drop),
            false => applier.apply(&mut |_| ()).map(drop),
        };
        let error = answer.expect_err(words).to_string();
        let found = error.to_lowercase().contains(&words.to_lowercase());
        assert!(found, "{words}: {error}");
        assert_eq!(place.names(), ["data"], "{words}");
    }
}

/// Names and values.
type Columns<'a> = &'a [(&'a str, &'a str)];

/// Entries as the plug-in reads and writes them.
fn encoded(entries: &[(String, Columns<'_>)]) -> Vec<u8> {
    fn number(bytes: &mut Vec<u8>, number: usize) {
        bytes.extend((number as u64).to_ne_bytes());
    }
    fn text(bytes: &mut Vec<u8>, text: &str) {
        number(bytes, text.len());
        bytes.extend(text.as_bytes());
    }
    let mut bytes = Vec::new();
    for (key, columns) in entries {
        number(&mut bytes, 1);
        text(&mut bytes, key);
        number(&mut bytes, columns.len());
        for (name, value) in *columns {
            text(&mut bytes, name);
            text(&mut bytes, value);
        }
    }
    number(&mut bytes, 0);
    number(&mut bytes, 1);
    bytes
}

/// All entries of the default column family, with their columns.
fn entries(path: &Path) -> Vec<u8> {
    let options = Options::default();
    let db = RocksDb::open_cf_for_read_only(&options, path, ["default"], false).expect("readable");
    let family = db.cf_handle("default").expect("it was opened");
    let family = CfRef::of(&family).expect("a handle");
    let all = read_piece(family, None, u64::MAX).expect("readable");
    assert!(all.end);
    all.encoded().to_vec()
}

#[test]
fn wide_columns_are_copied_with_all_of_them() {
    const COLUMNS: [Columns<'static>; 4] = [
        &[("", "plain")],
        &[("colour", "red"), ("size", "7")],
        &[("", "with a default"), ("colour", "")],
        &[],
    ];
    let place = Place::new();
    let path = place.path();
    let wide: Vec<(String, Columns<'_>)> = (0..400)
        .map(|number| (format!("{number:04}"), COLUMNS[number % COLUMNS.len()]))
        .collect();
    let made = encoded(&wide);
    let db = RocksDb::open_cf(&options(), &path, ["default"]).expect("a new database");
    let family = db.cf_handle("default").expect("it was made");
    write_entries(CfRef::of(&family).expect("a handle"), &made).expect("written");
    db.flush_cf(&family).expect("a flush");
    drop(family);
    drop(db);
    // Two numbers say that the column family ends.
    let before = entries(&path);
    assert_eq!(before, made[..made.len() - 16]);
    let rebuilt = rewrite(&path, OTHERWISE).rebuilt.expect("a copy");
    assert_eq!(rebuilt.families[0].entries, 400);
    assert_eq!(entries(&path), before);
}

fn blob_files(path: &Path) -> usize {
    let entries = fs::read_dir(path).expect("readable");
    let names = entries.map(|entry| entry.expect("an entry").path());
    let is_blob = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "blob");
    names.filter(is_blob).count()
}

#[test]
fn values_in_blob_files_are_copied() {
    let place = Place::new();
    let path = place.path();
    let mut own = options();
    own.set_enable_blob_files(true);
    own.set_min_blob_size(100);
    make_with(&path, 3_000, &own);
    assert!(blob_files(&path) > 0);
    let before = contents(&path);
    let remark = |text: &str| {
        let plan = Applier::new(&path, wanted(text)).rewrite(true).plan();
        let remarks = plan.expect("a plan").remarks;
        remarks.iter().any(|it| it.contains("bytes of blob files"))
    };
    let by = |kind: &str| {
        let families = ["default", "second", "third"].into_iter();
        let lines =
            families.map(|name| format!("[CFOptions \"{name}\"]\nblob_compression_type={kind}\n"));
        lines.collect::<String>()
    };
    let compressed = by("kLZ4Compression");
    assert!(!remark(&compressed), "they are not compressed");
    rewrite(&path, &compressed);
    finish(&path, false).expect("finished");
    assert!(!remark(OTHERWISE), "they stay compressed");
    assert!(remark(&by("kNoCompression")));
    rewrite(&path, OTHERWISE);
    assert!(blob_files(&path) > 0);
    finish(&path, false).expect("finished");
    assert_eq!(contents(&path), before);
}

#[test]
fn fifo_compaction_is_refused() {
    let place = Place::new();
    let mut own = options();
    own.set_compaction_style(DBCompactionStyle::Fifo);
    make_with(&place.path(), 500, &own);
    refused(&place, "kCompactionStyleFIFO");
}

#[test]
fn user_timestamps_are_refused() {
    let place = Place::new();
    let mut own = options();
    let lines = Lines {
        cf: "comparator=leveldb.BytewiseComparator.u64ts\n".into(),
        ..Lines::default()
    };
    change_options(&mut own, &lines).expect("RocksDB has it");
    let db = DB::open(&own, place.path()).expect("a new database");
    for version in 1..4_u64 {
        db.put_with_ts("key", version.to_le_bytes(), "value")
            .expect("a put");
    }
    db.flush().expect("a flush");
    drop(db);
    refused(&place, "user timestamps");
}

/// Each value has the time of its writing behind it, by which a compaction drops it.
#[test]
fn values_that_expire_are_refused() {
    let place = Place::new();
    let hour = Duration::from_secs(3_600);
    let db = DB::open_with_ttl(&options(), place.path(), hour).expect("a new database");
    for number in 0..100 {
        db.put(key(number), "value").expect("a put");
    }
    db.flush().expect("a flush");
    drop(db);
    let before = contents(&place.path());
    refused(&place, "ttl");
    assert_eq!(contents(&place.path()), before);
}

#[test]
fn the_log_of_a_transaction_db_is_refused() {
    let place = Place::new();
    let path = place.path();
    let transactions = TransactionDBOptions::default();
    let db: TransactionDB =
        TransactionDB::open(&options(), &transactions, &path).expect("a new database");
    let transaction = db.transaction();
    transaction.put("key", "value").expect("a put");
    transaction.commit().expect("committed");
    drop(db);
    refused(&place, "was last opened as a TransactionDB");
    let error = Applier::new(&path, wanted("[DBOptions]\nmax_background_jobs=4\n"))
        .apply(&mut |_| ())
        .expect_err("its log is not empty")
        .to_string();
    assert!(error.contains("open it with TransactionDB"), "{error}");
}

/// The refusals above are not refusals of everything.
#[test]
fn what_is_plain_is_not_refused() {
    let place = Place::new();
    make(&place.path(), 100);
    let applier = Applier::new(place.path(), wanted(OTHERWISE)).rewrite(true);
    assert!(applier.plan().expect("a plan").rebuild.is_some());
}

#[test]
fn deletions_that_wait_for_what_is_ingested_behind_are_refused() {
    let place = Place::new();
    let mut own = options();
    own.set_compaction_style(DBCompactionStyle::Universal);
    own.set_cf_allow_ingest_behind(true);
    let db = DB::open(&own, place.path()).expect("a new database");
    db.put("key", "value").expect("a put");
    db.delete("key").expect("a delete");
    drop(db);
    refused(&place, "ingest-behind is on");
}

/// RocksDB removes at open what lies in its paths and is not its own: a copy of the same paths
/// would take the original's files.
#[test]
fn files_that_lie_elsewhere_are_refused_and_stay() {
    for beside_its_own in [false, true] {
        let place = Place::new();
        let elsewhere = tempfile::tempdir().expect("a directory");
        let (own, other) = (place.path(), elsewhere.path().to_owned());
        let with = move |options: &mut Options| {
            let path = |at: &Path, bytes| DBPath::new(at, bytes).expect("a path");
            match beside_its_own {
                true => options.set_db_paths(&[path(&own, 1), path(&other, 1 << 40)]),
                false => options.set_cf_paths(&[path(&other, 1 << 40)]),
            }
        };
        let mut with_paths = options();
        with(&mut with_paths);
        let db = DB::open(&with_paths, place.path()).expect("a new database");
        for number in 0..5_000 {
            db.put(key(number), [b'.'; 100]).expect("a put");
        }
        db.flush().expect("a flush");
        drop(db);
        let tables = || {
            let entries = fs::read_dir(elsewhere.path()).expect("readable");
            let mut names: Vec<_> = entries
                .map(|entry| entry.expect("an entry").file_name())
                .collect();
            names.sort();
            names
        };
        let before = tables();
        assert!(!before.is_empty(), "nothing lies there");
        let error = Applier::new(place.path(), wanted(OTHERWISE))
            .rewrite(true)
            .customise(move |_, options| with(options))
            .apply(&mut |_| ())
            .expect_err("files elsewhere")
            .to_string();
        assert!(error.contains("db_paths, cf_paths or a wal_dir"), "{error}");
        assert_eq!(tables(), before);
        assert_eq!(place.names(), ["data"]);
    }
}

/// A merge of everything holds what it reads until it has written it.
#[test]
fn universal_compaction_needs_room_for_both_sides_of_a_merge() {
    let place = Place::new();
    let path = place.path();
    make(&path, 5_000);
    let needed = |text: &str| {
        let applier = Applier::new(&path, wanted(text)).rewrite(true);
        let space = applier.plan().expect("a plan").rebuild.expect("a rebuild");
        (space.needed_bytes, space.bytes)
    };
    let (leveled, bytes) = needed(OTHERWISE);
    let universal = "[CFOptions \"default\"]\ncompaction_style=kCompactionStyleUniversal\n";
    assert_eq!(needed(universal), (leveled + bytes, bytes));
}
