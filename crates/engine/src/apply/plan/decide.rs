//! One option after the other.

use super::owned::owner;
use super::{Host, How, Present, Row, closed, tree};
use crate::apply::catalogue::Change;
use crate::apply::text::{OptionsText, Section, Setting};

/// When an option takes effect, and why so.
pub(super) type Verdict = (How, String);

/// An option, and what there is to know of it.
pub(super) struct Question<'a> {
    pub(super) present: &'a Present<'a>,
    pub(super) wanted: &'a OptionsText,
    pub(super) section: &'a Section,
    pub(super) name: &'a str,
    pub(super) setting: &'a Setting,
    pub(super) old: Option<&'a str>,
}

/// What each wanted option takes. The column families must be there: see
/// [`strangers`].
pub(in crate::apply) fn decide(present: &Present<'_>, wanted: &OptionsText) -> Vec<Row> {
    wanted
        .iter()
        .map(|(section, name, setting)| {
            let old = present.options.canonical(section, name, setting.known);
            row(&Question {
                present,
                wanted,
                section,
                name,
                setting,
                old,
            })
        })
        .collect()
}

fn row(question: &Question<'_>) -> Row {
    let Question { setting, old, .. } = question;
    let (how, why) = verdict(question);
    let changes = matches!(how, How::RunTime | How::Reopening | How::Rebuild);
    Row {
        section: question.section.clone(),
        name: question.name.to_owned(),
        line: setting.line,
        old: old.map(str::to_owned),
        new: setting.value.canonical.clone(),
        how,
        for_new_files: changes && setting.known.for_new_files,
        why,
    }
}

fn verdict(question: &Question<'_>) -> Verdict {
    let change = question.setting.known.change;
    if change == Change::Gone {
        return (How::Ignored, "RocksDB 11.12 no longer has it".into());
    }
    if question.old == Some(question.setting.value.canonical.as_str()) {
        return (How::Unchanged, "it is so already".into());
    }
    match question.present.host {
        Host::Plain => match change {
            Change::Never(why) => (How::Impossible, why.to_owned()),
            _ => tree::verdict(question).unwrap_or_else(|| closed::verdict(question)),
        },
        Host::Lissom => lissom(question, change, false),
        Host::Running => lissom(question, change, true),
    }
}

/// An option of RocksDB's in a store of Lissom's. `Db::open` goes by its settings,
/// not by what OPTIONS files record.
fn lissom(question: &Question<'_>, change: Change, running: bool) -> Verdict {
    if let Some(why) = owner(question.section, question.name) {
        return (How::Impossible, why);
    }
    match change {
        Change::Never(why) => (How::Impossible, why.to_owned()),
        Change::RunTime if running => (
            How::RunTime,
            "for as long as the store is open: to keep it, set it in Opening::customise".into(),
        ),
        Change::RunTime => (
            How::Impossible,
            "a store of Lissom's takes it while it runs, or from Opening::customise".into(),
        ),
        Change::Open => (
            How::Impossible,
            "RocksDB reads it at open: set it in Opening::customise".into(),
        ),
        Change::Unkept | Change::Gone => (How::Unkept, closed::UNKEPT.into()),
    }
}

/// A sentence for each column family that is wanted and not there.
pub(in crate::apply) fn strangers(families: &[String], wanted: &OptionsText) -> Vec<String> {
    let has = families.join(", ");
    wanted
        .families()
        .into_iter()
        .filter(|name| !families.iter().any(|known| known == name))
        .map(|name| format!("there is no column family \"{name}\": the database has {has}"))
        .collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
