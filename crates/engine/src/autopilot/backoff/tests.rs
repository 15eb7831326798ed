use lissom_core::Tree;
use lissom_core::testing::numbered_files;

use super::*;
use crate::autopilot::testing::merge_of;

fn plan(file: u64) -> Plan {
    merge_of(PhysicalLevel::L0, vec![file])
}

#[test]
fn waiting_doubles_up_to_a_bound_and_success_ends_it() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    assert_eq!(back_off.remaining(now), None);
    back_off.postponed(now);
    assert_eq!(back_off.remaining(now), Some(Duration::from_millis(5)));
    back_off.postponed(now);
    assert_eq!(back_off.remaining(now), Some(Duration::from_millis(10)));
    for _ in 0..40 {
        back_off.postponed(now);
    }
    assert_eq!(back_off.remaining(now), Some(Duration::from_secs(1)));
    back_off.succeeded(&plan(1));
    assert_eq!(back_off.remaining(now), None);
}

#[test]
fn what_was_put_off_lengthens_no_rest_and_ends_none() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    for _ in 0..20 {
        back_off.postponed(now);
    }
    let later = now + Duration::from_secs(1);
    assert_eq!(back_off.remaining(later), None);
    back_off.failed(&plan(1), later);
    assert_eq!(back_off.waits_until(&plan(3)), Some(later + REST.first));
    back_off.failed(&plan(2), later);
    back_off.postponed(later);
    assert_eq!(back_off.waits_until(&plan(3)), Some(later + 2 * REST.first));
}

#[test]
fn what_fails_below_holds_up_no_merge_of_l0_nor_the_other_way_round() {
    let now = Instant::now();
    let deep = |file| merge_of(PhysicalLevel(17), vec![file]);
    let mut back_off = BackOff::default();
    for _ in 0..8 {
        back_off.failed(&deep(1), now);
    }
    assert_eq!(back_off.waits_until(&deep(2)), Some(now + REST.longest));
    assert_eq!(back_off.remaining(now), None);
    assert!(!back_off.waits(&plan(3), now));
    back_off.failed(&plan(3), now);
    assert!(back_off.waits(&plan(4), now) && !back_off.waits(&plan(4), now + REST.first));
    back_off.succeeded(&plan(4));
    assert!(!back_off.waits(&deep(2), now) && back_off.waits(&deep(1), now));
}

/// Each failed merge of L0 has other inputs than the one before.
#[test]
fn what_failed_long_ago_is_forgotten() {
    let mut now = Instant::now();
    let mut back_off = BackOff::default();
    for file in 0..1_000 {
        back_off.failed(&plan(file), now);
        back_off.refused(file, now);
        now += Duration::from_secs(60);
    }
    assert!(back_off.failures.len() <= 122 && back_off.refusals.len() <= 122);
    assert!(
        back_off.failures.len() >= 120,
        "of the last two hours it knows"
    );
}

#[test]
fn one_plan_is_given_up_after_its_attempts() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    let given_up: Vec<bool> = (0..5).map(|_| back_off.failed(&plan(1), now)).collect();
    assert_eq!(given_up, [false, false, false, false, true]);
    assert!(!back_off.failed(&plan(2), now));
}

/// Whether a plan has failed that comes out stale.
fn fails(back_off: &mut BackOff, file: u64, around: u64, at: Instant) -> bool {
    let why = "refused".to_owned();
    match back_off.judge(&plan(file), Some(around), Outcome::Stale { why }, at) {
        Outcome::Failed { error } => error.ends_with(": refused"),
        _ => false,
    }
}

#[test]
fn a_plan_that_stays_stale_while_nothing_changes_has_failed() {
    let begun = Instant::now();
    let after = |tenths: u32| begun + Duration::from_millis(100) * tenths;
    let mut back_off = BackOff::default();
    for tenths in 0..100 {
        // Two by turns, as two workers have them.
        assert!(!fails(&mut back_off, 1, 7, after(tenths)), "{tenths}");
        assert!(!fails(&mut back_off, 2, 7, after(tenths)), "{tenths}");
    }
    assert!(fails(&mut back_off, 1, 7, after(100)));
    assert!(fails(&mut back_off, 1, 7, after(101)), "and each time on");
    assert!(!fails(&mut back_off, 2, 8, after(100)), "another tree");
    back_off.succeeded(&plan(1));
    assert!(!fails(&mut back_off, 1, 7, after(102)), "counted anew");
    assert!(!fails(&mut back_off, 3, 7, after(0)));
    let twice = fails(&mut back_off, 3, 7, after(500));
    assert!(!twice, "that is not often");
}

#[test]
fn a_plan_that_stays_stale_holds_others_up_no_longer_than_one_that_fails() {
    let begun = Instant::now();
    let mut back_off = BackOff::default();
    for second in 0..30 {
        let now = begun + Duration::from_secs(second);
        if fails(&mut back_off, 1, 7, now) {
            back_off.failed(&plan(1), now);
            assert_eq!(back_off.waits_until(&plan(2)), Some(now + REST.first));
            assert!(fails(&mut back_off, 1, 7, now));
            back_off.failed(&plan(1), now);
            assert_eq!(back_off.waits_until(&plan(2)), Some(now + REST.first));
            return;
        }
        back_off.postponed(now);
    }
    panic!("it never failed");
}

#[test]
fn other_outcomes_stay_what_they_are_and_few_stale_plans_are_kept() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    let cancelled = back_off.judge(&plan(1), Some(7), Outcome::Cancelled, now);
    assert_eq!(cancelled, Outcome::Cancelled);
    for file in 0..1_000 {
        assert!(!fails(&mut back_off, file, 7, now));
    }
    assert_eq!(back_off.stale.0.len(), stale::KEPT);
}

#[test]
fn surroundings_are_asked_for_from_the_second_time_on() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    assert!(!back_off.came_out_stale(&plan(1)));
    let why = "refused".to_owned();
    back_off.judge(&plan(1), None, Outcome::Stale { why }, now);
    assert!(back_off.came_out_stale(&plan(1)) && !back_off.came_out_stale(&plan(2)));
    back_off.succeeded(&plan(1));
    assert!(!back_off.came_out_stale(&plan(1)));
}

#[test]
fn only_flushes_leave_a_plans_surroundings_as_they_are() {
    let around = |level0: u64, target: u64, below: u64| {
        let [level0, target, below] = [level0, target, below].map(numbered_files);
        let tree = Tree::new(vec![level0, Vec::new(), target, below]).expect("legal");
        surroundings(&tree, &plan(1))
    };
    assert_eq!(around(1, 3, 3), around(2, 3, 3));
    assert_eq!(around(1, 3, 3), around(1, 3, 4), "below its output");
    assert_ne!(around(1, 3, 3), around(1, 4, 3));
}

/// Whatever plans it was part of.
#[test]
fn one_file_is_given_up_after_its_attempts() {
    let now = Instant::now();
    let mut back_off = BackOff::default();
    let given_up: Vec<bool> = (0..6).map(|_| back_off.refused(7, now)).collect();
    assert_eq!(given_up, [false, false, false, false, true, false]);
    assert!(!back_off.refused(8, now));
    back_off.succeeded(&plan(7));
    assert!((0..4).all(|_| !back_off.refused(7, now)), "counted anew");
}

#[test]
fn what_fails_rests_whatever_succeeds_elsewhere() {
    let mut at = Instant::now();
    let mut back_off = BackOff::default();
    for millis in [500, 1_000, 2_000, 4_000] {
        assert!(!back_off.failed(&plan(1), at));
        assert!(!back_off.refused(3, at));
        back_off.succeeded(&plan(2));
        assert_eq!(back_off.remaining(at), None, "others go on");
        assert_eq!(back_off.waits_until(&plan(2)), None);
        at += Duration::from_millis(millis);
        assert_eq!(back_off.rests_until(&plan(1)), Some(at));
        let other = merge_of(PhysicalLevel::L0, vec![3, 4]);
        assert_eq!(back_off.rests_until(&other), Some(at), "a file of its");
    }
    assert!(back_off.failed(&plan(1), at));
    back_off.succeeded(&plan(1));
    assert_eq!(back_off.rests_until(&plan(1)), None);
}
