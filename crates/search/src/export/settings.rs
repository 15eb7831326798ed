//! The settings of a configuration, from which a format takes what it has words for.

use super::Export;
use crate::error::Result;
use crate::space::{Configuration, Parameter, Setting, Space};

/// An option for which the reader of a file has another default than RocksDB 11.12.
pub(super) struct Differing {
    /// The option.
    pub name: &'static str,
    /// How the file would set it.
    pub key: &'static str,
    /// RocksDB's default, in words of the file.
    pub rocksdb: &'static str,
    /// The reader's own.
    pub own: &'static str,
}

/// Settings that no format has taken yet, in the order of the space's parameters.
pub(super) struct Settings<'a> {
    left: Vec<(&'a Parameter, Setting)>,
    /// Sentences about settings that were taken, but not exactly.
    inexact: Vec<String>,
    /// As [`Export::unset`].
    unset: Vec<String>,
}

impl<'a> Settings<'a> {
    /// All settings, each in its parameter's own kind; behind them what trials shared.
    pub(super) fn new(
        space: &'a Space,
        configuration: &Configuration,
        shared: &'a [Parameter],
    ) -> Result<Settings<'a>> {
        let point = space.point(configuration)?;
        let shared = shared.iter().map(|it| (it, it.default.clone()));
        Ok(Settings {
            left: space.parameters().iter().zip(point).chain(shared).collect(),
            inexact: Vec::new(),
            unset: Vec::new(),
        })
    }

    /// Notes which of these options are not there: what was measured had them as the program of
    /// the trials has them, and the `reader` of the file may not. Before anything is taken.
    pub(super) fn note_unset(&mut self, options: &[Differing], reader: &str) {
        let is_set = |option: &Differing| self.left.iter().any(|(it, _)| it.name == option.name);
        let unset = options.iter().filter(|it| !is_set(it));
        let comments = unset.map(|it| {
            format!(
                "# The space does not set {}. Set {} here to what the trials had:\n\
                 # RocksDB 11.12 has {} unless told otherwise, {reader} {}.\n",
                it.name, it.key, it.rocksdb, it.own
            )
        });
        self.unset = comments.collect();
    }

    /// Takes a number.
    pub(super) fn number(&mut self, name: &str) -> Option<f64> {
        self.take(name, Setting::number)
    }

    /// Takes a number that satisfies a condition; any other stays.
    pub(super) fn number_if(&mut self, name: &str, fits: impl Fn(f64) -> bool) -> Option<f64> {
        self.take(name, |setting| {
            setting.number().filter(|number| fits(*number))
        })
    }

    /// Takes a word and translates it; a word without a translation stays.
    pub(super) fn word(&mut self, name: &str, words: &[(&str, &str)]) -> Option<String> {
        self.take(name, |setting| {
            let Setting::Choice(word) = setting else {
                return None;
            };
            let known = words.iter().find(|(ours, _)| ours == word);
            known.map(|(_, theirs)| (*theirs).to_owned())
        })
    }

    /// Takes any setting as text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, |setting| Some(setting.to_string()))
    }

    fn take<T>(&mut self, name: &str, read: impl FnOnce(&Setting) -> Option<T>) -> Option<T> {
        let place = self.left.iter().position(|(it, _)| it.name == name)?;
        let value = read(&self.left.get(place)?.1)?;
        self.left.remove(place);
        Some(value)
    }

    /// Takes every setting for which `wanted` holds.
    pub(super) fn take_where(
        &mut self,
        wanted: impl Fn(&Parameter) -> bool,
    ) -> Vec<(&'a Parameter, Setting)> {
        let all = std::mem::take(&mut self.left);
        let (taken, left) = all.into_iter().partition(|(it, _)| wanted(it));
        self.left = left;
        taken
    }

    /// Notes that something was not expressed exactly.
    pub(super) fn remark(&mut self, sentence: String) {
        self.inexact.push(sentence);
    }

    /// The file, with a remark for every setting that is left; `why` completes
    /// "NAME = VALUE: ...".
    pub(super) fn export(self, text: String, why: &str) -> Export {
        let mut remarks = self.inexact;
        let left = self.left.iter();
        remarks.extend(left.map(|(it, setting)| format!("{} = {setting}: {why}", it.name)));
        Export {
            text,
            remarks,
            unset: self.unset,
        }
    }
}
