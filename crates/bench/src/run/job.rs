//! One arm in one round, from an empty directory to a record.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::kept::KeptLoad;
use super::load::{Filling, reach_start};
use super::measure::measure;
use super::program::Program;
use super::record::ArmRun;
use crate::arms::{ArmName, Resources, open_arm};
use crate::drive::ProcessUse;
use crate::error::{BenchError, Place, Result};
use crate::generate::{DataShape, Partition};
use crate::store::Store;
use crate::workload::Workload;

/// Everything a child needs to run one arm.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The workload, sized.
    pub workload: Workload,
    /// The arm.
    pub arm: ArmName,
    /// The round, from 0.
    pub round: u32,
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: u32,
    /// What all arms share.
    pub resources: Resources,
    /// The database's directory; it is emptied first, and removed afterwards.
    pub directory: PathBuf,
    /// Where loaded directories are kept, each program's beside the others', if they are.
    pub kept_load: Option<PathBuf>,
    /// Whether the store is closed after its load and opened anew.
    pub opens_anew: bool,
    /// The program that runs it, which sets this itself.
    #[serde(skip)]
    pub program: Option<Program>,
    /// Where the settings files are copied to.
    pub settings: PathBuf,
    /// Milliseconds between samples.
    pub sample_millis: u64,
    /// Most seconds to wait for background work, before measuring and when what the arm owes
    /// is timed.
    pub settle_seconds: u64,
}

impl Job {
    /// Runs the arm and returns the record; `report` sees what happens meanwhile.
    pub fn run(&self, report: &mut (dyn FnMut(Event) + Send)) -> Result<ArmRun> {
        let place = format!("arm {}, round {}", self.arm, self.round + 1);
        let result = self.run_in_directory(report).map_err(|e| e.at(&place));
        let removed = remove_directory(&self.directory);
        let run = result?;
        removed?;
        Ok(run)
    }

    fn run_in_directory(&self, report: &mut (dyn FnMut(Event) + Send)) -> Result<ArmRun> {
        let data = DataShape::new(&self.workload);
        let mut partitions = self.partitions(&data);
        let baseline = ProcessUse::now();
        let begun = Instant::now();
        let loaded = reach_start(self, &data, &mut partitions, report)?;
        let load_seconds = begun.elapsed().as_secs_f64();
        let before = (baseline, load_seconds);
        let result = measure(self, &loaded, data, partitions, before, report);
        self.publish_settings(&loaded.store.settings_files())?;
        loaded.store.close()?;
        result
    }

    fn partitions(&self, data: &DataShape) -> Vec<Partition> {
        Partition::all(u64::from(self.threads), &self.workload, data)
    }

    /// Opens the job's directory as its arm.
    pub(super) fn open(&self) -> Result<Box<dyn Store>> {
        open_arm(&self.arm, &self.directory, &self.resources)
    }

    /// Opens it as the arm that makes the load.
    pub(super) fn open_to_load(&self) -> Result<Box<dyn Store>> {
        open_arm(self.arm.shape(), &self.directory, &self.resources)
    }

    /// What is written before anything is measured.
    pub(super) fn filling(&self) -> Filling<'_> {
        Filling {
            workload: &self.workload,
            seed: self.seed,
            round: self.round,
        }
    }

    /// The load that is kept of this program, if one is.
    pub(super) fn kept_load(&self) -> Result<Option<KeptLoad>> {
        let place = self.kept_load.as_deref();
        place
            .map(|place| KeptLoad::new(place, self.program.as_ref()))
            .transpose()
    }

    /// How long to wait for background work.
    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(self.settle_seconds)
    }

    fn publish_settings(&self, files: &[PathBuf]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.settings).place(self.settings.display())?;
        for file in files {
            let name = file
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or("settings");
            // The number in an OPTIONS file's name says nothing; one file per arm is kept.
            let name = if name.starts_with("OPTIONS-") {
                "OPTIONS"
            } else {
                name
            };
            let target = self.settings.join(name);
            std::fs::copy(file, &target).place(target.display())?;
        }
        Ok(())
    }
}

/// Removes a directory if it is there.
pub(crate) fn remove_directory(directory: &std::path::Path) -> Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(BenchError::new(format!(
                "directory {} cannot be removed: {error}",
                directory.display()
            )))
        }
        _ => Ok(()),
    }
}
