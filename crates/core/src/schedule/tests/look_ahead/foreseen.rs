//! What lies ahead, by what was seen before, also by an earlier process.

use super::*;

#[test]
fn what_was_seen_of_the_load_survives_a_restart() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    let mut again = restarted(&schedule.state());
    assert_eq!(again.state(), schedule.state());
    let why = again
        .restore(&serde_json::json!({"rhythm": 1}))
        .expect_err("no state");
    assert!(why.contains("cannot be read"), "{why}");
}

/// High phases last 22 seconds, two of them until three calm intervals are seen; eleven are
/// over when a process ends, and it is away for four.
#[test]
fn after_a_restart_the_rest_of_a_high_phase_is_foreseen() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    for at in 0..=190 {
        let client = if at % 40 >= 20 { HIGH } else { CALM };
        schedule.order(&seen(at, client, 1));
    }
    let state = schedule.state();
    let why = |at: u64| restarted(&state).order(&seen(at, HIGH, 1)).why;
    assert!(why(195).contains("high for some 6 s"), "{}", why(195));
    // A low phase may have come between, and nobody knows when the high one began.
    assert!(why(230).contains("high for some 21 s"), "{}", why(230));
}

/// Users who also take half the device at low load leave less to repay with, whether that
/// was seen by this process or by one before it.
#[test]
fn after_a_restart_at_high_load_no_more_debt_is_taken_on() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    for at in 0..200 {
        let is_high = at % 40 >= 20;
        schedule.order(&seen(at, if is_high { HIGH } else { 170e6 }, 1));
    }
    let mut state = schedule.state();
    // No low phase is long enough to repay all that may wait.
    state["rhythm"]["low"] = serde_json::json!([0.5, 0.5, 0.5]);
    let repayable =
        |state: &serde_json::Value| can_merge(&restarted(state).order(&seen(200, HIGH, 1)));
    let known = repayable(&state);
    let calm = state.as_object_mut().expect("an object");
    calm.remove("calm_client").expect("it is kept");
    let older = repayable(&state);
    assert!(older > 1.5 * known, "{known} {older}");
}

/// A look at a high load that comes so many seconds after the one before.
fn after_a_pause(at: u64, seconds: u32) -> Seen {
    let mut now = seen(at, HIGH * f64::from(seconds), 1);
    now.load.interval = Duration::from_secs(1) * seconds;
    now
}

/// A process is stopped for an hour, or for so short a time that no low phase fits in.
#[test]
fn no_phase_is_learned_from_an_interval_that_was_late() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    for at in 0..190 {
        let client = if at % 40 >= 20 { HIGH } else { CALM };
        schedule.order(&seen(at, client, 1));
    }
    let (before, mut in_time, mut shortly) = (schedule.state(), schedule.clone(), schedule.clone());
    for at in 190..205 {
        in_time.order(&seen(at, HIGH, 1));
    }
    shortly.order(&after_a_pause(204, 15));
    assert_eq!(shortly.state()["rhythm"], in_time.state()["rhythm"]);

    schedule.order(&after_a_pause(3_789, 3_600));
    let stopped = schedule.state();
    assert_eq!(stopped["rhythm"]["now"]["lasted"], 1.0, "it begins anew");
    for at in 3_790..3_800 {
        schedule.order(&seen(at, CALM, 1));
    }
    let after = schedule.state();
    assert_eq!(after["rhythm"]["high"], before["rhythm"]["high"]);
    for profile in ["profile", "hourly"] {
        assert_eq!(stopped[profile], before[profile], "{profile}");
    }
}

/// A minute of a day whose load is high from 8 to 20 o'clock; little is written.
fn minute(at: u64) -> Seen {
    let is_high = (8 * 60..20 * 60).contains(&(at % (24 * 60)));
    let mut seen = on(0.9e6, at * 60, if is_high { HIGH } else { CALM } * 60.0, 5);
    seen.load.interval = Duration::from_secs(60);
    seen.load.logged_bytes = 60 * 20_000;
    seen.load.flushed_bytes = 60 * 20_000;
    seen.load.level0_merged_bytes = 60 * 20_000;
    seen.load.level1_compacted_bytes = 60 * 80_000;
    seen.load.compacted_bytes = 60 * 80_000;
    seen
}

/// To a process that has just begun, half a day of high load seems to lie ahead by the
/// lengths of past phases. The hour tells how much of it is over.
#[test]
fn the_hour_of_the_day_tells_when_debt_can_be_repaid() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    let days = 3 * 24 * 60;
    for at in 0..days {
        schedule.order(&minute(at));
    }
    let state = schedule.state();
    let at = |hour: u64, quarter: u64| {
        let now = minute(days + hour * 60 + quarter * 15);
        restarted(&state).order(&now)
    };
    let evening = at(19, 3);
    assert_eq!(evening.level0, Level0Order::Wait, "{}", evening.why);
    assert!(
        evening.why.contains("high for some 900 s"),
        "{}",
        evening.why
    );
    let morning = at(8, 1);
    assert_eq!(morning.level0, Level0Order::MergeApart, "{}", morning.why);
}
