//! Back from limits that were gone to before those before them had been measured.

use super::machine::{ALONE, MachineOfTests, uniform};
use super::*;
use crate::shape::RunLimit;

/// More than one run in level 1 makes each write take 300 µs longer, four times as long as
/// an operation takes, which the model does not know.
const CLIFF: MachineOfTests = MachineOfTests {
    cliff: 300e-6,
    ..ALONE
};

/// Writes, and mostly reads.
const WRITES: f64 = 0.05;
const READS: f64 = 0.95;

fn is_regret(why: &str) -> bool {
    why.contains("which were left unmeasured")
}

/// A learner that knows what operations take, and the limits at which reads have left it.
fn after_reads() -> (Learned, RunLimits) {
    let mut tuner = Learned::new(0.0);
    let limits = ALONE.fly(&mut tuner, &uniform(1), READS, 60);
    assert!(limits.is_same(&uniform(1)), "{limits}");
    (tuner, limits)
}

#[test]
fn a_march_that_began_unmeasured_and_proved_worse_is_called_back_once() {
    let (mut tuner, left) = after_reads();
    let mut limits = left.clone();
    let began = CLIFF.watch(&mut tuner, &mut limits, WRITES, OTHER);
    assert_eq!(began.len(), 1, "{began:?}");
    assert_eq!(tuner.phase.unproved(), Some(&left));
    let called = (0..40).find_map(|_| {
        let mut reasons = CLIFF.watch(&mut tuner, &mut limits, WRITES, 1);
        reasons.pop().filter(|why| is_regret(why))
    });
    assert!(limits.is_same(&left), "{limits}: {called:?}");
    assert!(called.is_some());
    // From here on all is measured, and no way is gone twice.
    let mut astray = 0;
    for _ in 0..200 {
        let reasons = CLIFF.watch(&mut tuner, &mut limits, WRITES, 1);
        assert!(!reasons.iter().any(|why| is_regret(why)), "{reasons:?}");
        astray += usize::from(limits.get(LogicalLevel(1)).get() > 1);
    }
    assert!(astray < 80, "{astray}");
}

#[test]
fn without_guardrails_nothing_is_called_back() {
    let learning = Learning::parse("-without-guardrails", |_| Err("none".into()));
    let mut tuner = Learned::with(Allowance::exploring(0.0), learning.expect("a part"));
    let mut limits = ALONE.fly(&mut tuner, &uniform(1), READS, 60);
    let reasons = CLIFF.watch(&mut tuner, &mut limits, WRITES, 60);
    assert!(!reasons.is_empty() && !reasons.iter().any(|why| is_regret(why)));
    assert_eq!(tuner.phase.unproved(), None);
}

#[test]
fn a_march_that_comes_out_as_foretold_is_not_called_back() {
    let (mut tuner, left) = after_reads();
    let mut limits = left.clone();
    ALONE.watch(&mut tuner, &mut limits, WRITES, OTHER);
    assert_eq!(tuner.phase.unproved(), Some(&left));
    let reasons = ALONE.watch(&mut tuner, &mut limits, WRITES, 60);
    assert!(!reasons.iter().any(|why| is_regret(why)), "{reasons:?}");
    assert_eq!(tuner.phase.unproved(), None, "it has proved itself");
    let reached = ALONE.cost(&limits, WRITES) / ALONE.best(WRITES);
    assert!(reached < 1.1, "{limits}: {reached}");
}

/// Everything takes twice as long with the new workload: all that is gone to is slower than
/// what the model knew of the limits before.
#[test]
fn a_device_that_gets_slow_calls_nobody_back() {
    let slow = MachineOfTests {
        slower: 2.0,
        ..ALONE
    };
    let (mut tuner, left) = after_reads();
    let mut limits = left.clone();
    let mixed = 0.3;
    slow.watch(&mut tuner, &mut limits, mixed, OTHER);
    assert_eq!(tuner.phase.unproved(), Some(&left));
    let reasons = slow.watch(&mut tuner, &mut limits, mixed, 60);
    assert!(!reasons.iter().any(|why| is_regret(why)), "{reasons:?}");
    let gained = slow.cost(&limits, mixed) / slow.cost(&left, mixed);
    assert!(gained < 0.95, "{limits}: {gained}");
    let known = ALONE.cost(&left, mixed);
    assert!(slow.cost(&limits, mixed) > known, "slower than was known");
}

/// The keys are others now, so that they suit these limits no more.
#[test]
fn remembered_limits_that_serve_no_more_are_left_again() {
    let (mut tuner, reads) = after_reads();
    let mut limits = reads.clone();
    ALONE.watch(&mut tuner, &mut limits, WRITES, 60);
    let served = limits.clone();
    assert!(served.get(LogicalLevel(1)) > RunLimit::ONE, "{served}");
    ALONE.watch(&mut tuner, &mut limits, READS, 60);
    assert!(limits.is_same(&reads), "{limits}");

    let reasons = CLIFF.watch(&mut tuner, &mut limits, WRITES, OTHER);
    assert!(limits.is_same(&served), "{limits}");
    assert!(reasons[0].contains("it served this workload"));
    let reasons = CLIFF.watch(&mut tuner, &mut limits, WRITES, 6);
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    assert!(is_regret(&reasons[0]), "{reasons:?}");
    assert!(limits.is_same(&reads), "{limits}");
}

#[test]
fn remembered_limits_that_serve_as_before_are_kept() {
    let (mut tuner, mut limits) = after_reads();
    for _ in 0..3 {
        for read_share in [WRITES, READS] {
            let reasons = ALONE.watch(&mut tuner, &mut limits, read_share, 40);
            assert!(!reasons.iter().any(|why| is_regret(why)), "{reasons:?}");
        }
    }
}

/// Whether this is said as the end of a trial.
fn is_end_of_trial(why: &str) -> bool {
    why.contains("the trial took") || why.contains("could not be measured")
}

/// Pinned while its trial goes on, and longer than the trial.
#[test]
fn a_trial_that_ends_under_a_pin_is_taken_back_after_it() {
    let mut tuner = Learned::new(0.5);
    let mut limits = MACHINE.fly(&mut tuner, &uniform(1), 0.5, 60);
    let mut before = limits.clone();
    let tried = (0..400).any(|_| {
        before = limits.clone();
        let reasons = MACHINE.watch(&mut tuner, &mut limits, 0.5, 1);
        reasons.iter().any(|why| why.contains(": a trial of"))
    });
    assert!(tried, "there are trials");
    MACHINE.hold(&mut tuner, &limits, 0.5, 60);
    let kept = tuner.state();
    let reasons = MACHINE.watch(&mut tuner, &mut limits, 0.5, 1);
    assert!(
        limits.is_same(&before),
        "{limits} instead of {before}: {reasons:?}"
    );
    assert!(is_end_of_trial(&reasons[0]), "{reasons:?}");
    assert!(tuner.owed.is_some(), "until it is seen to be gone");
    MACHINE.watch(&mut tuner, &mut limits, 0.5, 1);
    assert!(tuner.owed.is_none());

    // The store may be closed under the pin as well.
    let mut again = Learned::new(0.0);
    again.restore(&kept).expect("its own state");
    let tried = again.unproved.clone().expect("limits that are not proved");
    MACHINE.hold(&mut again, &tried, 0.5, 3);
    assert!(MACHINE.fly(&mut again, &tried, 0.5, 1).is_same(&before));
}
