//! Looking ahead over loads that come again.

use super::*;

/// Bytes a second of a device that leaves less at high load than merges need.
const SLOW: f64 = 99e6;

/// A second on another device, of as high a load.
fn on(device: f64, at: u64, client: f64, files: usize) -> Seen {
    let mut now = super::seen(at, client * device / 350e6, files);
    now.conditions.device_bytes_per_second = device;
    now
}

fn seen(at: u64, client: f64, files: usize) -> Seen {
    on(SLOW, at, client, files)
}

/// What came of a flight's last cycle: the most files, and at high load how many
/// intervals waited and how many did not.
#[derive(Debug)]
struct Flown {
    most: usize,
    waited: u64,
    merged: u64,
    bounded: u64,
}

/// Flies a schedule over phases of low and high load; L0 grows by a file a second and
/// is merged as the order lets it.
fn fly(schedule: &mut dyn Schedule, low: u64, high: u64, cycles: u64) -> Flown {
    let mut files = 0f64;
    let mut flown = Flown {
        most: 0,
        waited: 0,
        merged: 0,
        bounded: 0,
    };
    for at in 0..cycles * (high + low) {
        let is_high = at % (high + low) >= low;
        files += 1.0;
        let now = seen(at, if is_high { HIGH } else { CALM }, files as usize);
        let wanted = schedule.order(&now);
        let order = now.debt.bounded(&BOUNDS, wanted.clone());
        let rate = order.bytes_per_second.map_or(SLOW, |rate| rate as f64);
        // A file of 2 MB is flushed; it is read and written, with what it overlaps
        // where it is merged into a run.
        let left = rate - 2e6;
        files -= match order.level0 {
            Level0Order::Merge => left / 8e6,
            Level0Order::MergeApart => left / 4e6,
            Level0Order::Wait => 0.0,
        };
        files = files.max(0.0);
        if at >= (cycles - 1) * (high + low) {
            flown.most = flown.most.max(files as usize);
            flown.bounded += u64::from(order != wanted);
            if is_high && order.level0 == Level0Order::Wait {
                flown.waited += 1;
            } else if is_high {
                flown.merged += 1;
            }
        }
    }
    flown
}

#[test]
fn looking_ahead_waits_when_the_low_phase_can_repay() {
    let flown = fly(&mut LookAhead::new(BOUNDS, DEVICE), 20, 20, 5);
    assert!(flown.waited >= 18 && flown.bounded == 0, "{flown:?}");
}

#[test]
fn looking_ahead_merges_early_what_cannot_wait() {
    let flown = fly(&mut LookAhead::new(BOUNDS, DEVICE), 20, 200, 4);
    assert!(flown.merged > 0 && flown.bounded == 0, "{flown:?}");
    assert!(flown.most < BOUNDS.max_level0_files, "{flown:?}");
}

#[test]
fn a_load_that_stays_high_is_met_before_the_bound() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    // High phases have lasted 20 s so far, and all of it could wait.
    let flown = fly(&mut schedule, 20, 300, 1);
    assert!(flown.waited >= 10 && flown.merged >= 200, "{flown:?}");
    assert_eq!(flown.bounded, 0, "{flown:?}");
}

/// A second of high load on a device that leaves more than merges need, after phases that come
/// again.
fn with_enough(change: impl FnOnce(&mut Seen)) -> Order {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    for at in 200..220 {
        schedule.order(&on(350e6, at, CALM, 1));
    }
    let mut now = on(350e6, 220, HIGH, 5);
    now.conditions.workers = 2;
    change(&mut now);
    schedule.order(&now)
}

/// Of each byte that is flushed four are moved, all of them by merges of L0.
#[test]
fn l0_is_merged_as_it_fills_where_the_users_leave_enough() {
    let order = with_enough(|_| ());
    assert_eq!(
        (order.level0, order.deep, order.bytes_per_second),
        (Level0Order::Merge, DeepOrder::AtMost(0), Some(10_000_000)),
        "{}",
        order.why
    );
    assert_eq!(order.phase, Phase::High);
    let half = with_enough(|now| now.debt.level0_share = Some(0.5));
    assert_eq!(half.bytes_per_second, Some(35_000_000), "{}", half.why);
    assert_eq!(half.level0, Level0Order::Merge);
}

#[test]
fn what_no_low_phase_can_repay_is_merged_little_by_little() {
    let begun = |bytes: u64| with_enough(|now| now.debt.deep_bytes = bytes);
    let repayable = begun(1_000_000_000);
    assert_eq!(repayable.deep, DeepOrder::AtMost(0), "{}", repayable.why);
    assert_eq!(repayable.bytes_per_second, Some(10_000_000));
    let too_much = begun(2_750_000_000);
    assert_eq!(too_much.deep, DeepOrder::Paced, "{}", too_much.why);
    let rate = too_much.bytes_per_second.expect("a rate");
    assert!((11_000_000..35_000_000).contains(&rate), "{}", too_much.why);
}

/// Who only reads for long still has to flush what was written last.
#[test]
fn merges_keep_a_rate_where_nothing_is_written() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    let quiet = |at: u64| {
        let mut now = on(350e6, at, HIGH, 1);
        now.load.logged_bytes = 0;
        now
    };
    let last = (1..=500).map(|at| schedule.order(&quiet(at))).last();
    let order = last.expect("an order");
    assert_eq!(order.bytes_per_second, Some(3_500_000), "{}", order.why);
}

#[test]
fn where_no_end_is_foreseen_nothing_waits() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    let order = schedule.order(&on(350e6, 1, HIGH, 5));
    assert!(order.why.contains("cannot be foreseen"), "{}", order.why);
    assert_eq!(
        (order.level0, order.deep, order.bytes_per_second),
        (Level0Order::Merge, DeepOrder::Paced, Some(10_000_000))
    );
}

/// The end of a high phase in which users write four times as much as before, which is more than
/// they leave to merges, with 29 files in L0.
fn late(schedule: &LookAhead, change: impl FnOnce(&mut Seen)) -> Order {
    let mut now = on(350e6, 900, HIGH, 29);
    now.load.logged_bytes = 8_000_000;
    change(&mut now);
    schedule.clone().order(&now)
}

/// Its files are gone once it ends, and slowed down it would only end later.
#[test]
fn a_merge_of_l0_that_runs_is_no_debt_and_gets_what_the_users_leave() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 200, 4);
    let has = |order: &Order| -> f64 {
        let (_, figure) = order.why.split_once("L0 will have ").expect("a figure");
        figure
            .split_once(" MB")
            .expect("a unit")
            .0
            .parse()
            .expect("a number")
    };
    let none = late(&schedule, |_| ());
    let some = late(&schedule, |now| now.debt.level0_merging_bytes = 2_000_000);
    assert_eq!(none.level0, Level0Order::MergeApart, "{}", none.why);
    assert_eq!(some.level0, Level0Order::MergeApart, "{}", some.why);
    assert_eq!(has(&none) - has(&some), 2.0, "{} {}", none.why, some.why);
    let besides = "MB besides what is being merged";
    assert!(
        some.why.contains(besides) && !none.why.contains(besides),
        "{}",
        some.why
    );
    let left = leftover(&on(350e6, 900, HIGH, 29), (HIGH + 8e6) / 350e6);
    assert!(none.bytes_per_second < some.bytes_per_second);
    assert_eq!(some.bytes_per_second, Some(left));
    let most = late(&schedule, |now| now.debt.level0_merging_bytes = u64::MAX);
    assert!(has(&most) <= has(&some), "{}", most.why);
    // Of runs that were set apart, and none of its files: it waits for that as well.
    let held_up = late(&schedule, |now| now.debt.level0_held_up = true);
    assert_eq!(has(&held_up), has(&none), "{}", held_up.why);
    assert_eq!(held_up.bytes_per_second, Some(left));
}

/// However much has begun below it: that goes on at what is left, and L0 waits for none of it.
#[test]
fn l0_waits_only_where_the_users_leave_too_little_for_it() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    let order = |device: f64, begun: u64| {
        let mut now = on(device, 220, HIGH, 2);
        now.debt.deep_bytes = begun;
        schedule.clone().order(&now)
    };
    for begun in [0, 1 << 40] {
        let scarce = order(SLOW, begun);
        assert_eq!(scarce.level0, Level0Order::Wait, "{}", scarce.why);
        assert_eq!(scarce.bytes_per_second, Some(9_900_000), "{}", scarce.why);
        let enough = order(350e6, begun);
        assert_eq!(enough.level0, Level0Order::Merge, "{}", enough.why);
    }
    let begun = order(350e6, 1 << 40);
    assert_eq!(begun.deep, DeepOrder::Paced, "{}", begun.why);
    assert_eq!(begun.bytes_per_second, Some(35_000_000), "{}", begun.why);
}

/// A column family of small files, or of a bound of its own, is at it long before all bytes may.
#[test]
fn l0_waits_no_more_once_one_column_family_is_nearly_full_of_files() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    let order = |share: f64| {
        let mut now = seen(220, HIGH, 2);
        now.debt.level0_share = Some(share);
        schedule.clone().order(&now)
    };
    assert_eq!(order(0.75).level0, Level0Order::Wait);
    let full = order(0.8);
    assert_eq!(full.level0, Level0Order::MergeApart, "{}", full.why);
    assert!(full.why.contains("one column family"), "{}", full.why);
    let left = leftover(&seen(220, HIGH, 2), (HIGH + 2e6) / 350e6);
    assert_eq!(full.bytes_per_second, Some(left));
}

/// Whatever could be foreseen.
#[test]
fn nothing_waits_while_merges_give_way() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 20, 5);
    let mut now = seen(220, HIGH, 2);
    assert_eq!(schedule.clone().order(&now).level0, Level0Order::Wait);
    now.conditions.merges_give_way = true;
    let order = schedule.clone().order(&now);
    assert_eq!(
        (order.level0, order.deep),
        (Level0Order::Merge, DeepOrder::All)
    );
    assert_eq!(order.phase, Phase::High);
    let left = leftover(&now, (HIGH + 2e6) / 350e6);
    assert_eq!(order.bytes_per_second, Some(left), "{}", order.why);
}

/// Users who turn to writes are not held back by what they wrote before.
#[test]
fn flushes_keep_up_with_what_users_write_now() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 200, 4);
    let rate = |logged: u64| {
        let order = late(&schedule, |now| now.load.logged_bytes = logged);
        assert_eq!(order.level0, Level0Order::MergeApart, "{}", order.why);
        order.bytes_per_second.expect("a rate")
    };
    assert!(rate(8_000_000) < 34_000_000);
    assert!(rate(100_000_000) >= 150_000_000);
}

#[test]
fn looking_ahead_leaves_a_rate_to_what_has_begun_below_l0() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 200, 4);
    let rate = |deep_bytes| {
        let order = late(&schedule, |now| now.debt.deep_bytes = deep_bytes);
        assert_eq!(order.level0, Level0Order::MergeApart, "{}", order.why);
        order.bytes_per_second.expect("a rate")
    };
    let (none, some) = (rate(0), rate(100_000_000));
    assert!(some > none + 2_000_000, "{none} {some}");
}

/// The megabytes that a low phase can merge, as an order tells it.
fn can_merge(order: &Order) -> f64 {
    let (_, figure) = order.why.split_once("can merge ").expect("a figure");
    let (megabytes, _) = figure.split_once(" MB").expect("a unit");
    megabytes.parse().expect("a number")
}

/// A worker that takes two seconds for eight megabytes brings down less of L0 in 18 seconds of
/// low load than the device would take, and than may wait; another one cannot help it. What
/// drains move is not asked for.
#[test]
fn no_more_can_be_repaid_than_merges_have_been_seen_to_move() {
    let after = |micros: u64| {
        let mut schedule = LookAhead::new(BOUNDS, DEVICE);
        let now = |at: u64, client: f64| {
            let mut now = on(55e6, at, client, 1);
            now.conditions.workers = 2;
            now.load.compacted_micros = micros;
            now.load.level1_compacted_bytes = 4_000_000;
            if at % 40 == 2 {
                // In the first second of a low phase merges end that began long before it.
                now.load.compacted_micros = 100_000_000;
            }
            now
        };
        for at in 0..200 {
            schedule.order(&now(at, if at % 40 >= 20 { HIGH } else { CALM }));
        }
        let restarted = restarted(&schedule.state()).order(&now(200, HIGH));
        let order = schedule.order(&now(200, HIGH));
        assert_eq!(can_merge(&order), can_merge(&restarted));
        order
    };
    // It moves four megabytes a second, which is two of L0.
    let slow = after(2_000_000);
    assert_eq!(can_merge(&slow), 36.0);
    assert!(!slow.why.contains("may wait"), "{}", slow.why);
    // What may be there, of thirty files of two megabytes, is told beside what could be merged.
    let fast = after(0);
    assert!(can_merge(&fast) > 300.0, "{}", fast.why);
    let bounded = "but no more than 48 MB may wait";
    assert!(fast.why.contains(bounded), "{}", fast.why);
}

/// The schedule of a process that begins with what an earlier one has learned.
fn restarted(state: &serde_json::Value) -> LookAhead {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    schedule.restore(state).expect("its own state");
    schedule
}

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
