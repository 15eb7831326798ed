//! The journal's last decisions, as sentences.

mod sentence;

use std::collections::BTreeMap;
use std::path::Path;

use lissom_core::journal::{Entry, Event, Outcome, VERSION};
use serde::Serialize;

use self::sentence::sentence;
use super::lines::{self, Lines};
use super::{Question, merges};
use crate::error::{Error, Result};

/// A decision that stands in the journal.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Decision {
    /// Its number in the journal.
    pub number: u64,
    /// Seconds since the autopilot began.
    pub at_seconds: f64,
    /// The column family.
    pub column_family: String,
    /// What was decided, why, and what came of it.
    pub sentence: String,
}

/// The last decisions that a question is about, oldest first.
pub(super) fn last(entries: &[Entry], question: &Question) -> Vec<Decision> {
    let mut decisions = decisions(entries);
    if let Some(name) = &question.column_family {
        decisions.retain(|decision| decision.column_family == *name);
    }
    let surplus = decisions.len().saturating_sub(question.decisions);
    decisions.split_off(surplus)
}

/// All lines of a directory's journals, oldest first.
///
/// # Errors
/// When they cannot be read, or a newer version of Lissom has written them.
pub(super) fn all(directory: &Path) -> Result<Lines> {
    let all = lines::read(directory, None)?;
    let newer = all.entries.iter().find_map(|entry| match &entry.event {
        Event::Begin { version, .. } if *version > VERSION => Some(*version),
        _ => None,
    });
    match newer {
        None => Ok(all),
        Some(version) => Err(Error::fix(format!(
            "the journal of {} has format {version}, this version of Lissom knows formats up to \
             {VERSION}: read it with the version that wrote it",
            directory.display()
        ))),
    }
}

/// What was decided, in the order of the journal; the outcome of a compaction
/// stands with its beginning, that of a merge for the reads' sake with its end.
pub(super) fn decisions(entries: &[Entry]) -> Vec<Decision> {
    let outcomes: BTreeMap<(&str, u64), &Outcome> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::CompactionEnd {
                compaction,
                outcome,
            } => Some(((entry.column_family.as_str(), *compaction), outcome)),
            _ => None,
        })
        .collect();
    let merges = merges::told(entries);
    entries
        .iter()
        .enumerate()
        .filter_map(|(at, entry)| {
            let outcome = |compaction: &u64| {
                outcomes
                    .get(&(entry.column_family.as_str(), *compaction))
                    .copied()
            };
            let merged = merges.get(&at).cloned();
            Some(Decision {
                number: entry.number,
                at_seconds: entry.at.as_secs_f64(),
                column_family: entry.column_family.clone(),
                sentence: merged.or_else(|| sentence(&entry.event, outcome))?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lissom_core::plan::Input;
    use lissom_core::testing::journals::{self, entry};
    use lissom_core::tuner::{Allowance, Change, Trial, TrialId};
    use lissom_core::{Key, LogicalLevel, Mission, PhysicalLevel, Plan, PlanKind, Reason};

    use super::*;
    use crate::files::journal;
    use crate::settings::Settings;

    fn plan() -> Plan {
        Plan {
            kind: PlanKind::Merge,
            inputs: vec![Input {
                level: PhysicalLevel::L0,
                files: vec![3, 4],
            }],
            output: PhysicalLevel(17),
            output_file_size: 1,
            range: (Key::from("a"), Key::from("b")),
            input_bytes: 2_500_000,
            drain: None,
            excess: None,
            awaited: false,
            hurried: false,
            reason: Reason::Level0Trigger {
                files: 4,
                trigger: 4,
            },
        }
    }

    #[test]
    fn a_compaction_is_told_with_its_reason_and_its_outcome() {
        let begin = Event::CompactionBegin {
            compaction: 7,
            plan: plan(),
        };
        let end = Event::CompactionEnd {
            compaction: 7,
            outcome: Outcome::Done {
                read_bytes: 2_500_000,
                write_bytes: 2_000_000,
                input_entries: 9,
                output_entries: 8,
                took: Duration::from_millis(250),
            },
        };
        let told = decisions(&[entry(7, begin.clone()), entry(8, end)]);
        assert_eq!(told.len(), 1);
        assert_eq!(
            told[0].sentence,
            "merged 2 files (2.5 MB) from L0 to level 1 slot 15, because L0 holds 4 files, \
             its trigger is 4: done, 2.0 MB written in 0.25 s"
        );
        let running = decisions(&[entry(7, begin)]);
        assert!(running[0].sentence.ends_with("no outcome yet"));
    }

    #[test]
    fn torn_lines_are_passed_over() {
        let directory = tempfile::tempdir().expect("a directory");
        let note = entry(1, Event::Note { text: "one".into() });
        let line = serde_json::to_string(&note).expect("JSON");
        std::fs::write(
            journal::path(directory.path()),
            format!("{{\"torn\n{line}\n{}", &line[..20]),
        )
        .expect("writable");
        let question = Question {
            decisions: 5,
            ..Question::default()
        };
        let lines = all(directory.path()).expect("readable");
        assert_eq!((lines.entries.len(), lines.unreadable), (1, 1));
        let told = last(&lines.entries, &question);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].sentence, "one");
    }

    #[test]
    fn the_last_decisions_are_those_of_the_family_that_is_asked_for() {
        let mut entries = vec![
            entry(1, Event::Note { text: "one".into() }),
            entry(2, Event::Note { text: "two".into() }),
            entry(
                3,
                Event::Note {
                    text: "three".into(),
                },
            ),
        ];
        entries[2].column_family = "other".into();
        let told = |question: &Question| -> Vec<u64> {
            let told = last(&entries, question);
            told.iter().map(|decision| decision.number).collect()
        };
        let mut question = Question {
            decisions: 2,
            ..Question::default()
        };
        assert_eq!(told(&question), [2, 3]);
        question.column_family = Some("default".into());
        assert_eq!(told(&question), [1, 2]);
    }

    #[test]
    fn other_dimensions_and_limits_without_a_tuner_are_told() {
        let before = Settings::default().shape();
        let mut shape = before.clone();
        shape.size_ratio = before.size_ratio + 1;
        let (old, new) = (before.size_ratio, shape.size_ratio);
        let limits = Event::Limits {
            limits: lissom_core::RunLimits::uniform(lissom_core::RunLimit::ONE),
            why: "fixed-1 was set as the policy".into(),
        };
        let told = decisions(&[entry(1, Event::Shape { before, shape }), entry(2, limits)]);
        assert_eq!(
            told[0].sentence,
            format!("the tree has other dimensions: size_ratio is {new} instead of {old}")
        );
        assert_eq!(
            told[1].sentence,
            "run limits 1; fixed-1 was set as the policy"
        );
    }

    #[test]
    fn a_merge_that_waits_is_told() {
        let limits = lissom_core::RunLimits::uniform(lissom_core::RunLimit::ONE);
        let mut trial = Trial::of_limits(TrialId(1), limits, Vec::new());
        trial.waits.push(Change {
            level: LogicalLevel(2),
            why: "there is no room".into(),
        });
        let mission = journals::mission(Mission::default(), trial, false);
        assert_eq!(
            decisions(&[entry(1, mission)])[0].sentence,
            "run limits 1; level 2 is not merged yet: there is no room"
        );
    }

    #[test]
    fn a_journal_of_a_newer_version_is_not_taken_for_what_it_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let begin = entry(
            1,
            Event::Begin {
                version: VERSION + 1,
                policy: "learned".into(),
                limits: lissom_core::RunLimits::uniform(lissom_core::RunLimit::ONE),
                allowance: Allowance::default(),
                shape: None,
            },
        );
        let line = serde_json::to_string(&begin).expect("JSON");
        std::fs::write(journal::path(directory.path()), line).expect("writable");
        let error = all(directory.path()).expect_err("newer").to_string();
        assert!(
            error.contains("has format 2") && error.contains("up to 1"),
            "{error}"
        );
    }
}
