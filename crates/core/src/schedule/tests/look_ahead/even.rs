//! The users leave enough: L0 is merged as it fills, at an even rate.

use super::*;

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
    let merging = |share: f64| {
        with_enough(|now| {
            now.debt.level0_share = Some(share);
            now.debt.level0_merging_bytes = now.debt.level0_bytes / 2;
        })
    };
    let keeps_up = merging(0.75).bytes_per_second;
    assert_eq!(
        keeps_up,
        Some(10_000_000),
        "what is merged is no part of it"
    );
    assert_eq!(
        merging(0.8).bytes_per_second,
        Some(35_000_000),
        "hardly any room"
    );
}

/// Each byte costs ten more below L0.
#[test]
fn what_lies_deeper_goes_on_where_it_may_hardly_grow() {
    let with = |crowding: f64| {
        with_enough(|now| {
            now.debt.below_per_byte = 10.0;
            now.debt.crowding = crowding;
        })
    };
    let waits = with(0.75);
    assert_eq!(
        (waits.deep, waits.bytes_per_second),
        (DeepOrder::AtMost(0), Some(10_000_000)),
        "{}",
        waits.why
    );
    let goes_on = with(0.85);
    assert_eq!(
        (goes_on.deep, goes_on.bytes_per_second),
        (DeepOrder::Paced, Some(30_000_000)),
        "{}",
        goes_on.why
    );
    assert!(
        goes_on.why.contains("nearly as much as it may"),
        "{}",
        goes_on.why
    );
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
