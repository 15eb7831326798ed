//! Workloads in the simulator: the same files, the same store, virtual time.

mod calibrate;
mod cautions;
mod comparison;
mod contender;
mod decisions;
mod hull;
mod learning;
mod levels;
mod limits_picture;
mod measured;
mod oracle;
mod reopened;
mod scenario;
mod side_by_side;
mod table;
#[cfg(test)]
mod tests;

pub use lissom_sim::Machine as MachineModel;
use lissom_sim::{Outcome, Scenario};
use serde::{Deserialize, Serialize};

use crate::arms::Resources;
use crate::error::{BenchError, Place, Result};
use crate::judge::Figure;
use crate::run::Program;
use crate::workload::{CLOSING_SESSION, Workload};

pub use calibrate::{Calibration, calibrate, compare_measured};
pub use cautions::machines_caution;
pub use comparison::{render_calibration, render_calibrations};
pub use contender::Contender;
pub use decisions::render_decisions;
pub(crate) use decisions::render_limit_changes;
pub use levels::render_levels;
pub(crate) use limits_picture::limits_svg;
pub use limits_picture::write_limits;
pub use measured::{Compared, ComparedTotal};
pub use oracle::{Followed, OracleKind};
pub(crate) use scenario::store_of;
pub use table::render_simulation;
pub(crate) use table::render_summary;

/// The arm with perfect knowledge.
const ORACLE: &str = "oracle";

/// What ends the name of an arm whose tuner begins with what an earlier run has taught it.
const REOPENED: &str = ", reopened";

/// What is simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationPlan {
    /// The workload.
    pub workload: Workload,
    /// Who decides, one arm each.
    pub arms: Vec<Contender>,
    /// Memory, triggers and sizes, as in a measured run.
    pub resources: Resources,
    /// The machine.
    pub machine: MachineModel,
    /// What schedules hold the device for, bytes a second; what the machine's constants
    /// allow when absent.
    pub device_bytes_per_second: Option<u64>,
    /// How filter memory is shared among levels.
    pub filters: lissom::core::filters::FilterAllocation,
    /// Relative spread of the times that tuners are told.
    pub noise: f64,
    /// The same of reads alone, in a part that drifts within minutes.
    pub slow_noise: f64,
    /// One read in so many, on average, is timed; each with 1.
    pub timed_one_in: u64,
    /// Seed of the noise.
    pub seed: u64,
    /// So many seeds, from that one on, are each learner's; who does not learn is run once.
    pub seeds: u32,
    /// Adds an arm of perfect knowledge, which switches between the static arms.
    pub oracle: Option<OracleKind>,
    /// Runs every arm whose tuner keeps what it learns a second time, in a tree that is
    /// loaded anew: as an arm of its own, `NAME, reopened`.
    pub reopen: bool,
}

impl SimulationPlan {
    /// Each arm once on the default machine, with uniform filters, without noise and without
    /// an oracle.
    pub(crate) fn of(
        workload: Workload,
        arms: Vec<Contender>,
        resources: Resources,
    ) -> SimulationPlan {
        SimulationPlan {
            workload,
            arms,
            resources,
            machine: MachineModel::default(),
            device_bytes_per_second: None,
            filters: Default::default(),
            noise: 0.0,
            slow_noise: 0.0,
            timed_one_in: 1,
            seed: 1,
            seeds: 1,
            oracle: None,
            reopen: false,
        }
    }

    /// Whether what is asked for can be shown at all.
    ///
    /// # Errors
    /// An arm is to be reopened, and none keeps anything; several seeds would give the same;
    /// an oracle is to be searched, and there is nothing to choose between.
    pub fn check(&self) -> Result<()> {
        let fixed = self.arms.iter().filter(|arm| arm.is_static()).count();
        if self.oracle == Some(OracleKind::Search) && fixed < 2 {
            return Err(BenchError::new(
                "oracle: a search needs two static arms to choose between: add the arms fixed-1 \
                 and fixed-4",
            ));
        }
        if self.seeds != 1 {
            self.check_seeds()?;
        }
        if self.reopen && !self.arms.iter().any(Contender::keeps_state) {
            return Err(BenchError::new(
                "reopen: no arm keeps what it learns, so that a second pass would be the first \
                 one again: add the arm learned",
            ));
        }
        Ok(())
    }

    fn check_seeds(&self) -> Result<()> {
        let rules = [
            (self.seeds > 0, "give at least one"),
            (
                self.noise > 0.0 || self.slow_noise > 0.0 || self.timed_one_in > 1,
                "without noise each gives the same: add noise, as 0.05",
            ),
            (
                self.arms.iter().any(Contender::learns),
                "no arm learns from times, so that each gives the same: add the arm learned",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            Some((_, rule)) => Err(BenchError::new(format!("seeds: {rule}"))),
            None => Ok(()),
        }
    }
}

/// All arms of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Simulation {
    /// The program that carried the plan out, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The workload's name.
    pub workload: String,
    /// Entries that were loaded.
    pub entries: u64,
    /// The machine.
    pub machine: MachineModel,
    /// By arm.
    pub arms: Vec<SimulatedArm>,
    /// What the arm of perfect knowledge follows, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oracle: Option<Followed>,
}

/// One arm.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SimulatedArm {
    /// Its name.
    pub arm: String,
    /// Whether its decisions do not depend on the workload.
    pub is_static: bool,
    /// Whether its run limits follow the workload.
    pub chooses_limits: bool,
    /// Whether it learns from what it is told of times.
    #[serde(default)]
    pub learns: bool,
    /// What came of it.
    pub outcome: Outcome,
    /// The same with the other seeds of the noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Outcome>,
}

impl SimulatedArm {
    /// A number over the seeds of the noise.
    fn over_seeds(&self, of: impl Fn(&Outcome) -> f64) -> Figure {
        let outcomes = std::iter::once(&self.outcome).chain(&self.others);
        Figure::of(outcomes.map(of)).unwrap_or_default()
    }

    /// Seconds of a session, by its number.
    fn session_seconds(&self, at: usize) -> Figure {
        self.over_seeds(|outcome| outcome.sessions[at].seconds)
    }

    /// Whether it may be better than others: not with knowledge of the sessions beforehand.
    fn is_rival(&self) -> bool {
        self.arm != ORACLE
    }
}

/// Seconds of all sessions but the closing one, in which what was left undone is paid.
fn seconds_before_closing(outcome: &Outcome) -> f64 {
    let sessions = outcome.sessions.iter();
    let own = sessions.filter(|session| session.name != CLOSING_SESSION);
    own.map(|session| session.seconds).sum()
}

/// Carries a plan out, arm by arm; `progress` is told of each.
///
/// # Errors
/// As [`SimulationPlan::check`]; a workload that the model cannot express, with the field's
/// name.
pub fn run_simulation(plan: &SimulationPlan, progress: &mut dyn FnMut(&str)) -> Result<Simulation> {
    plan.check()?;
    let mut arms = Vec::new();
    for contender in &plan.arms {
        progress(&format!("simulating {contender}"));
        arms.extend(passes(plan, contender)?);
    }
    let found = match plan.oracle {
        Some(kind) => oracle::oracle(plan, kind, &arms, progress)?,
        None => None,
    };
    let oracle = found.map(|(arm, followed)| {
        arms.push(arm);
        followed
    });
    Ok(Simulation {
        program: None,
        workload: plan.workload.name.clone(),
        entries: plan.workload.entries,
        machine: plan.machine,
        arms,
        oracle,
    })
}

/// An arm, and after it the same reopened where the plan wants it; each with every seed that
/// makes a difference.
fn passes(plan: &SimulationPlan, contender: &Contender) -> Result<Vec<SimulatedArm>> {
    let mut scenario = scenario::scenario(plan, contender)?;
    let name = contender.to_string();
    let reopened = format!("{name}{REOPENED}");
    let reopens = plan.reopen && contender.keeps_state();
    let seeds = if contender.learns() { plan.seeds } else { 1 };
    let mut arms: Vec<SimulatedArm> = Vec::new();
    for number in 0..u64::from(seeds) {
        scenario.seed = plan.seed.wrapping_add(number);
        let outcomes = if reopens {
            let both = lissom_sim::simulate_reopened(&scenario);
            Vec::from(both.place(format!("arm {name}"))?)
        } else {
            vec![simulate(&scenario, &name)?]
        };
        for (outcome, name) in outcomes.into_iter().zip([&name, &reopened]) {
            match arms.iter_mut().find(|arm| arm.arm == *name) {
                Some(arm) => arm.others.push(outcome),
                None => arms.push(simulated(contender, name, outcome)),
            }
        }
    }
    Ok(arms)
}

fn simulated(contender: &Contender, name: &str, outcome: Outcome) -> SimulatedArm {
    SimulatedArm {
        arm: name.to_owned(),
        is_static: contender.is_static(),
        chooses_limits: contender.chooses_limits(),
        learns: contender.learns(),
        outcome,
        others: Vec::new(),
    }
}

fn simulate(scenario: &Scenario, arm: &str) -> Result<Outcome> {
    lissom_sim::simulate(scenario).place(format!("arm {arm}"))
}
