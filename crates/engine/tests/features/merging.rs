//! Code of the application that runs inside compactions.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lissom::Db;
use rust_rocksdb::compaction_filter::CompactionFilter;
use rust_rocksdb::compaction_filter_factory::{CompactionFilterContext, CompactionFilterFactory};
use rust_rocksdb::{CompactionDecision, IteratorMode, MergeOperands, Options};

use super::store::{
    Model, key, load, open_with, put, scattered, settings, settle_and_agree, value, went_deep,
};

fn append(_: &[u8], old: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let mut new = old.unwrap_or_default().to_vec();
    for operand in operands {
        new.extend_from_slice(operand);
    }
    Some(new)
}

fn set_append(options: &mut Options) {
    options.set_merge_operator_associative("append", append);
}

#[test]
fn merge_operands_keep_their_order_over_many_levels() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), set_append);
    let mut model = Model::new();
    for round in 0..6_u64 {
        for number in scattered(5_000) {
            let operand = format!("{round}:{number:0>40};");
            db.merge(key(number), &operand).expect("merged");
            let value = model.entry(key(number)).or_default();
            value.extend_from_slice(operand.as_bytes());
        }
        for number in (0..5_000).filter(|number| number % 5 == round) {
            db.delete(key(number)).expect("deleted");
            model.remove(&key(number));
        }
    }
    settle_and_agree(&db, &model);
    went_deep(&db);
    drop(db);
    let db = open_with(directory.path(), set_append);
    settle_and_agree(&db, &model);
}

/// Keys that the filters below take away.
fn is_doomed(key: &[u8]) -> bool {
    key.last() == Some(&b'3')
}

#[test]
fn a_compaction_filter_removes_and_changes() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_compaction_filter("doom", |_, key: &[u8], _: &[u8]| match key.last() {
            Some(b'3') => CompactionDecision::Remove,
            Some(b'4') => CompactionDecision::Change(b"changed"),
            _ => CompactionDecision::Keep,
        });
    });
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.flush().expect("a flush");
    db.autopilot().compact("default").expect("asked");
    model.retain(|key, _| !is_doomed(key));
    for (key, value) in &mut model {
        if key.ends_with(b"4") {
            *value = b"changed".to_vec();
        }
    }
    settle_and_agree(&db, &model);
}

/// The handle keeps the database open, and it compacts by itself then.
#[test]
fn a_compaction_filter_lasts_as_long_as_a_handle_of_rocksdb() {
    let directory = tempfile::tempdir().expect("a directory");
    let alive = Arc::new(());
    let held = alive.clone();
    let db = open_with(directory.path(), move |options| {
        let held = held.clone();
        options.set_compaction_filter("doom", move |_, key: &[u8], _: &[u8]| {
            let _alive = &held;
            match is_doomed(key) {
                true => CompactionDecision::Remove,
                false => CompactionDecision::Keep,
            }
        });
    });
    db.create_cf("late").expect("made");
    let rocks = db.rocksdb().clone();
    let used = Arc::strong_count(&alive);
    drop(db);
    // One was `customise` itself; the filters of both column families are there.
    assert_eq!(Arc::strong_count(&alive), used - 1);
    let late = rocks.cf_handle("late").expect("it is there");
    for number in 0..100 {
        rocks.put_cf(&late, key(number), "value").expect("a put");
    }
    rocks.flush_cf(&late).expect("a flush");
    rocks.compact_range_cf(&late, None::<&[u8]>, None::<&[u8]>);
    let left = rocks.full_iterator_cf(&late, IteratorMode::Start);
    let keys: Vec<_> = left.map(|entry| entry.expect("readable").0).collect();
    assert_eq!(keys.len(), 90);
    assert!(keys.iter().all(|key| !is_doomed(key)));
}

struct Factory(Arc<AtomicU64>);

struct Filter;

impl CompactionFilter for Filter {
    fn filter(&mut self, _: u32, key: &[u8], _: &[u8]) -> CompactionDecision {
        if is_doomed(key) {
            CompactionDecision::Remove
        } else {
            CompactionDecision::Keep
        }
    }

    fn name(&self) -> &CStr {
        c"doom"
    }
}

impl CompactionFilterFactory for Factory {
    type Filter = Filter;

    fn create(&mut self, context: CompactionFilterContext) -> Filter {
        self.0
            .fetch_add(u64::from(context.is_manual_compaction), Relaxed);
        Filter
    }

    fn name(&self) -> &CStr {
        c"doom-factory"
    }
}

#[test]
fn a_compaction_filter_factory_is_asked_for_each_compaction() {
    let directory = tempfile::tempdir().expect("a directory");
    let made = Arc::new(AtomicU64::new(0));
    let count = made.clone();
    let db = open_with(directory.path(), move |options| {
        options.set_compaction_filter_factory(Factory(count.clone()));
    });
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    db.flush().expect("a flush");
    db.autopilot().compact("default").expect("asked");
    model.retain(|key, _| !is_doomed(key));
    settle_and_agree(&db, &model);
    assert!(made.load(Relaxed) > 0, "RocksDB calls CompactFiles manual");
}

fn keep(_: u32, _: &[u8], _: &[u8]) -> CompactionDecision {
    CompactionDecision::Keep
}

/// RocksDB moves nothing under one.
#[test]
fn what_would_move_is_merged_under_a_compaction_filter() {
    let moved = |filtered: bool| {
        let directory = tempfile::tempdir().expect("a directory");
        let db = Db::opening(directory.path(), settings("fixed-1"))
            .customise(move |_, options| {
                if filtered {
                    options.set_compaction_filter("keep", keep);
                }
            })
            .open()
            .expect("opened");
        let mut model = Model::new();
        // Ascending keys: what goes down meets nothing.
        for number in 0..12_000 {
            put(&db, &mut model, key(number), value(number, 1));
        }
        settle_and_agree(&db, &model);
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].pieces.moved
    };
    assert!(moved(false) > 0);
    assert_eq!(moved(true), 0);
}

#[test]
fn a_directory_with_merges_is_refused_without_its_operator() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), set_append);
    db.merge("key", "a").expect("merged");
    drop(db);
    let error = Db::open(directory.path(), settings("fixed-3"))
        .err()
        .expect("no operator");
    let words = "the column family \"default\" was written with the merge operator append: \
                 set it by Opening::customise";
    assert!(error.to_string().contains(words), "{error}");
    let db = open_with(directory.path(), set_append);
    assert_eq!(db.get("key").expect("a get"), Some(b"a".to_vec()));
}

#[test]
fn a_directory_with_merges_is_refused_with_another_operator() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), set_append);
    db.merge("key", "a").expect("merged");
    drop(db);
    let error = Db::opening(directory.path(), settings("fixed-3"))
        .customise(|_, options| options.set_merge_operator_associative("count", append))
        .open()
        .err()
        .expect("another operator");
    let words = "the column family \"default\" was written with the merge operator append, and \
                 count is another one: set it by Opening::customise";
    assert!(error.to_string().contains(words), "{error}");
    let db = open_with(directory.path(), set_append);
    assert_eq!(db.get("key").expect("a get"), Some(b"a".to_vec()));
}

/// RocksDB escapes some of these letters in its OPTIONS file.
#[test]
fn a_column_family_of_any_name_is_refused_without_its_operator() {
    for name in ["user:1", "a\\b", "a#b", "a\"b", "a]b", "a\nb"] {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = Db::opening(directory.path(), settings("fixed-3"))
            .family(name, settings("fixed-3"))
            .customise(|family, options| {
                if family != "default" {
                    set_append(options);
                }
            })
            .open();
        drop(opened.expect("opened"));
        let error = Db::open(directory.path(), settings("fixed-3"))
            .err()
            .unwrap_or_else(|| panic!("{name:?} was opened"));
        let words = format!("the column family \"{name}\" was written with the merge operator");
        assert!(error.to_string().contains(&words), "{error}");
    }
}
