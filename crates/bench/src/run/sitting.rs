//! How long a sitting may take, and whether one more arm ends within it.

use std::time::{Duration, Instant, SystemTime};

use super::plan::RunPlan;
use super::record::ArmRun;
use super::results::Results;
use crate::arms::ArmName;

/// An arm that ran in an earlier sitting took so many times what its record says: that does
/// not tell how long the arm settled before it was measured, how long its load was copied, or
/// how long all of it was read at the end.
const UNRECORDED: f64 = 1.1;

/// The time since a run began or went on.
pub(super) struct Sitting {
    begun: Instant,
    /// The same in seconds since 1970.
    number: u64,
    /// Arms that ran in it.
    took: Vec<(ArmName, f64)>,
}

impl Sitting {
    pub(super) fn begin() -> Self {
        let since_1970 = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        Self {
            begun: Instant::now(),
            number: since_1970.as_secs(),
            took: Vec::new(),
        }
    }

    /// What tells it from other sittings.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether `arm` is expected to end in the time that `plan` allows.
    pub(super) fn has_time_for(&self, arm: &ArmName, plan: &RunPlan, results: &Results) -> bool {
        let Some(until) = plan.until else {
            return true;
        };
        let earlier = results.runs.iter().map(|it| (it.arm.clone(), recorded(it)));
        let took: Vec<_> = self.took.iter().cloned().chain(earlier).collect();
        let seconds = expected(arm, &took).unwrap_or_else(|| offered_seconds(plan));
        self.begun.elapsed().as_secs_f64() + seconds < until.as_secs_f64()
    }

    /// An arm ran from `begun` until now.
    pub(super) fn note(&mut self, arm: &ArmName, begun: Instant) {
        let took: Duration = begun.elapsed();
        self.took.push((arm.clone(), took.as_secs_f64()));
    }
}

/// The longest time that this arm took, or any arm if this one has not run.
fn expected(arm: &ArmName, took: &[(ArmName, f64)]) -> Option<f64> {
    let longest = |wanted: &dyn Fn(&ArmName) -> bool| {
        let own = took.iter().filter(|(name, _)| wanted(name));
        own.map(|(_, seconds)| *seconds).max_by(f64::total_cmp)
    };
    longest(&|name| name == arm).or_else(|| longest(&|_| true))
}

fn recorded(run: &ArmRun) -> f64 {
    let sessions: f64 = run.sessions.iter().map(|it| it.seconds).sum();
    let settled = run.totals.settle_seconds.unwrap_or(0.0);
    UNRECORDED * (run.load.seconds + sessions + settled)
}

/// What is known before any arm has run: how long operations become due.
fn offered_seconds(plan: &RunPlan) -> f64 {
    let entries = plan.workload.entries;
    let sessions = plan.workload.sessions.iter();
    sessions
        .filter_map(|session| session.offered_seconds(entries))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_takes_as_long_as_it_took_or_as_the_slowest() {
        let name = |text: &str| text.parse::<ArmName>().unwrap();
        let took = [
            (name("fixed-1"), 30.0),
            (name("fixed-4"), 50.0),
            (name("fixed-1"), 40.0),
        ];
        assert_eq!(expected(&name("fixed-1"), &took), Some(40.0));
        assert_eq!(expected(&name("fixed-9"), &took), Some(50.0));
        assert_eq!(expected(&name("fixed-9"), &[]), None);
    }
}
