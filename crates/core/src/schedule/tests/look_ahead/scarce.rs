//! The users leave less than merges of L0 need, and it may wait.

use super::*;

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

/// The end of a high phase in which users write four times as much as before, with 29 files in L0,
/// whose merges have come to cost more than the users leave.
fn late(schedule: &LookAhead, change: impl FnOnce(&mut Seen)) -> Order {
    let mut now = on(350e6, 900, HIGH, 29);
    now.load.logged_bytes = 8_000_000;
    now.load.level1_compacted_bytes = 400_000_000;
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
