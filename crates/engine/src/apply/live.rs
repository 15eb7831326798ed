//! A running store: SetOptions, SetDBOptions and Lissom's own switches, while reads
//! and writes go on.

use std::collections::BTreeMap;
use std::path::Path;

use lissom_core::tuner::Policy;
use rust_rocksdb::Options;

use super::outcome::{Applied, Outcome, side_effects};
use super::plan::{Host, How, Plan, Present, Row, decide, strangers};
use super::settings::{self, SettingsText, Store, can_be_reshaped, present, set, show};
use super::text::{OptionsText, Section};
use super::wanted::Wanted;
use crate::RocksDb;
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::options_text::{change_options, live_options_text, options_text};
use crate::inspect::read::handle;
use crate::rate_limit::RateLimit;
use crate::settings::Settings;

/// A store that is open in this process.
pub(crate) struct Live<'a> {
    pub(crate) rocks: &'a RocksDb,
    pub(crate) directory: &'a Path,
    /// By column family, with the policies, what can be reshaped and the rate limit from before
    /// any change.
    pub(crate) settings: BTreeMap<String, Settings>,
    /// The same of now.
    pub(crate) read: &'a dyn Fn() -> BTreeMap<String, Settings>,
    pub(crate) rate_limit: Option<&'a RateLimit>,
    pub(crate) check_policy: &'a dyn Fn(&str, &Policy) -> Result<()>,
    pub(crate) set_policy: &'a dyn Fn(&str, &Policy) -> Result<()>,
    pub(crate) check_reshape: &'a dyn Fn(&str, &SettingsText) -> Result<()>,
    pub(crate) reshape: &'a dyn Fn(&str, &SettingsText) -> Result<()>,
}

impl Live<'_> {
    /// What each option takes. Changes nothing.
    ///
    /// # Errors
    /// When a column family is wanted that there is not; RocksDB's.
    pub(crate) fn plan(&self, wanted: &Wanted) -> Result<Plan> {
        let rows = match wanted {
            Wanted::Options(options) => {
                let mistakes = strangers(&self.rocks.cf_names(), options);
                if !mistakes.is_empty() {
                    return Err(Error::fix(mistakes.join("\n")));
                }
                let present = Present {
                    host: Host::Running,
                    options: &self.options()?,
                    deepest: &BTreeMap::new(),
                };
                decide(&present, options)
            }
            Wanted::Settings(settings) => {
                let store = Store {
                    host: Host::Running,
                    settings: &self.settings,
                    has_rate_limit: self.rate_limit.is_some(),
                };
                let mut rows = settings::decide(&store, settings);
                rows.iter_mut().for_each(|row| self.refuse(settings, row));
                rows
            }
        };
        Ok(Plan {
            directory: self.directory.display().to_string(),
            host: Host::Running,
            rows,
            remarks: Vec::new(),
            rebuild: None,
        })
    }

    /// Changes what can be changed while the store runs.
    ///
    /// # Errors
    /// As [`Live::plan`]. What RocksDB refuses is in the outcomes.
    pub(crate) fn apply(&self, wanted: &Wanted) -> Result<Applied> {
        let plan = self.plan(wanted)?;
        let (outcomes, remarks) = match wanted {
            Wanted::Options(options) => self.set_options(options, plan.rows)?,
            Wanted::Settings(settings) => (self.switch(settings, plan.rows), Vec::new()),
        };
        Ok(Applied {
            directory: plan.directory,
            outcomes,
            remarks,
            rebuilt: None,
        })
    }

    /// What RocksDB works with now.
    fn options(&self) -> Result<OptionsText> {
        let mut options = OptionsText::default();
        for name in self.rocks.cf_names() {
            // One that was dropped meanwhile has none.
            if let Some(handle) = self.rocks.cf_handle(&name) {
                let lines = live_options_text(CfRef::of(&handle)?)?;
                options.extend(OptionsText::of_lines(&name, &lines));
            }
        }
        Ok(options)
    }

    fn set_options(
        &self,
        wanted: &OptionsText,
        rows: Vec<Row>,
    ) -> Result<(Vec<Outcome>, Vec<String>)> {
        let before = self.options()?;
        let mut failures: BTreeMap<Section, String> = BTreeMap::new();
        for (section, changes) in by_section(wanted, &rows) {
            if let Err(error) = self.set_section(&section, &changes) {
                failures.insert(section, error.to_string());
            }
        }
        let now = self.options()?;
        let remarks = side_effects(&before, &now, &rows);
        let outcomes = rows
            .into_iter()
            .map(|row| outcome(row, &now, &failures))
            .collect();
        Ok((outcomes, remarks))
    }

    /// All options of a section are changed, or none.
    fn set_section(&self, section: &Section, changes: &OptionsText) -> Result<()> {
        check(section, changes)?;
        let pairs = changes.pairs(section);
        let pairs: Vec<(&str, &str)> = pairs
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        match section {
            Section::Database => self.rocks.set_db_options(&pairs)?,
            Section::Family(name) => {
                let handle = handle(self.rocks, name)?;
                self.rocks.set_options_cf(&handle, &pairs)?;
            }
            Section::Table(_) | Section::Settings => {
                return Err(Error::bug(format!("{section} cannot change at run time")));
            }
        }
        Ok(())
    }

    fn switch(&self, wanted: &SettingsText, rows: Vec<Row>) -> Vec<Outcome> {
        rows.into_iter()
            .map(|row| match Outcome::settled(&row) {
                Some(outcome) => outcome,
                None => {
                    let failure = self.switch_one(wanted, &row).err();
                    let mut now = (self.read)();
                    // Others may have come meanwhile.
                    now.retain(|family, _| self.settings.contains_key(family));
                    switched(row, &self.settings, &now, failure)
                }
            })
            .collect()
    }

    /// What a column family cannot take changes in none.
    fn refuse(&self, wanted: &SettingsText, row: &mut Row) {
        if row.how != How::RunTime {
            return;
        }
        if let Err(error) = self.check_one(wanted, &row.name) {
            (row.how, row.why) = (How::Impossible, error.to_string());
        }
    }

    fn check_one(&self, wanted: &SettingsText, name: &str) -> Result<()> {
        if name == "policy" {
            let policy = with(wanted, name)?.policy;
            return self.in_each(|family| (self.check_policy)(family, &policy));
        }
        if !can_be_reshaped(name) {
            return Ok(());
        }
        let change = wanted.only(name);
        self.in_each(|family| {
            (self.check_reshape)(family, &change)
                .map_err(|error| error.within(format!("column family \"{family}\"")))
        })
    }

    /// In all column families: none of them [refuses](Live::refuse) it.
    fn switch_one(&self, wanted: &SettingsText, row: &Row) -> Result<()> {
        let name = row.name.as_str();
        let settings = with(wanted, name)?;
        match (name, settings.rate_limit_bytes_per_second) {
            ("policy", _) => self.in_each(|family| (self.set_policy)(family, &settings.policy)),
            ("rate_limit_bytes_per_second", Some(rate)) => match self.rate_limit {
                Some(limit) => limit.bound(rate),
                None => Err(Error::fix(
                    "the store was opened without a rate limiter: set one at open",
                )),
            },
            _ if can_be_reshaped(name) => {
                let change = wanted.only(name);
                self.in_each(|family| (self.reshape)(family, &change))
            }
            _ => Err(Error::bug(format!("{name} cannot change at run time"))),
        }
    }

    fn in_each(&self, act: impl Fn(&str) -> Result<()>) -> Result<()> {
        self.settings.keys().try_for_each(|family| act(family))
    }
}

/// The default settings with one that is wanted.
fn with(wanted: &SettingsText, name: &str) -> Result<Settings> {
    let mut settings = Settings::default();
    if let Some((name, given)) = wanted.iter().find(|(wanted, _)| *wanted == name) {
        set(&mut settings, name, &given.value).map_err(Error::fix)?;
    }
    Ok(settings)
}

/// What came of a setting of Lissom's, by what column families had before and have now.
fn switched(
    row: Row,
    before: &BTreeMap<String, Settings>,
    now: &BTreeMap<String, Settings>,
    failure: Option<Error>,
) -> Outcome {
    let value = present(now, &row.name);
    let Some(failure) = failure else {
        return Outcome::read_back(row, value.as_deref(), None);
    };
    let changed: Vec<&str> = now
        .iter()
        .filter(|(family, settings)| {
            let old = before.get(*family).map(|old| show(old, &row.name));
            old.is_some_and(|old| old != show(settings, &row.name))
        })
        .map(|(family, _)| family.as_str())
        .collect();
    let why = match changed.is_empty() {
        true => failure.to_string(),
        false => format!(
            "{failure}; it has changed in the column families {}",
            changed.join(", ")
        ),
    };
    Outcome {
        now: value,
        ..Outcome::left(row, why)
    }
}

/// What changes at run time, by section.
fn by_section(wanted: &OptionsText, rows: &[Row]) -> BTreeMap<Section, OptionsText> {
    let mut sections: BTreeMap<Section, OptionsText> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.how == How::RunTime) {
        if let Some(setting) = wanted.setting(&row.section, &row.name) {
            sections.entry(row.section.clone()).or_default().set(
                &row.section,
                &row.name,
                setting.clone(),
            );
        }
    }
    sections
}

/// Tries values on options that nobody uses: one that RocksDB cannot read ends the
/// process when it meets it in SetOptions, under its mutex.
fn check(section: &Section, changes: &OptionsText) -> Result<()> {
    let family = section.family().unwrap_or("default");
    let mut trial = Options::default();
    change_options(&mut trial, &changes.lines(family))?;
    let made = OptionsText::of_lines(family, &options_text(&mut trial)?);
    let unread = changes.iter().find(|(section, name, setting)| {
        made.canonical(section, name, setting.known) != Some(setting.value.canonical.as_str())
    });
    match unread {
        None => Ok(()),
        Some((_, name, setting)) => Err(Error::fix(format!(
            "RocksDB cannot make {name}={} here",
            setting.value.given
        ))),
    }
}

fn outcome(row: Row, now: &OptionsText, failures: &BTreeMap<Section, String>) -> Outcome {
    if let Some(outcome) = Outcome::settled(&row) {
        return outcome;
    }
    let value = super::catalogue::find(&row.section, &row.name)
        .and_then(|known| now.canonical(&row.section, &row.name, known))
        .map(str::to_owned);
    let failure = failures.get(&row.section).cloned();
    Outcome::read_back(row, value.as_deref(), failure.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::Taken;
    use crate::apply::catalogue::kind::Kind;
    use crate::apply::catalogue::{Change, find};

    fn with_ratio(size_ratio: u32) -> Settings {
        Settings {
            size_ratio,
            ..Settings::default()
        }
    }

    /// The outcome of a ratio of 4 that was wanted, by the ratios of two column families.
    fn of_ratios(now: [u32; 2], failure: Option<&str>) -> Outcome {
        let families = |ratios: [u32; 2]| -> BTreeMap<String, Settings> {
            let names = ["default", "other"].map(str::to_owned).into_iter();
            names.zip(ratios.map(with_ratio)).collect()
        };
        let before = families([10, 10]);
        let wanted = SettingsText::parse("{\"size_ratio\": 4}").expect("well-formed");
        let store = Store {
            host: Host::Running,
            settings: &before,
            has_rate_limit: false,
        };
        let row = settings::decide(&store, &wanted).remove(0);
        switched(row, &before, &families(now), failure.map(Error::fix))
    }

    #[test]
    fn a_setting_has_changed_where_it_reads_back() {
        let all = of_ratios([4, 4], None);
        assert_eq!((all.taken, all.now.as_deref()), (Taken::Changed, Some("4")));
        let none = of_ratios([10, 10], None);
        assert_eq!(none.taken, Taken::Left, "{none:?}");
        assert!(none.why.contains("the store keeps its value"), "{none:?}");
        let some = of_ratios([4, 10], None);
        assert_eq!(some.taken, Taken::Adjusted, "{some:?}");
        assert_eq!(some.now.as_deref(), Some("default: 4, other: 10"));
    }

    #[test]
    fn where_one_fails_those_that_changed_are_named() {
        let some = of_ratios([4, 10], Some("it was dropped"));
        assert_eq!(some.taken, Taken::Left);
        assert_eq!(
            some.why,
            "it was dropped; it has changed in the column families default"
        );
        let none = of_ratios([10, 10], Some("it was dropped"));
        assert_eq!(
            (none.taken, none.why.as_str()),
            (Taken::Left, "it was dropped")
        );
    }

    /// What SetDBOptions takes, and RocksDB reads at open only.
    const TAKEN_WITHOUT_EFFECT: &str = "max_compaction_trigger_wakeup_seconds";

    /// RocksDB itself is asked: an option is given its present value.
    #[test]
    fn what_counts_as_changeable_at_run_time_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut options = Options::default();
        options.create_if_missing(true);
        let db = RocksDb::open_cf(&options, directory.path(), ["default"]).expect("a database");
        let handle = handle(&db, "default").expect("it is open");
        let lines = live_options_text(CfRef::of(&handle).expect("a handle")).expect("lines");
        let present = OptionsText::of_lines("default", &lines);
        let mut asked = 0;
        for section in [Section::Database, Section::Family("default".into())] {
            for (name, value) in present.pairs(&section) {
                let known = find(&section, &name).expect("every option is known");
                let pair = [(name.as_str(), value.as_str())];
                let answer = match section {
                    Section::Database => db.set_db_options(&pair),
                    _ => db.set_options_cf(&handle, &pair),
                };
                match known.change {
                    Change::RunTime => assert_eq!(answer, Ok(()), "{section} {name}={value}"),
                    // The object that is there already is taken for no change.
                    Change::Open if matches!(known.kind, Kind::Object) => continue,
                    Change::Open if name == TAKEN_WITHOUT_EFFECT => assert_eq!(answer, Ok(())),
                    Change::Open => assert!(answer.is_err(), "{section} {name}={value}"),
                    _ => continue,
                }
                asked += 1;
            }
        }
        assert!(asked > 150, "{asked}");
    }
}
