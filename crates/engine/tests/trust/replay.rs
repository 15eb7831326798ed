//! The same observations give the same decisions, byte for byte (invariant 4).

use std::path::Path;
use std::time::Duration;

use lissom::core::filters::FilterAllocation;
use lissom::core::journal::{Entry, Event};
use lissom::core::observation::Observation;
use lissom::core::planner;
use lissom::core::testing::{Model, small_shape};
use lissom::core::tuner::{Policy, Question};
use lissom::core::{LogicalLevel, RunLimit, RunLimits, TreeState};
use lissom::{Db, Settings};

use crate::random::Random;
use crate::support::{decided_again, eventually, key, load, settle, small};

fn journal(directory: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(directory.join("LISSOM-JOURNAL")).expect("a journal");
    let entry = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    text.lines().map(entry).collect()
}

/// All that a core decided in one random life.
fn life(seed: u64) -> String {
    let mut random = Random::new(seed);
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(3)));
    model.workers = random.within(1, 4) as usize;
    let mut decided = String::new();
    for _ in 0..300 {
        let writes: Vec<(u32, bool)> = (0..10)
            .map(|_| (random.below(2_000) as u32, random.percent(20)))
            .collect();
        model.flush(writes);
        if random.percent(5) {
            let limit = RunLimit::clamped(random.within(1, 12) as u16);
            let mut limits = model.state.limits.clone();
            limits.set(LogicalLevel(random.within(1, 3) as u16), limit);
            model.state = planner::with_limits(&model.observation(), limits);
        }
        let seen = model.observation();
        let planned = planner::plan(&seen);
        decided += &serde_json::to_string(&planned.plans).expect("plans are data");
        decided += &serde_json::to_string(&planned.state).expect("the state is data");
        model.plan();
        while !model.running.is_empty() && random.percent(80) {
            let at = random.below(model.running.len() as u64) as usize;
            if random.percent(10) {
                model.cancel(at);
            } else {
                model.finish(at);
            }
        }
    }
    model.check();
    decided
}

#[test]
fn one_seed_is_one_sequence_of_plans() {
    for seed in 0..4 {
        let (one, other) = (life(seed), life(seed));
        assert!(one.contains("level-full"), "trees got deep");
        assert!(one == other, "seed {seed}");
    }
    assert!(life(0) != life(1));
}

#[test]
fn a_recorded_observation_gives_the_plans_that_the_engine_carried_out() {
    let place = crate::scratch();
    let settings = small("fixed-3");
    let db = Db::open(place.path(), settings.clone()).expect("opened");
    load(&db, 0..10_000, 1);
    settle(&db);
    db.autopilot().pause();
    for part in 0..8 {
        load(&db, part * 500..(part + 1) * 500, 2);
        db.flush().expect("a flush");
    }
    // The planner looks, and what it remembers is in the state file.
    std::thread::sleep(Duration::from_millis(1_500));
    let before = journal(place.path()).len();
    let text = std::fs::read_to_string(place.path().join("LISSOM")).expect("a state file");
    let body = text.lines().nth(1).expect("a second line");
    let mut stored: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let stored = stored["families"]["default"]["tree"].take();
    let state: TreeState = serde_json::from_value(stored).expect("the planner's memory");
    let handle = db.cf_handle("default").expect("there always is one");
    let seen = Observation::quiet(
        settings.shape(),
        lissom::observe::observe(&handle).expect("a tree").tree,
        state,
        settings.workers,
    );
    // As it would be read from a file, long after.
    let recorded = serde_json::to_string(&seen.tree).expect("a tree is data");
    let tree = serde_json::from_str(&recorded).expect("it reads back");
    let seen = Observation { tree, ..seen };
    let expected = planner::plan(&seen).plans;
    assert!(!expected.is_empty(), "L0 is over its trigger");
    drop(handle);
    db.autopilot().unpause();
    settle(&db);
    drop(db);
    let carried_out: Vec<_> = journal(place.path())
        .split_off(before)
        .into_iter()
        .filter_map(|entry| match entry.event {
            Event::CompactionBegin { plan, .. } => Some(plan),
            _ => None,
        })
        .take(expected.len())
        .collect();
    assert_eq!(carried_out, expected);
}

fn a_fresh_tuner_says_what_the_journal_says(policy: &str) {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 500,
        ..small(policy)
    };
    let db = Db::open(place.path(), settings.clone()).expect("opened");
    load(&db, 0..8_000, 1);
    for number in 0..8_000 {
        db.get(key(number)).expect("a get");
    }
    load(&db, 0..8_000, 2);
    let missions = || {
        db.statistics().expect("statistics").families["default"]
            .total
            .number
    };
    eventually("ten missions", || {
        load(&db, 0..500, 3);
        missions() >= 10
    });
    drop(db);
    let policy: Policy = policy.parse().expect("a policy");
    let mut tuner = policy.tuner();
    let shape = settings.shape();
    let (mut limits, mut told, mut changed) = (None, None, 0);
    for entry in journal(place.path()) {
        match entry.event {
            Event::Begin { limits: first, .. } => limits = Some(first),
            Event::Mission {
                mission,
                tree,
                trial,
                refused,
                ..
            } => {
                let now = limits.as_ref().expect("the journal begins with limits");
                if let Some(told) = told {
                    tuner.tell(told, &mission);
                }
                let again = tuner.ask(&Question {
                    shape: &shape,
                    tree: &tree.as_tree(),
                    limits: now,
                    refused: &refused,
                    mission: &mission,
                });
                let bytes = |trial| serde_json::to_string(trial).expect("a trial is data");
                assert_eq!(bytes(&again), bytes(&trial), "entry {}", entry.number);
                changed += usize::from(!trial.changes.is_empty());
                told = Some(trial.id);
                limits = Some(trial.limits);
            }
            _ => {}
        }
    }
    assert!(changed > 0, "the tuner never changed anything");
}

#[test]
fn thresholds_decide_again_as_the_journal_says() {
    a_fresh_tuner_says_what_the_journal_says("thresholds-20-80");
}

#[test]
fn lazy_leveling_decides_again_as_the_journal_says() {
    a_fresh_tuner_says_what_the_journal_says("lazy-leveling");
}

/// The tuner goes by the filters, and its name in the journal tells by which.
#[test]
fn lerp_decides_again_as_the_journal_says() {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 500,
        filters: FilterAllocation::Monkey,
        ..small("lerp")
    };
    let db = Db::open(place.path(), settings).expect("opened");
    let family = || db.statistics().expect("statistics").families["default"].clone();
    eventually("twenty missions", || {
        load(&db, 0..500, 1);
        family().tuner.asked >= 20
    });
    let seen = family();
    assert_eq!(seen.policy, "lerp-monkey");
    assert!(seen.tuner.changed > 0, "{:?}", seen.tuner);
    drop(db);
    let decided = decided_again(place.path(), "lerp");
    assert!(decided.len() >= 20, "{}", decided.len());
}

/// The tuner's part of the state file.
fn learned(directory: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(directory.join("LISSOM")).expect("a state file");
    let body = text.lines().nth(1).expect("a second line");
    let mut stored: serde_json::Value = serde_json::from_str(body).expect("JSON");
    stored["families"]["default"]["tuner"].take()
}

/// Forty missions of as many writes as reads; what was learned of them is in the state
/// file.
fn forty_missions(directory: &Path, settings: &Settings) {
    let db = Db::open(directory, settings.clone()).expect("opened");
    load(&db, 0..8_000, 1);
    let family = || db.statistics().expect("statistics").families["default"].clone();
    eventually("forty missions", || {
        for part in 0..10 {
            load(&db, part * 50..(part + 1) * 50, 2);
            for number in 0..50 {
                db.get(key(number)).expect("a get");
            }
        }
        family().tuner.asked >= 40
    });
    assert!(family().tuner.steps > 0, "{:?}", family().tuner);
}

#[test]
fn a_learner_goes_on_after_a_reopening_as_the_journal_says() {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 500,
        ..small("learned")
    };
    forty_missions(place.path(), &settings);
    let first = learned(place.path());
    let workloads = |state: &serde_json::Value| state["memory"].as_array().map_or(0, Vec::len);
    assert!(workloads(&first) > 0, "{first}");
    forty_missions(place.path(), &settings);
    let second = learned(place.path());
    assert!(workloads(&second) >= workloads(&first), "{second}");
    let decided = decided_again(place.path(), "learned");
    assert!(decided.len() >= 80, "{}", decided.len());
}
