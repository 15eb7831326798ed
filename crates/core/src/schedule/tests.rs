//! Schedules over made-up loads.

mod look_ahead;

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
            level1_compacted_bytes: 8_000_000,
            level0_merged_bytes: 2_000_000,
            ..Load::default()
        },
        conditions: Conditions {
            device_bytes_per_second: 350e6,
            ..Conditions::default()
        },
        debt: Debt {
            level0_files: files,
            level0_bytes: files as u64 * 2_000_000,
            ..Debt::default()
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

/// On a device of which users never move a share that mattered the rate binds all the same.
#[test]
fn what_merges_may_move_is_the_share_of_a_full_machine_that_is_left() {
    let full = FullLoad {
        bytes_per_second: Some(100e6),
        ..DEVICE
    };
    let rate = |kind: ScheduleKind, client: f64, full| {
        let mut now = seen(1, client, 5);
        now.load.logged_bytes = 0;
        now.load.gets = (client / now.conditions.entry_bytes) as u64;
        let order = kind.schedule_within(&BOUNDS, full).order(&now);
        order.bytes_per_second.expect("a rate")
    };
    let calm = rate(ScheduleKind::LookAhead, 20e6, full) as f64;
    assert!((calm - 262.5e6).abs() < 100.0, "{calm}");
    for name in ["dlc", "silk", "silk-star"] {
        let kind: ScheduleKind = name.parse().expect("a schedule");
        // 350 MB/s, of which a twentieth is left to nobody, and at least a tenth to merges.
        for (client, left) in [(20e6, 262.5e6), (70e6, 87.5e6), (90e6, 35e6), (1e12, 35e6)] {
            let given = rate(kind, client, full) as f64;
            assert!((given - left).abs() < 100.0, "{name}: {client} {given}");
        }
        let given = rate(kind, 20e6, DEVICE) as f64;
        assert!((given - 312.5e6).abs() < 100.0, "{name}: {given}");
    }
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

/// Few files that are many for their column family, beside another one that has more.
fn filled_to(client: f64, share: f64) -> Seen {
    let mut now = seen(1, client, 5);
    now.debt.level0_share = Some(share);
    now
}

#[test]
fn a_burst_begins_by_the_files_that_may_wait_in_one_column_family() {
    let mut dlc = Dlc::new(Delay::Full, Burst::Full, &BOUNDS, DEVICE);
    let shares = [0.85, 0.9, 0.6, 0.5, 0.45, 0.6];
    let orders = shares.map(|share| dlc.order(&filled_to(HIGH, share)).level0);
    let (wait, merge) = (Level0Order::Wait, Level0Order::Merge);
    assert_eq!(orders, [wait, merge, merge, merge, wait, wait]);
}

#[test]
fn a_burst_that_began_by_bytes_goes_on_until_few_wait() {
    let mut dlc = Dlc::new(Delay::Full, Burst::Full, &BOUNDS, DEVICE);
    let orders = [0.85, 0.95, 0.6, 0.4, 0.6].map(|share| {
        let mut now = seen(1, HIGH, 5);
        now.debt.level0_delayed_bytes = (share * BOUNDS.max_delayed_bytes as f64) as u64;
        dlc.order(&now).level0
    });
    let (wait, merge) = (Level0Order::Wait, Level0Order::Merge);
    assert_eq!(orders, [wait, merge, merge, wait, wait]);
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
    let filled = |share| silk.clone().order(&filled_to(HIGH, share)).bytes_per_second;
    assert!(filled(0.7).is_some() && filled(0.75).is_none());
}

/// Looks of SILK's after which a load that has fallen is low, where `second` stands for one
/// and each look comes after such a time.
fn looks_until_low(second: Duration, each: Duration) -> u32 {
    let mut silk = ScheduleKind::Silk.schedule_in(&BOUNDS, DEVICE, second);
    let look = |client: f64| {
        let mut now = seen(1, 0.0, 5);
        now.load.interval = each;
        now.load.gets = (client / now.conditions.entry_bytes * each.as_secs_f64()) as u64;
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
    let second = Duration::from_secs(1);
    let whole = looks_until_low(second, LEAST_INTERVAL);
    let compressed = looks_until_low(Duration::from_millis(250), LEAST_INTERVAL);
    // Three seconds, and what is smoothed.
    assert!((300..400).contains(&whole), "{whole}");
    assert!((4 * compressed).abs_diff(whole) <= 12, "{compressed}");
    assert_eq!(looks_until_low(9 * second, 9 * LEAST_INTERVAL), whole);
}

/// A planner that has no core looks a fifth as often.
#[test]
fn silk_sees_a_load_fall_as_soon_where_looks_come_late() {
    let second = Duration::from_secs(1);
    let in_time = looks_until_low(second, LEAST_INTERVAL);
    let late = looks_until_low(second, 5 * LEAST_INTERVAL);
    assert!((5 * late).abs_diff(in_time) <= 10, "{late} {in_time}");
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
    assert_eq!(client(LoadModel::Operations), 800_000.0);
    assert_eq!(client(LoadModel::Weighted), 8.8e6);
    assert_eq!(LoadModel::Scarcest.pressure(&load, &conditions), 0.7);
    assert_eq!(LoadModel::CacheAdditions.pressure(&load, &conditions), 0.03);
}

#[test]
fn an_interval_without_length_tells_nothing() {
    let mut now = seen(1, HIGH, 5);
    now.load.interval = Duration::ZERO;
    for model in [
        LoadModel::CacheAdditions,
        LoadModel::Operations,
        LoadModel::Weighted,
        LoadModel::Scarcest,
    ] {
        assert_eq!(model.client(&now.load, &now.conditions), 0.0, "{model:?}");
    }
    let mut ahead = LookAhead::new(BOUNDS, DEVICE);
    ahead.order(&seen(1, CALM, 5));
    let learned = ahead.state();
    assert_eq!(ahead.order(&now).phase, Phase::Low);
    assert_eq!(ahead.state(), learned);
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
    assert_eq!(both.user_cpu, None, "nobody told it");
    two.user_cpu = Some(0.25);
    let told = one.then(&two);
    assert_eq!(told.user_cpu, Some(0.25));
    // Two seconds of a quarter, and two of three quarters.
    let mut long = two;
    (long.interval, long.user_cpu) = (Duration::from_secs(2), Some(0.75));
    assert_eq!(told.then(&long).user_cpu, Some(0.5));
}
