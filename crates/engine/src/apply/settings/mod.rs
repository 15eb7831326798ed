//! Settings of Lissom, wanted as a JSON object.

mod decide;
mod known;
mod read;
mod value;

use std::collections::BTreeMap;

use lissom_core::filters::FilterAllocation;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::settings::Settings;

pub(super) use self::decide::{Store, can_be_reshaped, decide, present};
pub(super) use self::known::{Keeper, keeper};
pub(super) use self::value::{set, show};

/// Settings of Lissom, by name; the rest stays as it is.
///
/// The names are those of [`Settings`]: `policy`, `size_ratio`,
/// `write_buffer_size`, `max_write_buffer_number`,
/// `level0_file_num_compaction_trigger`, `level0_slowdown_writes_trigger`,
/// `level0_stop_writes_trigger`, `target_file_size_base`, `max_files`, `filters`
/// ("uniform" or "monkey"), `bloom_bits_per_key`, `block_size`, `compression` ("none",
/// "lz4" or "zstd", or a list of them), `workers`, `idle_cpu_priority`, `idle_io_priority`,
/// `max_subcompactions`, `compaction_readahead_size`, `writable_file_max_buffer_size`,
/// `max_space_amplification`, `tombstone_share`,
/// `memory_budget_bytes`, `rate_limit_bytes_per_second`, `use_direct_reads`,
/// `use_direct_io_for_flush_and_compaction`, `exploration`, `max_write_amplification` (null:
/// no bound), `schedule`.
///
/// ```
/// use lissom::apply::SettingsText;
///
/// let settings = SettingsText::parse("{\"policy\": \"fixed-4\", \"size_ratio\": 8}")?;
/// assert_eq!(settings.len(), 2);
/// assert!(SettingsText::parse("{\"size_ratio\": 1}").is_err());
/// # Ok::<(), lissom::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SettingsText {
    settings: BTreeMap<String, Given>,
}

/// One setting.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Given {
    pub(super) value: Value,
    /// The line of the text.
    pub(super) line: usize,
}

impl SettingsText {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// One sentence, with its line, for each setting that there is not, for each
    /// value that is none, and for what is given twice; when nothing is set.
    pub fn parse(text: &str) -> Result<SettingsText> {
        let settings = read::read(text).map_err(|mistakes| Error::fix(mistakes.join("\n")))?;
        if settings.is_empty() {
            return Err(Error::fix(
                "no setting is set: write a JSON object such as {\"policy\": \"fixed-4\"}",
            ));
        }
        let wanted = SettingsText { settings };
        wanted.check_alone()?;
        Ok(wanted)
    }

    /// A value that is outside its range whatever the other settings are.
    fn check_alone(&self) -> Result<()> {
        for (name, wanted) in &self.settings {
            let mut roomy = Settings {
                memory_budget_bytes: u64::MAX / 4,
                level0_slowdown_writes_trigger: 1 << 19,
                level0_stop_writes_trigger: 1 << 20,
                // Under which every policy is legal.
                filters: FilterAllocation::Monkey,
                ..Settings::default()
            };
            match name.as_str() {
                "level0_stop_writes_trigger" => roomy.level0_slowdown_writes_trigger = 5,
                "memory_budget_bytes" => roomy.write_buffer_size = 64 << 10,
                _ => {}
            }
            let checked = set(&mut roomy, name, &wanted.value)
                .map_err(|why| Error::fix(format!("{name} is {}, which is {why}", wanted.value)))
                .and_then(|()| roomy.check());
            checked.map_err(|error| error.within(format!("line {}", wanted.line)))?;
        }
        Ok(())
    }

    /// How many settings are given.
    pub fn len(&self) -> usize {
        self.settings.len()
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// Whether a setting is given.
    pub fn sets(&self, name: &str) -> bool {
        self.settings.contains_key(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Given)> {
        self.settings
            .iter()
            .map(|(name, wanted)| (name.as_str(), wanted))
    }

    /// One of them alone; nothing where it is not given.
    pub(super) fn only(&self, name: &str) -> SettingsText {
        let given = self.settings.get_key_value(name);
        SettingsText {
            settings: given
                .map(|(name, given)| (name.clone(), given.clone()))
                .into_iter()
                .collect(),
        }
    }

    /// These settings with what is wanted.
    ///
    /// # Errors
    /// When a setting leaves its range beside the others.
    pub fn over(&self, settings: &Settings) -> Result<Settings> {
        let changed = self.unchecked_over(settings)?;
        changed.check()?;
        Ok(changed)
    }

    /// The same, whether they go together or not.
    fn unchecked_over(&self, settings: &Settings) -> Result<Settings> {
        let mut changed = settings.clone();
        for (name, wanted) in &self.settings {
            set(&mut changed, name, &wanted.value)
                .map_err(|why| Error::fix(format!("{name} is {}, which is {why}", wanted.value)))?;
        }
        Ok(changed)
    }
}
