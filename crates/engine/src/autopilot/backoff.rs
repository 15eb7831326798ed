//! When to try again. A look again comes before every retry; waiting keeps it
//! from spinning.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use lissom_core::{PhysicalLevel, Plan};

/// After this many failures of one plan its inputs are left alone; so is a file that
/// could not be read as often.
const MOST_ATTEMPTS: u32 = 5;

/// Waiting times of one column family.
#[derive(Debug, Default)]
pub(super) struct BackOff {
    /// Outcomes in a row after which nothing had changed.
    in_vain: u32,
    until: Option<Instant>,
    failures: HashMap<Name, u32>,
    /// How often a file could not be read, by its number.
    refusals: HashMap<u64, u32>,
}

/// What makes a plan the same plan.
type Name = (PhysicalLevel, BTreeSet<u64>);

fn name(plan: &Plan) -> Name {
    (plan.output, plan.files().collect())
}

impl BackOff {
    pub(super) fn succeeded(&mut self, plan: &Plan) {
        self.failures.remove(&name(plan));
        self.refusals
            .retain(|file, _| plan.files().all(|input| input != *file));
        self.in_vain = 0;
        self.until = None;
    }

    /// The tree had changed, or somebody cancelled: 5 ms, doubled each time, at
    /// most a second.
    pub(super) fn postponed(&mut self, now: Instant) {
        self.wait(now, Duration::from_millis(5), Duration::from_secs(1));
    }

    /// It failed: half a second, doubled each time, at most a minute. True when
    /// this plan has used up its attempts.
    pub(super) fn failed(&mut self, plan: &Plan, now: Instant) -> bool {
        self.wait(now, Duration::from_millis(500), Duration::from_secs(60));
        let failures = self.failures.entry(name(plan)).or_default();
        *failures += 1;
        *failures >= MOST_ATTEMPTS
    }

    /// A file could not be read, which may pass. True when it has used up its attempts;
    /// they are then counted anew.
    pub(super) fn refused(&mut self, file: u64) -> bool {
        let refusals = self.refusals.entry(file).or_default();
        *refusals += 1;
        let used_up = *refusals >= MOST_ATTEMPTS;
        if used_up {
            self.refusals.remove(&file);
        }
        used_up
    }

    fn wait(&mut self, now: Instant, first: Duration, most: Duration) {
        let doubled = first.saturating_mul(1 << self.in_vain.min(16));
        self.in_vain += 1;
        self.until = Some(now + doubled.min(most));
    }

    /// How long nothing should be started; `None` when something may.
    pub(super) fn remaining(&self, now: Instant) -> Option<Duration> {
        self.until
            .map(|until| until.saturating_duration_since(now))
            .filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_core::{Key, PlanKind, Reason, plan::Input};

    fn plan(file: u64) -> Plan {
        Plan {
            kind: PlanKind::Merge,
            inputs: vec![Input {
                level: PhysicalLevel::L0,
                files: vec![file],
            }],
            output: PhysicalLevel(2),
            output_file_size: 1,
            range: (Key::from("a"), Key::from("b")),
            input_bytes: 1,
            drain: None,
            excess: None,
            reason: Reason::Manual,
        }
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
    fn one_plan_is_given_up_after_its_attempts() {
        let now = Instant::now();
        let mut back_off = BackOff::default();
        let given_up: Vec<bool> = (0..5).map(|_| back_off.failed(&plan(1), now)).collect();
        assert_eq!(given_up, [false, false, false, false, true]);
        assert!(!back_off.failed(&plan(2), now));
    }

    /// Whatever plans it was part of.
    #[test]
    fn one_file_is_given_up_after_its_attempts() {
        let mut back_off = BackOff::default();
        let given_up: Vec<bool> = (0..6).map(|_| back_off.refused(7)).collect();
        assert_eq!(given_up, [false, false, false, false, true, false]);
        assert!(!back_off.refused(8));
        back_off.succeeded(&plan(7));
        assert!((0..4).all(|_| !back_off.refused(7)), "counted anew");
    }
}
