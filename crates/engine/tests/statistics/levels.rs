//! Counts stand under the level that they are of.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lissom::core::journal::{Event, Outcome, TreeSummary};
use lissom::core::{Layout, LogicalLevel, PhysicalLevel, PlanKind};
use lissom::ffi::CfRef;
use lissom::ffi::snapshot::{TableRow, table_properties, tree_snapshot};
use lissom::ffi::statistics::Statistics;
use lissom::{Db, Settings};
use rust_rocksdb::statistics::{StatsLevel, Ticker};

use super::common::{journal, key, load, settle, small, tree};
use super::of_default;

/// Keys of a store.
const KEYS: u64 = 60_000;

/// Level 1 fills three times and more. L0 never comes near RocksDB's brake, so that all
/// merges are the autopilot's.
fn fill(db: &Db) {
    for part in 0..KEYS / 3_000 {
        load(db, part * 3_000..(part + 1) * 3_000, 1);
        settle(db);
    }
}

/// Bytes in L0 and level 1.
fn shallow_bytes(tree: &TreeSummary) -> u64 {
    let first = |level: Option<LogicalLevel>| level.is_none_or(|level| level == LogicalLevel(1));
    let runs = tree.runs.iter().filter(|run| first(run.level));
    tree.level0_bytes + runs.map(|run| run.bytes).sum::<u64>()
}

/// A full store with data on two levels, opened anew: a file that is moved while it is open
/// counts for the level where it was opened.
fn reopened(directory: &Path, settings: &Settings) -> Db {
    {
        let db = Db::open(directory, settings.clone()).expect("opened");
        fill(&db);
        let mut from = 0;
        while shallow_bytes(&tree(&db)) < 3 << 19 {
            load(&db, from..from + 1_000, 2);
            settle(&db);
            from += 1_000;
        }
    }
    let db = Db::open(directory, settings.clone()).expect("reopened");
    settle(&db);
    db
}

/// What is told from a sample of one operation in 128, of so many thousands.
fn is_near(told: u64, exact: u64) -> bool {
    (exact * 7 / 10..=exact * 13 / 10).contains(&told)
}

/// What gets of absent keys should count in a level.
#[derive(Clone, Copy, Default, Debug)]
struct Expected {
    /// Looks into filters.
    probes: f64,
    /// Those that a filter lets pass.
    wrong: f64,
}

/// Four absent keys behind each that is there, in order.
fn absent_keys() -> Vec<Vec<u8>> {
    let behind = |number: u64| b"wxyz".map(|suffix| [&key(number)[..], &[suffix]].concat());
    let mut absent: Vec<Vec<u8>> = (0..KEYS).flat_map(behind).collect();
    absent.sort();
    absent
}

/// The share of absent keys that a file's filter lets pass. It is whole cache lines of 64 bytes
/// and a few bytes behind them, and RocksDB takes the number of probes that is best for the
/// bits that a key has then, which are seldom those of the settings.
fn false_positive_rate(table: &TableRow) -> f64 {
    let bits = (table.filter_size / 64 * 512) as f64 / table.filter_entries as f64;
    let rate = |probes: i32| (1.0 - (-f64::from(probes) / bits).exp()).powi(probes);
    (1..=8).map(rate).fold(1.0, f64::min)
}

/// By level - 1: an absent key is looked for in each file whose range it lies in.
fn expected_by_level(db: &Db, absent: &[Vec<u8>]) -> BTreeMap<usize, Expected> {
    let family = db.cf_handle("default").expect("there always is one");
    let family = CfRef::of(&family).expect("the plug-in fits the binding");
    let tables = table_properties(family).expect("properties");
    let mut levels: BTreeMap<usize, Expected> = BTreeMap::new();
    for file in tree_snapshot(family).expect("a tree").files {
        let below = |bound: &[u8]| absent.partition_point(|key| key.as_slice() < bound);
        let probes = (below(&file.largest) - below(&file.smallest)) as f64;
        let level = levels.entry(level_index(PhysicalLevel(file.level as u16)));
        let level = level.or_default();
        level.probes += probes;
        level.wrong += probes * false_positive_rate(&tables[&file.number]);
    }
    levels
}

/// One get in 128 is looked at, so that shares deviate by chance; runs that a key is looked
/// for in need not be independent of each other.
#[test]
fn false_positives_are_told_by_level() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        bloom_bits_per_key: 2.0,
        ..small("fixed-2")
    };
    let db = reopened(directory.path(), &settings);
    let absent = absent_keys();
    let expected = expected_by_level(&db, &absent);
    assert!(expected.len() >= 2, "{expected:?}");
    for key in &absent {
        assert!(db.get(key).expect("a get").is_none());
    }
    let levels = of_default(&db).total.levels;
    for (at, Expected { probes, wrong }) in expected {
        let level = &levels[at];
        let told = level.filter_useful + level.filter_positive;
        assert!(is_near(told, probes as u64), "{level:?}, not {probes}");
        assert_eq!(level.filter_true_positive, 0, "{level:?}");
        let rate = wrong / probes;
        let sampled = probes.min(absent.len() as f64) / 128.0;
        let deviation = (rate * (1.0 - rate) / sampled).sqrt();
        let told = level.filter_false_positive() as f64 / told as f64;
        let close = (told - rate).abs() < 7.0 * deviation;
        assert!(close, "{level:?}: {told}, not {rate} ± {deviation}");
    }
}

/// With ten bits they are under one in a hundred.
#[test]
fn filters_of_ten_bits_let_little_pass() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = reopened(directory.path(), &small("fixed-2"));
    for number in 0..20_000 {
        let absent = format!("{}x", String::from_utf8_lossy(&key(number)));
        assert!(db.get(absent).expect("a get").is_none());
    }
    let levels = of_default(&db).total.levels;
    let useful: u64 = levels.iter().map(|level| level.filter_useful).sum();
    let wrong: u64 = levels
        .iter()
        .map(|level| level.filter_false_positive())
        .sum();
    assert!(useful > 20_000, "scaled up from a sample: {useful}");
    assert!(wrong < useful / 20, "{wrong} of {useful}");
}

/// Blocks that RocksDB itself counts as read, since they were not in the cache.
fn blocks_read(db: &Db) -> u64 {
    let family = db.cf_handle("default").expect("there always is one");
    let family = CfRef::of(&family).expect("the plug-in fits the binding");
    let statistics = Statistics::of(family).expect("read").expect("they are on");
    statistics.ticker(Ticker::BlockCacheMiss).expect("a ticker")
}

/// Entries in files by logical level, L0 with level 1.
fn entries_by_level(db: &Db) -> BTreeMap<LogicalLevel, u64> {
    let family = db.cf_handle("default").expect("there always is one");
    let seen = lissom::observe::observe(&family).expect("a tree");
    let family = CfRef::of(&family).expect("the plug-in fits the binding");
    let tables = table_properties(family).expect("properties");
    let mut entries = BTreeMap::new();
    for (physical, file) in seen.tree.iter() {
        let at = LogicalLevel(level_index(physical) as u16 + 1);
        *entries.entry(at).or_default() += tables[&file.number].entries;
    }
    entries
}

#[test]
fn block_reads_are_told_by_level_and_for_each_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        // Two memtables and the least for blocks: nearly every read is one of the disk.
        memory_budget_bytes: (512 << 10) + (1 << 20),
        statistics: StatsLevel::ExceptHistogramOrTimers,
        ..small("fixed-2")
    };
    let db = reopened(directory.path(), &settings);
    let before = blocks_read(&db);
    let gets = KEYS / 2;
    for step in 0..gets {
        let number = step * 7_919 % KEYS;
        assert!(db.get(key(number)).expect("a get").is_some());
    }
    let read = blocks_read(&db) - before;
    assert!(read > gets / 2, "{read} blocks are too few to tell");

    let total = of_default(&db).total;
    let told: u64 = total.levels.iter().map(|level| level.read_ios).sum();
    assert!(is_near(told, read), "{told}, RocksDB counts {read}");
    let for_each = total.read_amplification().expect("reads");
    let exact = told as f64 / gets as f64;
    assert!((for_each - exact).abs() < 1e-9, "{for_each}, not {exact}");

    // All keys are as likely, so blocks are read where the entries are.
    let entries = entries_by_level(&db);
    assert!(entries.len() >= 2, "{entries:?}");
    let all: u64 = entries.values().sum();
    for (level, there) in &entries {
        let of_level = &total.levels[usize::from(level.0) - 1];
        let share = of_level.read_ios as f64 / told as f64;
        let expected = *there as f64 / all as f64;
        assert!(
            (share - expected).abs() < 0.2,
            "{level}: {share} of the blocks, {expected} of the entries"
        );
    }
}

/// Level - 1; L0 and the landing level count for level 1.
fn level_index(physical: PhysicalLevel) -> usize {
    let place = Layout::V1.logical(physical);
    place.map_or(0, |(level, _)| usize::from(level.0) - 1)
}

/// Bytes and time are those that the journal tells of each merge, under its output's level.
#[test]
fn merges_are_told_under_the_level_that_they_write() {
    let directory = tempfile::tempdir().expect("a directory");
    let statistics = {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        fill(&db);
        of_default(&db)
    };
    let mut plans = BTreeMap::new();
    let mut levels = vec![(0_u64, Duration::ZERO); usize::from(Layout::V1.levels)];
    for entry in journal(directory.path()) {
        match entry.event {
            Event::CompactionBegin { compaction, plan } if plan.kind == PlanKind::Merge => {
                plans.insert(compaction, plan);
            }
            Event::CompactionEnd {
                compaction,
                outcome: Outcome::Done {
                    write_bytes, took, ..
                },
            } => {
                if let Some(plan) = plans.get(&compaction) {
                    let (bytes, time) = &mut levels[level_index(plan.output)];
                    *bytes += write_bytes;
                    // They are counted in microseconds.
                    *time += Duration::from_micros(took.as_micros() as u64);
                }
            }
            _ => {}
        }
    }
    let total = &statistics.total;
    for (at, wanted) in levels.iter().enumerate() {
        let level = total.levels.get(at).copied().unwrap_or_default();
        let told = (level.compaction_write_bytes, level.compaction_time);
        assert_eq!(told, *wanted, "level {}", at + 1);
    }
    assert!(
        levels[0].1 > Duration::ZERO && levels[1].1 > Duration::ZERO,
        "{levels:?}"
    );
    let time: Duration = levels.iter().map(|(_, time)| *time).sum();
    let seconds = total.compaction_seconds();
    assert!((seconds - time.as_secs_f64()).abs() < 1e-6, "{seconds}");
    let pieces = &statistics.pieces;
    let lost = Duration::from_micros(pieces.merged);
    assert!(
        time <= pieces.time && pieces.time <= time + lost,
        "{pieces:?}"
    );
}
