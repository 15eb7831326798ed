//! Counts are exact, amplifications add up, filters and compression follow the
//! levels.

mod common;
#[path = "common/compression.rs"]
mod compression;
#[path = "statistics/levels.rs"]
mod levels;
#[path = "statistics/stalls.rs"]
mod stalls;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use common::{PATIENCE, journal, key, load, settle, small, value};
use lissom::core::filters::FilterAllocation;
use lissom::core::journal::{Event, Outcome};
use lissom::core::observation::{LevelMission, OperationMix};
use lissom::core::{Excess, PlanKind};
use lissom::statistics::FamilyStatistics;
use lissom::{Compression, Db, Settings};
use rust_rocksdb::{Direction, IteratorMode, WriteBatch};

fn of_default(db: &Db) -> FamilyStatistics {
    let statistics = db.statistics().expect("statistics");
    statistics.families["default"].clone()
}

#[test]
fn every_operation_is_counted_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    load(&db, 0..100, 1);
    let mut batch = WriteBatch::default();
    batch.put(key(100), value(100, 1));
    batch.put(key(101), value(101, 1));
    batch.delete_range(key(200), key(200));
    batch.single_delete(key(201));
    batch.delete(key(0));
    db.write(&batch).expect("written");
    db.delete(key(1)).expect("deleted");
    db.single_delete(key(2)).expect("deleted");
    db.delete_range(key(3), key(3)).expect("an empty range");
    for number in 0..10 {
        let found = db.get(key(number)).expect("a get").is_some();
        assert_eq!(found, number > 2, "{number}");
    }
    assert!(db.get_pinned(key(50)).expect("a get").is_some());
    let values = db.multi_get(&[key(51), key(52), key(10_000)]);
    assert_eq!(values.len(), 3);
    assert_eq!(db.scan("", 5, |_, _| ()).expect("a scan"), 5);
    assert_eq!(db.iterator(IteratorMode::Start).take(7).count(), 7);
    let expected = OperationMix {
        gets_found: 7 + 1 + 2,
        gets_absent: 3 + 1,
        scans: 2,
        scan_entries: 5 + 7,
        writes: 102,
        deletes: 6,
    };
    assert_eq!(of_default(&db).total.operations, expected);
}

/// Each family's tuner goes by what is written to its own tree.
#[test]
fn a_batch_counts_for_each_family_that_it_writes_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    db.create_cf("dropped").expect("made");
    db.drop_cf("dropped").expect("dropped");
    db.create_cf("other").expect("made");
    let other = db.family("other").expect("there");
    let mut batch = WriteBatch::default();
    batch.put("key", "value");
    batch.put_cf(other.handle(), "key", "another value");
    batch.put_cf(other.handle(), "key", "");
    batch.delete_cf(other.handle(), "k");
    db.write(&batch).expect("written");
    let families = db.statistics().expect("statistics").families;
    let written = |name: &str| {
        let total = &families[name].total;
        let operations = &total.operations;
        (
            operations.writes,
            operations.deletes,
            total.user_write_bytes,
        )
    };
    assert_eq!(written("default"), (1, 0, 8));
    assert_eq!(written("other"), (2, 1, 16 + 3 + 1));
}

/// The median time of a scan, which leaves out what else the machine does; one in 128 is
/// timed.
fn median(scan: &dyn Fn(&Db)) -> Duration {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    load(&db, 0..5_000, 1);
    for _ in 0..600 {
        scan(&db);
    }
    let seek = of_default(&db).total.seek;
    assert!(seek.count > 0);
    seek.p50
}

#[test]
fn the_time_of_a_scan_is_that_of_its_entries_too() {
    let first = median(&|db| assert_eq!(db.scan("", 1, |_, _| ()).expect("a scan"), 1));
    let all = median(&|db| assert_eq!(db.scan("", 9_999, |_, _| ()).expect("a scan"), 5_000));
    assert!(all > 2 * first, "{all:?} {first:?}");
    let first = median(&|db| assert!(db.iterator(IteratorMode::Start).next().is_some()));
    let all = median(&|db| assert_eq!(db.iterator(IteratorMode::Start).count(), 5_000));
    assert!(all > 2 * first, "{all:?} {first:?}");
}

/// Blocks that a scan reads while nothing is cached, and bytes of such a block. Each scan
/// begins at another of the keys.
fn cold_reads(directory: &Path, starts: &[&[u8]], scan: &dyn Fn(&Db, &[u8])) -> (f64, f64) {
    let db = Db::open(directory, small("fixed-2")).expect("opened");
    for start in starts.iter().copied() {
        scan(&db, start);
    }
    let total = of_default(&db).total;
    let sampled = total.seek.count;
    assert!(sampled > 0, "one of 255 at the least");
    let sum = |of: fn(&LevelMission) -> u64| total.levels.iter().map(of).sum::<u64>() as f64;
    let blocks = sum(|level| level.read_ios);
    let bytes = sum(|level| level.read_bytes);
    let scans = starts.len() as f64;
    assert_eq!(total.read_amplification(), Some(blocks / scans));
    (blocks / (128 * sampled) as f64, bytes / blocks)
}

/// Reads so many entries from a key on.
type Scan = dyn Fn(&Db, &[u8], usize);

/// 200 entries of 216 bytes are some eleven blocks of 4 KiB.
#[test]
fn the_reads_of_a_scan_are_those_of_its_entries_too() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        load(&db, 0..60_000, 1);
        db.flush().expect("a flush");
        db.autopilot().compact("default").expect("asked");
        assert!(db.autopilot().wait_until_idle(PATIENCE));
    }
    let mut keys: Vec<Vec<u8>> = (0..60_000).map(key).collect();
    keys.sort();
    let starts: Vec<&[u8]> = keys.iter().step_by(200).map(Vec::as_slice).collect();

    let by_iterator = |db: &Db, start: &[u8], entries: usize| {
        let seen = db.iterator(IteratorMode::From(start, Direction::Forward));
        assert_eq!(seen.take(entries).filter(Result::is_ok).count(), entries);
    };
    let by_scan = |db: &Db, start: &[u8], entries: usize| {
        let seen = db.scan(start, entries, |_, _| ()).expect("a scan");
        assert_eq!(seen, entries);
    };
    let kinds: [&Scan; 2] = [&by_iterator, &by_scan];
    for kind in kinds {
        let of = |entries: usize| {
            let scan = |db: &Db, start: &[u8]| kind(db, start, entries);
            cold_reads(directory.path(), &starts, &scan)
        };
        let ((first, small_ones), (all, sizes)) = (of(1), of(200));
        assert!((500.0..10_000.0).contains(&small_ones), "{small_ones}");
        assert!((500.0..10_000.0).contains(&sizes), "{sizes}");
        assert!(all > 5.0 && all > 2.0 * first, "{all} {first}");
    }
}

#[test]
fn bytes_add_up_over_the_levels() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    load(&db, 0..60_000, 1);
    settle(&db);
    let statistics = of_default(&db);
    let total = &statistics.total;
    assert_eq!(total.user_write_bytes, 60_000 * 216);
    let by_level: u64 = total
        .levels
        .iter()
        .map(|level| level.compaction_write_bytes)
        .sum();
    assert_eq!(by_level, total.compaction_write_bytes);
    assert_eq!(statistics.pieces.write_bytes, total.compaction_write_bytes);
    let amplification = total.write_amplification().expect("writes");
    let of_all = db.statistics().expect("statistics");
    assert_eq!(of_all.user_write_bytes, total.user_write_bytes);
    assert_eq!(of_all.write_amplification(), Some(amplification));
    assert!((1.5..20.0).contains(&amplification), "{amplification}");
    assert!(statistics.space_amplification.expect("a run") >= 1.0);
    assert!(total.put.count > 0 && total.put.p50 <= total.put.p99);
    assert!(statistics.pieces.largest_bytes > 0);
    let take = || db.autopilot().take_largest_merge("default");
    assert_eq!(take(), statistics.pieces.largest_bytes);
    assert_eq!(take(), 0, "it was begun anew");
    let after = of_default(&db).pieces;
    assert_eq!(after.largest_bytes, statistics.pieces.largest_bytes);
}

/// Keys that only ascend meet nothing: what was flushed moves from level to level.
#[test]
fn ascending_keys_are_written_by_flushes_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let key = |number: u64| format!("{number:016}");
    for number in 0..60_000 {
        db.put(key(number), value(number, 1)).expect("a put");
    }
    settle(&db);
    for number in (0..60_000).step_by(37) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
    let statistics = of_default(&db);
    let (pieces, total) = (&statistics.pieces, &statistics.total);
    let tree = &statistics.tree;
    assert!(tree.level0_files < 4 && !tree.runs.is_empty(), "{tree:?}");
    assert!(
        total.compaction_write_bytes * 10 < total.user_write_bytes,
        "{total:?} {pieces:?}"
    );
    assert!(pieces.moved > 0, "{pieces:?}");
    assert_eq!((pieces.mismatched, pieces.failed), (0, 0), "{pieces:?}");
}

/// A merge of L0 takes the whole run of level 1 along, here 10 MB of it; 25 files are 6.6 MB.
#[test]
fn merges_over_the_bound_of_a_piece_are_counted_by_cause() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        size_ratio: 10,
        ..small("fixed-1")
    };
    let bound = 25 * settings.target_file_size_base;
    let db = Db::open(directory.path(), settings).expect("opened");
    load(&db, 0..60_000, 1);
    settle(&db);
    let pieces = of_default(&db).pieces;
    drop(db);
    let mut begun = BTreeMap::new();
    let mut by_cause: BTreeMap<Excess, u64> = BTreeMap::new();
    let mut largest = 0;
    for entry in journal(directory.path()) {
        match entry.event {
            Event::CompactionBegin { compaction, plan } => {
                // A move reads and writes nothing.
                let is_over = plan.kind == PlanKind::Merge && plan.input_bytes > bound;
                assert_eq!(plan.excess.is_some(), is_over, "{plan:?}");
                begun.insert(compaction, plan);
            }
            Event::CompactionEnd {
                compaction,
                outcome: Outcome::Done { .. },
            } => {
                let plan = begun.remove(&compaction).expect("it was begun");
                if plan.kind == PlanKind::Merge {
                    largest = largest.max(plan.input_bytes);
                }
                if let Some(cause) = plan.excess {
                    *by_cause.entry(cause).or_default() += 1;
                }
            }
            _ => {}
        }
    }
    assert!(by_cause.contains_key(&Excess::Level0), "{by_cause:?}");
    assert_eq!(pieces.excesses, by_cause);
    assert_eq!(pieces.largest_bytes, largest);
}

/// A store of several levels, and what is to be seen of it.
fn filled<T>(change: impl FnOnce(&mut Settings), look: impl FnOnce(&Db) -> T) -> T {
    let directory = tempfile::tempdir().expect("a directory");
    let mut settings = small("fixed-2");
    change(&mut settings);
    let db = Db::open(directory.path(), settings).expect("opened");
    load(&db, 0..60_000, 1);
    settle(&db);
    load(&db, 0..20_000, 2);
    settle(&db);
    // Something lies in L0 or level 1.
    load(&db, 0..1_000, 2);
    settle(&db);
    for number in (0..60_000).step_by(37) {
        let version = if number < 20_000 { 2 } else { 1 };
        assert_eq!(
            db.get(key(number)).expect("a get"),
            Some(value(number, version))
        );
    }
    look(&db)
}

#[test]
fn uniform_filters_take_the_memory_that_was_given() {
    let statistics = filled(|settings| settings.bloom_bits_per_key = 8.0, of_default);
    assert!(
        statistics
            .filters
            .bits_per_key
            .iter()
            .all(|bits| *bits == 8.0)
    );
    // Between the distinct keys and all that was written.
    let bytes = statistics.filters.bytes as f64;
    assert!((55_000.0..=90_000.0).contains(&bytes), "{bytes}");
}

#[test]
fn monkey_gives_small_levels_more_bits() {
    let monkey = |settings: &mut Settings| {
        settings.bloom_bits_per_key = 8.0;
        settings.filters = FilterAllocation::Monkey;
    };
    let statistics = filled(monkey, of_default);
    let bits = &statistics.filters.bits_per_key;
    let deepest = statistics.tree.runs.last().and_then(|run| run.level);
    let last = bits[usize::from(deepest.expect("a run").0) - 1];
    assert!(bits[0] > last + 1.0, "{bits:?} {:?}", statistics.tree);
    assert!(last < 8.0, "{bits:?}");
    assert!(
        statistics.filters.bytes < 90_000,
        "{:?}",
        statistics.filters
    );
}

#[test]
fn compression_follows_the_logical_level_and_moves_stay_free() {
    for (wanted, least) in [
        (vec![Compression::Lz4], 1),
        (
            vec![Compression::None, Compression::Lz4, Compression::Zstd],
            2,
        ),
    ] {
        let (pieces, levels) = filled(
            |settings| settings.compression.clone_from(&wanted),
            |db| {
                let levels = compression::follows_the_levels(db, &wanted);
                (of_default(db).pieces, levels)
            },
        );
        assert!(levels.len() >= least, "{levels:?}");
        assert_eq!((pieces.mismatched, pieces.failed), (0, 0), "{pieces:?}");
        assert!(pieces.merged > 0, "{pieces:?}");
    }
}

#[test]
fn the_rate_limit_can_be_changed_if_there_is_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        rate_limit_bytes_per_second: Some(256 << 10),
        ..small("fixed-1")
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    load(&db, 0..6_000, 1);
    db.set_rate_limit(1 << 30).expect("there is one");
    db.flush().expect("a flush");
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    drop(db);
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let error = db.set_rate_limit(1 << 20).expect_err("none").to_string();
    assert!(
        error.contains("without rate_limit_bytes_per_second"),
        "{error}"
    );
}
