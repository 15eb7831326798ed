//! What a tree comes to look like: in the steady state level 1 holds as many runs as its limit
//! says, the size ratio follows the data, and its space stays within its bound.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{journal, load, runs_of, settle, small, tree};
use lissom::core::journal::{Entry, Event};
use lissom::core::{DrainId, Layout, LogicalLevel, PhysicalLevel, Reason};
use lissom::inspect::{Flexible, Question, TreePortrait, inspect};
use lissom::{Db, Settings};

/// Entries of a flush: nine tenths of a memtable, so that none is flushed by itself.
const FLUSH: u64 = 250;

/// Two flushes make a merge of L0, and about as many merges as the ratio says fill level 1.
fn settings(ratio: u32, limit: usize) -> Settings {
    Settings {
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 64 << 10,
        level0_file_num_compaction_trigger: 2,
        size_ratio: ratio,
        ..small(&format!("fixed-{limit}"))
    }
}

/// How many runs of level 1 each drain merged that began because the level was full. At
/// rest there are never more than the limit.
fn runs_when_full(ratio: u32, limit: usize) -> Vec<usize> {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), settings(ratio, limit)).expect("opened");
    for part in 0..5 * 2 * u64::from(ratio) {
        load(&db, part * FLUSH..(part + 1) * FLUSH, 1);
        settle(&db);
        let tree = tree(&db);
        let rest = runs_of(&tree, 1);
        assert!(rest <= limit, "T {ratio}, limit {limit}: {tree:?}");
    }
    drop(db);
    merged_runs(&journal(directory.path()))
}

/// The runs of level 1 that the pieces of its drains took files from.
fn merged_runs(journal: &[Entry]) -> Vec<usize> {
    let first = LogicalLevel(1);
    let is_first = |run: &PhysicalLevel| {
        let place = Layout::V1.logical(*run);
        place.is_some_and(|(level, _)| level == first)
    };
    let mut drains: BTreeMap<DrainId, BTreeSet<PhysicalLevel>> = BTreeMap::new();
    for entry in journal {
        match &entry.event {
            Event::DrainBegin { drain } => {
                if matches!(drain.reason, Reason::LevelFull { level, .. } if level == first) {
                    drains.insert(drain.id, BTreeSet::new());
                }
            }
            Event::CompactionBegin { plan, .. } => {
                if let Some(runs) = plan.drain.and_then(|drain| drains.get_mut(&drain)) {
                    runs.extend(plan.inputs.iter().map(|input| input.level).filter(is_first));
                }
            }
            _ => {}
        }
    }
    drains.into_values().map(|runs| runs.len()).collect()
}

/// Each limit is a tree of its own: its neighbours fill the level with other runs.
fn fills_with_its_limit(ratio: u32, limits: impl IntoIterator<Item = usize>) {
    for limit in limits {
        let drained = runs_when_full(ratio, limit);
        let exact = drained.iter().all(|runs| *runs == limit);
        assert!(
            exact && drained.len() >= 3,
            "T {ratio}, limit {limit}: {drained:?}"
        );
    }
}

#[test]
fn every_limit_at_a_ratio_of_three() {
    fills_with_its_limit(3, 1..=3);
}

#[test]
fn the_highest_limits_at_a_ratio_of_five() {
    fills_with_its_limit(5, [4, 5]);
}

#[test]
fn the_highest_limits_at_a_ratio_of_ten() {
    fills_with_its_limit(10, [9, 10]);
}

/// What a look from outside shows of a store, after some entries more.
fn shown(directory: &std::path::Path, dynamic: bool, entries: std::ops::Range<u64>) -> Flexible {
    let settings = Settings {
        level_compaction_dynamic_level_bytes: dynamic,
        ..settings(10, 1)
    };
    let db = Db::open(directory, settings).expect("opened");
    load(&db, entries, 1);
    settle(&db);
    drop(db);
    let seen = inspect(directory, &Question::default()).expect("readable");
    match &seen.families[0].tree {
        TreePortrait::Lissom(portrait) => portrait.clone(),
        plain => panic!("not driven by Lissom: {plain:?}"),
    }
}

/// 4.3 MB need two levels over merges of 128 KiB: a ratio of 7 is enough for them.
#[test]
fn the_ratio_follows_the_data_where_it_may() {
    let directory = tempfile::tempdir().expect("a directory");
    let fitted = shown(directory.path(), true, 0..20_000);
    assert!((5..=8).contains(&fitted.size_ratio), "{fitted:?}");
    let deepest = fitted.levels.last().expect("a level");
    assert!(deepest.bytes * 2 > deepest.capacity, "{fitted:?}");
    let fixed = shown(directory.path(), false, 20_000..20_010);
    assert_eq!(fixed.size_ratio, 10);
}

/// Flushes that write every key once.
const ROUND: u64 = 8;

/// Without its memtable's overhead: 16 bytes of key and 200 of value.
const ENTRY_BYTES: u64 = 216;

/// The most bytes of a tree at rest, while 0.4 MB are overwritten again and again.
fn most_bytes(settings: Settings) -> u64 {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), settings).expect("opened");
    let mut most = 0;
    for part in 0..10 * ROUND {
        let first = part % ROUND * FLUSH;
        load(&db, first..first + FLUSH, part);
        settle(&db);
        let tree = tree(&db);
        let runs: u64 = tree.runs.iter().map(|run| run.bytes).sum();
        most = most.max(tree.level0_bytes + runs);
    }
    most
}

/// Level 1 alone has room for three times as much as there is.
#[test]
fn the_bound_on_space_holds_for_what_fits_into_level_1() {
    let bounded = |bound| Settings {
        max_space_amplification: bound,
        ..settings(10, 10)
    };
    let live = ROUND * FLUSH * ENTRY_BYTES;
    let allowed = live * 3 / 2 + bounded(1.5).shape().level0_bytes();
    let most = most_bytes(bounded(1.5));
    assert!(most <= allowed, "{most} for {live}");
    let free = most_bytes(bounded(100.0));
    assert!(free > allowed, "{free} for {live}: nothing else holds it");
}
