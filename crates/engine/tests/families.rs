//! Several column families, each with its own tree.

mod common;

use common::{PATIENCE, key, small, value};
use lissom::Db;
use lissom::core::{RunLimit, RunLimits};

fn fill(db: &Db, name: &str, version: u64) {
    let family = db.family(name).expect("a column family");
    for number in 0..15_000 {
        family
            .put(key(number), value(number, version))
            .expect("a put");
    }
}

#[test]
fn each_has_its_own_limits_and_tree_and_may_come_and_go() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let db = Db::opening(directory.path(), small("fixed-1"))
            .family("tiered", small("fixed-4"))
            .open()
            .expect("opened");
        db.create_cf("late").expect("created");
        let error = db.create_cf("late").expect_err("twice").to_string();
        assert!(error.contains("\"late\" already"), "{error}");
        for name in ["default", "tiered", "late"] {
            fill(&db, name, 1);
        }
        assert!(db.autopilot().wait_until_idle(PATIENCE));
        let statistics = db.statistics().expect("statistics");
        for name in ["default", "tiered", "late"] {
            let family = &statistics.families[name];
            assert!(family.pieces.merged > 0, "{name}");
            assert_eq!(family.total.operations.writes, 15_000, "{name}");
        }
        let limit = |name: &str| statistics.families[name].limits.clone();
        assert_eq!(limit("default"), RunLimits::uniform(RunLimit::ONE));
        assert_eq!(limit("tiered"), RunLimits::uniform(RunLimit::clamped(4)));

        fill(&db, "late", 2);
        db.drop_cf("late").expect("dropped");
        assert!(db.family("late").is_none());
        db.create_cf_with("late", &small("fixed-2")).expect("again");
        let family = db.family("late").expect("there");
        assert_eq!(family.get(key(1)).expect("a get"), None);
        fill(&db, "late", 3);
        assert!(db.autopilot().wait_until_idle(PATIENCE));
        assert!(db.drop_cf("default").is_err());
    }
    let db = Db::open(directory.path(), small("fixed-1")).expect("reopened with all");
    for (name, version) in [("default", 1), ("tiered", 1), ("late", 3)] {
        let family = db.family(name).expect("there");
        let found = family.get(key(9)).expect("a get");
        assert_eq!(found, Some(value(9, version)), "{name}");
        let mut entries = 0;
        family
            .scan("", usize::MAX, |_, _| entries += 1)
            .expect("a scan");
        assert_eq!(entries, 15_000, "{name}");
    }
}

/// As where a crash comes after the drop and before the state file is written.
#[test]
fn what_was_known_of_a_dropped_family_is_not_taken_for_its_successors() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = |policy: &str| {
        let opening = Db::opening(directory.path(), small(policy)).family("goes", small(policy));
        opening.open().expect("opened")
    };
    let state = directory.path().join("LISSOM");
    {
        let db = open("fixed-4");
        assert!(db.autopilot().wait_until_idle(PATIENCE));
    }
    let before = std::fs::read(&state).expect("a state file");
    let db = open("fixed-4");
    db.drop_cf("goes").expect("dropped");
    db.create_cf("goes").expect("made again");
    drop(db);
    std::fs::write(&state, before).expect("written");
    // Pinned, for a fixed policy would set its own limits.
    lissom::control::pin(directory.path()).expect("pinned");
    let db = open("fixed-2");
    assert!(db.autopilot().wait_until_idle(PATIENCE));
    let statistics = db.statistics().expect("statistics");
    for (name, runs) in [("default", 4), ("goes", 2)] {
        let limits = &statistics.families[name].limits;
        let wanted = RunLimits::uniform(RunLimit::clamped(runs));
        assert_eq!(*limits, wanted, "{name}");
    }
}
