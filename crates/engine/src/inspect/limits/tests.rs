//! Journals by hand.

use std::time::Duration;

use lissom_core::journal::{RunSummary, TreeSummary};
use lissom_core::observation::{Latency, OperationMix};
use lissom_core::tuner::{Change, TrialId};
use lissom_core::{Mission, RunLimit, RunLimits};

use super::*;

fn entry(number: u64, event: Event) -> Entry {
    Entry {
        number,
        at: Duration::from_secs(number),
        column_family: "default".into(),
        event,
    }
}

/// The reasons after these, as a journal has them.
fn told_of(events: impl IntoIterator<Item = Event>) -> Vec<LimitReason> {
    let entries = (0..)
        .zip(events)
        .map(|(number, event)| entry(number, event));
    reasons(&entries.collect::<Vec<_>>())
}

fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

fn begin(limit: u16) -> Event {
    Event::Begin {
        version: lissom_core::journal::VERSION,
        policy: "learned".into(),
        limits: uniform(limit),
        exploration: 0.1,
    }
}

/// A mission whose gets took so long, and the limits that were decided after it, with
/// a reason for level 1.
fn mission(micros: u64, limits: RunLimits, why: Option<&str>, pinned: bool) -> Event {
    let mission = Mission {
        operations: OperationMix {
            gets_found: 100,
            ..OperationMix::default()
        },
        get: Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        },
        ..Mission::default()
    };
    let change = why.map(|why| Change {
        level: LogicalLevel(1),
        why: why.into(),
    });
    let (_, last) = lissom_core::Layout::V1.span(LogicalLevel(2));
    Event::Mission {
        mission: Box::new(mission),
        tree: TreeSummary {
            runs: vec![RunSummary {
                physical: last,
                level: Some(LogicalLevel(2)),
                bytes: 1,
                files: 1,
            }],
            ..TreeSummary::default()
        },
        trial: Trial::of_limits(TrialId(1), limits, change.into_iter().collect()),
        pinned,
        bounds: None,
    }
}

#[test]
fn each_level_has_its_last_decision_with_what_came_of_it() {
    let mut three = uniform(4);
    three.set(LogicalLevel(1), RunLimit::clamped(3));
    let why = "3 instead of 4: the model expects 80.0 µs an operation";
    let events = [
        begin(4),
        mission(100, uniform(4), None, false),
        mission(120, three.clone(), Some(why), false),
        mission(90, three.clone(), None, false),
        mission(70, three.clone(), None, false),
        // Held, so that it changes nothing.
        mission(80, uniform(9), Some("a wish"), true),
    ];
    let told = told_of(events);
    assert_eq!(told.len(), 2, "levels without data have no need of one");
    assert_eq!(
        told[0].sentence(),
        format!(
            "level 1 has 3, 4 before: {why}; an operation took 110.0 µs before and 80.0 µs in \
             the 3 missions since"
        )
    );
    assert_eq!((told[0].before, told[0].at_seconds), (Some(4), 2.0));
    assert_eq!(
        told[1].sentence(),
        "level 2 has 4: the autopilot began with learned; an operation took 92.0 µs in the 5 \
         missions since"
    );
}

/// Writes take a tenth of what reads take.
#[test]
fn another_workload_is_not_taken_for_what_came_of_a_limit() {
    let writes = |micros: u64, limits: RunLimits, why: Option<&str>| {
        let mut event = mission(0, limits, why, false);
        if let Event::Mission { mission, .. } = &mut event {
            mission.operations.gets_found = 0;
            mission.operations.writes = 100;
            mission.put.mean = Duration::from_micros(micros);
        }
        event
    };
    let reads = |limits: RunLimits| mission(100, limits, None, false);
    let events = [
        begin(4),
        reads(uniform(4)),
        writes(12, uniform(5), Some("more runs")),
        writes(10, uniform(5), None),
        reads(uniform(5)),
        reads(uniform(5)),
    ];
    let told = told_of(events);
    assert_eq!(
        told[0].sentence(),
        "level 1 has 5, 4 before: more runs; an operation took 12.0 µs before and 10.0 µs in \
         the mission since (not counting 2 under another workload)"
    );
}

/// Filters answer most of them, in a fraction of the others' time.
#[test]
fn gets_of_absent_keys_are_another_workload() {
    let mut absent = mission(20, uniform(3), None, false);
    if let Event::Mission { mission, .. } = &mut absent {
        mission.operations.gets_found = 0;
        mission.operations.gets_absent = 100;
    }
    let events = [
        begin(4),
        mission(100, uniform(3), Some("fewer runs"), false),
        mission(80, uniform(3), None, false),
        absent,
    ];
    let told = told_of(events);
    assert_eq!(
        told[0].sentence(),
        "level 1 has 3, 4 before: fewer runs; an operation took 100.0 µs before and 80.0 µs in \
         the mission since (not counting 1 under another workload)"
    );
}

#[test]
fn an_empty_journal_gives_no_reasons_and_a_rotated_one_begins_anywhere() {
    assert!(reasons(&[]).is_empty());
    assert!(reasons(&[entry(1, begin(2))]).is_empty());
    let told = reasons(&[entry(9, mission(50, uniform(5), None, false))]);
    assert_eq!(told.len(), 2);
    assert_eq!((told[0].limit, told[0].before), (5, None));
    let sentence = "level 1 has 5: it was decided before the journal begins; nothing was \
                    measured since";
    assert_eq!(told[0].sentence(), sentence);
}
