//! Tuners that fail, and one that wants levels merged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use lissom::Db;
use lissom::core::journal::{Entry, Event, Outcome};
use lissom::core::tuner::{Change, Question, Trial, TrialId, Tuner};
use lissom::core::{Mission, Reason, RunLimit, RunLimits};

use super::common::{journal, key, load, settle, small, tree, value};
use super::{eventually, limits};

/// Sets other limits, and when it is asked for the second time it waits for as long as somebody
/// may let it go on, and panics.
struct Failing {
    name: &'static str,
    asked: u64,
    go_on: Receiver<()>,
}

impl Tuner for Failing {
    fn name(&self) -> String {
        self.name.into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked += 1;
        if self.asked == 2 {
            self.go_on.recv().expect("as intended");
        }
        let three = RunLimits::uniform(RunLimit::clamped(3));
        let changes = seen.changes(&three, |_| "a trial".into());
        Trial::of_limits(TrialId(1), three, changes)
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// After a tuner of this name has failed; the journal says so in these words.
fn leaves_the_last_good_limits(name: &'static str, go_on: Receiver<()>, words: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    let tuner = Failing {
        name,
        asked: 0,
        go_on,
    };
    db.autopilot()
        .set_tuner("default", Box::new(tuner))
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
    let said = format!(
        "the tuner {name} {words}: the run limits go back from 3 to 1, as before, until a policy \
         is set"
    );
    assert_eq!(journal.matches(&said).count(), 1, "{journal}");
    assert!(journal.contains("a trial"), "it held for a mission");
}

#[test]
fn a_tuner_that_panics_leaves_the_last_good_limits() {
    let (_, nobody) = mpsc::channel();
    leaves_the_last_good_limits("panicking", nobody, "panicked");
}

#[test]
fn a_tuner_that_hangs_leaves_the_last_good_limits() {
    let (let_go, held) = mpsc::channel();
    leaves_the_last_good_limits("hanging", held, "did not answer in 5s");
    drop(let_go);
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
        let all: Vec<Change> = levels
            .map(|level| Change {
                level,
                why: "a test".into(),
            })
            .collect();
        let id = TrialId(seen.mission.number);
        Trial {
            consolidate: all.clone(),
            push_down: all,
            ..Trial::of_limits(id, seen.limits.clone(), Vec::new())
        }
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// Bytes that merges for the reads' sake wrote, by level, as they are counted.
fn counted(db: &Db) -> BTreeMap<u16, u64> {
    let statistics = db.statistics().expect("statistics");
    let levels = statistics.families["default"].total.levels.iter();
    let bytes = (1..).zip(levels.map(|level| level.for_reads_write_bytes));
    bytes.filter(|(_, bytes)| *bytes > 0).collect()
}

/// The same by what the journal has of each compaction.
fn written(entries: &[Entry]) -> BTreeMap<u16, u64> {
    let mut levels: BTreeMap<u64, u16> = BTreeMap::new();
    let mut written: BTreeMap<u16, u64> = BTreeMap::new();
    for entry in entries {
        match &entry.event {
            Event::CompactionBegin { compaction, plan } => {
                if let Reason::Consolidate { level } = plan.reason {
                    levels.insert(*compaction, level.0);
                }
            }
            Event::CompactionEnd {
                compaction,
                outcome: Outcome::Done { write_bytes, .. },
            } => {
                if let Some(level) = levels.get(compaction) {
                    *written.entry(*level).or_default() += write_bytes;
                }
            }
            _ => {}
        }
    }
    written.retain(|_, bytes| *bytes > 0);
    written
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
    assert!(counted(&db).is_empty(), "nobody has wanted any");
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
    settle(&db);
    let counted = counted(&db);
    assert!(!counted.is_empty());
    drop(db);
    assert_eq!(counted, written(&journal(directory.path())));
}
