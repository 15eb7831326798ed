//! The sections of an OPTIONS file.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lines::{escape, unescape};

/// Where an option stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// `[DBOptions]`
    Database,
    /// `[CFOptions "name"]`
    Family(String),
    /// `[TableOptions/BlockBasedTable "name"]`
    Table(String),
    /// No section: the settings of Lissom.
    Settings,
}

/// What a line with brackets says.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Header {
    Known(Section),
    /// `[Version]`: who wrote the file.
    Version,
    /// `[TableOptions/OTHER "name"]`
    OtherTable(String),
    Unknown,
}

const TABLE: &str = "TableOptions/";

impl Section {
    /// The column family; the database's options have none.
    pub fn family(&self) -> Option<&str> {
        match self {
            Section::Family(name) | Section::Table(name) => Some(name),
            Section::Database | Section::Settings => None,
        }
    }
}

/// Reads `[TITLE]` and `[TITLE "ARGUMENT"]`; `None` of other lines.
pub(super) fn header(line: &str) -> Option<Header> {
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (title, argument) = match (inner.find('"'), inner.rfind('"')) {
        (Some(begin), Some(end)) if begin < end => {
            (&inner[..begin], unescape(&inner[begin + 1..end]))
        }
        _ => (inner, String::new()),
    };
    Some(match (title.trim(), argument.is_empty()) {
        ("Version", true) => Header::Version,
        ("DBOptions", true) => Header::Known(Section::Database),
        ("CFOptions", false) => Header::Known(Section::Family(argument)),
        ("TableOptions/BlockBasedTable", false) => Header::Known(Section::Table(argument)),
        (title, false) if title.starts_with(TABLE) => {
            Header::OtherTable(title[TABLE.len()..].to_owned())
        }
        _ => Header::Unknown,
    })
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Section::Database => f.write_str("[DBOptions]"),
            Section::Family(name) => write!(f, "[CFOptions \"{}\"]", escape(name)),
            Section::Table(name) => {
                write!(f, "[TableOptions/BlockBasedTable \"{}\"]", escape(name))
            }
            Section::Settings => f.write_str("settings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_written() {
        for section in [
            Section::Database,
            Section::Family("default".into()),
            Section::Family("a#\"b\"\\c".into()),
            Section::Table("x y".into()),
        ] {
            let line = section.to_string();
            assert_eq!(header(&line), Some(Header::Known(section)), "{line}");
        }
        assert_eq!(header("[Version]"), Some(Header::Version));
        assert_eq!(
            header("[TableOptions/PlainTable \"default\"]"),
            Some(Header::OtherTable("PlainTable".into()))
        );
        for wrong in ["[DBOption]", "[CFOptions]", "[]", "[DBOptions \"x\"]"] {
            assert_eq!(header(wrong), Some(Header::Unknown), "{wrong}");
        }
        assert_eq!(header("a=[b]"), None);
        assert_eq!(header("[DBOptions"), None);
    }
}
