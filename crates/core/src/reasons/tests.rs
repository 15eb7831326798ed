use std::time::Duration;

use super::*;
use crate::testing::journals::gets;
use crate::tuner::{Change, TrialId};

fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

/// The same but for level 1.
fn first(limit: u16, others: u16) -> RunLimits {
    let mut limits = uniform(others);
    limits.set(LogicalLevel(1), RunLimit::clamped(limit));
    limits
}

fn at(seconds: u64) -> Moment {
    Moment {
        opening: 1,
        at: Duration::from_secs(seconds),
    }
}

/// An answer with a reason for level 1.
fn answer(limits: RunLimits, why: &str) -> Trial {
    let change = Change {
        level: LogicalLevel(1),
        why: why.into(),
    };
    Trial::of_limits(TrialId(1), limits, vec![change])
}

/// Four runs in each level, which the autopilot began with.
fn begun() -> Reasons {
    let mut reasons = Reasons::new(None, Vec::new());
    reasons.because(Some("the autopilot began with learned".into()));
    assert_eq!(reasons.take_up(&uniform(4), at(1)), None, "no change");
    reasons.because(None);
    reasons
}

fn of(reasons: &Reasons, level: u16) -> &Decided {
    let decided = reasons.decided().iter();
    let mut here = decided.filter(|it| it.level == LogicalLevel(level));
    let found = here.next().expect("a decision");
    assert_eq!(here.next(), None, "the last one alone");
    found
}

#[test]
fn the_first_limits_have_the_opening_as_their_reason() {
    let reasons = begun();
    assert_eq!(reasons.decided().len(), usize::from(Layout::V1.levels));
    let deepest = of(&reasons, 12);
    assert_eq!(deepest.why, "the autopilot began with learned");
    assert_eq!((deepest.before, deepest.limit.get()), (None, 4));
}

#[test]
fn a_change_has_its_tuners_reason_and_the_missions_before() {
    let mut reasons = begun();
    for micros in [100, 120] {
        reasons.hear(&gets(micros), &answer(first(3, 4), "fewer runs"), false);
    }
    assert_eq!(reasons.take_up(&first(3, 4), at(9)), None);
    let changed = of(&reasons, 1);
    assert_eq!(changed.limit, RunLimit::clamped(3));
    assert_eq!(changed.before, Some(RunLimit::clamped(4)));
    assert_eq!((changed.why.as_str(), changed.at), ("fewer runs", at(9)));
    let took = changed.took_before.expect("two missions before");
    assert!((took - 110e-6).abs() < 1e-9, "{took}");
    let workload = changed.workload.expect("gets");
    assert_eq!(workload.shares(), [0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(of(&reasons, 2).at, at(1), "it has the limit that it had");
    let kept = reasons.decided().to_vec();
    assert_eq!(reasons.take_up(&first(3, 4), at(10)), None);
    assert_eq!(reasons.decided(), kept, "no change, no decision");
}

#[test]
fn limits_that_no_tuner_chose_say_who_did() {
    let mut reasons = begun();
    let wish = answer(uniform(2), "a wish");
    reasons.hear(&gets(100), &wish, true);
    reasons.because(Some("fixed-2 was set as the policy".into()));
    let why = reasons.take_up(&uniform(2), at(5));
    assert_eq!(why.as_deref(), Some("fixed-2 was set as the policy"));
    assert_eq!(of(&reasons, 1).why, "fixed-2 was set as the policy");

    // One level has a reason and the others have none.
    reasons.because(None);
    reasons.hear(&gets(100), &answer(uniform(5), "more runs"), false);
    let why = reasons.take_up(&uniform(5), at(6));
    assert_eq!(why.as_deref(), Some(NOT_GIVEN));
    assert_eq!(of(&reasons, 1).why, "more runs");
    assert_eq!(of(&reasons, 2).why, NOT_GIVEN);

    // An answer is the reason of one change alone.
    let why = reasons.take_up(&uniform(6), at(7));
    assert_eq!(why.as_deref(), Some("no reason was told"));
}

#[test]
fn what_was_kept_goes_on() {
    let kept = begun().decided().to_vec();
    let text = serde_json::to_string(&kept).expect("data");
    let read: Vec<Decided> = serde_json::from_str(&text).expect(&text);
    assert_eq!(read, kept);
    let mut reasons = Reasons::new(Some(uniform(4)), kept.clone());
    assert_eq!(reasons.take_up(&uniform(4), at(2)), None);
    assert_eq!(reasons.decided(), kept);
    // An older store has kept the limits alone.
    let mut reasons = Reasons::new(Some(uniform(4)), Vec::new());
    reasons.hear(&gets(100), &answer(first(3, 4), "fewer runs"), false);
    assert_eq!(reasons.take_up(&first(3, 4), at(3)), None);
    assert_eq!(reasons.decided().len(), 1);
    assert_eq!(of(&reasons, 1).before, Some(RunLimit::clamped(4)));
}

#[test]
fn missions_before_are_those_under_the_same_workload() {
    let mut writes = gets(0);
    (writes.operations.gets_found, writes.operations.writes) = (0, 100);
    writes.put.mean = Duration::from_micros(10);
    let mut recent = Recent::default();
    for _ in 0..20 {
        recent.see(&gets(100));
    }
    recent.see(&writes);
    recent.see(&Mission::default());
    let last = recent.workload().expect("writes, and one of nothing");
    assert_eq!(last.shares(), [0.0, 0.0, 0.0, 1.0, 0.0]);
    let took = recent.took_under(&last).expect("one mission");
    assert!((took - 10e-6).abs() < 1e-9, "{took}");
    for _ in 0..12 {
        recent.see(&gets(100));
    }
    assert_eq!(recent.took_under(&last), None, "too long ago");
}

/// One get in 128 is timed: of so few, none in two missions of three.
#[test]
fn missions_in_which_no_get_was_timed_make_no_operation_faster() {
    let half = |micros: u64| {
        let mut mission = gets(micros);
        mission.operations.writes = 100;
        mission.put.mean = Duration::from_micros(10);
        mission
    };
    let mut recent = Recent::default();
    for micros in [90, 0, 0, 90, 0, 0] {
        recent.see(&half(micros));
    }
    let workload = recent.workload().expect("gets and writes");
    let took = recent.took_under(&workload).expect("two missions");
    assert!((took - 50e-6).abs() < 1e-9, "{took}");
    assert_eq!(measured(&half(0)), None);
}

#[test]
fn the_workload_is_that_of_the_last_mission_timed_or_not() {
    let mut writes = gets(0);
    (writes.operations.gets_found, writes.operations.writes) = (0, 100);
    writes.put.mean = Duration::from_micros(10);
    let mut recent = Recent::default();
    recent.see(&writes);
    recent.see(&gets(0));
    let last = recent.workload().expect("gets");
    assert_eq!(last.shares(), [0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(recent.took_under(&last), None, "no get was timed");
}
