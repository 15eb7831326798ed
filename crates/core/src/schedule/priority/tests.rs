use super::Priority::{Idle, Normal};
use super::*;

fn level0(files: usize, bytes: u64, inflow: f64) -> Level0 {
    Level0 {
        files,
        trigger: 0,
        max_files: 16,
        bytes,
        write_buffer_size: 10,
        inflow: Some(inflow),
    }
}

fn moment(level0: &[Level0]) -> Moment {
    Moment {
        at: Duration::from_secs(9),
        served: Some(0.3),
        moving: Some(0.4),
        awaited_moving: None,
        stalled: false,
        level0: level0.to_vec(),
        max_delayed_bytes: 1_000,
        room_waits: false,
    }
}

/// Priorities at the processors and at the device.
fn first(moment: &Moment) -> (Priority, Priority) {
    let order = WorkerPriority::default().after(moment).level0;
    assert!(!order.why.is_empty());
    (order.cpu, order.io)
}

/// What a schedule of priorities says after these milliseconds, as `change` has the moment.
fn at(
    priority: &mut WorkerPriority,
    millis: u64,
    change: impl FnOnce(&mut Moment),
) -> (Priority, Priority) {
    let mut moment = moment(&[]);
    moment.at = Duration::from_millis(millis);
    change(&mut moment);
    let order = priority.after(&moment).level0;
    (order.cpu, order.io)
}

#[test]
fn merges_give_way_while_little_waits_and_come_back_by_degrees() {
    let of = |files, bytes| first(&moment(&[level0(files, bytes, 1.0)]));
    assert_eq!((of(0, 0), of(7, 499)), ((Idle, Idle), (Idle, Idle)));
    assert_eq!((of(8, 80), of(1, 500)), ((Idle, Normal), (Idle, Normal)));
    assert_eq!(of(11, 749), (Idle, Normal));
    assert_eq!(
        (of(12, 120), of(1, 750)),
        ((Normal, Normal), (Normal, Normal))
    );
    assert_eq!(first(&moment(&[])), (Idle, Idle), "no family has anything");
    let (one, other) = (level0(2, 400, 1.0), level0(12, 12, 1.0));
    let both = first(&moment(&[one, other]));
    assert_eq!(both, (Normal, Normal), "each counts");
    let both = first(&moment(&[one, one]));
    assert_eq!(both, (Normal, Normal), "and all together");
    let mut nothing_may = moment(&[]);
    nothing_may.max_delayed_bytes = 0;
    assert_eq!(first(&nothing_may), (Normal, Normal));
}

/// With buffers of any size: an L0 of four files has only just become due.
#[test]
fn an_l0_that_is_not_over_its_trigger_lets_nothing_wait() {
    let of = |files, bytes| {
        let due = Level0 {
            trigger: 4,
            ..level0(files, bytes, 1.0)
        };
        first(&moment(&[due]))
    };
    assert_eq!(of(4, 80_000), (Idle, Idle));
    assert_eq!(of(5, 100_000), (Normal, Normal));
}

#[test]
fn who_is_called_back_gives_way_again_and_who_never_may_does_not() {
    let called_back = |level0| {
        let order = WorkerPriority::default().after(&moment(&[level0])).level0;
        (order.gives_way_everywhere(), order.called_back)
    };
    assert_eq!(called_back(level0(0, 0, 1.0)), (true, false));
    for needed in [level0(8, 80, 1.0), level0(12, 120, 1.0), level0(0, 0, 81.0)] {
        assert_eq!(called_back(needed), (false, true), "{needed:?}");
    }
    let mut unknown = level0(0, 0, 0.0);
    unknown.inflow = None;
    assert_eq!(called_back(unknown), (false, false));
    let mut priority = WorkerPriority::default();
    let mut stalled = moment(&[]);
    stalled.stalled = true;
    assert!(priority.after(&stalled).level0.called_back);
}

#[test]
fn merges_do_not_give_way_where_l0_fills_within_seconds() {
    let of = |files, bytes, inflow| first(&moment(&[level0(files, bytes, inflow)])).0;
    // Room for ten files of 20 bytes; of 10, where there is none yet.
    assert_eq!((of(6, 120, 100.0), of(6, 120, 101.0)), (Idle, Normal));
    assert_eq!((of(0, 0, 80.0), of(0, 0, 81.0)), (Idle, Normal));
    // For 500 bytes in all.
    assert_eq!((of(1, 500, 250.0), of(1, 500, 251.0)), (Idle, Normal));
    assert_eq!(of(0, 0, f64::INFINITY), Normal);
    assert_eq!((of(0, 0, f64::NAN), of(0, 0, -1.0)), (Normal, Normal));
    let mut unknown = level0(0, 0, 0.0);
    unknown.inflow = None;
    let both = first(&moment(&[level0(0, 0, 0.0), unknown]));
    assert_eq!(both, (Normal, Normal));
}

#[test]
fn merges_for_which_l0_does_not_wait_give_way_however_fast_it_fills() {
    let of = |files, bytes, room_waits| {
        let mut moment = moment(&[level0(files, bytes, 1e9)]);
        moment.room_waits = room_waits;
        let orders = WorkerPriority::default().after(&moment);
        assert_eq!((orders.level0.cpu, orders.level0.io), (Normal, Normal));
        (orders.deep.cpu, orders.deep.io)
    };
    assert_eq!(of(3, 60, false), (Idle, Idle));
    assert_eq!(of(3, 60, true), (Normal, Normal), "what makes room waits");
    assert_eq!(of(8, 160, false), (Idle, Normal), "L0 is half full");
    assert_eq!(of(12, 240, false), (Normal, Normal), "and nearly full");
}

#[test]
fn who_was_starved_or_held_writers_back_does_not_give_way_for_a_while() {
    for stalled in [false, true] {
        let mut priority = WorkerPriority::default();
        let mut at = |millis, served, stalled| {
            at(&mut priority, millis, |moment| {
                (moment.served, moment.stalled) = (served, stalled);
            })
        };
        assert_eq!(at(1_000, Some(0.02), false), (Idle, Idle));
        let starved = Some(if stalled { 1.0 } else { 0.019 });
        assert_eq!(at(1_100, starved, stalled), (Normal, Normal));
        assert_eq!(at(3_099, None, false), (Normal, Normal));
        assert_eq!(at(3_100, None, false), (Idle, Idle));
    }
}

#[test]
fn who_waits_for_the_device_for_a_second_does_not_give_way_there_for_a_while() {
    let mut priority = WorkerPriority::default();
    let mut at = |millis, moving| at(&mut priority, millis, |moment| moment.moving = moving);
    assert_eq!(at(1_000, Some(0.009)), (Idle, Idle));
    assert_eq!(at(1_900, Some(0.0)), (Idle, Idle), "not for a second yet");
    assert_eq!(at(1_950, Some(0.01)), (Idle, Idle), "it moved");
    assert_eq!(at(2_000, Some(0.0)), (Idle, Idle));
    assert_eq!(at(2_950, None), (Idle, Idle), "none was at it");
    assert_eq!(at(3_000, Some(0.0)), (Idle, Idle));
    assert_eq!(at(4_000, Some(0.0)), (Idle, Normal));
    assert_eq!(at(5_999, Some(0.4)), (Idle, Normal));
    assert_eq!(at(6_000, Some(0.4)), (Idle, Idle));
}

#[test]
fn what_reads_wait_for_does_not_crawl_at_the_device() {
    let mut priority = WorkerPriority::default();
    let mut at = |millis, moving| {
        let mut moment = moment(&[]);
        moment.at = Duration::from_millis(millis);
        moment.awaited_moving = moving;
        let orders = priority.after(&moment);
        assert_eq!((orders.deep.io, orders.awaited.cpu), (Idle, Idle));
        orders.awaited.io
    };
    assert_eq!(at(1_000, Some(0.19)), Idle);
    assert_eq!(at(1_050, Some(0.2)), Idle, "it moved");
    assert_eq!(at(1_100, Some(0.19)), Idle);
    assert_eq!(at(1_150, None), Idle, "none was at it");
    assert_eq!(at(1_200, Some(0.0)), Idle, "not for long yet");
    assert_eq!(at(1_300, Some(0.19)), Normal);
    assert_eq!(at(6_299, None), Normal);
    assert_eq!(at(6_300, None), Idle, "it is tried again");
    // Each time is twice as long as the one before.
    assert_eq!((at(6_400, Some(0.0)), at(6_500, Some(0.0))), (Idle, Normal));
    assert_eq!((at(16_499, None), at(16_500, None)), (Normal, Idle));
    assert_eq!(
        (at(26_300, Some(0.0)), at(26_499, Some(0.0))),
        (Idle, Normal)
    );
    assert_eq!((at(46_498, None), at(46_499, None)), (Normal, Idle));
    // It was good for as long.
    assert_eq!(
        (at(66_000, Some(0.0)), at(66_499, Some(0.0))),
        (Idle, Normal)
    );
    assert_eq!((at(71_498, None), at(71_499, None)), (Normal, Idle));
}

#[test]
fn whatever_is_told_l0_near_its_bound_never_gives_way() {
    let mut priority = WorkerPriority::default();
    for step in 0..2_000_u64 {
        let family = level0((step % 20) as usize, step * 3 % 1_500, (step % 11) as f64);
        let moment = Moment {
            at: Duration::from_millis(step * 300),
            served: Some((step % 7) as f64 / 5.0 - 0.1),
            moving: Some((step % 9) as f64 / 500.0),
            awaited_moving: Some((step % 8) as f64 / 20.0),
            stalled: step % 13 == 0,
            ..moment(&[family])
        };
        let orders = priority.after(&moment);
        let near = family.files >= 12 || family.bytes >= 750;
        let half = family.files >= 8 || family.bytes >= 500;
        for order in [&orders.level0, &orders.deep, &orders.awaited] {
            assert!(!near || !order.gives_way(), "{moment:?}");
            assert!(!half || order.io == Normal, "{moment:?}");
            // Whoever gives way at the device does so at the processors.
            assert!(order.io == Normal || order.cpu == Idle, "{moment:?}");
        }
        let least = [orders.awaited.io, orders.deep.io];
        assert_ne!(least, [Idle, Normal], "{moment:?}");
    }
}
