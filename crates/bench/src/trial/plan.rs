//! What a trial is.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use lissom_search::export::OptionsFile;

use crate::error::{BenchError, Place, Result};
use crate::workload::Workload;

/// More threads than this are a mistake.
const MOST_THREADS: u32 = 256;

/// The least bandwidth with which anything moves, bytes per second.
const LEAST_RATE: u64 = 64 << 10;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Stock RocksDB; its configuration is an OPTIONS file.
    RocksDb,
    /// Lissom; its configuration is a JSON object of settings.
    Lissom,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RocksDb => "rocksdb",
            Self::Lissom => "lissom",
        })
    }
}

impl FromStr for System {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "rocksdb" => Ok(Self::RocksDb),
            "lissom" => Ok(Self::Lissom),
            _ => Err(BenchError::new(format!(
                "{text:?} is no system: choose rocksdb or lissom"
            ))),
        }
    }
}

/// What every configuration gets alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Whether reads, flushes and compactions bypass the page cache, where the
    /// configuration does not say.
    pub direct_io: bool,
    /// Bytes per second that flushes, compactions, user reads and the log may move
    /// together; absent means no limit.
    pub rate_limit: Option<u64>,
    /// Bytes for write buffers and cached blocks together: Lissom's
    /// `memory_budget_bytes`. Stock RocksDB's cache gets what the write buffers leave,
    /// where its OPTIONS file sets no `block_cache`.
    pub memory: Option<u64>,
    /// Options that stock RocksDB gets where the configuration does not say.
    pub base: Option<OptionsFile>,
}

/// Everything that one trial needs.
#[derive(Debug, Clone)]
pub struct TrialPlan {
    /// The workload, sized.
    pub workload: Workload,
    /// What is tried.
    pub system: System,
    /// Its configuration: the text of an OPTIONS file, or JSON.
    pub options: String,
    /// The database's directory, which must be new or empty. It stays.
    pub directory: PathBuf,
    /// Running time after the set-up.
    pub time: Duration,
    /// Length of a window.
    pub window: Duration,
    /// Seed of the data, and of what is done to them before the trial is ready.
    pub seed: u64,
    /// Seed of the operations.
    pub operations_seed: u64,
    /// Threads that operate.
    pub threads: u32,
    /// What every configuration gets alike.
    pub limits: Limits,
    /// Where data sets are kept that trials begin with; absent: each loads its own.
    pub prepared: Option<PathBuf>,
}

impl TrialPlan {
    /// Whether this can be meant.
    ///
    /// # Errors
    /// The first thing that cannot, in terms of the command line.
    pub fn check(&self) -> Result<()> {
        let rules = [
            (
                (1..=MOST_THREADS).contains(&self.threads),
                "--threads must lie in 1..=256",
            ),
            (!self.window.is_zero(), "--window must be above 0"),
            (
                self.window <= self.time,
                "--seconds must be at least one --window, or nothing is measured",
            ),
            (
                self.limits.rate_limit.is_none_or(|rate| rate >= LEAST_RATE),
                "--rate-limit must be at least 64KiB",
            ),
        ];
        if let Some((_, rule)) = rules.iter().find(|(holds, _)| !holds) {
            return Err(BenchError::new(*rule));
        }
        self.workload.check_driven()?;
        empty(&self.directory)
    }
}

fn empty(directory: &Path) -> Result<()> {
    let mut entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).place(format!("--directory {}", directory.display())),
    };
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(BenchError::new(format!(
            "--directory {} is not empty: give a new or empty one",
            directory.display()
        ))),
    }
}
