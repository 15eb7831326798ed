//! Recorded missions, decided again: what would another tuner have done?
//!
//! The observations are the recorded ones, so the decisions have no effect on what
//! follows. That tells how a tuner reads the same facts, not what they would have
//! become.

use serde::{Deserialize, Serialize};

use crate::journal::{Entry, Event};
use crate::shape::{RunLimits, Shape};
use crate::tuner::{Question, Tuner};

/// One mission, as it was decided and as it would be.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Redecided {
    /// The mission's number since the autopilot began.
    pub mission: u64,
    /// Reads among its operations; absent without any.
    pub read_share: Option<f64>,
    /// The limits that were chosen then; those that held, while they were pinned.
    pub recorded: RunLimits,
    /// The limits that the other tuner chooses.
    pub replayed: RunLimits,
    /// Its reasons, one for each level that it changes or merges.
    pub why: Vec<String>,
}

/// Decides the missions of one column family again, in their order. Each time the
/// tuner sees the limits that held then, to which the costs belong.
pub fn replay(
    entries: &[Entry],
    column_family: &str,
    shape: &Shape,
    tuner: &mut dyn Tuner,
) -> Vec<Redecided> {
    let mut in_force: Option<RunLimits> = None;
    let mut decided = Vec::new();
    for entry in entries
        .iter()
        .filter(|it| it.column_family == column_family)
    {
        let (mission, tree, trial, pinned) = match &entry.event {
            Event::Begin { limits, .. } => {
                in_force = Some(limits.clone());
                continue;
            }
            Event::Mission {
                mission,
                tree,
                trial,
                pinned,
            } => (mission, tree, trial, *pinned),
            _ => continue,
        };
        let tree = tree.as_tree();
        // A journal whose beginning was rotated away does not tell.
        let present = in_force.unwrap_or_else(|| trial.limits.clone());
        let answer = tuner.ask(&Question {
            shape,
            tree: &tree,
            limits: &present,
            mission,
        });
        tuner.tell(answer.id, mission);
        let chosen = if pinned {
            present
        } else {
            trial.limits.clone()
        };
        let merges = answer.consolidate.iter().chain(&answer.abandon);
        let changes = answer.changes.iter().chain(merges);
        decided.push(Redecided {
            mission: mission.number,
            read_share: mission.operations.read_share(),
            recorded: chosen.clone(),
            replayed: answer.limits.clone(),
            why: changes
                .map(|it| format!("{}: {}", it.level, it.why))
                .collect(),
        });
        in_force = Some(chosen);
    }
    decided
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::journal::TreeSummary;
    use crate::observation::{Mission, OperationMix};
    use crate::shape::RunLimit;
    use crate::testing::small_shape;
    use crate::tuner::{Policy, Trial, TrialId};

    fn mission(number: u64, reads: u64) -> Entry {
        let mission = Mission {
            number,
            operations: OperationMix {
                gets_found: reads,
                writes: 100 - reads,
                ..OperationMix::default()
            },
            ..Mission::default()
        };
        Entry {
            number,
            at: Duration::ZERO,
            column_family: "default".into(),
            event: Event::Mission {
                mission: Box::new(mission),
                tree: TreeSummary::default(),
                trial: Trial::of_limits(
                    TrialId(number),
                    RunLimits::uniform(RunLimit::clamped(3)),
                    Vec::new(),
                ),
                pinned: false,
            },
        }
    }

    #[test]
    fn another_tuner_decides_on_the_same_facts() {
        let entries: Vec<Entry> = (1..=6)
            .map(|at| mission(at, if at < 4 { 10 } else { 90 }))
            .collect();
        let policy: Policy = "thresholds-30-70".parse().expect("a policy");
        let decided = replay(&entries, "default", &small_shape(), &mut *policy.tuner());
        let first = |at: usize| decided[at].replayed.levels.first().map_or(0, |it| it.get());
        let limits: Vec<u16> = (0..6).map(first).collect();
        assert_eq!(limits, [4, 4, 4, 2, 2, 2]);
        assert!(
            decided
                .iter()
                .all(|it| it.recorded.to_string() == "3" && !it.why.is_empty())
        );
        assert!(replay(&entries, "other", &small_shape(), &mut *policy.tuner()).is_empty());
    }
}
