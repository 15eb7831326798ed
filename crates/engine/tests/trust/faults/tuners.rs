//! Tuners that misbehave.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom::Db;
use lissom::core::journal::Event;
use lissom::core::observation::Mission;
use lissom::core::tuner::{Question, Trial, TrialId, Tuner};
use lissom::core::{LogicalLevel, RunLimit, RunLimits};

use crate::support::{eventually, key, load, settle, small, value};

/// Answers that nobody should give: one trial's id for all, other limits each time for no
/// reason, a memory that it does not take back; limits for so many levels.
struct Absurd {
    asked: Arc<AtomicU64>,
    levels: u16,
}

impl Tuner for Absurd {
    fn name(&self) -> String {
        "\"}\n\0absurd".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let asked = self.asked.fetch_add(1, Relaxed);
        let mut limits = RunLimits::uniform(RunLimit::clamped(u16::MAX));
        for level in 1..=self.levels {
            let runs = RunLimit::clamped((asked * 7 + u64::from(level)) as u16 % 13);
            limits.set(LogicalLevel(level), runs);
        }
        let changes = seen.changes(&limits, |_| "\u{202e}none".into());
        Trial::of_limits(TrialId(u64::MAX), limits, changes)
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        serde_json::json!({"deep": vec![vec![1.0; 1_000]; 10]})
    }

    fn restore(&mut self, _: &serde_json::Value) -> Result<(), String> {
        Err("not mine".into())
    }
}

/// A store whose tuner is absurd, and how often that one was asked.
fn driven_absurdly(path: &Path, levels: u16) -> (Db, Arc<AtomicU64>) {
    let db = Db::open(path, small("fixed-2")).expect("opened");
    let asked = Arc::new(AtomicU64::new(0));
    let absurd = Absurd {
        asked: asked.clone(),
        levels,
    };
    db.autopilot()
        .set_tuner("default", Box::new(absurd))
        .expect("set");
    (db, asked)
}

#[test]
fn absurd_answers_do_no_harm() {
    let place = crate::scratch();
    {
        let (db, asked) = driven_absurdly(place.path(), 12);
        let mut version = 0;
        eventually("twenty answers", || {
            asked.load(Relaxed) >= 20 || {
                load(&db, 0..4_000, 1);
                false
            }
        });
        for number in 0..20_000 {
            version = 2;
            db.put(key(number), value(number, version)).expect("a put");
        }
        settle(&db);
        for number in 0..20_000 {
            assert_eq!(
                db.get(key(number)).expect("a get"),
                Some(value(number, version))
            );
        }
        assert!(db.health().running && db.health().background_error.is_none());
    }
    let db = Db::open(place.path(), small("fixed-2")).expect("reopened");
    settle(&db);
    for number in 0..20_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 2)));
    }
    let two = RunLimit::clamped(2);
    eventually("the policy's limits", || {
        let statistics = db.statistics().expect("statistics");
        let limits = &statistics.families["default"].limits;
        (1..12).all(|level| limits.get(LogicalLevel(level)) == two)
    });
}

#[test]
fn an_answer_that_cannot_be_obeyed_is_the_last_one() {
    let place = crate::scratch();
    let (db, asked) = driven_absurdly(place.path(), 999);
    let journal = || std::fs::read_to_string(place.path().join("LISSOM-JOURNAL")).expect("there");
    let said = "sets limits for 999 levels, where a tree has 12): the run limits stay 2 until";
    eventually("a line in the journal", || {
        load(&db, 0..4_000, 1);
        journal().contains(said)
    });
    let missions = || journal().matches("\"event\":\"mission\"").count();
    let before = missions();
    eventually("missions all the same", || {
        load(&db, 0..4_000, 1);
        missions() > before + 2
    });
    assert_eq!(asked.load(Relaxed), 1);
    assert_eq!(journal().matches(said).count(), 1);
    let statistics = db.statistics().expect("statistics");
    let two = RunLimits::uniform(RunLimit::clamped(2));
    assert_eq!(statistics.families["default"].limits, two);
}

/// How long [`Slow`] takes.
const ANSWER: Duration = Duration::from_millis(20);

/// Takes its time for each answer, and keeps the limits.
struct Slow {
    asked: Arc<AtomicU64>,
}

impl Tuner for Slow {
    fn name(&self) -> String {
        "slow".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked.fetch_add(1, Relaxed);
        std::thread::sleep(ANSWER);
        Trial::of_limits(
            TrialId(seen.mission.number),
            seen.limits.clone(),
            Vec::new(),
        )
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// Missions of 2,000 operations, which here take some 10 ms, pay for few of its answers. So
/// they last longer; the tree is looked after all the same.
#[test]
fn a_slow_tuner_is_asked_seldom_and_holds_nothing_up() {
    let place = crate::scratch();
    let begun = Instant::now();
    let db = Db::open(place.path(), small("fixed-2")).expect("opened");
    let asked = Arc::new(AtomicU64::new(0));
    let slow = Slow {
        asked: asked.clone(),
    };
    db.autopilot()
        .set_tuner("default", Box::new(slow))
        .expect("set");
    let mut version = 0;
    while begun.elapsed() < Duration::from_secs(3) {
        version += 1;
        load(&db, 0..4_000, version);
    }
    let seconds = |time: Duration| time.as_secs_f64();
    let answers = asked.load(Relaxed);
    // Half a percent of the time, 50 ms in advance, and the last answer.
    let most = 1.0 + (0.05 + 0.005 * seconds(begun.elapsed())) / seconds(ANSWER);
    assert!(
        answers >= 2 && answers as f64 <= most,
        "{answers} of {most}"
    );

    let glance = db.autopilot().glance("default").expect("a column family");
    assert!(glance.pieces.merged > answers, "{glance:?}");
    assert!(db.health().broken_tuners.is_empty());
    settle(&db);
    for number in (0..4_000).step_by(7) {
        let found = db.get(key(number)).expect("a get");
        assert_eq!(found, Some(value(number, version)));
    }
    drop(db);
    let missions: Vec<Mission> = crate::common::journal(place.path())
        .into_iter()
        .filter_map(|entry| match entry.event {
            Event::Mission { mission, trial, .. } if trial.id != TrialId(0) => Some(*mission),
            _ => None,
        })
        .collect();
    // What `fixed-2` was asked before is among them.
    let slow = missions.iter().filter(|it| it.tuner_time >= ANSWER);
    assert!(slow.count() as u64 + 1 >= answers, "{missions:?}");
    let told: u64 = missions.iter().map(|it| it.operations.writes).sum();
    assert!(told <= 4_000 * version, "none counts in two missions");
}

/// Holds its first answer back until it is let go, and wants three runs everywhere.
struct Hanging {
    asked: Arc<AtomicU64>,
    go_on: Arc<AtomicBool>,
}

impl Tuner for Hanging {
    fn name(&self) -> String {
        "hanging".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        self.asked.fetch_add(1, Relaxed);
        while !self.go_on.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let three = RunLimits::uniform(RunLimit::clamped(3));
        let changes = seen.changes(&three, |_| "three are expected to do".into());
        Trial::of_limits(TrialId(seen.mission.number), three, changes)
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// In its own column family and in another one, while the planner has patience with it. What
/// it answers in the end is obeyed.
#[test]
fn level_0_is_merged_while_a_tuner_hangs() {
    let place = crate::scratch();
    let settings = small("fixed-2");
    let opening = Db::opening(place.path(), settings.clone());
    let db = opening.family("other", settings.clone());
    let db = db.open().expect("opened");
    let asked = Arc::new(AtomicU64::new(0));
    let go_on = Arc::new(AtomicBool::new(false));
    let hanging = Hanging {
        asked: asked.clone(),
        go_on: go_on.clone(),
    };
    db.autopilot()
        .set_tuner("default", Box::new(hanging))
        .expect("set");
    let other = db.family("other").expect("a column family");
    let write = || {
        load(&db, 0..1_000, 1);
        for number in 0..1_000 {
            other.put(key(number), value(number, 1)).expect("a put");
        }
    };
    eventually("a question", || {
        write();
        asked.load(Relaxed) > 0
    });
    let glance = |family| db.autopilot().glance(family).expect("a column family");
    let merged = || ["default", "other"].map(|family| glance(family).pieces.merged);
    // More than may have been on their way to the workers.
    let enough = merged().map(|merged| merged + settings.workers as u64 + 1);
    eventually("merges of both", || {
        write();
        let mut both = merged().into_iter().zip(enough);
        both.all(|(merged, enough)| merged >= enough)
    });
    assert!(db.health().broken_tuners.is_empty(), "it was given up");
    assert_eq!(asked.load(Relaxed), 1, "one question at a time");
    assert_eq!(glance("default").limits, settings.policy.first_limits());
    // Whoever waits for rest waits for the answer.
    assert!(!db.autopilot().wait_until_idle(Duration::from_millis(200)));

    go_on.store(true, Relaxed);
    let three = RunLimits::uniform(RunLimit::clamped(3));
    eventually("its answer is followed", || {
        glance("default").limits == three
    });
    settle(&db);
    drop(other);
    drop(db);
    let missions = crate::common::journal(place.path()).into_iter();
    let followed = missions.filter(|entry| match &entry.event {
        Event::Mission { trial, .. } => trial.limits == three,
        _ => false,
    });
    assert_eq!(followed.count(), 1);
}
