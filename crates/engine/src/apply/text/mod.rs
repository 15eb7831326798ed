//! OPTIONS files as data: sections, options, values, and the lines they stand in.

pub(crate) mod lines;
mod read;
mod section;
mod write;

use std::collections::BTreeMap;

use super::catalogue::kind::Value;
use super::catalogue::{Known, find};
use crate::error::{Error, Result};
use crate::ffi::options_text::Lines;

pub use self::section::Section;

/// The options of an OPTIONS file, all or some.
///
/// ```
/// use lissom::apply::OptionsText;
///
/// let text = "[CFOptions \"default\"]\n  write_buffer_size=128M\n";
/// let options = OptionsText::parse(text)?;
/// assert_eq!(options.len(), 1);
/// assert!(OptionsText::parse("[DBOptions]\n max_background_jobs=many\n").is_err());
/// # Ok::<(), lissom::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OptionsText {
    sections: BTreeMap<Section, BTreeMap<String, Setting>>,
}

/// An option that is set.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) known: &'static Known,
    pub(super) value: Value,
    /// The line of the file, from 1; 0 where RocksDB itself gave it.
    pub(super) line: usize,
}

impl OptionsText {
    /// Reads an OPTIONS file; sections and options may be missing. RocksDB's own
    /// form is read, with comments, units (`64M`) and structures
    /// (`compaction_options_universal={size_ratio=5;}`), whose fields may also be
    /// given by themselves (`compaction_options_universal.size_ratio=5`).
    ///
    /// # Errors
    /// One sentence, with its line, for each section or option that RocksDB 11.12
    /// does not have, for each value that is none, and for what is given twice; when
    /// nothing is set at all.
    pub fn parse(text: &str) -> Result<OptionsText> {
        let (options, mistakes) = read::read(text);
        if !mistakes.is_empty() {
            return Err(Error::fix(mistakes.join("\n")));
        }
        if options.is_empty() {
            return Err(Error::fix(
                "no option is set: write sections such as [CFOptions \"default\"], and lines \
                 such as write_buffer_size=128M below them",
            ));
        }
        Ok(options)
    }

    /// What a RocksDB has recorded, and a sentence for each line of it that RocksDB 11.12
    /// cannot read, as another version may have written it: such an option would be at
    /// its default without a word.
    pub(crate) fn recorded(text: &str) -> (OptionsText, Vec<String>) {
        read::read(text)
    }

    /// Options as RocksDB gives them: the database's, and those of one column family.
    /// What is not known here is passed over: who needs an option looks for it.
    pub(super) fn of_lines(family: &str, lines: &Lines) -> OptionsText {
        let text = [
            (Section::Database, &lines.db),
            (Section::Family(family.to_owned()), &lines.cf),
            (Section::Table(family.to_owned()), &lines.table),
        ]
        .map(|(section, lines)| format!("{section}\n{lines}\n"));
        let (mut options, _) = read::read(&text.concat());
        for setting in options.sections.values_mut().flat_map(BTreeMap::values_mut) {
            setting.line = 0;
        }
        options
    }

    /// How many options are set; the fields of a structure count each.
    pub fn len(&self) -> usize {
        self.sections.values().map(BTreeMap::len).sum()
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column families that sections name.
    pub fn families(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.sections.keys().filter_map(Section::family).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The value of an option, in RocksDB's form; `None` where it is not set.
    pub fn get(&self, section: &Section, name: &str) -> Option<&str> {
        self.setting(section, name)
            .map(|setting| setting.value.given.as_str())
    }

    pub(super) fn setting(&self, section: &Section, name: &str) -> Option<&Setting> {
        self.sections.get(section)?.get(name)
    }

    /// The canonical value of an option, also of one that RocksDB writes only where
    /// it is not empty.
    pub(super) fn canonical(&self, section: &Section, name: &str, known: &Known) -> Option<&str> {
        match self.setting(section, name) {
            Some(setting) => Some(setting.value.canonical.as_str()),
            None if self.sections.contains_key(section) => known.kind.absent(),
            None => None,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Section, &str, &Setting)> {
        self.sections.iter().flat_map(|(section, settings)| {
            settings
                .iter()
                .map(move |(name, setting)| (section, name.as_str(), setting))
        })
    }

    pub(super) fn set(&mut self, section: &Section, name: &str, setting: Setting) {
        let settings = self.sections.entry(section.clone()).or_default();
        settings.insert(name.to_owned(), setting);
    }

    /// Sets an option to a value of this program's own.
    ///
    /// # Errors
    /// When there is no such option, or it has no such value.
    pub(super) fn choose(&mut self, section: &Section, name: &str, value: &str) -> Result<()> {
        let chosen = find(section, name).and_then(|known| {
            let value = known.kind.read(value).ok()?;
            Some(Setting {
                known,
                value,
                line: 0,
            })
        });
        let setting = chosen
            .ok_or_else(|| Error::bug(format!("{name} in {section} cannot be set to {value}")))?;
        self.set(section, name, setting);
        Ok(())
    }

    /// Adds what another text sets, over what this one does.
    pub(super) fn extend(&mut self, other: OptionsText) {
        for (section, settings) in other.sections {
            self.sections.entry(section).or_default().extend(settings);
        }
    }
}
