//! What happens in the first missions of another workload.

use super::machine::{MACHINE, uniform};
use super::*;
use crate::shape::RunLimit;

const WRITES: f64 = 0.05;
const READS: f64 = 0.95;

/// A learner that has found what serves writes, and that.
fn of_writes(exploration: f64) -> (Learned, RunLimits) {
    let mut tuner = Learned::new(exploration);
    let limits = MACHINE.fly(&mut tuner, &uniform(1), WRITES, 120);
    assert!(limits.get(LogicalLevel(1)).get() > 3, "{limits}");
    (tuner, limits)
}

/// Until the last step of the way to lower limits, what is surplus at its end is surplus.
#[test]
fn what_is_too_much_at_the_end_of_a_march_is_merged_on_the_way() {
    let (mut tuner, mut limits) = of_writes(0.0);
    let mut on_the_way = 0;
    for _ in 0..20 {
        let trial = MACHINE.ask(&mut tuner, &limits, READS);
        let above = trial.limits.get(LogicalLevel(1)).get() > 1;
        let merges = trial.merges();
        let first = merges.filter(|it| it.level == LogicalLevel(1)).count();
        on_the_way += usize::from(above && !trial.changes.is_empty()) * first;
        limits = trial.limits;
    }
    assert_eq!(limits.get(LogicalLevel(1)).get(), 1, "it came to the end");
    assert!(on_the_way > 0);
}

/// Limits that reads wanted say nothing of what writes do.
#[test]
fn where_the_last_march_led_is_forgotten_with_its_workload() {
    let mut tuner = Learned::new(0.0);
    // Too few missions for it to march before it has measured.
    let limits = MACHINE.fly(&mut tuner, &uniform(5), READS, 20);
    assert_eq!(limits.get(LogicalLevel(1)).get(), 1, "{limits}");
    let first = |tuner: &Learned| {
        tuner
            .march
            .as_ref()
            .map(|march| march.end.get(LogicalLevel(1)))
    };
    assert_eq!(first(&tuner), Some(RunLimit::ONE), "the end of its march");
    MACHINE.fly(&mut tuner, &limits, WRITES, OTHER);
    assert_ne!(first(&tuner), Some(RunLimit::ONE));
}

/// The trial is undone with the mission that shows the change, and the march begins with
/// the next one.
#[test]
fn a_trial_that_ends_with_its_workload_holds_no_march_up() {
    let (mut tuner, mut limits) = of_writes(EXPLORATION);
    for _ in 0..400 {
        if tuner.tried.is_some() {
            break;
        }
        limits = MACHINE.fly(&mut tuner, &limits, WRITES, 1);
    }
    assert!(tuner.tried.is_some(), "no trial in 400 missions");
    let reasons = MACHINE.watch(&mut tuner, &mut limits, READS, OTHER + 1);
    let [undone, step] = &reasons[..] else {
        panic!("{reasons:?}");
    };
    assert!(undone.contains("changed during a trial"), "{undone}");
    assert!(step.contains("at the march's end"), "{step}");
}
