//! Ways to read.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use rust_rocksdb::{Direction, IteratorMode, MemtableFactory, ReadOptions, SliceTransform};

use super::store::{
    Model, agree, key, load, open, open_with, pieces, settle_and_agree, value, went_deep,
};

#[test]
fn snapshots_see_the_past_while_everything_is_merged() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    let mut past = Vec::new();
    for version in 1..=3 {
        load(&db, &mut model, 8_000, version);
        past.push((db.snapshot(), model.clone()));
    }
    db.delete_range(key(0), key(4_000)).expect("deleted");
    model.retain(|at, _| *at >= key(4_000));
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    for (snapshot, model) in past {
        let seen: Model = snapshot
            .iterator(IteratorMode::Start)
            .map(|entry| entry.expect("an entry"))
            .map(|(key, value)| (key.into_vec(), value.into_vec()))
            .collect();
        assert!(seen == model, "the past has changed");
    }
    let moved = pieces(db.autopilot());
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    assert!(pieces(db.autopilot()).merged >= moved.merged);
}

#[test]
fn an_iterator_stands_while_its_files_are_merged_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-2");
    let mut model = Model::new();
    load(&db, &mut model, 10_000, 1);
    let before = model.clone();
    let mut iterator = db.raw_iterator();
    iterator.seek_to_first();
    load(&db, &mut model, 10_000, 2);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    for (key, value) in &before {
        assert_eq!(iterator.item(), Some((&**key, &**value)));
        iterator.next();
    }
    assert!(!iterator.valid());
}

/// The threads that RocksDB's log names on lines with this text.
fn threads_that_told(directory: &Path, text: &str) -> BTreeSet<String> {
    let log = std::fs::read_to_string(directory.join("LOG")).expect("RocksDB's log");
    let thread = |line: &str| line.split_whitespace().nth(1).map(str::to_owned);
    log.lines()
        .filter(|line| line.contains(text))
        .map(|line| thread(line).expect("a thread"))
        .collect()
}

/// The files that an iterator held go when it ends, and not in the thread that ends it.
#[test]
fn whoever_ends_an_iterator_deletes_no_files() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-1");
    let mut model = Model::new();
    load(&db, &mut model, 10_000, 1);
    settle_and_agree(&db, &model);
    let mut iterator = db.raw_iterator();
    iterator.seek_to_first();
    let held: Vec<String> = db
        .live_files()
        .expect("files")
        .into_iter()
        .map(|it| it.name)
        .collect();
    load(&db, &mut model, 10_000, 2);
    db.autopilot().compact("default").expect("asked");
    settle_and_agree(&db, &model);
    let is_there = |name: &String| directory.path().join(name.trim_start_matches('/')).exists();
    let merged_away: Vec<&String> = held.iter().filter(|name| is_there(name)).collect();
    assert!(!merged_away.is_empty());
    drop(iterator);
    let until = Instant::now() + Duration::from_secs(60);
    while merged_away.iter().any(|name| is_there(name)) {
        assert!(Instant::now() < until, "the files stay");
        std::thread::sleep(Duration::from_millis(10));
    }
    let own = threads_that_told(directory.path(), "RocksDB version");
    assert_eq!(own.len(), 1, "this thread has opened the store");
    let deleted = threads_that_told(directory.path(), "table_file_deletion");
    assert!(!deleted.is_empty());
    assert!(deleted.is_disjoint(&own), "{deleted:?}, {own:?}");
}

#[test]
fn backwards_bounded_tailing_and_many_reads_agree() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open(directory.path(), "fixed-4");
    let mut model = Model::new();
    load(&db, &mut model, 12_000, 1);
    load(&db, &mut model, 5_000, 2);
    settle_and_agree(&db, &model);
    went_deep(&db);

    let backwards = db
        .iterator(IteratorMode::End)
        .map(|entry| entry.expect("an entry").0);
    assert!(backwards.eq(model.keys().rev().map(|key| key.clone().into_boxed_slice())));

    let mut options = ReadOptions::default();
    options.set_iterate_lower_bound(key(3_000));
    options.set_iterate_upper_bound(key(3_100));
    options.set_async_io(true);
    options.set_readahead_size(1 << 20);
    assert_eq!(db.iterator_opt(IteratorMode::Start, options).count(), 100);

    let mut options = ReadOptions::default();
    options.set_tailing(true);
    let mut tail = (*db).raw_iterator_opt(options);
    tail.seek(key(11_999));
    assert!(tail.valid());
    db.put(key(50_000), value(50_000, 1)).expect("a put");
    tail.seek(key(12_000));
    assert_eq!(tail.key(), Some(&*key(50_000)));

    let keys: Vec<_> = (0..200).map(|number| key(number * 100)).collect();
    for (key, found) in keys.iter().zip(db.multi_get(&keys)) {
        assert_eq!(found.expect("a get").as_ref(), model.get(key));
    }
}

#[test]
fn prefix_extractors_find_what_is_there() {
    for memtable in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let db = open_with(directory.path(), move |options| {
            options.set_prefix_extractor(SliceTransform::create_fixed_prefix(7));
            options.set_memtable_prefix_bloom_ratio(0.1);
            if memtable {
                options.set_allow_concurrent_memtable_write(false);
                options.set_memtable_factory(MemtableFactory::HashSkipList {
                    bucket_count: 1_000,
                    height: 4,
                    branching_factor: 4,
                });
            }
        });
        let mut model = Model::new();
        load(&db, &mut model, 12_000, 1);
        load(&db, &mut model, 5_000, 2);
        db.flush().expect("a flush");
        assert!(db.autopilot().wait_until_idle(super::store::PATIENCE));
        for start in (0..12_000).step_by(1_000) {
            let prefix = key(start)[..7].to_vec();
            let found = db
                .prefix_iterator(&prefix)
                .map(|entry| entry.expect("an entry"));
            let found = found.take_while(|(key, _)| key.starts_with(&prefix));
            let expected = model
                .range(prefix.clone()..)
                .take_while(|(key, _)| key.starts_with(&prefix));
            let expected = expected.map(|(key, value)| (&**key, &**value));
            let found: Vec<_> = found.collect();
            assert!(
                found
                    .iter()
                    .map(|(key, value)| (&**key, &**value))
                    .eq(expected)
            );
            assert!(!found.is_empty());
        }
        drop(db);
        // The files say what their filters were made for: without the extractor
        // nothing is missed.
        let db = open(directory.path(), "fixed-3");
        agree(&db, &model);
        settle_and_agree(&db, &model);
    }
}

#[test]
fn scans_cross_prefixes() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = open_with(directory.path(), |options| {
        options.set_prefix_extractor(SliceTransform::create_fixed_prefix(7));
        options.set_memtable_prefix_bloom_ratio(0.1);
    });
    for number in (1_000..2_000).chain(3_000..4_000) {
        db.put(key(number), value(number, 1)).expect("a put");
    }
    for flushed in [false, true] {
        if flushed {
            db.flush().expect("a flush");
        }
        // No key has the prefix of the one that is sought.
        let start = key(0);
        let seen = db.scan(&start, usize::MAX, |_, _| ()).expect("a scan");
        assert_eq!(seen, 2_000, "flushed: {flushed}");
        let from = IteratorMode::From(&start, Direction::Forward);
        let seen = db.iterator(from).map(|entry| entry.expect("an entry"));
        assert_eq!(seen.count(), 2_000, "flushed: {flushed}");
    }
}
