//! Schedules in virtual time.

use lissom_core::schedule::{Burst, DeepOrder, Delay, Level0Order, ScheduleKind};

use super::{fixed, reads, run, scenario, session, updates};
use crate::{Mix, Outcome, Rate, Scenario, SessionOutcome};

const DLC: ScheduleKind = ScheduleKind::Dlc(Delay::Full, Burst::Full);

/// What schedules hold the device for, bytes a second.
const DEVICE: f64 = 15e6;

/// Ten seconds in which users read 16 MB/s of blocks, more than the device is held for,
/// and ten of a tenth of that, by turns; this share of the operations writes.
fn by_turns(schedule: ScheduleKind, share: f64, cycles: u64) -> Scenario {
    let mix = Mix {
        get_present: 1.0 - share,
        update: share,
        ..Mix::default()
    };
    let mut turns = session("turns", cycles * 44_000, mix);
    turns.rate = Some(Rate::Periodic {
        high: 4_000.0,
        low: 400.0,
        high_seconds: 10.0,
        low_seconds: 10.0,
    });
    let mut scenario = scenario(fixed(4), vec![turns]);
    scenario.schedule = schedule;
    scenario.store.device_bytes_per_second = Some(DEVICE);
    scenario
}

fn only(outcome: &Outcome) -> &SessionOutcome {
    &outcome.sessions[0]
}

fn waits(outcome: &Outcome) -> usize {
    let orders = outcome.orders.iter();
    orders
        .filter(|it| it.order.level0 == Level0Order::Wait)
        .count()
}

#[test]
fn asking_a_schedule_that_lets_everything_go_changes_nothing() {
    let of = |schedule| {
        let sessions = vec![
            session("u", 200_000, updates()),
            session("r", 20_000, reads()),
        ];
        let mut scenario = scenario(fixed(4), sessions);
        // One user of eight cores is hardly anybody.
        scenario.machine.cores = 8.0;
        scenario.schedule = schedule;
        run(&scenario)
    };
    let (eager, asked) = (of(ScheduleKind::Eager), of(ScheduleKind::Paced));
    assert!(eager.orders.is_empty());
    // Coming to the bound is news too, and changes as little.
    let lets_all_go = |it: &crate::Ordered| {
        (it.order.level0, it.order.deep) == (Level0Order::Merge, DeepOrder::All)
    };
    assert!(asked.orders.iter().all(lets_all_go), "{:?}", asked.orders);
    // Time is cut at other places, and sums are rounded: a merge may come a file later.
    let near = |a: f64, b: f64| (a - b).abs() <= 0.1 * a;
    for (eager, asked) in eager.sessions.iter().zip(&asked.sessions) {
        assert!(near(eager.seconds, asked.seconds), "{eager:?}\n{asked:?}");
    }
    let (of_eager, of_asked) = (eager.write_amplification(), asked.write_amplification());
    assert!(near(of_eager, of_asked), "{of_eager} {of_asked}");
}

#[test]
fn equal_schedules_give_equal_outcomes() {
    let silk = by_turns(ScheduleKind::Silk, 0.03, 1);
    assert_eq!(run(&silk), run(&silk));
}

#[test]
fn what_is_offered_by_turns_is_done_by_turns() {
    let mut turns = session("turns", 11_000, updates());
    turns.rate = Some(Rate::Periodic {
        high: 2_000.0,
        low: 500.0,
        high_seconds: 2.0,
        low_seconds: 3.0,
    });
    let outcome = run(&scenario(fixed(4), vec![turns]));
    let seen = only(&outcome);
    assert!((seen.seconds - 10.0).abs() < 0.05, "{seen:?}");
    let offered = seen.offered.as_ref().expect("an offered rate");
    assert_eq!(offered.dips, 0, "{offered:?}");
    for (second, done) in [(0, 2_000.0), (3, 500.0), (6, 2_000.0), (8, 500.0)] {
        assert!(
            (offered.throughput[second] - done).abs() < 20.0,
            "{offered:?}"
        );
    }
}

#[test]
fn what_a_high_turn_could_not_do_is_done_in_the_low_one() {
    let mut turns = session("turns", 2_300, updates());
    turns.rate = Some(Rate::Periodic {
        high: 2_000.0,
        low: 100.0,
        high_seconds: 1.0,
        low_seconds: 3.0,
    });
    let mut scenario = scenario(fixed(4), vec![turns]);
    // A thousand operations a second at most.
    scenario.machine.put_cpu = 1e-3;
    let outcome = run(&scenario);
    let seen = only(&outcome);
    assert!((seen.seconds - 4.0).abs() < 0.2, "{seen:?}");
    let offered = seen.offered.as_ref().expect("an offered rate");
    assert_eq!(offered.dips, 1, "{offered:?}");
    assert!((0.4..0.6).contains(&offered.slowest), "{offered:?}");
    assert!(offered.throughput[1] > 800.0, "{offered:?}");
}

#[test]
fn dlc_lets_l0_wait_at_high_load_and_stays_within_its_bounds() {
    let (eager, dlc) = (
        run(&by_turns(ScheduleKind::Eager, 0.03, 3)),
        run(&by_turns(DLC, 0.03, 3)),
    );
    assert!(only(&eager).peak_level0_files < 8, "{eager:?}");
    assert!(waits(&eager) == 0 && waits(&dlc) >= 3, "{:?}", dlc.orders);
    let scenario = by_turns(DLC, 0.03, 3);
    let slowdown = scenario.store.shape.level0_slowdown_writes_trigger as usize;
    let peak = only(&dlc).peak_level0_files;
    // At its bound L0 is merged; what is flushed meanwhile comes on top.
    assert!((12..slowdown).contains(&peak), "{peak}");
    assert_eq!(only(&dlc).longest_held_back, 0.0);
}

#[test]
fn look_ahead_lets_what_lies_deeper_wait_for_a_low_turn_that_it_foresees() {
    // Until the load is forgotten, far more is expected to come in.
    let outcome = run(&by_turns(ScheduleKind::LookAhead, 0.006, 20));
    let waiting = |it: &&crate::Ordered| it.order.deep == DeepOrder::AtMost(0);
    let first = outcome.orders.iter().find(waiting);
    let first = first.unwrap_or_else(|| panic!("nothing waits: {:?}", outcome.orders));
    assert!(first.order.why.ends_with("and the rest waits"), "{first:?}");
    assert!(first.at > 20.0, "before two turns nothing is known");
    // A low turn leaves fewer files than the trigger, four. A cycle writes 264 entries of
    // 1 KiB, four memtables and a bit; one more may be full at its end.
    let peak = only(&outcome).peak_level0_files;
    assert!(peak <= 3 + 5, "{peak}");
}

#[test]
fn a_rate_bounds_what_compactions_move() {
    let outcome = run(&by_turns(ScheduleKind::SilkStar, 0.03, 2));
    let busiest = only(&outcome).busiest_second;
    // A twentieth of the device is nobody's.
    assert!(busiest > 0.0 && busiest <= 0.951 * DEVICE, "{busiest}");
    assert!(!outcome.orders.is_empty());
}

#[test]
fn paced_drains_move_as_much_as_comes_in() {
    let rate = 500.0;
    let of = |schedule| {
        let mut steady = session("steady", 100_000, updates());
        steady.rate = Some(Rate::Constant(rate));
        let mut scenario = scenario(fixed(4), vec![steady]);
        scenario.schedule = schedule;
        // A quarter of it is asked for: users are there.
        scenario.store.device_bytes_per_second = Some(2e6);
        run(&scenario)
    };
    let (eager, paced) = (of(ScheduleKind::Eager), of(ScheduleKind::Paced));
    let inflow = rate * 1024.0;
    let (at_once, evenly) = (only(&eager).busiest_second, only(&paced).busiest_second);
    assert!(evenly < 0.6 * at_once, "{evenly} {at_once}");
    assert!(evenly < 80.0 * inflow, "{evenly} {inflow}");
    let (few, many) = (eager.write_amplification(), paced.write_amplification());
    assert!(many < 1.2 * few, "{many} {few}");
}

#[test]
fn every_schedule_lives_through_a_load_by_turns() {
    for kind in ScheduleKind::every() {
        let scenario = by_turns(kind, 0.03, 3);
        let outcome = run(&scenario);
        let seen = only(&outcome);
        assert!((seen.operations - 132_000.0).abs() < 1.0, "{kind}");
        assert!((59.0..75.0).contains(&seen.seconds), "{kind}: {seen:?}");
        let stop = scenario.store.level0_stop_writes_trigger as usize;
        assert!(seen.peak_level0_files < stop, "{kind}: {seen:?}");
    }
}
