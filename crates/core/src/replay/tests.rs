mod policies;
mod refusals;

use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::*;
use crate::journal::TreeSummary;
use crate::layout::LogicalLevel;
use crate::observation::{LevelMission, Mission, OperationMix};
use crate::shape::RunLimit;
use crate::testing::{journals, numbered_files, small_shape};
use crate::tuner::{EXPLORATION, Policy};

fn mission(number: u64, reads: u64) -> Entry {
    let mission = Mission {
        number,
        operations: OperationMix {
            gets_found: reads,
            writes: 100 - reads,
            ..OperationMix::default()
        },
        ..Mission::default()
    };
    let trial = Trial::of_limits(TrialId(number), uniform(3), Vec::new());
    journals::entry(number, journals::mission(mission, trial, false))
}

fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

fn begin(number: u64, policy: &str, limits: RunLimits, allowance: Allowance) -> Entry {
    let event = Event::Begin {
        version: crate::journal::VERSION,
        policy: policy.into(),
        limits,
        allowance,
        shape: None,
    };
    journals::entry(number, event)
}

/// As a store tells them that is opened again at each beginning.
fn reopened(entries: impl IntoIterator<Item = Entry>) -> Vec<Entry> {
    let mut opening = 1;
    let counted = entries.into_iter().map(|mut entry| {
        opening += u64::from(matches!(entry.event, Event::Begin { .. }));
        entry.opening = opening;
        entry
    });
    counted.collect()
}

fn parsed(policy: &str) -> Policy {
    policy.parse().expect("a policy")
}

fn replayed(
    entries: &[Entry],
    family: &str,
    mut begin: impl FnMut(Allowance) -> Box<dyn Tuner>,
) -> Vec<Redecided> {
    replay(entries, family, &small_shape(), &mut begin)
}

#[test]
fn another_tuner_decides_on_the_same_facts() {
    let entries: Vec<Entry> = (1..=6)
        .map(|at| mission(at, if at < 4 { 10 } else { 90 }))
        .collect();
    let policy = parsed("thresholds-30-70");
    let decided = replayed(&entries, "default", |_| policy.tuner());
    let first = |at: usize| decided[at].replayed.levels.first().map_or(0, |it| it.get());
    let limits: Vec<u16> = (0..6).map(first).collect();
    assert_eq!(limits, [4, 4, 4, 2, 2, 2]);
    assert!(
        decided
            .iter()
            .all(|it| it.recorded.to_string() == "3" && !it.why.is_empty())
    );
    assert!(replayed(&entries, "other", |_| policy.tuner()).is_empty());
}

/// Notes what it is told and asked, and wants one run.
struct Noting(Sender<String>);

impl Noting {
    fn note(&self, what: String) {
        self.0.send(what).expect("somebody listens");
    }
}

impl Tuner for Noting {
    fn name(&self) -> String {
        "noting".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let number = seen.mission.number;
        self.note(format!("asked {number} at {}", seen.limits));
        let limits = uniform(1);
        let changes = seen.changes(&limits, |_| "one is enough".into());
        Trial::of_limits(TrialId(number), limits, changes)
    }

    fn tell(&mut self, trial: TrialId, outcome: &Mission) {
        self.note(format!("told {} of {}", outcome.number, trial.0));
    }

    fn state(&self) -> serde_json::Value {
        "noted".into()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        self.note(format!("restored {state}"));
        Ok(())
    }
}

/// What is decided of a journal, and what a tuner notes meanwhile.
fn noted(entries: &[Entry]) -> (Vec<Redecided>, Vec<String>) {
    let (notes, noted) = mpsc::channel();
    let decided = replayed(entries, "default", |allowance| {
        let share = allowance.exploration;
        notes.send(format!("began with {share}")).expect("noted");
        Box::new(Noting(notes.clone()))
    });
    drop(notes);
    (decided, noted.iter().collect())
}

#[test]
fn a_tuner_is_told_of_the_mission_that_followed_its_answer() {
    let mut entries: Vec<Entry> = (1..=2).map(|at| mission(at, 10)).collect();
    let again = begin(3, "fixed-3", uniform(3), Allowance::exploring(0.0));
    entries.extend([again, mission(4, 10), mission(5, 10)]);
    let policy = Event::Policy {
        policy: "learned".into(),
        allowance: Allowance::exploring(0.5),
        goes_on: false,
    };
    let set = Entry {
        event: policy,
        ..mission(6, 10)
    };
    entries.extend([set, mission(7, 10)]);
    let (decided, noted) = noted(&reopened(entries));
    assert_eq!(decided.len(), 5);
    // The outcomes of the second and the fourth answer are not known: who gave them
    // ended.
    let expected = [
        "began with 0.1",
        "asked 1 at 3",
        "told 2 of 1",
        "asked 2 at 3",
        "began with 0",
        "restored \"noted\"",
        "asked 4 at 3",
        "told 5 of 4",
        "asked 5 at 3",
        "began with 0.5",
        "asked 7 at 3",
    ];
    assert_eq!(noted, expected);
}

/// A mission under limits that are not those of the answer before it.
fn bounded(number: u64, pinned: bool, limits: RunLimits, exploration: f64) -> Entry {
    let mut entry = mission(number, 10);
    if let Event::Mission {
        pinned: is_pinned,
        bounds,
        ..
    } = &mut entry.event
    {
        *is_pinned = pinned;
        *bounds = Some(Bounds {
            limits,
            allowance: Allowance::exploring(exploration),
        });
    }
    entry
}

#[test]
fn what_bounded_the_store_bounds_a_replay() {
    let entries = [
        bounded(1, false, uniform(7), 0.0),
        bounded(2, true, uniform(7), 0.0),
        mission(3, 10),
    ];
    let (decided, noted) = noted(&entries);
    // It has no beginning, and limits that wait hold for no mission.
    let expected = [
        "began with 0",
        "asked 1 at 7",
        "told 2 of 1",
        "asked 2 at 7",
        "told 3 of 2",
        "asked 3 at 7",
    ];
    assert_eq!(noted, expected);
    let limits = |at: usize| (&decided[at].recorded, &decided[at].replayed);
    assert_eq!(limits(0), (&uniform(3), &uniform(1)));
    assert_eq!(limits(1), (&uniform(7), &uniform(7)), "pinned");
    assert_eq!(limits(2), (&uniform(3), &uniform(1)));
    let why = |at: usize| decided[at].why.first().expect("a reason").as_str();
    assert_eq!(why(0), "level 1: one is enough");
    assert_eq!(
        why(1),
        "level 1: one is enough, without effect: the limits are pinned"
    );
}

/// A shape of another size ratio.
fn of_ratio(size_ratio: u32) -> Shape {
    Shape {
        size_ratio,
        ..small_shape()
    }
}

/// Wants as many runs everywhere as the size ratio says.
struct Ratio;

impl Tuner for Ratio {
    fn name(&self) -> String {
        "ratio".into()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let limits = uniform(seen.shape.size_ratio as u16);
        Trial::of_limits(TrialId(seen.mission.number), limits, Vec::new())
    }

    fn tell(&mut self, _: TrialId, _: &Mission) {}
}

/// The size ratio over which each mission is decided again, where the present one is 10.
fn ratios(entries: &[Entry]) -> Vec<u16> {
    let decided = replayed(entries, "default", |_| Box::new(Ratio));
    decided.iter().map(|it| it.replayed.deeper.get()).collect()
}

#[test]
fn each_mission_is_decided_over_the_dimensions_of_then() {
    let opened = |number, ratio: Option<u32>| {
        let allowance = Allowance::default();
        let mut entry = begin(number, "lazy-leveling", uniform(3), allowance);
        if let Event::Begin { shape, .. } = &mut entry.event {
            *shape = ratio.map(of_ratio);
        }
        entry
    };
    let changed = |number, before, ratio| Entry {
        event: Event::Shape {
            before: of_ratio(before),
            shape: of_ratio(ratio),
        },
        ..mission(number, 10)
    };
    let mut elsewhere = changed(4, 9, 8);
    elsewhere.column_family = "other".into();
    let entries = [
        opened(1, Some(5)),
        mission(2, 10),
        changed(3, 5, 7),
        elsewhere,
        mission(5, 10),
        opened(6, Some(3)),
        mission(7, 10),
        // An older version tells nothing.
        opened(8, None),
        mission(9, 10),
    ];
    assert_eq!(ratios(&entries), [5, 7, 3, 3]);
    assert_eq!(ratios(&entries[1..]), [5, 7, 3, 3], "rotated");
    assert_eq!(ratios(&[mission(1, 10)]), [10]);
}

/// The journal of a tuner's first missions, which get slower with more runs, and its
/// answers. After three quarters the store is opened again.
fn recorded(policy: &str, exploration: f64, missions: u64) -> Vec<Entry> {
    let policy = parsed(policy);
    let allowance = Allowance::exploring(exploration);
    let mut tuner = policy.tuner_within(allowance);
    let shape = small_shape();
    let mut limits = policy.first_limits();
    let (mut entries, mut untold) = (Vec::new(), None);
    let opened = |limits: &RunLimits| begin(0, &policy.to_string(), limits.clone(), allowance);
    entries.push(opened(&limits));
    for number in 1..=missions {
        if number == missions * 3 / 4 {
            let kept = tuner.state();
            tuner = policy.tuner_within(allowance);
            tuner.restore(&kept).expect("its own state");
            untold = None;
            entries.push(opened(&limits));
        }
        let mut entry = mission(number, if number <= missions / 2 { 90 } else { 20 });
        let Event::Mission {
            mission: seen,
            tree: summary,
            trial,
            ..
        } = &mut entry.event
        else {
            continue;
        };
        let runs = u64::from(limits.get(LogicalLevel(1)).get());
        (seen.operations.gets_found, seen.operations.writes) = (
            seen.operations.gets_found * 100,
            seen.operations.writes * 100,
        );
        seen.duration = Duration::from_secs(1);
        seen.user_write_bytes = seen.operations.writes * 100;
        seen.flush_write_bytes = seen.user_write_bytes;
        seen.compaction_write_bytes = seen.user_write_bytes * 6 / runs;
        seen.get.mean = Duration::from_micros(100 + 20 * runs);
        seen.put.mean = Duration::from_micros(10 + 60 / runs);
        seen.levels = vec![LevelMission {
            compaction_time: Duration::from_millis(600 / runs),
            read_ios: 100 * runs,
            ..LevelMission::default()
        }];
        let (_, last) = shape.layout.span(LogicalLevel(1));
        // The tuner sees the tree itself, of which the journal keeps a summary.
        let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
        levels[usize::from(last.0)] = numbered_files(10);
        let tree = Tree::new(levels).expect("a run");
        *summary = TreeSummary::of(&tree, &shape.layout);
        if let Some(untold) = untold {
            tuner.tell(untold, seen);
        }
        *trial = tuner.ask(&Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            refused: &[],
            mission: seen,
        });
        untold = Some(trial.id);
        limits = trial.limits.clone();
        entries.push(entry);
    }
    reopened(entries)
}

#[test]
fn every_tuner_decides_its_own_journal_again() {
    for (policy, exploration) in [
        ("thresholds-30-70", EXPLORATION),
        ("lazy-leveling", EXPLORATION),
        ("learned", EXPLORATION),
        ("learned", 0.0),
        ("learned", 0.5),
        ("lerp", EXPLORATION),
    ] {
        let entries = recorded(policy, exploration, 200);
        let what = format!("{policy} exploring {exploration}");
        let decided = replayed(&entries, "default", |allowance| {
            parsed(policy).tuner_within(allowance)
        });
        assert_eq!(decided.len(), 200, "{what}");
        for it in &decided {
            assert_eq!(it.recorded, it.replayed, "{what}, mission {}", it.mission);
        }
        let changes = decided
            .windows(2)
            .filter(|it| it[0].replayed != it[1].replayed);
        let changes = changes.count();
        assert!(changes > 0 || policy == "lazy-leveling", "{what}");
    }
}

#[test]
fn a_replay_explores_as_much_as_it_may() {
    let entries = recorded("learned", EXPLORATION, 400);
    let trials = |share: f64| {
        let learned = parsed("learned");
        let decided = replayed(&entries, "default", |_| {
            learned.tuner_within(Allowance::exploring(share))
        });
        let is_trial = |why: &&String| why.contains("a trial of");
        decided
            .iter()
            .flat_map(|it| &it.why)
            .filter(is_trial)
            .count()
    };
    assert_eq!(trials(0.0), 0);
    assert!(trials(1.0) > 0);
}
