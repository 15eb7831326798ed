use std::time::{Duration, Instant};

use lissom_core::schedule::Merges;

use super::run::take_turns;
use super::shared::View;
use crate::files::state;
use crate::{Db, Settings};

const PATIENCE: Duration = Duration::from_secs(30);

fn view(db: &Db) -> View {
    let family = db.autopilot().shared.family("default");
    family.expect("it is driven").view.lock().clone()
}

/// Without news the tree is looked at once a second, also when there is work that may
/// not start.
#[test]
fn a_paused_autopilot_looks_no_more_often_than_one_without_work() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        write_buffer_size: 64 << 10,
        memory_budget_bytes: 8 << 20,
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    db.autopilot().pause();
    for number in 0..6_u32 {
        db.put(number.to_be_bytes(), "value").expect("a put");
        db.flush().expect("a flush");
    }
    let begun = Instant::now();
    while view(&db).tree.level0_files < 6 {
        assert!(begun.elapsed() < PATIENCE, "the files were not seen");
        std::thread::sleep(Duration::from_millis(5));
    }
    let (before, begun) = (view(&db).looks, Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let looks = view(&db).looks - before;
    // Some more for the last flush, the mission that ends and what the tuner answers.
    let most = begun.elapsed().as_secs() + 5;
    assert!(looks <= most, "{looks} looks in {:?}", begun.elapsed());
    db.autopilot().unpause();
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    assert_eq!(view(&db).tree.level0_files, 0);
}

/// A request that cannot be taken away is met at every look.
#[test]
fn what_fails_again_and_again_is_written_down_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), Settings::default()).expect("opened");
    std::fs::create_dir(directory.path().join("LISSOM-COMPACT")).expect("made");
    std::thread::sleep(Duration::from_secs(1));
    let trouble = db.health().trouble.expect("it is told");
    assert!(trouble.contains("LISSOM-COMPACT"), "{trouble}");
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL"));
    let journal = journal.expect("a journal");
    let told = journal
        .lines()
        .filter(|line| line.contains("LISSOM-COMPACT"));
    assert_eq!(told.count(), 1, "{journal}");
}

#[test]
fn what_a_kill_left_of_the_probe_goes_with_the_next_open() {
    let directory = tempfile::tempdir().expect("a directory");
    let probe = directory.path().join("LISSOM-PROBE");
    std::fs::write(&probe, "half a measurement").expect("written");
    let settings = Settings {
        device_bytes_per_second: Some(1 << 30),
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    assert!(!probe.exists());
    drop(db);
}

#[test]
fn the_schedules_rate_ends_with_the_autopilot() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        schedule: "dlc".parse().expect("a schedule"),
        schedule_interval: Duration::from_millis(100),
        device_bytes_per_second: Some(1 << 30),
        rate_limit_bytes_per_second: Some(8 << 30),
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    let limit = db.autopilot().shared.rate_limit.clone();
    let limit = limit.expect("a schedule has one");
    let begun = Instant::now();
    while limit.limiter.bytes_per_second() > 1 << 30 {
        assert!(begun.elapsed() < PATIENCE, "nothing was ordered");
        std::thread::sleep(Duration::from_millis(10));
    }
    db.autopilot().stop();
    assert_eq!(
        limit.limiter.bytes_per_second(),
        8 << 30,
        "the user's bound"
    );
}

/// Neither has anything else to keep.
#[test]
fn what_merges_cost_is_kept_under_any_schedule() {
    for name in ["eager", "dlc"] {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = Settings {
            schedule: name.parse().expect("a schedule"),
            schedule_interval: Duration::from_millis(100),
            device_bytes_per_second: Some(1 << 30),
            write_buffer_size: 64 << 10,
            memory_budget_bytes: 8 << 20,
            ..Settings::default()
        };
        let db = Db::open(directory.path(), settings).expect("opened");
        for number in 0..6_u32 {
            db.put("key", number.to_be_bytes()).expect("a put");
            db.flush().expect("a flush");
        }
        let begun = Instant::now();
        while db.autopilot().schedule().load.compacted_micros == 0 {
            assert!(begun.elapsed() < PATIENCE, "{name}: nothing was merged");
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(db);
        let stored = state::load(directory.path()).expect("readable").stored;
        let merges = stored.schedule.merges;
        assert_ne!(merges.unwrap_or_default(), Merges::default(), "{name}");
        assert!(stored.schedule.state.is_null(), "{name}");
    }
}

/// As of a schedule's name or state, which the planner thread asks for between rounds.
#[test]
fn a_panic_between_rounds_ends_no_thread() {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), Settings::default()).expect("opened");
    let (mut turns, mut trouble) = (0, None);
    take_turns(&db.autopilot().shared, || {
        turns += 1;
        assert!(turns > 2, "as this test wants it");
        trouble = db.health().trouble;
        db.autopilot().stop();
        Duration::ZERO
    });
    assert_eq!(turns, 3);
    let trouble = trouble.expect("it is told");
    assert!(trouble.contains("panicked between two rounds"), "{trouble}");
}

/// Meanwhile RocksDB's brake is all that merges L0.
#[test]
fn no_rate_holds_while_turns_fail() {
    let directory = tempfile::tempdir().expect("a directory");
    let settings = Settings {
        schedule: "dlc".parse().expect("a schedule"),
        // The store's own planner thread orders nothing meanwhile.
        schedule_interval: Duration::from_secs(60),
        device_bytes_per_second: Some(1 << 30),
        ..Settings::default()
    };
    let db = Db::open(directory.path(), settings).expect("opened");
    let shared = db.autopilot().shared.clone();
    let limit = shared.rate_limit.clone().expect("a schedule has one");
    limit.order(Some(1 << 20)).expect("a rate");
    let (mut turns, mut held) = (0, Some(0));
    take_turns(&shared, || {
        turns += 1;
        assert!(turns > 1, "as this test wants it");
        held = limit.bytes_per_second();
        db.autopilot().stop();
        Duration::ZERO
    });
    assert_eq!((turns, held), (2, None));
}
