//! Recorded missions, decided again: what would another tuner have done?
//!
//! The observations are the recorded ones, so the decisions have no effect on what
//! follows. That tells how a tuner reads the same facts, not what they would have
//! become.

use serde::{Deserialize, Serialize};

use crate::journal::{Entry, Event};
use crate::shape::{RunLimits, Shape};
use crate::tuner::{Question, TrialId, Tuner};

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
/// tuner sees the limits that held then, to which the costs belong. It is told and asked
/// as in the store: of a trial by the mission that followed it, and of none that ended with
/// the autopilot.
pub fn replay(
    entries: &[Entry],
    column_family: &str,
    shape: &Shape,
    tuner: &mut dyn Tuner,
) -> Vec<Redecided> {
    let mut in_force: Option<RunLimits> = None;
    let mut untold: Option<TrialId> = None;
    let mut decided = Vec::new();
    for entry in entries
        .iter()
        .filter(|it| it.column_family == column_family)
    {
        let (mission, tree, trial, pinned) = match &entry.event {
            Event::Begin { limits, .. } => {
                in_force = Some(limits.clone());
                untold = None;
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
        if let Some(trial) = untold.take() {
            tuner.tell(trial, mission);
        }
        let answer = tuner.ask(&Question {
            shape,
            tree: &tree,
            limits: &present,
            mission,
        });
        untold = Some(answer.id);
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
    use crate::journal::{RunSummary, TreeSummary};
    use crate::layout::LogicalLevel;
    use crate::observation::{LevelMission, Mission, OperationMix};
    use crate::shape::RunLimit;
    use crate::testing::small_shape;
    use crate::tuner::{Policy, Trial};

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

    /// Notes what it is told and asked, and changes nothing.
    #[derive(Default)]
    struct Noting(Vec<String>);

    impl Tuner for Noting {
        fn name(&self) -> String {
            "noting".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            let number = seen.mission.number;
            self.0.push(format!("asked {number}"));
            Trial::of_limits(TrialId(number), seen.limits.clone(), Vec::new())
        }

        fn tell(&mut self, trial: TrialId, outcome: &Mission) {
            self.0
                .push(format!("told {} of {}", outcome.number, trial.0));
        }
    }

    #[test]
    fn a_tuner_is_told_of_the_mission_that_followed_its_answer() {
        let mut entries: Vec<Entry> = (1..=3).map(|at| mission(at, 10)).collect();
        let mut begin = mission(4, 10);
        begin.event = Event::Begin {
            version: crate::journal::VERSION,
            policy: "fixed-3".into(),
            limits: RunLimits::uniform(RunLimit::clamped(3)),
        };
        entries.extend([begin, mission(5, 10), mission(6, 10)]);
        let mut tuner = Noting::default();
        assert_eq!(
            replay(&entries, "default", &small_shape(), &mut tuner).len(),
            5
        );
        // The outcome of the third answer is not known: the autopilot ended.
        let noted = [
            "asked 1",
            "told 2 of 1",
            "asked 2",
            "told 3 of 2",
            "asked 3",
            "asked 5",
            "told 6 of 5",
            "asked 6",
        ];
        assert_eq!(tuner.0, noted);
    }

    /// The journal of a tuner's first missions, which get slower with more runs, and its
    /// answers.
    fn recorded(policy: &str, missions: u64) -> Vec<Entry> {
        let policy: Policy = policy.parse().expect("a policy");
        let mut tuner = policy.tuner();
        let shape = small_shape();
        let mut limits = policy.first_limits();
        let (mut entries, mut untold) = (Vec::new(), None);
        let mut begin = mission(0, 10);
        begin.event = Event::Begin {
            version: crate::journal::VERSION,
            policy: policy.to_string(),
            limits: limits.clone(),
        };
        entries.push(begin);
        for number in 1..=missions {
            let mut entry = mission(number, if number <= missions / 2 { 90 } else { 20 });
            let Event::Mission {
                mission: seen,
                tree: summary,
                trial,
                ..
            } = &mut entry.event
            else {
                continue;
            };
            let runs = u64::from(limits.get(LogicalLevel(1)).get());
            (seen.operations.gets_found, seen.operations.writes) = (
                seen.operations.gets_found * 100,
                seen.operations.writes * 100,
            );
            seen.duration = Duration::from_secs(1);
            seen.user_write_bytes = seen.operations.writes * 100;
            seen.compaction_write_bytes = seen.user_write_bytes * 6 / runs;
            seen.get.mean = Duration::from_micros(100 + 20 * runs);
            seen.put.mean = Duration::from_micros(10 + 60 / runs);
            seen.levels = vec![LevelMission {
                compaction_time: Duration::from_millis(600 / runs),
                read_ios: 100 * runs,
                ..LevelMission::default()
            }];
            let (_, last) = shape.layout.span(LogicalLevel(1));
            summary.runs = vec![RunSummary {
                physical: last,
                level: Some(LogicalLevel(1)),
                bytes: 1_000,
                files: 10,
            }];
            let tree = summary.as_tree();
            if let Some(untold) = untold {
                tuner.tell(untold, seen);
            }
            *trial = tuner.ask(&Question {
                shape: &shape,
                tree: &tree,
                limits: &limits,
                mission: seen,
            });
            untold = Some(trial.id);
            limits = trial.limits.clone();
            entries.push(entry);
        }
        entries
    }

    #[test]
    fn every_tuner_decides_its_own_journal_again() {
        for policy in ["thresholds-30-70", "lazy-leveling", "learned", "lerp"] {
            let entries = recorded(policy, 200);
            let mut tuner = policy.parse::<Policy>().expect("a policy").tuner();
            let decided = replay(&entries, "default", &small_shape(), &mut *tuner);
            assert_eq!(decided.len(), 200, "{policy}");
            for it in &decided {
                assert_eq!(it.recorded, it.replayed, "{policy}, mission {}", it.mission);
            }
            let changes = decided
                .windows(2)
                .filter(|it| it[0].replayed != it[1].replayed);
            let changes = changes.count();
            assert!(changes > 0 || policy == "lazy-leveling", "{policy}");
        }
    }
}
