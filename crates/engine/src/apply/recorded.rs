//! A closed directory of Lissom's: settings that it records. RocksDB's part is
//! recorded by opening it, the rest in the state file.

use std::collections::BTreeMap;
use std::path::Path;

use rust_rocksdb::Options;

use super::directory::Directory;
use super::lock::lock;
use super::outcome::Outcome;
use super::plan::{How, Row};
use super::settings::{SettingsText, present};
use super::text::Section;
use super::text::lines::unescape;
use crate::adopt::drive::{self, Customise};
use crate::error::{Error, Result};
use crate::ffi::options::read_options;
use crate::ffi::options_file::load_latest_options;
use crate::files::state::{self, StoredFamily};
use crate::inspect::recorded::family_settings;
use crate::places::Places;
use crate::settings::Settings;

/// The settings that a directory records, by column family.
///
/// # Errors
/// When its files cannot be read.
pub(super) fn settings(path: &Path, directory: &Directory) -> Result<BTreeMap<String, Settings>> {
    let options = load_latest_options(path)?;
    let stored = state::load(path)?.stored;
    directory
        .names
        .iter()
        .map(|name| Ok((name.clone(), family_settings(&options, &stored, name)?)))
        .collect()
}

/// What is wanted, over what is recorded.
///
/// # Errors
/// When a setting leaves its range beside the others.
pub(super) fn changed(
    recorded: &BTreeMap<String, Settings>,
    wanted: &SettingsText,
) -> Result<BTreeMap<String, Settings>> {
    recorded
        .iter()
        .map(|(name, settings)| {
            let mut settings = wanted
                .over(settings)
                .map_err(|error| error.within(format!("column family \"{name}\"")))?;
            settings.create_if_missing = false;
            Ok((name.clone(), settings))
        })
        .collect()
}

/// Records settings, and reads them back.
///
/// # Errors
/// When the directory is open elsewhere, or cannot be written.
pub(super) fn record(
    path: &Path,
    directory: &Directory,
    wanted: &SettingsText,
    rows: Vec<Row>,
    customise: &Customise,
) -> Result<Vec<Outcome>> {
    if rows.iter().any(|row| row.how == How::Reopening) {
        let changed = changed(&settings(path, directory)?, wanted)?;
        Directory::check_log(path)?;
        check_merge_operators(directory, customise)?;
        check_places(path, directory, customise)?;
        drop(lock(path)?);
        // Nobody else has it open until the state file is written.
        let opened = drive::open(path, &changed, customise)?;
        let saved = remember(path, &changed);
        drop(opened);
        saved?;
    }
    let now = settings(path, directory)?;
    Ok(rows.into_iter().map(|row| outcome(row, &now)).collect())
}

/// Opened without its merge operator, a column family cannot flush what is in its log.
fn check_merge_operators(directory: &Directory, customise: &Customise) -> Result<()> {
    for name in &directory.names {
        let section = Section::Family(name.clone());
        let recorded = directory.options.get(&section, "merge_operator");
        let Some(recorded) = recorded.filter(|operator| *operator != "nullptr") else {
            continue;
        };
        let mut options = Options::default();
        customise(name, &mut options);
        if read_options(&mut options)?.cf.merge_operator.as_deref() != Some(recorded) {
            return Err(Error::fix(format!(
                "column family \"{name}\": its merge operator is {recorded}, which this program \
                 does not have: apply the settings from the program that has it, by \
                 lissom::apply::Applier::customise"
            )));
        }
    }
    Ok(())
}

/// What a program sets options by that only it has.
pub(super) const CUSTOMISE: &str = "lissom::apply::Applier::customise";

/// Opened without its log, it would record that there is none elsewhere.
fn check_places(path: &Path, directory: &Directory, customise: &Customise) -> Result<()> {
    let recorded = directory.options.get(&Section::Database, "wal_dir");
    let recorded = recorded.map(unescape).unwrap_or_default();
    let places = Places::brought(&directory.names, customise)?;
    places.check(path, Some(&recorded), CUSTOMISE)
}

fn remember(path: &Path, settings: &BTreeMap<String, Settings>) -> Result<()> {
    let mut stored = state::load_to_write(path)?.stored;
    for (name, settings) in settings {
        let family = stored
            .families
            .entry(name.clone())
            .or_insert_with(|| StoredFamily::of(settings));
        let policy = settings.policy.over(settings.filters);
        family.change_policy(&policy.to_string());
        family.shape = Some(settings.shape());
    }
    state::save(path, &stored)
}

fn outcome(row: Row, now: &BTreeMap<String, Settings>) -> Outcome {
    if let Some(outcome) = Outcome::settled(&row) {
        return outcome;
    }
    let value = present(now, &row.name);
    Outcome::read_back(row, value.as_deref(), None)
}

#[cfg(test)]
mod tests {
    use lissom_core::filters::FilterAllocation;
    use serde_json::{Value, json};

    use super::*;
    use crate::Db;
    use crate::apply::{Applier, Taken};

    fn stored(path: &Path) -> StoredFamily {
        let mut stored = state::load(path).expect("readable").stored;
        stored.families.remove("default").expect("it is on record")
    }

    /// A directory whose policy, by the name of its tuner, has learned 7.
    fn make(path: &Path, settings: &Settings, tuner: &str) {
        drop(Db::open(path, settings.clone()).expect("a new store"));
        let mut known = state::load(path).expect("readable").stored;
        let family = known.families.entry("default".into());
        let family = family.or_insert_with(|| StoredFamily::of(settings));
        family.policy = tuner.to_owned();
        family.tuner = json!({"learned": 7});
        state::save(path, &known).expect("writable");
    }

    #[test]
    fn a_policy_that_comes_back_finds_what_it_had_learned() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = &directory.path().join("store");
        let settings = Settings {
            policy: "learned".parse().expect("a policy"),
            ..Settings::default()
        };
        make(path, &settings, "learned");
        for (policy, tuner, others) in [
            ("fixed-1", Value::Null, json!({"learned": {"learned": 7}})),
            ("learned", json!({"learned": 7}), json!({})),
        ] {
            let text = json!({ "policy": policy }).to_string();
            let wanted = SettingsText::parse(&text).expect("well-formed");
            let applied = Applier::new(path, wanted).apply(&mut |_| ());
            assert_eq!(applied.expect("applied").left().count(), 0, "{policy}");
            let family = stored(path);
            assert_eq!((family.policy.as_str(), &family.tuner), (policy, &tuner));
            assert_eq!(json!(family.others), others, "{policy}");
        }
    }

    #[test]
    fn a_policy_that_is_followed_already_keeps_what_it_had_learned() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = &directory.path().join("store");
        let settings = Settings {
            policy: "lerp".parse().expect("a policy"),
            filters: FilterAllocation::Monkey,
            ..Settings::default()
        };
        make(path, &settings, "lerp-monkey");
        for (text, changed) in [
            ("{\"policy\": \"lerp\"}", 0),
            ("{\"policy\": \"lerp\", \"size_ratio\": 4}", 1),
        ] {
            let wanted = SettingsText::parse(text).expect("well-formed");
            let applied = Applier::new(path, wanted).apply(&mut |_| ());
            let applied = applied.expect("applied");
            assert_eq!(applied.count(Taken::Already), 1, "{applied:#?}");
            assert_eq!(applied.count(Taken::Changed), changed, "{applied:#?}");
            let family = stored(path);
            let known = (family.policy.as_str(), family.tuner);
            assert_eq!(known, ("lerp-monkey", json!({"learned": 7})), "{text}");
        }
    }
}
