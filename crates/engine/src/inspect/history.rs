//! The journal's last decisions, as sentences.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lissom_core::journal::{Entry, Event, Outcome, VERSION};
use lissom_core::schedule::{Debt, DeepOrder, Level0Order, Order};
use lissom_core::{Layout, PhysicalLevel, Plan, PlanKind, Shape};
use serde::Serialize;
use serde_json::{Map, Value};

use super::draw::amount;
use super::{Question, lines, merges, portrait};
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
pub(super) fn all(directory: &Path) -> Result<Vec<Entry>> {
    let all = lines::read(directory, None)?;
    let newer = all.iter().find_map(|entry| match &entry.event {
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

fn schedule_sentence(
    order: &Order,
    debt: &Debt,
    catch_up: Option<Duration>,
    device_is_known: bool,
) -> String {
    let deep = match order.deep {
        DeepOrder::AtMost(0) => ", nothing below it is".into(),
        DeepOrder::AtMost(most) => format!(", at most {most} below it at a time"),
        DeepOrder::Paced => ", full levels give as much as they take in".into(),
        DeepOrder::All => String::new(),
    };
    let level0 = match order.level0 {
        Level0Order::Merge => "L0 is merged",
        Level0Order::MergeApart => "L0 is merged by itself",
        Level0Order::Wait => "L0 waits",
    };
    let catch_up = match catch_up {
        Some(time) => format!("{:.1} s to catch up", time.as_secs_f64()),
        None if device_is_known => "more than the device can do".into(),
        None => "how long catching up takes is not known, nor is the device's speed".into(),
    };
    format!(
        "{level0}{deep}: {}; {} files wait in L0, {catch_up}",
        order.why, debt.level0_files
    )
}

/// An event as a sentence; `None` when it decides nothing.
fn sentence<'a>(event: &Event, outcome: impl Fn(&u64) -> Option<&'a Outcome>) -> Option<String> {
    match event {
        Event::Begin { policy, limits, .. } => Some(format!(
            "the autopilot began with {policy}, run limits {limits}"
        )),
        Event::Policy { policy, .. } => Some(format!("{policy} was set as the policy")),
        Event::Limits { limits, why } => Some(format!("run limits {limits}; {why}")),
        Event::Shape { before, shape } => Some(format!(
            "the tree has other dimensions: {}",
            differences(before, shape)
        )),
        Event::Mission { trial, pinned, .. } => {
            let changes: Vec<String> = trial
                .changes
                .iter()
                .map(|change| format!("{}: {}", change.level, change.why))
                .collect();
            let effect = if *pinned {
                ", without effect: the limits are pinned"
            } else {
                ""
            };
            let merges = trial
                .consolidate
                .iter()
                .map(|merge| format!("{} is to be merged: {}", merge.level, merge.why));
            let lower = trial
                .push_down
                .iter()
                .map(|merge| format!("{} is to go down: {}", merge.level, merge.why));
            let ends = trial
                .abandon
                .iter()
                .map(|merge| format!("{} is merged no further: {}", merge.level, merge.why));
            let said: Vec<String> = {
                let merges = merges.chain(lower).chain(ends);
                changes.into_iter().chain(merges).collect()
            };
            (!said.is_empty())
                .then(|| format!("run limits {}{effect}; {}", trial.limits, said.join("; ")))
        }
        Event::DrainBegin { drain } => Some(format!(
            "drain #{} of {} into {} began, because {}",
            drain.id.0,
            place(drain.top),
            place(drain.target),
            drain.reason
        )),
        Event::DrainEnd { drain, left_bytes } => Some(merges::ending(*drain, *left_bytes)),
        Event::CompactionBegin { compaction, plan } => {
            let came = outcome(compaction).map_or("no outcome yet".into(), came);
            Some(format!("{}, because {}: {came}", work(plan), plan.reason))
        }
        Event::CompactionEnd { .. } => None,
        Event::Schedule {
            order,
            debt,
            catch_up,
            device_is_known,
            ..
        } => Some(schedule_sentence(order, debt, *catch_up, *device_is_known)),
        Event::Note { text } => Some(text.clone()),
    }
}

/// The dimensions that differ, by their names.
fn differences(before: &Shape, now: &Shape) -> String {
    let (before, now) = (dimensions(before), dimensions(now));
    let differ = now.iter().filter_map(|(name, value)| {
        let old = before.get(name).filter(|old| *old != value)?;
        Some(format!("{name} is {value} instead of {old}"))
    });
    differ.collect::<Vec<_>>().join(", ")
}

fn dimensions(shape: &Shape) -> Map<String, Value> {
    match serde_json::to_value(shape) {
        Ok(Value::Object(dimensions)) => dimensions,
        _ => Map::new(),
    }
}

fn work(plan: &Plan) -> String {
    let count = plan.files().count();
    let verb = match plan.kind {
        PlanKind::Merge => "merged",
        PlanKind::Move => "moved",
    };
    let files = if count == 1 { "file" } else { "files" };
    let excess = if plan.excess.is_some() {
        ", over the bound"
    } else {
        ""
    };
    format!(
        "{verb} {count} {files} ({}{excess}) from {} to {}",
        amount(plan.input_bytes),
        place(plan.top()),
        place(plan.output)
    )
}

fn came(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done {
            read_bytes: 0,
            write_bytes: 0,
            ..
        } => "done, nothing rewritten".into(),
        Outcome::Done {
            write_bytes, took, ..
        } => format!(
            "done, {} written in {:.2} s",
            amount(*write_bytes),
            took.as_secs_f64()
        ),
        Outcome::Stale { why } => format!("not begun, {why}"),
        Outcome::Cancelled => "cancelled".into(),
        Outcome::Failed { error } => format!("failed, {error}"),
    }
}

fn place(level: PhysicalLevel) -> String {
    portrait::place(&Layout::V1, level)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::files::journal;
    use crate::settings::Settings;
    use lissom_core::journal::Outcome;
    use lissom_core::plan::Input;
    use lissom_core::testing::journals::entry;
    use lissom_core::{Key, Reason};

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
        let entries = all(directory.path()).expect("readable");
        assert_eq!(entries.len(), 1);
        let told = last(&entries, &question);
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
    fn a_journal_of_a_newer_version_is_not_taken_for_what_it_is_not() {
        let directory = tempfile::tempdir().expect("a directory");
        let begin = entry(
            1,
            Event::Begin {
                version: VERSION + 1,
                policy: "learned".into(),
                limits: lissom_core::RunLimits::uniform(lissom_core::RunLimit::ONE),
                exploration: 0.1,
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
