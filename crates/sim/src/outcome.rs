//! What came of a scenario.

use lissom_core::schedule::Order;
use lissom_core::shape::RunLimits;
use serde::{Deserialize, Serialize};

/// A second with less of its offered operations done is a dip.
const CARRIED: f64 = 0.95;

/// Seconds whose throughput is kept: a day.
const KEPT: usize = 86_400;

/// Throughput against an offered rate, over the whole seconds of a session.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Offered {
    /// Whole seconds.
    pub seconds: u64,
    /// Seconds in which under 95 % of what fell due was done.
    pub dips: u64,
    /// Least share of what fell due that a second saw done, at most 1.
    pub slowest: f64,
    /// Operations done in each second, of the first day.
    pub throughput: Vec<f64>,
}

impl Default for Offered {
    /// No second yet, so that none was slow.
    fn default() -> Offered {
        Offered {
            seconds: 0,
            dips: 0,
            slowest: 1.0,
            throughput: Vec::new(),
        }
    }
}

impl Offered {
    /// A second is over in which so many operations were done of those that fell due.
    pub(crate) fn note(&mut self, done: f64, due: f64) {
        let share = if due > 0.0 { done / due } else { 1.0 };
        self.seconds += 1;
        self.dips += u64::from(share < CARRIED);
        self.slowest = self.slowest.min(share);
        if self.throughput.len() < KEPT {
            self.throughput.push(done);
        }
    }
}

/// What a logical level cost in a session. L0 counts for level 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct LevelCost {
    /// Block reads from the device for gets and scans.
    pub block_reads: f64,
    /// Filters that gets asked.
    pub filter_probes: f64,
    /// Those that let a get pass though their run had not the key.
    pub false_positives: f64,
    /// Seconds of merges into it that ended in the session, summed over workers.
    pub merge_seconds: f64,
    /// Bytes of its files that those and merges into other levels read.
    pub merge_read_bytes: f64,
    /// Bytes that merges wrote into it.
    pub merge_write_bytes: f64,
}

/// One session.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SessionOutcome {
    /// Its name.
    pub name: String,
    /// Virtual time it took, seconds.
    pub seconds: f64,
    /// Operations.
    pub operations: f64,
    /// Bytes that users wrote.
    pub user_bytes: f64,
    /// Bytes that flushes wrote.
    pub flush_bytes: f64,
    /// Bytes that compactions wrote.
    pub compaction_bytes: f64,
    /// Seconds that writers were held back.
    pub stall: f64,
    /// The longest time for which writers were slowed down or stopped without a break,
    /// seconds.
    #[serde(default)]
    pub longest_held_back: f64,
    /// The most files in L0.
    #[serde(default)]
    pub peak_level0_files: usize,
    /// The most bytes in L0.
    #[serde(default)]
    pub peak_level0_bytes: f64,
    /// The most bytes that flushes and compactions read and wrote within one second.
    #[serde(default)]
    pub busiest_second: f64,
    /// Throughput against the offered rate; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// Mean time of a get, seconds; 0 without any.
    pub get: f64,
    /// Mean time of a scan.
    pub scan: f64,
    /// Block reads from the device, for each operation.
    pub block_reads: f64,
    /// What each level cost, level 1 first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_level: Vec<LevelCost>,
    /// Missions that ended in it; after each of them the tuner was asked.
    #[serde(default)]
    pub missions: u64,
    /// Steps of learning that its tuner took in it, as
    /// [`Tuner::steps`](lissom_core::tuner::Tuner::steps) counts them; 0 of one that does
    /// not learn.
    #[serde(default)]
    pub steps: u64,
    /// Operations and seconds of the session when each of its missions ended, and at its own
    /// end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub course: Vec<(f64, f64)>,
    /// Sorted runs at its end.
    pub runs: usize,
    /// Bytes in the tree over bytes of what exists, at its end.
    pub space: f64,
    /// The run limits at its end, level 1 first, the last for all deeper ones.
    pub limits: String,
    /// The deepest level that holds a run at its end; 0 without any.
    #[serde(default)]
    pub levels: u16,
}

impl SessionOutcome {
    /// (flushed + compacted) / written by users; 0 without writes.
    pub fn write_amplification(&self) -> f64 {
        if self.user_bytes > 0.0 {
            (self.flush_bytes + self.compaction_bytes) / self.user_bytes
        } else {
            0.0
        }
    }
}

/// A change of the run limits, or what is said of merges: that they begin, end early or wait.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// Virtual time since the first session began, seconds.
    pub at: f64,
    /// The mission after which it was made.
    pub mission: u64,
    /// Index of the session.
    pub session: usize,
    /// The limits from then on.
    pub limits: String,
    /// Why, as the tuner says.
    pub why: Vec<String>,
}

/// A decision that changed the run limits.
#[derive(Clone, PartialEq, Debug)]
pub struct LimitChange<'a> {
    /// The limits before; absent where nobody tells.
    pub before: Option<String>,
    /// The limits from then on, when and why.
    pub decision: &'a Decision,
}

/// Run limits in force, and from when on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HeldLimits {
    /// Virtual time since the first session began, seconds.
    pub at: f64,
    /// Index of the session.
    pub session: usize,
    /// Operations of the session until then.
    pub operations: f64,
    /// The limits of all levels.
    pub limits: RunLimits,
}

/// An order of the schedule that differs from the one before by more than its rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ordered {
    /// Virtual time since the first session began, seconds.
    pub at: f64,
    /// Index of the session.
    pub session: usize,
    /// The order, bounds on debt included.
    pub order: Order,
}

/// All sessions.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// In order.
    pub sessions: Vec<SessionOutcome>,
    /// What the tuner decided.
    pub decisions: Vec<Decision>,
    /// The run limits over time: those that each session began with, and every change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldLimits>,
    /// What the schedule ordered; empty for `eager`.
    #[serde(default)]
    pub orders: Vec<Ordered>,
    /// Missions.
    pub missions: u64,
    /// The most bytes in the tree over bytes of what exists.
    pub peak_space: f64,
    /// The most input bytes of one merge.
    pub largest_merge: f64,
}

impl Outcome {
    /// The decisions that changed the limits, in their order; levels that are only merged
    /// change none.
    pub fn limit_changes(&self) -> Vec<LimitChange<'_>> {
        let mut held = self.held.first().map(|it| it.limits.to_string());
        let mut changes = Vec::new();
        for decision in &self.decisions {
            let before = held.replace(decision.limits.clone());
            if before.as_ref() != Some(&decision.limits) {
                changes.push(LimitChange { before, decision });
            }
        }
        changes
    }

    /// How often the limits changed in a session, and its missions until they no
    /// longer did.
    pub fn changes(&self, session: usize) -> (usize, u64) {
        let before: u64 = self.sessions[..session].iter().map(|it| it.missions).sum();
        let decisions = self.limit_changes().into_iter().map(|it| it.decision);
        let own = decisions.filter(|it| it.session == session);
        own.fold((0, 0), |(count, _), it| (count + 1, it.mission - before))
    }

    /// Virtual time of all sessions, seconds.
    pub fn seconds(&self) -> f64 {
        self.sessions.iter().map(|session| session.seconds).sum()
    }

    /// Over all sessions.
    pub fn write_amplification(&self) -> f64 {
        let sum = |of: fn(&SessionOutcome) -> f64| self.sessions.iter().map(of).sum::<f64>();
        let written = sum(|it| it.flush_bytes + it.compaction_bytes);
        let user = sum(|it| it.user_bytes);
        if user > 0.0 { written / user } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::shape::RunLimit;

    use super::*;

    #[test]
    fn a_decision_that_only_merges_changes_no_limits() {
        let decision = |mission: u64, session: usize, limits: &str| Decision {
            at: mission as f64,
            mission,
            session,
            limits: limits.into(),
            why: Vec::new(),
        };
        let sessions = [3, 5].map(|missions| SessionOutcome {
            missions,
            ..SessionOutcome::default()
        });
        let held = HeldLimits {
            at: 0.0,
            session: 0,
            operations: 0.0,
            limits: RunLimits::uniform(RunLimit::clamped(4)),
        };
        let outcome = Outcome {
            sessions: sessions.to_vec(),
            held: vec![held],
            decisions: vec![
                decision(1, 0, "4"),
                decision(2, 0, "3,4"),
                decision(5, 1, "3,4"),
                decision(7, 1, "4"),
            ],
            ..Outcome::default()
        };
        let changes = outcome.limit_changes();
        let told: Vec<(Option<&str>, u64)> = changes
            .iter()
            .map(|it| (it.before.as_deref(), it.decision.mission))
            .collect();
        assert_eq!(told, [(Some("4"), 2), (Some("3,4"), 7)]);
        assert_eq!(outcome.changes(0), (1, 2));
        assert_eq!(outcome.changes(1), (1, 4));
    }
}
