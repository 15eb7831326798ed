//! Schedules over made-up loads.

use std::time::Duration;

use super::*;

const BOUNDS: DebtBounds = DebtBounds {
    max_level0_files: 30,
    max_delayed_bytes: 1 << 30,
};

/// Full when the device is, or all processors are.
const DEVICE: FullLoad = FullLoad {
    bytes_per_second: None,
    cpu: 1.0,
};

fn seen(at: u64, client: f64, files: usize) -> Seen {
    Seen {
        load: Load {
            at: Duration::from_secs(at),
            time_of_day: Duration::from_secs(at % 86_400),
            clock: Duration::from_secs(at),
            interval: Duration::from_secs(1),
            cached_bytes: client as u64,
            logged_bytes: 2_000_000,
            flushed_bytes: 2_000_000,
            compacted_bytes: 8_000_000,
            ..Load::default()
        },
        conditions: Conditions {
            device_bytes_per_second: 350e6,
            ..Conditions::default()
        },
        debt: Debt {
            level0_files: files,
            level0_bytes: files as u64 * 2_000_000,
            deep_bytes: 0,
        },
    }
}

const HIGH: f64 = 320e6;
const CALM: f64 = 50e6;

#[test]
fn names_parse_and_print_alike() {
    for kind in ScheduleKind::every() {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert_eq!(kind.schedule(&BOUNDS).name(), kind.to_string());
    }
    let error = "lazy".parse::<ScheduleKind>().expect_err("no schedule");
    assert!(
        error.to_string().contains("choose eager, paced, dlc"),
        "{error}"
    );
}

#[test]
fn a_load_is_high_by_its_share_of_what_fills_the_machine() {
    let mut now = seen(1, CALM, 5);
    // As many bytes by SILK's model.
    now.load.gets = (CALM / now.conditions.entry_bytes) as u64;
    let phase =
        |kind: ScheduleKind, full, now: &Seen| kind.schedule_within(&BOUNDS, full).order(now).phase;
    let fast = FullLoad {
        bytes_per_second: Some(1.1 * CALM),
        ..DEVICE
    };
    for name in ["dlc", "dlc-part", "silk", "silk-star", "look-ahead"] {
        let kind = name.parse().expect("a schedule");
        assert_eq!(phase(kind, DEVICE, &now), Phase::Low, "{name}");
        assert_eq!(phase(kind, fast, &now), Phase::High, "{name}");
    }
    // Two processors, and compactions that may keep both busy.
    now.load.user_cpu = Some(0.45);
    let shared = FullLoad::beside(2, 2);
    assert_eq!((shared.cpu, FullLoad::beside(2, 8).cpu), (0.5, 0.75));
    let of = |full| phase(ScheduleKind::LookAhead, full, &now);
    assert_eq!((of(DEVICE), of(shared)), (Phase::Low, Phase::High));
}

#[test]
fn dlc_waits_at_high_load_and_catches_up_at_low() {
    let mut dlc = Dlc::new(Delay::Full, Burst::Full, &BOUNDS, DEVICE);
    let waits = dlc.order(&seen(1, HIGH, 5));
    assert_eq!(
        (waits.level0, waits.deep),
        (Level0Order::Wait, DeepOrder::AtMost(1))
    );
    let rate = waits.bytes_per_second.expect("a limit");
    assert_eq!(rate, 35_000_000, "the floor");
    let last = (2..=4).map(|at| dlc.order(&seen(at, CALM, 10))).last();
    let low = last.expect("an order");
    assert_eq!((low.level0, low.deep), (Level0Order::Merge, DeepOrder::All));
    assert!(low.bytes_per_second > Some(200_000_000));
}

#[test]
fn bursts_end_a_load_that_stays_high() {
    let mut dlc = Dlc::new(Delay::Full, Burst::Part, &BOUNDS, DEVICE);
    let mut whole = Vec::new();
    for burst in 0..6 {
        assert_eq!(dlc.order(&seen(burst, HIGH, 12)).level0, Level0Order::Wait);
        whole.push(dlc.order(&seen(burst, HIGH, 20)).level0 == Level0Order::Merge);
        let going_on = dlc.order(&seen(burst, HIGH, 12)).level0;
        assert_ne!(going_on, Level0Order::Wait, "until L0 is nearly empty");
        dlc.order(&seen(burst, HIGH, 3));
    }
    assert_eq!(whole, [false, false, false, false, true, false]);
}

#[test]
fn part_delay_never_waits() {
    let mut dlc = Dlc::new(Delay::Part, Burst::Full, &BOUNDS, DEVICE);
    assert_eq!(dlc.order(&seen(1, HIGH, 5)).level0, Level0Order::MergeApart);
}

#[test]
fn pacing_ends_when_nobody_needs_the_machine() {
    let mut paced = Paced::default();
    let busy = paced.order(&seen(1, HIGH, 5));
    assert_eq!(
        (busy.level0, busy.deep, busy.bytes_per_second),
        (Level0Order::Merge, DeepOrder::Paced, None)
    );
    let idle = (2..=4).map(|at| paced.order(&seen(at, 0.0, 0))).last();
    assert_eq!(idle.map(|order| order.deep), Some(DeepOrder::All));
}

#[test]
fn silk_stops_what_is_deep_and_never_l0() {
    let mut silk = Silk::star(30, DEVICE);
    let high = silk.order(&seen(1, HIGH, 5));
    assert_eq!(
        (high.level0, high.deep),
        (Level0Order::Merge, DeepOrder::AtMost(0))
    );
    assert!(high.bytes_per_second.is_some());
    let hurry = silk.order(&seen(2, HIGH, 25));
    assert_eq!(hurry.bytes_per_second, None, "L0 must go");
}

/// Looks of SILK's after which a load that has fallen is low, where `second` stands for one.
fn looks_until_low(second: Duration) -> u32 {
    let mut silk = ScheduleKind::Silk.schedule_in(&BOUNDS, DEVICE, second);
    let look = |client: f64| {
        let mut now = seen(1, 0.0, 5);
        now.load.interval = LEAST_INTERVAL;
        now.load.gets = (client / now.conditions.entry_bytes / 100.0) as u64;
        now
    };
    assert_eq!(silk.order(&look(HIGH)).phase, Phase::High);
    let mut looks = 1;
    while looks < 10_000 && silk.order(&look(CALM)).phase == Phase::High {
        looks += 1;
    }
    looks
}

#[test]
fn silk_looks_no_more_often_where_time_is_compressed_and_sees_as_much() {
    let whole = looks_until_low(Duration::from_secs(1));
    let compressed = looks_until_low(Duration::from_millis(250));
    // Three seconds, and what is smoothed.
    assert!((300..400).contains(&whole), "{whole}");
    assert!((4 * compressed).abs_diff(whole) <= 12, "{compressed}");
    assert_eq!(looks_until_low(Duration::from_secs(9)), whole);
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
        let rate = order.bytes_per_second.map_or(350e6, |rate| rate as f64);
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

#[test]
fn looking_ahead_leaves_a_rate_to_what_has_begun_below_l0() {
    let mut schedule = LookAhead::new(BOUNDS, DEVICE);
    fly(&mut schedule, 20, 200, 4);
    let rate = |deep_bytes| {
        let mut now = seen(900, HIGH, 29);
        now.debt.deep_bytes = deep_bytes;
        let order = schedule.clone().order(&now);
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

/// Two workers that take two seconds together for eight megabytes bring down less of L0 in
/// 18 seconds of low load than the device would take, and than may wait.
#[test]
fn no_more_can_be_repaid_than_merges_have_been_seen_to_move() {
    let after = |micros: u64| {
        let mut schedule = LookAhead::new(BOUNDS, DEVICE);
        let now = |at: u64, client: f64| {
            let mut now = seen(at, client, 1);
            now.conditions.workers = 2;
            now.load.compacted_micros = micros;
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
        (can_merge(&order), can_merge(&restarted))
    };
    // Both together move eight megabytes a second, which is two of L0.
    assert_eq!(after(2_000_000), (36.0, 36.0));
    let may_wait = 0.9 * 30.0 * 2.0;
    assert_eq!(after(0), (may_wait, may_wait));
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
        schedule.order(&seen(at, if is_high { HIGH } else { 175e6 }, 1));
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

/// A minute of a day whose load is high from 8 to 20 o'clock; little is written.
fn minute(at: u64) -> Seen {
    let is_high = (8 * 60..20 * 60).contains(&(at % (24 * 60)));
    let mut seen = seen(at * 60, if is_high { HIGH } else { CALM } * 60.0, 5);
    seen.load.interval = Duration::from_secs(60);
    seen.load.logged_bytes = 60 * 20_000;
    seen.load.flushed_bytes = 60 * 20_000;
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

#[test]
fn load_models_see_what_they_say() {
    let load = Load {
        interval: Duration::from_secs(2),
        gets: 1_000,
        scans: 100,
        writes: 500,
        cached_bytes: 8_000_000,
        logged_bytes: 2_000_000,
        user_cpu: Some(0.7),
        ..Load::default()
    };
    let conditions = Conditions {
        device_bytes_per_second: 100e6,
        compressed_share: 0.5,
        entry_bytes: 1_000.0,
        ..Conditions::default()
    };
    let client = |model: LoadModel| model.client(&load, &conditions);
    assert_eq!(client(LoadModel::CacheAdditions), 3e6);
    assert_eq!(client(LoadModel::Operations), 750_000.0);
    assert_eq!(client(LoadModel::Weighted), 8.8e6);
    assert_eq!(LoadModel::Scarcest.pressure(&load, &conditions), 0.7);
    assert_eq!(LoadModel::CacheAdditions.pressure(&load, &conditions), 0.03);
}

#[test]
fn intervals_add_up() {
    let mut one = seen(7, 1e6, 3).load;
    let mut two = seen(8, 3e6, 4).load;
    (one.compacted_micros, two.compacted_micros) = (3, 4);
    let both = one.then(&two);
    assert_eq!((both.at, both.interval), (two.at, Duration::from_secs(2)));
    assert_eq!(both.compacted_micros, 7);
    assert_eq!(
        (both.cached_bytes, both.logged_bytes),
        (4_000_000, 4_000_000)
    );
    let client = |load: &Load| LoadModel::CacheAdditions.client(load, &Conditions::default());
    assert_eq!(client(&both), (client(&one) + client(&two)) / 2.0);
}
