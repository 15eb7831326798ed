use super::*;
use crate::layout::LogicalLevel;
use crate::shape::RunLimit;

fn limits(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

/// What runs will meet later is what they meet now.
fn same(_: &RunLimits) -> f64 {
    0.0
}

fn hold(phase: &mut Phase, limit: u16, cost: f64, missions: u32) {
    for _ in 0..missions {
        phase.record(&limits(limit), Some(cost), 0);
    }
}

#[test]
fn a_step_that_made_it_worse_is_known_and_one_inside_the_noise_is_not() {
    let mut phase = Phase::default();
    hold(&mut phase, 1, 10.0, 20);
    hold(&mut phase, 2, 12.0, SETTLING + ENOUGH - 1);
    assert_eq!(phase.better(&limits(2), same), None, "not believed yet");
    hold(&mut phase, 2, 12.0, 1);
    let (back, best, now) = phase.better(&limits(2), same).expect("worse");
    assert_eq!((back, best, now), (limits(1), 10.0, 12.0));
    hold(&mut phase, 3, 10.4, 20);
    assert_eq!(phase.better(&limits(3), same), None);
}

#[test]
fn what_is_old_calls_nobody_back_and_what_is_barred_does_since_bars_are_for_the_way_forward() {
    let mut phase = Phase::default();
    hold(&mut phase, 1, 10.0, 20);
    hold(&mut phase, 2, 12.0, OLD as u32 + 20);
    assert_eq!(phase.better(&limits(2), same), None, "too long ago");
    hold(&mut phase, 3, 9.0, 20);
    phase.bars.bar(LogicalLevel(1), RunLimit::clamped(3));
    hold(&mut phase, 2, 12.0, 20);
    assert_eq!(phase.better(&limits(2), same), Some((limits(3), 9.0, 12.0)));
    assert!(phase.bars.stand(LogicalLevel(1), RunLimit::clamped(3)));
}

#[test]
fn what_a_smaller_tree_took_calls_nobody_back() {
    let mut phase = Phase::default();
    phase.grow(1e6, Vec::new());
    hold(&mut phase, 1, 10.0, 20);
    phase.grow(1.2e6, Vec::new());
    hold(&mut phase, 2, 20.0, 20);
    assert_eq!(
        phase.better(&limits(2), same),
        Some((limits(1), 10.0, 20.0))
    );
    phase.grow(1.3e6, Vec::new());
    assert_eq!(phase.mean(&limits(2)), None);
    hold(&mut phase, 2, 20.0, 20);
    assert_eq!(phase.better(&limits(2), same), None);
    hold(&mut phase, 3, 10.0, 20);
    phase.grow(1.1e6, Vec::new());
    hold(&mut phase, 2, 20.0, 20);
    assert_eq!(
        phase.better(&limits(2), same),
        Some((limits(3), 10.0, 20.0))
    );
    phase.grow(1e6, Vec::new());
    assert_eq!(phase.mean(&limits(2)), None, "a tree may shrink as well");
}

/// Measured while the machine was faster, limits look better than they are.
#[test]
fn who_is_called_back_by_a_faster_time_comes_back_for_good() {
    let mut phase = Phase::new(true);
    hold(&mut phase, 1, 10.0, 20);
    hold(&mut phase, 2, 12.0, 6);
    assert_eq!(
        phase.better(&limits(2), same),
        Some((limits(1), 10.0, 12.0))
    );
    let (mut at, mut calls) = (1, 0);
    for _ in 0..400 {
        let cost = if at == 1 { 13.0 } else { 15.6 };
        hold(&mut phase, at, cost, 1);
        if phase.better(&limits(at), same).is_some() {
            (at, calls) = (3 - at, calls + 1);
        }
    }
    assert_eq!(at, 1);
    assert!(calls <= 2, "{calls}");
}

#[test]
fn a_bar_counts_the_missions_under_its_workload() {
    let (level, two) = (LogicalLevel(1), RunLimit::clamped(2));
    let mut phase = Phase::default();
    phase.bars.bar(level, two);
    hold(&mut phase, 1, 10.0, 299);
    let mut later = Phase::default().remembering(&phase.bars.all(), 0);
    assert!(later.bars.stand(level, two));
    hold(&mut later, 1, 10.0, 1);
    assert!(!later.bars.stand(level, two));
}

/// Limits that were left when an operation took 10.0, for others of which 8.0 was promised
/// and that take so long; who goes back, and after how many missions.
fn regret(cost: f64) -> Option<(u32, RunLimits)> {
    let mut phase = Phase::new(true);
    hold(&mut phase, 4, 10.0, 1);
    phase.leave(&limits(4), 10.0, 8.0);
    assert_eq!(phase.unproved(), Some(&limits(4)));
    (1..40).find_map(|at| {
        hold(&mut phase, 2, cost, 1);
        let proved = at >= SETTLING + ENOUGH;
        let (back, costs) = phase.regret(&limits(2), same)?;
        assert!(proved && costs == [10.0, cost, 8.0]);
        assert_eq!(phase.regret(&limits(2), same), None, "it is said once");
        Some((at, back))
    })
}

#[test]
fn limits_that_were_left_unmeasured_are_gone_back_to_where_the_others_prove_worse() {
    assert_eq!(regret(13.0), Some((SETTLING + ENOUGH, limits(4))));
    // It is not what was promised, but may be no worse.
    assert_eq!(regret(11.0), None);
    assert_eq!(regret(8.0), None);
}

#[test]
fn a_tree_that_grows_proves_no_limits() {
    let mut phase = Phase::new(true);
    phase.grow(1e6, Vec::new());
    phase.leave(&limits(4), 10.0, 8.0);
    hold(&mut phase, 2, 20.0, 1);
    phase.grow(2e6, Vec::new());
    hold(&mut phase, 2, 20.0, 20);
    assert_eq!(phase.regret(&limits(2), same), None, "of another tree");
    assert_eq!(phase.unproved(), Some(&limits(4)));
    hold(&mut phase, 2, 20.0, 60);
    assert_eq!(phase.unproved(), None, "it is too long ago");
}

#[test]
fn what_came_as_it_was_promised_is_no_regret_though_less_was_believed_before() {
    let mut phase = Phase::new(true);
    phase.leave(&limits(4), 10.0, 14.0);
    hold(&mut phase, 2, 14.0, 20);
    assert_eq!(phase.regret(&limits(2), same), None);
    assert_eq!(phase.unproved(), None, "they were measured");
    hold(&mut phase, 2, 20.0, 40);
    assert_eq!(phase.regret(&limits(2), same), None, "it is too long ago");
}

#[test]
fn who_is_back_regrets_nothing() {
    let mut phase = Phase::new(true);
    phase.leave(&limits(4), 10.0, 8.0);
    hold(&mut phase, 4, 20.0, 10);
    assert_eq!(phase.regret(&limits(4), same), None);
    hold(&mut phase, 2, 20.0, 10);
    assert_eq!(phase.regret(&limits(2), same), None, "it is forgotten");
}

#[test]
fn a_difference_within_the_spread_is_none() {
    let worse_than_noise = |by_spread: bool| {
        let mut phase = Phase::new(by_spread);
        for limit in [1u16, 2] {
            // Means of 10.0 and 11.0, where missions differ by as much as 8.
            for at in 0..10 {
                let swing = if at % 2 == 0 { 4.0 } else { -4.0 };
                let cost = 9.0 + f64::from(limit) + swing;
                phase.record(&limits(limit), Some(cost), 0);
            }
        }
        phase.better(&limits(2), same).is_some()
    };
    assert!(worse_than_noise(false) && !worse_than_noise(true));
    let mut even = Phase::new(true);
    hold(&mut even, 1, 10.0, 20);
    hold(&mut even, 2, 11.0, 20);
    assert!(even.better(&limits(2), same).is_some());
}

/// Limits of one run in every level, of these where they differ.
fn other_limits(levels: &[u16]) -> RunLimits {
    let mut other = limits(1);
    for level in levels {
        other.set(LogicalLevel(*level), RunLimit::clamped(2));
    }
    other
}

/// Level 1 takes 100 bytes at once, level 2 takes 400; ten are flushed in a mission. Missions
/// until limits that differ in these levels are called back to those that held so long before.
fn called_back_after(levels: &[u16], held: u32) -> Option<u32> {
    let (mut phase, other) = (Phase::new(true), other_limits(levels));
    phase.grow(1e6, vec![100.0, 400.0]);
    for _ in 0..held {
        phase.record(&limits(1), Some(10.0), 10);
    }
    (1..200).find(|_| {
        phase.record(&other, Some(20.0), 10);
        phase.better(&other, same).is_some()
    })
}

#[test]
fn limits_are_compared_once_something_has_come_into_a_level_in_which_they_differ() {
    let enough = SETTLING + ENOUGH;
    for held in [enough, 200] {
        assert_eq!(called_back_after(&[1], held), Some(10));
        assert_eq!(called_back_after(&[2], held), Some(40));
        assert_eq!(called_back_after(&[1, 2], held), Some(10));
        assert_eq!(
            called_back_after(&[3], held),
            Some(enough),
            "there is no such level"
        );
    }
    assert_eq!(called_back_after(&[1], enough - 1), None, "not measured");
}

/// Ten bytes a mission, of 4,000 that come into level 1 at once.
#[test]
fn where_little_is_flushed_measurements_stay_recent_until_others_could_be_measured() {
    let mut phase = Phase::new(true);
    phase.grow(1e6, vec![4_000.0]);
    hold(&mut phase, 1, 10.0, 20);
    phase.leave(&limits(1), 10.0, 9.0);
    let called = |phase: &Phase| phase.better(&limits(2), same).is_some();
    for at in 1..=400 {
        assert!(!called(&phase), "{at}");
        assert_eq!(phase.regret(&limits(2), same), None);
        phase.record(&limits(2), Some(20.0), 10);
    }
    assert!(called(&phase));
    let (back, costs) = phase.regret(&limits(2), same).expect("it is worse");
    assert_eq!((back, costs), (limits(1), [10.0, 20.0, 9.0]));
    for _ in 0..400 {
        phase.record(&limits(2), Some(20.0), 20);
    }
    assert!(!called(&phase), "two inflows later it is too long ago");
}

/// What runs will meet later stands for or against limits like what they took, by today's word.
#[test]
fn limits_are_compared_by_what_their_runs_will_meet_too() {
    let mut phase = Phase::new(true);
    hold(&mut phase, 10, 10.0, 20);
    hold(&mut phase, 1, 12.0, 20);
    let later = |of_ten: f64| {
        let ten = limits(10);
        move |limits: &RunLimits| if limits.is_same(&ten) { of_ten } else { 0.0 }
    };
    let back = |of_ten: f64| phase.better(&limits(1), later(of_ten)).map(|it| it.0);
    assert_eq!(back(0.0), Some(limits(10)));
    assert_eq!(back(5.0), None, "it takes longer for a reason");
    assert_eq!(back(-100.0), Some(limits(10)), "however much later counts");
    let clearly = |of_ten: f64| phase.clearly(&limits(1), &limits(10), WORSE, later(of_ten));
    assert!(
        !clearly(3.0) && clearly(6.0),
        "the model may be wrong by half"
    );
}

#[test]
fn limits_are_the_same_however_they_are_spelled() {
    let mut long = limits(4);
    long.set(LogicalLevel(3), RunLimit::clamped(4));
    assert!(long.is_same(&limits(4)));
    let mut phase = Phase::default();
    phase.record(&limits(4), Some(1.0), 0);
    phase.record(&long, Some(1.0), 0);
    assert_eq!(phase.held, 2);
}
