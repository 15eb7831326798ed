//! What is compared, and how.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::rates::Offer;
use super::results::Results;
use crate::arms::options_file::check_given;
use crate::arms::{ArmName, Resources};
use crate::error::{BenchError, Result};
use crate::workload::Workload;

/// Space amplification that an arm may reach at its peak by default: universal
/// compaction's own default, 200 % over the data.
pub const DEFAULT_SPACE_BOUND: f64 = 3.0;
/// Rounds below which figures are no comparison.
pub const LEAST_ROUNDS: u32 = 3;

/// Where an arm runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Launcher {
    /// In this process; memory and caches of one arm leak into the next.
    InProcess,
    /// In a child process of its own: this program, with these arguments, which must
    /// end in a call of [`crate::run_arm_child`].
    Child {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// A benchmark: a workload, arms, rounds.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// The workload, sized.
    pub workload: Workload,
    /// What its rates are a share of, where they are one: [`RunPlan::offer`] sets it.
    pub offered: Option<Offer>,
    /// The arms; each round holds all of them.
    pub arms: Vec<ArmName>,
    /// Rounds. Fewer than three give no comparison, and the report says so.
    pub rounds: u32,
    /// Seed of data, operations and fill phases.
    pub seed: u64,
    /// Threads that operate.
    pub threads: u32,
    /// Where results, settings and databases go.
    pub out: PathBuf,
    /// What all arms share.
    pub resources: Resources,
    /// Most space amplification, at its peak. Arms above it are out of the hull.
    pub space_bound: f64,
    /// Milliseconds between samples.
    pub sample_millis: u64,
    /// Whether each arm's loaded directory is kept and copied in later rounds.
    pub keep_load: bool,
    /// Most seconds to wait for an arm's background work, before measuring and when what it
    /// owes is timed.
    pub settle_seconds: u64,
    /// Where arms run.
    pub launcher: Launcher,
    /// No arm is begun that would end later than this after the run begins or goes on,
    /// judged by how long arms took so far. `None`: no bound.
    pub until: Option<Duration>,
}

/// Everything that must be equal for runs to stand in one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The workload.
    pub workload: Workload,
    /// Its SHA-256.
    pub workload_fingerprint: String,
    /// What its rates are a share of; absent where they are its own, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offer>,
    /// The arms in the plan's order.
    pub arms: Vec<ArmName>,
    /// Seed.
    pub seed: u64,
    /// Threads.
    pub threads: u32,
    /// What all arms share.
    pub resources: Resources,
    /// Bound on space amplification.
    pub space_bound: f64,
    /// Milliseconds between samples.
    pub sample_millis: u64,
    /// Whether loads are kept: a store whose load is kept is opened anew, and begins with a
    /// cold cache. Absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_load: Option<bool>,
    /// Most seconds to wait for an arm's background work before and after measuring. Absent in
    /// older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_seconds: Option<u64>,
}

impl RunPlan {
    /// A plan with defaults for everything else: seed 1, 1 thread, 3 rounds, default
    /// resources, arms in children of the running program (`bench-arm`).
    pub fn new(workload: Workload, arms: Vec<ArmName>, out: PathBuf) -> Result<Self> {
        Ok(Self {
            workload,
            offered: None,
            arms,
            rounds: LEAST_ROUNDS,
            seed: 1,
            threads: 1,
            out,
            resources: Resources::default(),
            space_bound: DEFAULT_SPACE_BOUND,
            sample_millis: 1000,
            keep_load: false,
            settle_seconds: 600,
            launcher: Launcher::this_program()?,
            until: None,
        })
    }

    /// What must be equal for runs to stand in one file.
    pub fn parameters(&self) -> Parameters {
        Parameters {
            workload: self.workload.clone(),
            workload_fingerprint: self.workload.fingerprint(),
            offered: self.offered.clone(),
            arms: self.arms.clone(),
            seed: self.seed,
            threads: self.threads,
            resources: self.resources.clone(),
            space_bound: self.space_bound,
            sample_millis: self.sample_millis,
            keep_load: Some(self.keep_load),
            settle_seconds: Some(self.settle_seconds),
        }
    }

    /// Whether all arms are opened anew after their loads, and so begin with cold caches: as
    /// those are whose load another arm makes.
    pub fn opens_anew(&self) -> bool {
        self.arms.iter().any(|arm| arm.shape() != arm)
    }

    /// Arms of `round` in running order. Of two rounds the second is the first one backwards, so
    /// that no arm runs before another in both, and over an even number of rounds what drifts falls
    /// on all alike. Each two begin a third of the arms further on.
    pub fn order(&self, round: u32) -> Vec<ArmName> {
        let mut arms = self.arms.clone();
        if !arms.is_empty() {
            let begin = (round / 2) as usize * arms.len() / 3;
            arms.rotate_left(begin % self.arms.len());
        }
        if round % 2 == 1 {
            arms.reverse();
        }
        arms
    }

    /// Rounds and arms that `results` lack, in running order.
    pub fn left(&self, results: &Results) -> Vec<(u32, ArmName)> {
        (0..self.rounds)
            .flat_map(|round| self.order(round).into_iter().map(move |arm| (round, arm)))
            .filter(|(round, arm)| !results.holds(arm, *round))
            .collect()
    }

    /// Checks the plan; the error names what to change.
    pub fn check(&self) -> Result<()> {
        self.resources.check()?;
        self.workload.check_driven()?;
        let repeated = self
            .arms
            .iter()
            .enumerate()
            .find(|(i, arm)| self.arms[..*i].contains(arm));
        if let Some((_, arm)) = repeated {
            return Err(BenchError::new(format!(
                "--arm {arm} is given twice; give it once"
            )));
        }
        let rules = [
            (!self.arms.is_empty(), "give at least one --arm"),
            (self.rounds > 0, "--rounds must be at least 1"),
            (
                (1..=256).contains(&self.threads),
                "--threads must lie in 1..=256",
            ),
            (self.space_bound >= 1.0, "--space-bound must be at least 1"),
            (
                self.sample_millis >= 10,
                "the interval of samples must be at least 10 ms",
            ),
        ];
        if let Some((_, rule)) = rules.iter().find(|(holds, _)| !holds) {
            return Err(BenchError::new(*rule));
        }
        self.check_options_files()?;
        self.check_oracles()
    }

    /// Each arm with an OPTIONS file must have one that RocksDB reads.
    fn check_options_files(&self) -> Result<()> {
        for arm in &self.arms {
            if let ArmName::RocksdbOptions(name) = arm {
                check_given(name, &self.resources)
                    .map_err(|error| error.at(format!("arm {arm}")))?;
            }
        }
        Ok(())
    }

    /// An oracle must name a static arm for every session, the closing one included.
    fn check_oracles(&self) -> Result<()> {
        let sessions = self.workload.measured_sessions();
        for arm in &self.arms {
            let Some(schedule) = arm.schedule() else {
                continue;
            };
            let names = |name: &str| schedule.iter().any(|(session, _)| session == name);
            if let Some(missing) = sessions.iter().find(|session| !names(&session.name)) {
                return Err(BenchError::new(format!(
                    "arm {arm}: session \"{}\" has no fixed-K or lazy-leveling; name every \
                     session, the closing one too",
                    missing.name
                )));
            }
            let known = |name: &str| sessions.iter().any(|session| session.name == name);
            if let Some((unknown, _)) = schedule.iter().find(|(name, _)| !known(name)) {
                return Err(BenchError::new(format!(
                    "arm {arm}: workload {} has no session \"{unknown}\"",
                    self.workload.name
                )));
            }
        }
        Ok(())
    }
}

impl Launcher {
    /// Children of the running program, started with the argument `bench-arm`.
    pub fn this_program() -> Result<Self> {
        let program = std::env::current_exe().map_err(|e| {
            BenchError::new(format!(
                "the path of the running program cannot be found: {e}"
            ))
        })?;
        Ok(Self::Child {
            program,
            arguments: vec!["bench-arm".to_string()],
        })
    }
}
