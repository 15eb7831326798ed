//! Writes never stop, whatever became of the autopilot (invariant 6).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom::core::observation::Mission;
use lissom::core::tuner::{Question, Trial, TrialId, Tuner};
use lissom::core::{PhysicalLevel, RunLimit, RunLimits};
use lissom::ffi::CfRef;
use lissom::{Db, Settings};

use crate::support::{key, settle, small, value, within};

/// Does not answer until it is let go.
struct Hanging(Arc<AtomicBool>);

impl Tuner for Hanging {
    fn name(&self) -> String {
        "hanging".into()
    }

    fn ask(&mut self, _: &Question<'_>) -> Trial {
        while !self.0.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let three = RunLimits::uniform(RunLimit::clamped(3));
        Trial::of_limits(TrialId(1), three, Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

fn files_in_level0(db: &Db) -> usize {
    let handle = db.cf_handle("default").expect("there always is one");
    let seen = lissom::observe::observe(&handle).expect("a tree");
    seen.tree.level0().len()
}

#[test]
fn ten_times_the_stop_trigger_is_written_while_the_tuner_hangs() {
    let place = crate::scratch();
    let settings = Settings {
        mission_operations: 100,
        ..small("fixed-2")
    };
    let stop_bytes = u64::from(settings.level0_stop_writes_trigger) * settings.write_buffer_size;
    let entries = 10 * stop_bytes / 200;
    let db = Arc::new(Db::open(place.path(), settings.clone()).expect("opened"));
    let go_on = Arc::new(AtomicBool::new(false));
    db.autopilot()
        .set_tuner("default", Box::new(Hanging(go_on.clone())))
        .expect("set");
    let writer = db.clone();
    within(
        Duration::from_secs(60),
        "ten times the stop trigger",
        move || {
            for number in 0..entries {
                writer.put(key(number), value(number, 1)).expect("a put");
                if number % 500 == 499 {
                    writer.flush().expect("a flush");
                }
            }
        },
    );
    for number in 0..entries {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
    // The planner lost patience with it, and puts things in order.
    settle(&db);
    assert!(db.health().broken_tuners.contains("default"));
    let landed =
        |level: &lissom::core::journal::RunSummary| level.physical == PhysicalLevel::LANDING;
    let statistics = db.statistics().expect("statistics");
    let tree = &statistics.families["default"].tree;
    assert!(!tree.runs.iter().any(landed), "{tree:?}");
    assert!(tree.level0_files < 4, "{tree:?}");
    for number in (0..entries).step_by(7) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
    go_on.store(true, Relaxed);
}

#[test]
fn the_brake_acts_again_after_it_was_aborted() {
    let place = crate::scratch();
    let settings = Settings {
        rate_limit_bytes_per_second: Some(1 << 30),
        ..small("fixed-2")
    };
    let slowdown = settings.level0_slowdown_writes_trigger as usize;
    let db = Arc::new(Db::open(place.path(), settings).expect("opened"));
    db.autopilot().stop();
    let mut number = 0;
    while files_in_level0(&db) < slowdown - 1 {
        for _ in 0..200 {
            db.put(key(number), value(number, 1)).expect("a put");
            number += 1;
        }
        db.flush().expect("a flush");
    }
    // One more file, and RocksDB's own compaction begins, which then takes long.
    db.put(key(number), value(number, 1)).expect("a put");
    db.set_rate_limit(64 << 10).expect("set");
    db.flush().expect("a flush");
    let handle = db.cf_handle("default").expect("there always is one");
    let begun = Instant::now();
    let compacts = || {
        let seen = lissom::observe::observe(&handle).expect("a tree");
        !seen.being_compacted.is_empty()
    };
    while !compacts() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "the brake never acts"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
    let target = CfRef::of(&handle).expect("an open family");
    drop(target.abort_compactions().expect("aborted"));
    drop(handle);
    db.set_rate_limit(1 << 30).expect("set");
    let writer = db.clone();
    within(
        Duration::from_secs(20),
        "a flush after the abort",
        move || {
            writer.put(key(number), value(number, 2)).expect("a put");
            writer.flush().expect("a flush");
        },
    );
    let begun = Instant::now();
    while files_in_level0(&db) >= slowdown - 1 {
        assert!(begun.elapsed() < Duration::from_secs(20), "L0 stays full");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
}

#[test]
fn stopping_in_the_middle_of_a_load_leaves_a_store_that_writes() {
    for round in 0..5 {
        let place = crate::scratch();
        let db = Arc::new(Db::open(place.path(), small("fixed-1")).expect("opened"));
        let entries = 30_000;
        let writer = db.clone();
        let stopper = db.clone();
        let stop = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(3 + 17 * round));
            stopper.autopilot().stop();
        });
        within(
            Duration::from_secs(60),
            "a load without an autopilot",
            move || {
                for number in 0..entries {
                    writer
                        .put(key(number), value(number, round))
                        .expect("a put");
                }
            },
        );
        stop.join().expect("it stops");
        assert!(!db.health().running);
        assert_eq!(db.health().background_error, None);
        for number in (0..entries).step_by(11) {
            let found = db.get(key(number)).expect("a get");
            assert_eq!(found, Some(value(number, round)));
        }
    }
}
