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
