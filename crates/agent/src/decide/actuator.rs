//! How compaction of level 0 is delayed from outside, and where it can be.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lease::LeasedFamily;
use super::observation::Family;
use super::options::FamilyOptions;
use super::statement::is_legal;
use crate::settings::Settings;

/// MyRocks' own column family for its data dictionary.
const SYSTEM_FAMILY: &str = "__system__";

/// The options that delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actuator {
    /// `level0_file_num_compaction_trigger` and `max_bytes_for_level_base` are
    /// raised to the bounds on files and bytes, so that RocksDB itself holds
    /// them; a base that is over the bound on bytes stays, and bounds them instead.
    /// Both, since level 0 is scored by files and by bytes.
    Level0Trigger,
    /// `disable_auto_compactions`. RocksDB then bounds nothing: only whoever reaches
    /// the server does.
    DisableAutoCompactions,
}

/// Why a column family is left alone.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum Unmanaged {
    /// It is MyRocks' own.
    System,
    /// It was not asked for.
    NotAskedFor,
    /// Its name cannot be written into `rocksdb_update_cf_options`.
    Name,
    /// Its compaction style has no levels.
    Style {
        /// The style.
        style: String,
    },
    /// Somebody has switched its automatic compactions off.
    AutoCompactionsOff,
    /// Its own trigger is at the bound already.
    NoRoom {
        /// `level0_file_num_compaction_trigger`
        trigger: i64,
        /// The bound on files.
        max_level0_files: u64,
    },
    /// Raising `max_bytes_for_level_base` would move its base level.
    DynamicLevels,
    /// Its levels are dynamic, and once agent and watchdog have lost the server nobody would
    /// bound its level 0, which was not asked for.
    Unbraked,
}

impl fmt::Display for Unmanaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmanaged::System => f.write_str("it holds MyRocks' own dictionary"),
            Unmanaged::NotAskedFor => f.write_str("it was not asked for"),
            Unmanaged::Name => f.write_str(
                "its name has characters other than letters, digits, and . _ : $ -, which \
                 rocksdb_update_cf_options may misread",
            ),
            Unmanaged::Style { style } => {
                write!(
                    f,
                    "its compaction_style is {style}: only kCompactionStyleLevel has a level 0 to \
                     delay"
                )
            }
            Unmanaged::AutoCompactionsOff => {
                f.write_str("its disable_auto_compactions is on already, by somebody else")
            }
            Unmanaged::NoRoom {
                trigger,
                max_level0_files,
            } => write!(
                f,
                "its level0_file_num_compaction_trigger {trigger} is not under max_level0_files \
                 {max_level0_files}"
            ),
            Unmanaged::DynamicLevels => f.write_str(
                "its level_compaction_dynamic_level_bytes is on, where level0-trigger would move \
                 its base level: choose disable-auto-compactions",
            ),
            Unmanaged::Unbraked => f.write_str(
                "its level_compaction_dynamic_level_bytes is on, so that only \
                 disable_auto_compactions delays it, and nothing would bound its level 0 if agent \
                 and watchdog both lost the server: give --server-lease SCHEMA, accept that for \
                 every column family with --actuator disable-auto-compactions, or choose others \
                 with --column-family",
            ),
        }
    }
}

/// What the agent may do to a column family that has these options for its
/// original ones.
pub fn manage(name: &str, family: &Family, settings: &Settings) -> Result<LeasedFamily, Unmanaged> {
    let asked = &settings.column_families;
    if name == SYSTEM_FAMILY {
        return Err(Unmanaged::System);
    }
    if !asked.is_empty() && !asked.iter().any(|it| it == name) {
        return Err(Unmanaged::NotAskedFor);
    }
    if !is_legal(name) {
        return Err(Unmanaged::Name);
    }
    if family.compaction_style != "kCompactionStyleLevel" {
        let style = family.compaction_style.clone();
        return Err(Unmanaged::Style { style });
    }
    let actuator = choose(family, settings)?;
    room(&family.options, settings)?;
    if actuator == Actuator::DisableAutoCompactions && !may_unbrake(settings) {
        return Err(Unmanaged::Unbraked);
    }
    Ok(LeasedFamily {
        actuator,
        original: family.options,
        delayed: delayed(&family.options, actuator, settings),
        changed: false,
    })
}

fn choose(family: &Family, settings: &Settings) -> Result<Actuator, Unmanaged> {
    match (settings.actuator, family.dynamic_level_bytes) {
        (Some(Actuator::Level0Trigger), true) => Err(Unmanaged::DynamicLevels),
        (Some(actuator), _) => Ok(actuator),
        (None, true) => Ok(Actuator::DisableAutoCompactions),
        (None, false) => Ok(Actuator::Level0Trigger),
    }
}

/// Whether RocksDB's brakes may be taken away: an event in the server gives them back where
/// nobody else can, or somebody has asked for it without one.
fn may_unbrake(settings: &Settings) -> bool {
    settings.server_lease.is_some() || settings.actuator == Some(Actuator::DisableAutoCompactions)
}

/// Whether delaying would change anything.
fn room(original: &FamilyOptions, settings: &Settings) -> Result<(), Unmanaged> {
    let trigger = original.level0_file_num_compaction_trigger;
    if original.disable_auto_compactions {
        return Err(Unmanaged::AutoCompactionsOff);
    }
    if trigger >= count(settings.max_level0_files) {
        return Err(Unmanaged::NoRoom {
            trigger,
            max_level0_files: settings.max_level0_files,
        });
    }
    Ok(())
}

/// The options while compaction is delayed. Each depends on the original of its
/// own only: whoever reads one back can tell whose it is.
///
/// Writers must not be held back for files that were delayed on purpose: the
/// slowdown and stop triggers are at least two and three times the bound (DLC
/// sets both to 100).
pub fn delayed(original: &FamilyOptions, actuator: Actuator, settings: &Settings) -> FamilyOptions {
    let files = count(settings.max_level0_files);
    let mut options = *original;
    match actuator {
        Actuator::Level0Trigger => {
            options.level0_file_num_compaction_trigger = files;
            options.max_bytes_for_level_base = original
                .max_bytes_for_level_base
                .max(count(settings.max_delayed_bytes));
        }
        Actuator::DisableAutoCompactions => options.disable_auto_compactions = true,
    }
    // A negative slowdown trigger means never.
    if original.level0_slowdown_writes_trigger >= 0 {
        options.level0_slowdown_writes_trigger =
            original.level0_slowdown_writes_trigger.max(2 * files);
    }
    options.level0_stop_writes_trigger = original.level0_stop_writes_trigger.max(3 * files);
    options
}

/// Bounds are checked to be far under 2^63.
fn count(of: u64) -> i64 {
    i64::try_from(of).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{usual_family, usual_settings};

    #[test]
    fn a_usual_family_is_bounded_by_rocksdb_itself() {
        let leased = manage("default", &usual_family(), &usual_settings()).expect("managed");
        assert_eq!(leased.actuator, Actuator::Level0Trigger);
        let delayed = leased.delayed;
        assert!(!delayed.disable_auto_compactions);
        assert_eq!(delayed.level0_file_num_compaction_trigger, 20);
        assert_eq!(delayed.level0_slowdown_writes_trigger, 40);
        assert_eq!(delayed.level0_stop_writes_trigger, 60);
        assert_eq!(delayed.max_bytes_for_level_base, 2 << 30);
    }

    #[test]
    fn a_base_over_the_bound_on_bytes_stays() {
        let mut family = usual_family();
        family.options.max_bytes_for_level_base = 4 << 30;
        let leased = manage("default", &family, &usual_settings()).expect("managed");
        assert_eq!(leased.delayed.max_bytes_for_level_base, 4 << 30);
    }

    #[test]
    fn dynamic_levels_keep_their_base() {
        let mut family = usual_family();
        family.dynamic_level_bytes = true;
        family.options.level0_slowdown_writes_trigger = -1;
        let mut settings = usual_settings();
        settings.server_lease = Some("ops".into());
        let leased = manage("default", &family, &settings).expect("managed");
        assert_eq!(leased.actuator, Actuator::DisableAutoCompactions);
        let mut expected = family.options;
        expected.disable_auto_compactions = true;
        expected.level0_stop_writes_trigger = 60;
        assert_eq!(leased.delayed, expected);
    }

    #[test]
    fn without_an_event_the_brakes_are_taken_away_from_whoever_asked_for_it() {
        let mut family = usual_family();
        family.dynamic_level_bytes = true;
        let mut settings = usual_settings();
        let refused = manage("default", &family, &settings);
        assert_eq!(refused, Err(Unmanaged::Unbraked));
        settings.actuator = Some(Actuator::DisableAutoCompactions);
        for dynamic in [true, false] {
            family.dynamic_level_bytes = dynamic;
            let leased = manage("default", &family, &settings).expect("managed");
            assert_eq!(leased.actuator, Actuator::DisableAutoCompactions);
        }
    }

    #[test]
    fn what_cannot_be_delayed_is_left_alone() {
        type Spoil = fn(&mut Family, &mut Settings);
        let cases: [(&str, Spoil, &str); 10] = [
            ("__system__", |_, _| (), "own dictionary"),
            ("a={};b", |_, _| (), "its name"),
            ("", |_, _| (), "its name"),
            (
                "a",
                |_, settings| settings.column_families = vec!["b".into()],
                "not asked for",
            ),
            (
                "a",
                |family, _| family.compaction_style = "kCompactionStyleUniversal".into(),
                "kCompactionStyleUniversal",
            ),
            (
                "a",
                |family, _| family.options.disable_auto_compactions = true,
                "by somebody else",
            ),
            (
                "a",
                |family, _| family.options.level0_file_num_compaction_trigger = 20,
                "not under max_level0_files 20",
            ),
            (
                "a",
                |family, settings| {
                    family.dynamic_level_bytes = true;
                    settings.actuator = Some(Actuator::Level0Trigger);
                },
                "base level",
            ),
            (
                "a",
                |family, _| family.dynamic_level_bytes = true,
                "give --server-lease SCHEMA",
            ),
            (
                "a",
                |family, _| {
                    family.dynamic_level_bytes = true;
                    family.options.level0_file_num_compaction_trigger = 20;
                },
                "not under max_level0_files 20",
            ),
        ];
        for (name, spoil, words) in cases {
            let (mut family, mut settings) = (usual_family(), usual_settings());
            spoil(&mut family, &mut settings);
            let why = manage(name, &family, &settings).expect_err(words);
            assert!(why.to_string().contains(words), "{why}");
        }
    }
}
