//! OPTIONS files of RocksDB, as text.

use std::fmt;

use crate::error::{Result, SearchError};
use crate::space::Section;

/// The version whose option names are written.
const VERSION: &str = "11.12.0";

/// The settings of an OPTIONS file with one column family, `default`, in its order.
///
/// Values stand as in the file: a backslash before `\`, `#` and `:`, and braces around
/// what has members. [`unescaped`] removes the backslashes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionsFile {
    settings: Vec<OptionSetting>,
}

/// One line of an OPTIONS file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionSetting {
    /// Where it stands.
    pub section: Section,
    /// The option.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl OptionsFile {
    /// Sets an option; an earlier value is replaced where it stands.
    pub fn set(&mut self, section: Section, name: &str, value: impl Into<String>) {
        let value = value.into();
        let mut known = self.settings.iter_mut();
        match known.find(|it| it.section == section && it.name == name) {
            Some(setting) => setting.value = value,
            None => self.settings.push(OptionSetting {
                section,
                name: name.to_owned(),
                value,
            }),
        }
    }

    /// The value of an option.
    pub fn get(&self, section: Section, name: &str) -> Option<&str> {
        let mut settings = self.settings.iter();
        let found = settings.find(|it| it.section == section && it.name == name);
        found.map(|it| it.value.as_str())
    }

    /// All settings.
    pub fn settings(&self) -> &[OptionSetting] {
        &self.settings
    }

    /// Reads what RocksDB's loader reads, but for files with other column families
    /// than `default` or other tables than block-based ones.
    ///
    /// # Errors
    /// The line, and what is wrong with it; a section that is missing.
    pub fn parse(text: &str) -> Result<OptionsFile> {
        let mut reader = Reader::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = without_comment(line);
            let read = match header(line) {
                Some(header) => reader.begin(header),
                None if line.is_empty() => Ok(()),
                None => reader.setting(line),
            };
            read.map_err(|error| error.at(format!("line {number} of the OPTIONS file")))?;
        }
        for section in [Section::Db, Section::Cf] {
            if !reader.seen.contains(&section) {
                return Err(SearchError::new(format!(
                    "the OPTIONS file has no section [{}]: add it, even if it is empty",
                    title(section)
                )));
            }
        }
        Ok(reader.file)
    }
}

/// The file as RocksDB's loader reads it.
impl fmt::Display for OptionsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "[Version]")?;
        writeln!(f, "  rocksdb_version={VERSION}")?;
        writeln!(f, "  options_file_version=1.1")?;
        for section in [Section::Db, Section::Cf, Section::Table] {
            writeln!(f, "\n[{}]", title(section))?;
            for it in self.settings.iter().filter(|it| it.section == section) {
                writeln!(f, "  {}={}", it.name, it.value)?;
            }
        }
        Ok(())
    }
}

/// A section's title, without its brackets.
pub fn title(section: Section) -> &'static str {
    match section {
        Section::Db => "DBOptions",
        Section::Cf => "CFOptions \"default\"",
        Section::Table => "TableOptions/BlockBasedTable \"default\"",
    }
}

/// A value without the backslashes that a file needs.
pub fn unescaped(value: &str) -> String {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next().map(|it| match it {
                'n' => '\n',
                'r' => '\r',
                other => other,
            })),
            other => plain.push(other),
        }
    }
    plain
}

#[derive(Default)]
struct Reader {
    file: OptionsFile,
    /// The section that is being read; absent before the first one.
    part: Option<Part>,
    seen: Vec<Section>,
}

#[derive(Clone, Copy)]
enum Part {
    /// RocksDB's version and the file's: of no consequence here.
    Version,
    Options(Section),
}

impl Reader {
    fn begin(&mut self, header: &str) -> Result<()> {
        if header == "Version" {
            self.part = Some(Part::Version);
            return Ok(());
        }
        let section = section(header)?;
        if self.seen.contains(&section) {
            return Err(SearchError::new(format!(
                "the section [{header}] stands twice: merge the two"
            )));
        }
        self.seen.push(section);
        self.part = Some(Part::Options(section));
        Ok(())
    }

    fn setting(&mut self, line: &str) -> Result<()> {
        let Some((name, value)) = line.split_once('=') else {
            return Err(SearchError::new(format!(
                "{line:?} is no setting: write NAME=VALUE"
            )));
        };
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return Err(SearchError::new(format!(
                "{line:?} names no option: write NAME=VALUE"
            )));
        }
        match self.part {
            None => Err(SearchError::new(format!(
                "{name} stands in no section: put it under [DBOptions] or another one"
            ))),
            Some(Part::Version) => Ok(()),
            // RocksDB would take the first of two in silence.
            Some(Part::Options(section)) if self.file.get(section, name).is_some() => {
                Err(SearchError::new(format!(
                    "{name} stands twice in [{}]: remove one of them",
                    title(section)
                )))
            }
            Some(Part::Options(section)) => {
                self.file.set(section, name, value);
                Ok(())
            }
        }
    }
}

fn section(header: &str) -> Result<Section> {
    let sections = [Section::Db, Section::Cf, Section::Table];
    if let Some(section) = sections.into_iter().find(|it| title(*it) == header) {
        return Ok(section);
    }
    let name = header.split_whitespace().next().unwrap_or_default();
    Err(SearchError::new(if name == "CFOptions" {
        format!("[{header}] is of another column family than default: remove it")
    } else if name.starts_with("TableOptions/") {
        format!("[{header}] is not the block-based table of the column family default: remove it")
    } else {
        format!("[{header}] is no section of an OPTIONS file: remove it")
    }))
}

fn header(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

/// A comment begins with a `#` that no backslash precedes.
fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (place, character) in line.char_indices() {
        if character == '#' && before != '\\' {
            return line.get(..place).unwrap_or_default().trim();
        }
        before = character;
    }
    line.trim()
}
