//! What other dimensions do to the tree of a running store.

use std::time::Instant;

use lissom::apply::{How, Taken};
use lissom::core::LogicalLevel;
use lissom::core::tuner::Policy;
use lissom::inspect::{Question, inspect, recorded_settings, replay};
use lissom::{Compression, Db, Settings};

use super::common::{PATIENCE, key, load, settle, small, tree};
use super::data::{Place, wanted};

/// With memtables so small that a few thousand entries make a tree of several levels.
fn opened(place: &Place, change: impl FnOnce(&mut Settings)) -> Db {
    let mut settings = Settings {
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 64 << 10,
        level0_file_num_compaction_trigger: 2,
        ..small("fixed-1")
    };
    change(&mut settings);
    Db::open(place.path(), settings).expect("a new store")
}

/// Changes one dimension, and waits until the tree rests under it.
fn reshape(db: &Db, text: &str) {
    let applied = db.apply(&wanted(text)).expect("applied");
    assert_eq!(applied.count(Taken::Changed), 1, "{applied:#?}");
    settle(db);
}

fn compact(db: &Db) {
    db.autopilot().compact("default").expect("asked");
    settle(db);
}

fn deepest(db: &Db) -> Option<LogicalLevel> {
    tree(db).runs.iter().filter_map(|run| run.level).max()
}

fn bytes_of(db: &Db, level: u16) -> u64 {
    let runs = tree(db).runs;
    let here = runs
        .iter()
        .filter(|run| run.level == Some(LogicalLevel(level)));
    here.map(|run| run.bytes).sum()
}

fn amplification(db: &Db) -> f64 {
    let statistics = db.statistics().expect("statistics");
    let family = &statistics.families["default"];
    family.space_amplification.expect("a run")
}

/// The mean size of a file below L0.
fn mean_file(db: &Db) -> u64 {
    let runs = tree(db).runs;
    let bytes: u64 = runs.iter().map(|run| run.bytes).sum();
    let files: usize = runs.iter().map(|run| run.files).sum();
    bytes / files as u64
}

/// 0.9 MB fill a fifth of level 1 by the one ratio, and more than two levels by the other.
#[test]
fn under_a_lower_ratio_data_go_deeper() {
    let place = Place::new();
    let db = opened(&place, |settings| settings.size_ratio = 20);
    load(&db, 0..4_000, 1);
    settle(&db);
    assert_eq!(deepest(&db), Some(LogicalLevel(1)));
    reshape(&db, "{\"size_ratio\": 2}");
    assert!(deepest(&db) > Some(LogicalLevel(2)), "{:?}", tree(&db));
}

/// By a ratio of 10 level 1 takes 1.3 MB; about 2 MB need two levels by one of 5.
#[test]
fn level_1_shrinks_where_the_ratio_begins_to_follow_the_data() {
    let place = Place::new();
    let db = opened(&place, |settings| settings.size_ratio = 10);
    let mut written = 0;
    while deepest(&db) != Some(LogicalLevel(2)) || bytes_of(&db, 1) < 800_000 {
        load(&db, written..written + 500, 1);
        settle(&db);
        written += 500;
        assert!(written < 20_000, "{:?}", tree(&db));
    }
    reshape(&db, "{\"level_compaction_dynamic_level_bytes\": true}");
    assert!(bytes_of(&db, 1) < 600_000, "{:?}", tree(&db));
}

#[test]
fn files_are_cut_anew_when_they_are_merged() {
    for (base, text) in [
        (64 << 10, "{\"target_file_size_base\": 524288}"),
        // 0.9 MB are more than 50 files of 16 KiB.
        (4 << 10, "{\"max_files\": 100}"),
    ] {
        let place = Place::new();
        let db = opened(&place, |settings| settings.target_file_size_base = base);
        load(&db, 0..4_000, 1);
        settle(&db);
        let before = mean_file(&db);
        reshape(&db, text);
        load(&db, 0..4_000, 2);
        settle(&db);
        compact(&db);
        let after = mean_file(&db);
        assert!(after > 2 * before, "{text}: {before} and {after} bytes");
    }
}

#[test]
fn under_a_lower_trigger_l0_is_merged() {
    let place = Place::new();
    let db = opened(&place, |settings| {
        settings.level0_file_num_compaction_trigger = 8;
    });
    load(&db, 0..1_500, 1);
    settle(&db);
    assert!((2..8).contains(&tree(&db).level0_files), "{:?}", tree(&db));
    reshape(&db, "{\"level0_file_num_compaction_trigger\": 2}");
    assert!(tree(&db).level0_files < 2, "{:?}", tree(&db));
    // Three quarters of where writes slow down.
    let high = wanted("{\"level0_file_num_compaction_trigger\": 16}");
    let planned = db.autopilot().plan_to_apply(&high).expect("planned");
    assert_eq!(planned.rows[0].how, How::Impossible, "{planned:?}");
    let high = db.apply(&high).expect("answered");
    let outcome = &high.outcomes[0];
    assert_eq!(outcome.taken, Taken::Left, "{outcome:?}");
    assert!(outcome.why.contains("may have 15 files"), "{outcome:?}");
}

/// What a look from outside sees of the files: filter bits per key, and bytes.
fn files_of(place: &Place) -> (f64, u64) {
    let seen = inspect(&place.path(), &Question::default()).expect("a look");
    let family = &seen.families[0];
    (family.filter_bits_per_key.expect("filters"), family.bytes)
}

/// Twice as many bits for each key, and half as many bytes of values.
#[test]
fn new_files_have_other_filters_and_another_compression() {
    let place = Place::new();
    let db = opened(&place, |settings| settings.bloom_bits_per_key = 8.0);
    load(&db, 0..4_000, 1);
    settle(&db);
    compact(&db);
    let (bits, bytes) = files_of(&place);
    reshape(&db, "{\"bloom_bits_per_key\": 20}");
    for text in [
        "{\"compression\": [\"none\", \"zstd\"]}",
        "{\"compression\": \"lz4\"}",
    ] {
        reshape(&db, text);
        let again = db.apply(&wanted(text)).expect("applied");
        assert_eq!(again.count(Taken::Already), 1, "{again:#?}");
    }
    load(&db, 0..4_000, 2);
    settle(&db);
    compact(&db);
    let (more, fewer) = files_of(&place);
    assert!(more > 2.0 * bits, "{more} bits after {bits}");
    assert!(fewer < bytes / 2, "{fewer} bytes after {bytes}");
    drop(db);
    let recorded = recorded_settings(&place.path(), "default").expect("on record");
    assert_eq!(recorded.compression, [Compression::Lz4]);
}

#[test]
fn a_tighter_bound_on_space_merges_runs_into_the_oldest() {
    let place = Place::new();
    let db = opened(&place, |settings| {
        settings.policy = "fixed-4".parse().expect("a policy");
    });
    // Enough for two levels.
    let mut written = 12_000;
    load(&db, 0..written, 1);
    settle(&db);
    while amplification(&db) < 1.6 {
        load(&db, written..written + 500, 1);
        settle(&db);
        written += 500;
        assert!(written < 40_000, "{:?}", tree(&db));
    }
    reshape(&db, "{\"max_space_amplification\": 1.5}");
    assert!(amplification(&db) < 1.5, "{:?}", tree(&db));
}

#[test]
fn a_lower_share_of_tombstones_merges_them_down() {
    let place = Place::new();
    let db = opened(&place, |settings| settings.tombstone_share = 1.0);
    load(&db, 0..4_000, 1);
    settle(&db);
    compact(&db);
    assert_eq!(tree(&db).level0_files, 0);
    load(&db, 0..100, 2);
    for number in 100..150 {
        db.delete(key(number)).expect("a delete");
    }
    settle(&db);
    assert_eq!(tree(&db).level0_files, 1, "a third of it are tombstones");
    reshape(&db, "{\"tombstone_share\": 0.25}");
    assert_eq!(tree(&db).level0_files, 0);
}

/// Writes until the limit of the deepest levels is the size ratio, as under lazy leveling.
fn write_until(db: &Db, ratio: u16) {
    let begun = Instant::now();
    loop {
        load(db, 0..500, 1);
        let glance = db.autopilot().glance("default").expect("it is driven");
        if glance.limits.deeper.get() == ratio {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", glance.limits);
    }
}

#[test]
fn a_replay_decides_each_mission_over_the_ratio_of_then() {
    let place = Place::new();
    let policy: Policy = "lazy-leveling".parse().expect("a policy");
    let db = opened(&place, |settings| {
        settings.policy = policy.clone();
        settings.mission_operations = 500;
    });
    write_until(&db, 4);
    reshape(&db, "{\"size_ratio\": 6}");
    write_until(&db, 6);
    drop(db);
    let decided = replay(&place.path(), "default", &policy, &Default::default());
    let decided = decided.expect("missions").missions;
    for it in &decided {
        assert_eq!(it.recorded, it.replayed, "mission {}", it.mission);
    }
    let ratios = decided.iter().map(|it| it.replayed.deeper.get());
    let mut ratios: Vec<u16> = ratios.collect();
    ratios.dedup();
    assert_eq!(ratios, [4, 6]);
}
