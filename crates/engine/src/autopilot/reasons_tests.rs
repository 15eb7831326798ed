//! Why a level has its run limit, whatever is left of the journal.

use std::path::Path;
use std::time::{Duration, Instant};

use lissom_core::LogicalLevel;

use super::Glance;
use crate::files::journal;
use crate::inspect::{LimitReason, Question, inspect_end};
use crate::{Db, Settings};

const PATIENCE: Duration = Duration::from_secs(30);

/// So many bytes of the journals' end are read.
const TAIL: u64 = 8 << 10;

/// What the policy says where nobody reads.
const WHY: &str =
    "0 % reads, fewer than 20 %; nothing is expected of it, the policy reckons no costs";

/// Without reads the limits are raised from 1 to the size ratio.
fn settings() -> Settings {
    Settings {
        policy: "thresholds-20-80".parse().expect("a policy"),
        size_ratio: 4,
        level_compaction_dynamic_level_bytes: false,
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        target_file_size_base: 64 << 10,
        memory_budget_bytes: 16 << 20,
        mission_operations: 500,
        mission_time: Duration::from_millis(50),
        max_journal_bytes: 64 << 10,
        ..Settings::default()
    }
}

fn write(db: &Db) {
    for number in 0..1_000_u64 {
        let key = number.reverse_bits().to_be_bytes();
        db.put(key, [7_u8; 200]).expect("a put");
    }
}

fn eventually(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < PATIENCE, "it never comes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn glance(db: &Db) -> Glance {
    db.autopilot().glance("default").expect("it is driven")
}

fn limit(db: &Db) -> u16 {
    glance(db).limits.get(LogicalLevel(1)).get()
}

/// Opened, with a run in level 1 and limits that stay while nobody reads.
fn settled(directory: &Path) -> Db {
    let db = Db::open(directory, settings()).expect("opened");
    eventually(|| {
        write(&db);
        limit(&db) == 4 && !glance(&db).tree.runs.is_empty()
    });
    db.flush().expect("a flush");
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    db
}

/// Why level 1 has its limit.
fn reason(directory: &Path, tail: u64) -> LimitReason {
    let question = Question {
        decisions: 1,
        ..Question::default()
    };
    let seen = inspect_end(directory, &question, tail).expect("readable");
    let mut limits = seen.limits.into_iter();
    limits.find(|it| it.level == 1).expect("it holds a run")
}

/// Pushes what stands in the journal further away from its end.
fn fill(db: &Db) {
    let journal = &db.autopilot().shared.journal;
    journal.note("", "x".repeat(1_000));
    journal.flush();
}

/// How large a journal is, and whether the decision stands in it.
fn look(path: &Path) -> (u64, bool) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    (text.len() as u64, text.contains(WHY))
}

fn same_decision(one: &LimitReason, other: &LimitReason) {
    assert_eq!((one.limit, one.before), (other.limit, other.before));
    assert_eq!(one.why, other.why);
    assert_eq!(one.at_seconds, other.at_seconds);
    let took = one.took_before.zip(other.took_before);
    let (one, other) = took.expect("missions before");
    assert!((one - other).abs() < 1e-12, "{one} and {other}");
}

/// The reason of level 1, with a mission since at the journal's end.
fn after_a_mission(db: &Db, directory: &Path) -> LimitReason {
    let begun = Instant::now();
    loop {
        write(db);
        let told = reason(directory, TAIL);
        if told.missions_since > 0 {
            return told;
        }
        assert!(begun.elapsed() < PATIENCE, "no mission ends");
    }
}

#[test]
fn a_limits_reason_outlives_the_journals() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path();
    let (old, present) = (journal::old_path(directory), journal::path(directory));
    let db = settled(directory);
    let first = reason(directory, u64::MAX);
    assert_eq!((first.limit, first.before), (4, Some(3)));
    assert_eq!(first.why, WHY);
    assert!(first.took_before.is_some() && first.all_read);
    assert_eq!(first.openings_since, Some(0));

    // It stands before the part that is read.
    (0..16).for_each(|_| fill(&db));
    let told = reason(directory, TAIL);
    same_decision(&told, &first);
    assert!(!told.all_read);

    // It stands in the older journal, of which nothing is read.
    let is_hidden = || look(&old).1 && look(&present).0 > 2 * TAIL;
    while !is_hidden() {
        fill(&db);
    }
    same_decision(&reason(directory, TAIL), &first);
    let whole = reason(directory, u64::MAX);
    same_decision(&whole, &first);
    assert!(whole.all_read);

    // It stands in neither.
    while look(&old).1 || look(&present).1 {
        fill(&db);
    }
    let told = reason(directory, u64::MAX);
    same_decision(&told, &first);
    assert!(!told.all_read);

    // What came since is added, also by the clock of another opening.
    let told = after_a_mission(&db, directory);
    same_decision(&told, &first);
    assert!(told.took_since.is_some());
    drop(db);
    let db = settled(directory);
    let told = after_a_mission(&db, directory);
    same_decision(&told, &first);
    assert!(told.took_since.is_some());
    assert_eq!(told.openings_since, Some(1));
}

#[test]
fn a_policy_that_is_set_by_hand_is_named() {
    let place = tempfile::tempdir().expect("a directory");
    let directory = place.path();
    let db = settled(directory);
    let set = |policy: &str| {
        let policy = policy.parse().expect("a policy");
        db.set_policy("default", &policy).expect("set");
    };
    set("fixed-2");
    // Shown before it is written.
    eventually(|| limit(&db) == 2 && reason(directory, TAIL).limit == 2);
    let two = reason(directory, TAIL);
    assert_eq!((two.limit, two.before), (2, Some(4)));
    assert!(two.why.contains("fixed-2"), "{}", two.why);

    // What a pin holds back is no reason yet.
    db.pin().expect("pinned");
    std::thread::sleep(Duration::from_millis(200));
    set("fixed-3");
    eventually(|| {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].policy == "fixed-3"
    });
    same_decision(&reason(directory, TAIL), &two);
    db.unpin().expect("unpinned");
    eventually(|| limit(&db) == 3 && reason(directory, TAIL).limit == 3);
    let three = reason(directory, TAIL);
    assert_eq!((three.limit, three.before), (3, Some(2)));
    assert!(three.why.contains("fixed-3"), "{}", three.why);
    drop(db);

    // Another policy at the next opening, too.
    let one = Settings {
        policy: "fixed-1".parse().expect("a policy"),
        ..settings()
    };
    let db = Db::open(directory, one).expect("opened");
    eventually(|| limit(&db) == 1 && reason(directory, TAIL).limit == 1);
    let told = reason(directory, TAIL);
    assert_eq!(told.before, Some(3));
    assert_eq!(told.why, "the autopilot began with fixed-1");
}
