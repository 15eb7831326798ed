//! A look at a directory from outside.

mod common;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use common::{load, settle, small};
use lissom::Db;
use lissom::core::robust::Expectation;
use lissom::inspect::{Question, RunState, TreePortrait, inspect, observed_workloads};

#[test]
fn a_store_at_rest_is_seen_as_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-3")).expect("a new store");
    // Each part is merged before the next: no fewer decisions than asked for.
    for part in 0..5 {
        load(&db, part * 4_000..(part + 1) * 4_000, 1);
        settle(&db);
    }
    let tree = common::tree(&db);
    db.pin().expect("a pin");
    // The planner's memory is durable before its work; what it shows is the same.
    let log = std::fs::read(directory.path().join("LOG")).expect("RocksDB's log");
    let question = Question {
        column_family: None,
        decisions: 5,
    };
    let seen = inspect(directory.path(), &question).expect("readable");
    let same = std::fs::read(directory.path().join("LOG")).expect("RocksDB's log");
    assert!(same.starts_with(&log), "the look wrote a log of its own");
    assert!(seen.adopted && seen.pinned);
    assert_eq!(seen.decisions.len(), 5);
    let TreePortrait::Lissom(portrait) = &seen.families[0].tree else {
        panic!("not driven by Lissom: {seen:?}");
    };
    assert_eq!(portrait.size_ratio, 4);
    assert_eq!(portrait.run_limits, [3]);
    let runs: Vec<u64> = portrait
        .levels
        .iter()
        .flat_map(|level| level.runs.iter().map(|run| run.bytes))
        .collect();
    let expected: Vec<u64> = tree.runs.iter().map(|run| run.bytes).collect();
    assert_eq!(runs, expected);
    assert!(portrait.drains.is_empty());
    let states = portrait.levels.iter().flat_map(|level| &level.runs);
    assert!(
        states
            .map(|run| run.state)
            .all(|state| matches!(state, RunState::Active | RunState::Sealed))
    );
    assert!(
        seen.families[0]
            .filter_bits_per_key
            .is_some_and(|bits| bits > 5.0)
    );
}

#[test]
fn what_a_store_has_seen_widens_the_neighbourhood_of_the_guess() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("a new store");
    load(&db, 0..10_000, 1);
    settle(&db);
    for number in 0..20_000 {
        db.get(common::key(number)).expect("a get");
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    drop(db);
    let seen = observed_workloads(directory.path(), "default").expect("missions");
    let workload = "z0=25,z1=25,q=25,w=25".parse().expect("shares");
    let expected = Expectation::new(workload, 100_000, 216, 4 << 20);
    let informed = expected.informed_by(&seen).expect("missions");
    // Only writes came, then only reads: ln 4 and ln 2 from the guess.
    assert!(informed.divergence > 1.0, "{}", informed.divergence);
    let settings = small("learned").expecting(&informed).expect("a tuning");
    let first = settings.policy.first_limits();
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), settings).expect("a new store");
    settle(&db);
    let begins = &db.statistics().expect("statistics").families["default"];
    assert_eq!(
        (begins.policy.as_str(), &begins.limits),
        ("learned", &first)
    );
}

#[test]
fn a_store_that_works_can_be_looked_at() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-2")).expect("a new store");
    load(&db, 0..5_000, 0);
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for version in 1..4 {
                load(&db, 0..20_000, version);
            }
            over.store(true, Relaxed);
        });
        let mut looks = 0;
        while !over.load(Relaxed) || looks == 0 {
            let seen = inspect(directory.path(), &Question::default()).expect("readable");
            assert!(seen.families[0].bytes > 0);
            looks += 1;
        }
    });
    assert!(db.health().running);
}
