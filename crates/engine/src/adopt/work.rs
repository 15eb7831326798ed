//! What is to be done with a directory, said before it is done.

use std::path::Path;

use lissom_core::Tree;
use serde::Serialize;

use super::forecast::Forecast;
use crate::settings::Settings;

/// What taking over or giving back a directory will rewrite.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Work {
    /// The directory.
    pub directory: String,
    /// Whether it is as it should be already, and nothing is to be done.
    pub done: bool,
    /// By column family.
    pub families: Vec<FamilyWork>,
    /// Bytes that must be free on the disk: what the largest merges that may
    /// run at once write before their inputs are removed.
    pub needed_bytes: u64,
    /// Bytes that are free.
    pub free_bytes: u64,
    /// Sentences on what will be different.
    pub remarks: Vec<String>,
}

/// What will be done with one column family.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FamilyWork {
    /// The column family.
    pub name: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// Its files.
    pub files: usize,
    /// What the planner will do.
    pub forecast: Forecast,
}

impl Work {
    /// Nothing so far.
    pub(crate) fn begin(directory: &Path, free_bytes: u64) -> Work {
        Work {
            directory: directory.display().to_string(),
            done: true,
            families: Vec::new(),
            needed_bytes: 0,
            free_bytes,
            remarks: Vec::new(),
        }
    }

    /// Adds what is foreseen for a column family.
    pub(crate) fn add(&mut self, name: &str, tree: &Tree, settings: &Settings, forecast: Forecast) {
        // Merges that run at once take no file twice.
        let at_once = forecast.merges.min(settings.workers as u64);
        let most = forecast.largest_merge_bytes.saturating_mul(at_once);
        self.needed_bytes += most.min(tree.total_bytes());
        self.families.push(FamilyWork {
            name: name.to_owned(),
            bytes: tree.total_bytes(),
            files: tree.total_files(),
            forecast,
        });
    }

    /// Tells that the log holds entries, which are not in the forecast.
    pub(crate) fn remark_log(&mut self) {
        self.remarks.push(
            "its log holds entries, which become files first: all of it may be rewritten with them"
                .to_owned(),
        );
    }

    /// Bytes that merges will read, at most; moves rewrite nothing.
    pub fn merged_bytes(&self) -> u64 {
        self.families
            .iter()
            .map(|family| family.forecast.merged_bytes)
            .sum()
    }
}

/// How far the work has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Progress {
    /// Bytes that merges have read.
    pub merged_bytes: u64,
    /// Bytes that they will read, at most.
    pub expected_bytes: u64,
    /// Merges that ended.
    pub merges: u64,
    /// Moves that ended.
    pub moves: u64,
}

/// Told of progress about once a second.
pub type Watch<'a> = dyn FnMut(Progress) + 'a;
