//! Learners on a store: they learn, decide their journal again, and lose nothing to others.

use std::path::Path;
use std::time::Duration;

use lissom::core::journal::Event;
use lissom::statistics::TunerWork;
use lissom::{Db, Settings};
use serde_json::Value;

use crate::support::{decided_again, eventually, key, load, settle, small};

/// What the state file keeps of the column family.
fn stored(directory: &Path) -> Value {
    let text = std::fs::read_to_string(directory.join("LISSOM")).expect("a state file");
    let body = text.lines().nth(1).expect("a second line");
    let mut stored: Value = serde_json::from_str(body).expect("JSON");
    stored["families"]["default"].take()
}

/// Whether two are the same but for how numbers are read.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| alike(a, b))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut values = one.values().zip(other.values());
            one.keys().eq(other.keys()) && values.all(|(a, b)| alike(a, b))
        }
        (Value::Number(one), Value::Number(other)) => {
            let numbers = one.as_f64().zip(other.as_f64());
            numbers.is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * a.abs())
        }
        _ => one == other,
    }
}

/// As many writes as gets, until this holds of what the tuner did.
fn operate_until(db: &Db, name: &str, what: impl Fn(TunerWork) -> bool) -> TunerWork {
    let work = || {
        let glance = db.autopilot().glance("default");
        glance.expect("a column family").tuner
    };
    eventually(name, || {
        for part in 0..10 {
            load(db, part * 50..(part + 1) * 50, 2);
            for number in 0..50 {
                db.get(key(number)).expect("a get");
            }
        }
        what(work())
    });
    work()
}

/// Missions of a fifth of a second, which pay for what `lerp` takes.
#[test]
fn lerp_learns_and_decides_its_journal_again() {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 1_000_000,
        mission_time: Duration::from_millis(200),
        ..small("lerp")
    };
    {
        let db = Db::open(place.path(), settings.clone()).expect("opened");
        load(&db, 0..8_000, 1);
        let learns = |work: TunerWork| work.steps > 0 && work.changed > 0;
        let work = operate_until(&db, "gradient steps", learns);
        assert!(work.took > Duration::ZERO, "{work:?}");
        settle(&db);
    }
    assert!(stored(place.path())["tuner"].is_null(), "as published");
    {
        let db = Db::open(place.path(), settings).expect("reopened");
        operate_until(&db, "five missions", |work| work.asked >= 5);
    }
    let decided = decided_again(place.path(), "lerp");
    let begins = decided.iter().filter(|it| it.mission == 1).count();
    assert!(begins == 2 && decided.len() >= 15, "{}", decided.len());
}

#[test]
fn what_was_learned_waits_until_its_policy_is_back() {
    let place = crate::scratch();
    let open = |policy: &str| {
        let settings = Settings {
            mission_operations: 500,
            ..small(policy)
        };
        Db::open(place.path(), settings).expect("opened")
    };
    let learned = {
        let db = open("learned");
        load(&db, 0..8_000, 1);
        operate_until(&db, "missions", |work| work.steps >= 12);
        drop(db);
        stored(place.path())["tuner"].take()
    };
    assert!(learned.is_object(), "{learned}");
    // In place of `learned` at an opening, and while the store runs.
    operate_until(&open("fixed-2"), "missions", |work| work.asked >= 3);
    let away = stored(place.path());
    assert!(away["tuner"].is_null());
    assert!(alike(&away["others"]["learned"], &learned), "{away}");

    settle(&open("learned"));
    let back = stored(place.path());
    assert!(back["others"].is_null(), "{back}");
    assert!(alike(&back["tuner"], &learned), "{back}");

    let db = open("learned");
    let policy = "fixed-3".parse().expect("a policy");
    db.set_policy("default", &policy).expect("set");
    settle(&db);
    drop(db);
    let away = stored(place.path());
    assert_eq!(away["policy"], "fixed-3");
    assert!(alike(&away["others"]["learned"], &learned), "{away}");

    // There and back while the store runs.
    let db = open("learned");
    for policy in ["fixed-3", "learned"] {
        let policy = policy.parse().expect("a policy");
        db.set_policy("default", &policy).expect("set");
        settle(&db);
    }
    drop(db);
    let back = stored(place.path());
    assert_eq!(back["policy"], "learned");
    assert!(back["others"].is_null(), "{back}");
    assert!(alike(&back["tuner"], &learned), "{back}");
}

#[test]
fn a_policy_that_is_set_again_goes_on_as_its_journal_says() {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 500,
        ..small("learned")
    };
    let db = Db::open(place.path(), settings).expect("opened");
    load(&db, 0..8_000, 1);
    let first = operate_until(&db, "missions", |work| work.steps >= 12);
    for (policy, learns) in [("fixed-1", false), ("learned", true)] {
        let policy = policy.parse().expect("a policy");
        db.set_policy("default", &policy).expect("set");
        operate_until(&db, "more missions", |work| {
            work.asked >= first.asked + 4 && (work.steps >= 12) == learns
        });
    }
    drop(db);
    let learned = "learned".parse().expect("a policy");
    let instead = Default::default();
    let decided = lissom::inspect::replay(place.path(), "default", &learned, &instead);
    let mut missions = decided.expect("missions").missions.into_iter();
    let (mut decides, mut again) = (String::new(), 0);
    for entry in crate::common::journal(place.path()) {
        match entry.event {
            Event::Begin { policy, .. } => decides = policy,
            Event::Policy {
                policy, goes_on, ..
            } => {
                assert_eq!(goes_on, policy == "learned");
                decides = policy;
            }
            Event::Mission { .. } => {
                let it = missions.next().expect("as many");
                if decides == "learned" {
                    assert_eq!(it.recorded, it.replayed, "mission {}", it.mission);
                    again += 1;
                }
            }
            _ => {}
        }
    }
    assert!(again >= 24, "{again}");
}
