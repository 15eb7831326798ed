//! Journals by hand.

use std::time::Duration;

use lissom_core::RunLimit;
use lissom_core::cost_model::AccessPattern;
use lissom_core::journal::{Bounds, Event, Moment};
use lissom_core::testing::journals::{self, gets, lines};
use lissom_core::tuner::{Allowance, Change, Trial, TrialId};

use super::*;

const GONE: &str = "the decision lies in a part of the journal that is gone or was not read";

const WHY: &str = "3 instead of 4: the model expects 80.0 µs an operation";

/// The reasons of two levels, of which the state file has kept these.
fn told(kept: &[Decided], entries: &[Entry]) -> Vec<LimitReason> {
    let asked = Asked {
        name: "default".into(),
        deepest: Some(LogicalLevel(2)),
        limits: None,
        decided: kept,
    };
    reasons(&[asked], entries, 0)
}

/// The same by a whole journal alone.
fn told_of(events: impl IntoIterator<Item = Event>) -> Vec<LimitReason> {
    told(&[], &lines(0, events))
}

fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

fn three() -> RunLimits {
    let mut three = uniform(4);
    three.set(LogicalLevel(1), RunLimit::clamped(3));
    three
}

fn begin(limit: u16) -> Event {
    Event::Begin {
        version: lissom_core::journal::VERSION,
        policy: "learned".into(),
        limits: uniform(limit),
        allowance: Allowance::default(),
        shape: None,
    }
}

/// A mission whose gets took so long, and the limits that were decided after it, with
/// a reason for level 1.
fn mission(micros: u64, limits: RunLimits, why: Option<&str>, pinned: bool) -> Event {
    let change = why.map(|why| Change {
        level: LogicalLevel(1),
        why: why.into(),
    });
    let trial = Trial::of_limits(TrialId(1), limits, change.into_iter().collect());
    journals::mission(gets(micros), trial, pinned)
}

#[test]
fn each_level_has_its_last_decision_with_what_came_of_it() {
    let events = [
        begin(4),
        mission(100, uniform(4), None, false),
        mission(120, three(), Some(WHY), false),
        mission(90, three(), None, false),
        mission(70, three(), None, false),
        // Held, so that it changes nothing.
        mission(80, uniform(9), Some("a wish"), true),
    ];
    let told = told_of(events);
    assert_eq!(told.len(), 2, "levels without data have no need of one");
    assert_eq!(
        told[0].sentence(),
        format!(
            "level 1 has 3, 4 before: {WHY}; an operation took 110.0 µs before and 80.0 µs in \
             the 3 missions since"
        )
    );
    assert_eq!(told[0].at_seconds, Some(2.0));
    assert_eq!(told[0].before, Some(4));
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
    assert!(told(&[], &[]).is_empty());
    let one = mission(50, uniform(5), None, false);
    let rotated = told(&[], &lines(9, [one.clone(), one]));
    assert_eq!(rotated.len(), 2);
    assert_eq!((rotated[0].limit, rotated[0].before), (5, None));
    assert_eq!(rotated[0].at_seconds, None);
    assert_eq!(rotated[0].openings_since, None);
    let came = "an operation took 50.0 µs in the last mission that was read";
    assert_eq!(
        rotated[0].sentence(),
        format!("level 1 has 5: {GONE}; {came}")
    );
    // Nor does a beginning behind its first line tell who had set them.
    let reopened = told(&[], &lines(9, [begin(5)]));
    assert_eq!(
        reopened[0].sentence(),
        format!("level 1 has 5: {GONE}; nothing that was measured since was read")
    );
}

/// The state file's limits, where it is of an older version and the journal is gone.
#[test]
fn a_limit_that_nobody_knows_of_is_told_without_a_guess() {
    let limits = uniform(7);
    let asked = Asked {
        name: "default".into(),
        deepest: Some(LogicalLevel(2)),
        limits: Some(&limits),
        decided: &[],
    };
    let told = reasons(&[asked], &[], 3);
    assert_eq!(told.len(), 2);
    assert_eq!((told[1].level, told[1].limit), (2, 7));
    assert!(told[1].sentence().contains(GONE));
}

/// What a state file keeps of a decision on level 1, after two seconds of an opening.
fn kept(opening: u64) -> [Decided; 1] {
    [Decided {
        level: LogicalLevel(1),
        limit: RunLimit::clamped(3),
        before: Some(RunLimit::clamped(4)),
        at: Moment {
            opening,
            at: Duration::from_millis(2_001),
        },
        why: WHY.into(),
        workload: Some(AccessPattern::new([0.0, 1.0, 0.0, 0.0, 0.0], 0.0)),
        took_before: Some(110e-6),
    }]
}

#[test]
fn a_decision_that_was_kept_is_told_whatever_part_of_the_journal_is_read() {
    let whole = [
        begin(4),
        mission(100, uniform(4), None, false),
        mission(120, three(), Some(WHY), false),
        mission(90, three(), None, false),
        mission(70, three(), None, false),
        mission(80, three(), None, false),
    ];
    let whole = lines(0, whole);
    let sentence = |end: &[Entry]| told(&kept(1), end)[0].sentence();
    assert_eq!(sentence(&whole), told(&[], &whole)[0].sentence());
    let begun = format!("level 1 has 3, 4 before: {WHY}; an operation took 110.0 µs before and ");
    let came = |what: &str| format!("{begun}{what}");
    let all = "80.0 µs in the 3 missions since";
    assert_eq!(sentence(&whole), came(all));
    // From the decision's own line on.
    assert_eq!(sentence(&whole[2..]), came(all));
    let part = "75.0 µs in the last 2 missions that were read";
    assert_eq!(sentence(&whole[4..]), came(part));
    let last = "80.0 µs in the last mission that was read";
    assert_eq!(sentence(&whole[5..]), came(last));
    assert_eq!(
        sentence(&[]),
        format!("level 1 has 3, 4 before: {WHY}; nothing that was measured since was read")
    );
}

#[test]
fn a_decision_outlives_openings_whose_clock_begins_anew() {
    let one = || mission(80, three(), None, false);
    let mut entries = lines(1, [one(), one(), one(), one()]);
    for (seconds, entry) in (0..).zip(&mut entries[2..]) {
        entry.opening = 4;
        entry.at = Duration::from_secs(seconds);
    }
    // The first two lines end before the decision.
    let told = told(&kept(1), &entries);
    assert_eq!((told[0].missions_since, told[0].all_read), (2, true));
    assert_eq!(told[0].openings_since, Some(3));
    let sentence = told[0].sentence();
    let begins = "level 1 has 3, 4 before, decided 3 openings ago: ";
    assert!(sentence.starts_with(begins), "{sentence}");
}

#[test]
fn what_the_journal_decides_after_what_was_kept_is_newer() {
    let two = uniform(2);
    let end = [
        mission(90, three(), None, false),
        mission(70, two.clone(), Some("fewer runs"), false),
        mission(60, two, None, false),
    ];
    let told = told(&kept(1), &lines(50, end));
    assert_eq!(
        told[0].sentence(),
        "level 1 has 2, 3 before: fewer runs; an operation took 80.0 µs before and 60.0 µs in \
         the mission since"
    );
}

/// A mission of a store that tells which limits held.
fn bounded(held: RunLimits, limits: RunLimits, why: Option<&str>) -> Event {
    let mut event = mission(100, limits, why, false);
    if let Event::Mission { bounds, .. } = &mut event {
        *bounds = Some(Bounds {
            limits: held,
            allowance: Allowance::default(),
        });
    }
    event
}

fn set_by_hand() -> Event {
    Event::Limits {
        limits: uniform(2),
        why: "fixed-2 was set as the policy".into(),
    }
}

#[test]
fn what_was_set_by_hand_is_told_where_the_journal_says_so() {
    let by_hand = [
        begin(4),
        bounded(uniform(4), uniform(4), None),
        set_by_hand(),
        bounded(uniform(2), uniform(2), None),
    ];
    let told = told_of(by_hand);
    assert_eq!(told[1].before, Some(4));
    assert_eq!(told[1].why, "fixed-2 was set as the policy");
    // A tuner that says nothing may have its reason told behind its mission.
    let unsaid = [begin(4), bounded(uniform(4), uniform(2), None)];
    assert_eq!(told_of(unsaid.clone())[1].why, "the tuner gave no reason");
    let said = unsaid.into_iter().chain([set_by_hand()]);
    let told = told_of(said);
    assert_eq!(told[1].why, "fixed-2 was set as the policy");
}

/// They have no lines for limits, but for policies.
#[test]
fn an_older_journal_tells_of_policies_alone() {
    let older = |events: Vec<Event>| {
        let mut entries = lines(0, events);
        for entry in &mut entries {
            entry.opening = 0;
        }
        told(&[], &entries)
    };
    let set = Event::Policy {
        policy: "fixed-2".into(),
        allowance: Allowance::default(),
        goes_on: false,
    };
    let changed = bounded(uniform(2), uniform(2), None);
    let told = older(vec![begin(4), set, changed.clone()]);
    assert_eq!(told[0].why, "fixed-2 was set as the policy");
    assert_eq!((told[0].before, told[0].openings_since), (Some(4), None));
    let told = older(vec![begin(4), changed]);
    assert_eq!(told[0].why, GONE, "a line is lost");
}

/// Limits that wait under the lazy transition are decided, and those in force are not
/// decided again.
#[test]
fn an_answer_that_keeps_the_limits_in_force_is_no_decision() {
    let events = [
        begin(4),
        bounded(uniform(4), uniform(2), Some("fewer runs")),
        bounded(uniform(4), uniform(4), None),
    ];
    let told = told_of(events);
    assert_eq!((told[0].limit, told[0].why.as_str()), (2, "fewer runs"));
    assert_eq!(told[0].missions_since, 1);
}
