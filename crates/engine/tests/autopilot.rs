//! The autopilot while the store runs: limits, pins, pauses, tuners that fail.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use common::{PATIENCE, key, load, runs_of, settle, small, tree, value};
use lissom::core::tuner::{Change, Question, Trial, TrialId, Tuner};
use lissom::core::{LogicalLevel, Mission, RunLimit, RunLimits, Transition};
use lissom::{Autopilot, Db, Preparation, RocksDb, Settings};
use rust_rocksdb::statistics::StatsLevel;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

fn limits(db: &Db) -> RunLimits {
    db.statistics().expect("statistics").families["default"]
        .limits
        .clone()
}

/// Waits until `what` holds.
fn eventually(what: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !what() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

#[test]
fn a_new_policy_holds_at_once_and_shapes_the_tree() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 0..8_000, 1);
    settle(&db);
    assert!(runs_of(&tree(&db), 1) <= 1);
    db.set_policy("default", &"fixed-4".parse().expect("a policy"))
        .expect("set");
    let four = RunLimits::uniform(RunLimit::clamped(4));
    assert!(eventually(|| limits(&db) == four));
    let mut most = 0;
    for part in 0..40 {
        load(&db, part * 1_000..(part + 1) * 1_000, 2);
        assert!(db.autopilot().wait_until_idle(PATIENCE));
        most = most.max(runs_of(&tree(&db), 1));
    }
    assert!(most >= 2, "{most} runs");
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL"));
    let journal = journal.expect("a journal");
    let is_set = |line: &&str| line.contains("\"event\":\"policy\"");
    let set = journal
        .lines()
        .find(is_set)
        .expect("the policy is on record");
    assert!(set.contains("\"policy\":\"fixed-4\""), "{set}");
    assert!(set.contains("\"exploration\":0.1"), "{set}");
}

#[test]
fn thresholds_raise_limits_under_writes_until_they_are_pinned() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
    db.pin().expect("pinned");
    load(&db, 0..10_000, 1);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::ONE), "held");
    assert!(db.mission("default").is_some(), "missions go on");
    let work = || db.statistics().expect("statistics").families["default"].tuner;
    assert!(work().asked > 0, "it wishes for more");
    assert_eq!(work().changed, 0, "a wish changes nothing");
    // From outside: the pin is a file.
    std::fs::remove_file(directory.path().join("LISSOM-PIN")).expect("removed");
    let first = |db: &Db| limits(db).get(LogicalLevel(1)).get();
    assert!(eventually(|| {
        load(&db, 0..2_000, 2);
        first(&db) == 4
    }));
    assert!(work().changed >= 3, "{:?}", work());
    std::fs::write(directory.path().join("LISSOM-PIN"), "").expect("pinned");
    std::thread::sleep(Duration::from_millis(200));
    for number in 0..30_000 {
        assert!(db.get(key(number % 10_000)).expect("a get").is_some());
    }
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(first(&db), 4, "held under reads");
    db.unpin().expect("unpinned");
    assert!(eventually(|| {
        for number in 0..10_000 {
            assert!(db.get(key(number)).expect("a get").is_some());
        }
        first(&db) == 1
    }));
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("% reads, fewer than 20 %"));
    assert!(journal.contains("\"pinned\":true"));
}

/// A lazy change reaches each level with its next drain. A pin holds the old limits
/// through all of them, and through a reopening.
#[test]
fn a_pin_holds_limits_that_a_lazy_change_would_replace() {
    let directory = tempfile::tempdir().expect("a directory");
    let lazy = |policy: &str| Settings {
        transition: Transition::Lazy,
        ..small(policy)
    };
    let of = |db: &Db, level: u16| limits(db).get(LogicalLevel(level)).get();
    let drains = |db: &Db| db.statistics().expect("statistics").families["default"].drains;
    // Other keys each time, or no level would ever fill.
    let mut written = 0;
    let mut more = |db: &Db| {
        load(db, written..written + 4_000, 1);
        settle(db);
        written += 4_000;
        assert!(written < 1_000_000, "{:?}", tree(db));
        written
    };

    let db = Db::open(directory.path(), lazy("fixed-1")).expect("opened");
    // Level 1 is empty before its first run, and after each of its drains.
    while runs_of(&tree(&db), 1) == 0 {
        more(&db);
    }
    db.set_policy("default", &"fixed-3".parse().expect("a policy"))
        .expect("set");
    assert!(eventually(|| of(&db, 9) == 3), "a level without runs");
    assert_eq!(of(&db, 1), 1, "a level with a run waits");

    db.pin().expect("pinned");
    std::thread::sleep(Duration::from_millis(200));
    let held = limits(&db);
    let before = drains(&db);
    while drains(&db) < before + 3 {
        more(&db);
    }
    assert_eq!(limits(&db), held, "held through drains");
    drop(db);

    let db = Db::open(directory.path(), lazy("fixed-3")).expect("opened");
    let before = drains(&db);
    while drains(&db) == before {
        more(&db);
    }
    assert_eq!(limits(&db), held, "held over a reopening");

    db.unpin().expect("unpinned");
    while of(&db, 1) != 3 {
        more(&db);
    }
    let written = more(&db);
    for number in (0..written).step_by(97) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

#[test]
fn limits_and_drains_outlive_a_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    let first = |db: &Db| limits(db).get(LogicalLevel(1)).get();
    {
        let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
        assert!(eventually(|| {
            load(&db, 0..2_000, 1);
            first(&db) == 4
        }));
        // Closed in the middle of its work.
        load(&db, 0..30_000, 2);
    }
    let db = Db::open(directory.path(), small("thresholds-20-80")).expect("opened");
    assert!(eventually(|| first(&db) == 4), "as it was");
    settle(&db);
    for number in (0..30_000).step_by(113) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
    }
    drop(db);
    let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
    let two = RunLimits::uniform(RunLimit::clamped(2));
    assert!(
        eventually(|| limits(&db) == two),
        "a fixed policy holds at once"
    );
}

/// Sets other limits, and panics when it is asked for the second time.
struct Panicking {
    asked: u64,
}

impl Tuner for Panicking {
    fn name(&self) -> String {
        "panicking".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        assert!(self.asked < 2, "as intended");
        let three = RunLimits::uniform(RunLimit::clamped(3));
        let changes = seen.changes(&three, |_| "a trial".into());
        Trial::of_limits(TrialId(1), three, changes)
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

#[test]
fn a_tuner_that_panics_leaves_the_last_good_limits() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    db.autopilot()
        .set_tuner("default", Box::new(Panicking { asked: 0 }))
        .expect("set");
    assert!(eventually(|| {
        load(&db, 0..3_000, 1);
        db.health().broken_tuners.contains("default")
    }));
    // Those of its one trial have not held.
    let one = RunLimits::uniform(RunLimit::ONE);
    assert_eq!(limits(&db), one);
    load(&db, 0..20_000, 2);
    settle(&db);
    assert_eq!(limits(&db), one);
    let health = db.health();
    assert!(health.running, "{health:?}");
    db.set_policy("default", &"fixed-2".parse().expect("a policy"))
        .expect("set");
    let two = RunLimits::uniform(RunLimit::clamped(2));
    assert!(eventually(|| limits(&db) == two), "a new policy is asked");
    drop(db);
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    let said = "the tuner panicking panicked: the run limits go back from 3 to 1, as before, until \
                a policy is set";
    assert_eq!(journal.matches(said).count(), 1, "{journal}");
    assert!(journal.contains("a trial"), "it held for a mission");
}

/// Who pins the limits of a trial has them back to what they were once nobody holds them.
#[test]
fn a_tuner_that_dies_under_a_pin_leaves_the_last_good_limits_behind_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let go_on = Arc::new(AtomicBool::new(false));
    let tuner = Obedient {
        go_on: go_on.clone(),
    };
    db.autopilot()
        .set_tuner("default", Box::new(tuner))
        .expect("set");
    let three = RunLimits::uniform(RunLimit::clamped(3));
    assert!(eventually(|| {
        load(&db, 0..500, 1);
        limits(&db) == three
    }));
    db.pin().expect("pinned");
    // The planner looks for the pin every 50 ms.
    std::thread::sleep(Duration::from_millis(500));
    go_on.store(true, Relaxed);
    assert!(eventually(|| {
        load(&db, 0..500, 1);
        db.health().broken_tuners.contains("default")
    }));
    assert_eq!(limits(&db), three, "pinned");
    db.unpin().expect("unpinned");
    let one = RunLimits::uniform(RunLimit::ONE);
    assert!(eventually(|| {
        load(&db, 0..500, 1);
        limits(&db) == one
    }));
}

/// Sets other limits, keeps them, and panics once it is told to.
struct Obedient {
    go_on: Arc<AtomicBool>,
}

impl Tuner for Obedient {
    fn name(&self) -> String {
        "obedient".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        assert!(!self.go_on.load(Relaxed), "as intended");
        let three = RunLimits::uniform(RunLimit::clamped(3));
        let changes = seen.changes(&three, |_| "a trial".into());
        Trial::of_limits(TrialId(seen.mission.number), three, changes)
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// Keeps the limits, and wants all levels merged.
struct Merging;

impl Tuner for Merging {
    fn name(&self) -> String {
        "merging".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let levels = seen.shape.layout.logical_levels().rev();
        Trial {
            id: TrialId(seen.mission.number),
            limits: seen.limits.clone(),
            changes: Vec::new(),
            consolidate: levels
                .map(|level| Change {
                    level,
                    why: "a test".into(),
                })
                .collect(),
            abandon: Vec::new(),
        }
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

#[test]
fn a_tuner_may_have_levels_merged_though_nobody_writes() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-4")).expect("opened");
    let mut part = 0;
    while tree(&db).runs.len() < 3 {
        load(&db, part..part + 2_000, 1);
        part += 2_000;
        settle(&db);
        assert!(part < 100_000, "{:?}", tree(&db));
    }
    db.autopilot()
        .set_tuner("default", Box::new(Merging))
        .expect("set");
    assert!(eventually(|| {
        for number in 0..1_000 {
            db.get(key(number)).expect("a get");
        }
        tree(&db).runs.len() == 1
    }));
    for number in (0..part).step_by(97) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

#[test]
fn nothing_starts_while_paused_or_while_compactions_are_turned_off() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let merged = |db: &Db| {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].pieces.merged
    };
    db.autopilot().pause();
    load(&db, 0..8_000, 1);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(merged(&db), 0);
    db.autopilot().unpause();
    settle(&db);
    let before = merged(&db);
    assert!(before > 0);

    db.set_options(&[("disable_auto_compactions", "true")])
        .expect("set");
    // The autopilot asks RocksDB once a second.
    std::thread::sleep(Duration::from_millis(1_200));
    load(&db, 0..8_000, 2);
    db.flush().expect("a flush");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(merged(&db), before);
    db.set_options(&[("disable_auto_compactions", "false")])
        .expect("set");
    settle(&db);
    assert!(merged(&db) > before);
}

#[test]
fn an_application_keeps_its_own_handle_under_attach() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        statistics: StatsLevel::ExceptHistogramOrTimers,
        ..small("thresholds-20-80")
    };
    let mut preparation = Preparation::new(&settings).expect("legal");
    let options = preparation.options("default", &settings).expect("legal");
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory.path(), [family]).expect("opened");
    let db = std::sync::Arc::new(db);
    let autopilot = Autopilot::attach(db.clone(), preparation).expect("attached");
    for number in 0..20_000 {
        db.put(key(number), value(number, 1)).expect("a put");
    }
    assert!(eventually(|| autopilot.wait_until_idle(PATIENCE)));
    let statistics = autopilot.statistics().expect("statistics");
    let of_default = &statistics.families["default"];
    assert!(of_default.pieces.merged > 0);
    assert!(of_default.limits.get(LogicalLevel(1)).get() > 1);
    let seen = of_default.total.operations.writes;
    assert_eq!(seen, 20_000, "counted by RocksDB");
    drop(autopilot);
    assert_eq!(db.get(key(5)).expect("a get"), Some(value(5, 1)));
}

/// What `attach` says of a database that was opened with these options.
fn refusal(directory: &Path, preparation: Preparation, options: &Options) -> String {
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(options, directory, [family]).expect("opened");
    let attached = Autopilot::attach(db.into(), preparation);
    attached.err().expect("refused").to_string()
}

#[test]
fn attach_asks_for_the_counts_that_a_policy_needs() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = small("thresholds-20-80");
    let mut preparation = Preparation::new(&settings).expect("legal");
    let options = preparation.options("default", &settings).expect("legal");
    let error = refusal(directory.path(), preparation, &options);
    assert!(error.contains("set the setting statistics to"), "{error}");
}

#[test]
fn attach_refuses_policies_that_learn_from_latencies() {
    for policy in ["learned", "lerp"] {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            statistics: StatsLevel::ExceptHistogramOrTimers,
            ..small(policy)
        };
        let mut preparation = Preparation::new(&settings).expect("legal");
        let options = preparation.options("default", &settings).expect("legal");
        let error = refusal(directory.path(), preparation, &options);
        assert!(error.contains("open the database with Db::open"), "{error}");
    }
}

#[test]
fn attach_refuses_foreign_options() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = small("fixed-1");
    let mut preparation = Preparation::new(&settings).expect("legal");
    let mut options = preparation.options("default", &settings).expect("legal");
    options.set_level_zero_file_num_compaction_trigger(4);
    let error = refusal(directory.path(), preparation, &options);
    assert!(error.contains("make them equal"), "{error}");
}

#[test]
fn a_policy_for_other_filters_is_refused_and_the_present_one_stays() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-4")).expect("opened");
    let policy = "lerp-monkey".parse().expect("a policy");
    let refused = db.set_policy("default", &policy).expect_err("uniform");
    let sentence = refused.to_string();
    assert!(sentence.contains("leave -monkey out"), "{sentence}");
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    let policy = || {
        db.statistics().expect("statistics").families["default"]
            .policy
            .clone()
    };
    assert_eq!(policy(), "fixed-4");
    let lerp = "lerp".parse().expect("a policy");
    db.set_policy("default", &lerp).expect("any filters do");
    assert!(eventually(|| policy() == "lerp"), "{}", policy());
}

/// A policy that is replaced while the limits are held never held any.
#[test]
fn limits_that_a_pin_held_back_go_with_their_policy() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let policy = |name: &str| {
        let policy = name.parse().expect("a policy");
        db.set_policy("default", &policy).expect("set");
    };
    let looked = || assert!(db.autopilot().wait_until_idle(PATIENCE));
    looked();
    db.pin().expect("pinned");
    policy("fixed-4");
    looked();
    policy("thresholds-20-80");
    looked();
    db.unpin().expect("free again");
    // The first look may have begun before.
    for _ in 0..2 {
        db.autopilot().unpause();
        looked();
    }
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::ONE));
    policy("fixed-4");
    looked();
    assert_eq!(limits(&db), RunLimits::uniform(RunLimit::clamped(4)));
}
