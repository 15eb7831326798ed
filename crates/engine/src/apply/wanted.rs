//! What is wanted of a database, in either form.

use std::fs;
use std::path::Path;

use super::settings::SettingsText;
use super::text::OptionsText;
use crate::error::{Error, Result};

/// Options of RocksDB's, or settings of Lissom's.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// An OPTIONS file.
    Options(OptionsText),
    /// A JSON object.
    Settings(SettingsText),
}

impl Wanted {
    /// Reads a text: a JSON object if it begins with a brace, an OPTIONS file
    /// otherwise.
    ///
    /// # Errors
    /// See [`OptionsText::parse`] and [`SettingsText::parse`].
    pub fn parse(text: &str) -> Result<Wanted> {
        if text.trim_start().starts_with('{') {
            SettingsText::parse(text).map(Wanted::Settings)
        } else {
            OptionsText::parse(text).map(Wanted::Options)
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Wanted::parse`], with the file's name; when it cannot be read.
    pub fn read(file: &Path) -> Result<Wanted> {
        let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, &error))?;
        Wanted::parse(&text).map_err(|error| error.within(file.display()))
    }
}

impl From<OptionsText> for Wanted {
    fn from(options: OptionsText) -> Wanted {
        Wanted::Options(options)
    }
}

impl From<SettingsText> for Wanted {
    fn from(settings: SettingsText) -> Wanted {
        Wanted::Settings(settings)
    }
}
