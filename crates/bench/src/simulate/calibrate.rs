//! The machine's constants from a measured run.
//!
//! They are fitted to the times of closed sessions, all of Lissom's static arms at
//! once: each constant in turn is made larger and smaller by a step, what brings
//! the model nearer is kept, and steps that bring nothing are halved.

use serde::{Deserialize, Serialize};

use super::{MachineModel, SimulationPlan, run_simulation};
use crate::arms::ArmName;
use crate::error::{BenchError, Result};
use crate::judge::{Figure, closed_seconds};
use crate::run::{ArmRun, Program, Results};
use lissom::core::tuner::Policy;

/// First step of each constant, relative.
const FIRST_STEP: f64 = 0.5;
/// Rounds over all constants end here.
const MOST_ROUNDS: usize = 40;
/// A smaller gain is none.
const WORTH: f64 = 0.999;
/// Steps below this end the search.
const LEAST_STEP: f64 = 0.03;

/// Constants that a run's session times can tell apart.
const FITTED: [fn(&mut MachineModel) -> &mut f64; 10] = [
    |machine| &mut machine.device_queue,
    |machine| &mut machine.block_read,
    |machine| &mut machine.put_cpu,
    |machine| &mut machine.miss_cpu,
    |machine| &mut machine.probe_cpu,
    |machine| &mut machine.seek_cpu,
    |machine| &mut machine.merge_byte_cpu,
    |machine| &mut machine.byte_read,
    |machine| &mut machine.byte_write,
    |machine| &mut machine.delayed_write_rate,
];

/// A session of an arm, measured and simulated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Compared {
    /// The arm.
    pub arm: String,
    /// The session.
    pub session: String,
    /// Seconds over the rounds.
    pub measured: Figure,
    /// Seconds.
    pub simulated: f64,
}

/// All closed sessions of an arm, measured and simulated.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComparedTotal {
    /// The arm.
    pub arm: String,
    /// Seconds over the rounds.
    pub measured: Figure,
    /// Seconds.
    pub simulated: f64,
}

/// What a calibration found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// The program that simulated, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// Those that measured, as far as they told.
    pub measured_by: Vec<Program>,
    /// The workload's name.
    pub workload: String,
    /// The constants.
    pub machine: MachineModel,
    /// Root of the mean squared difference of the logarithms: 0.1 is about 10 %.
    pub error: f64,
    /// The same before.
    pub error_before: f64,
    /// Every session.
    pub compared: Vec<Compared>,
    /// Arms by measured total time, fastest first.
    pub totals: Vec<ComparedTotal>,
}

/// Fits the constants to measured results, starting from those of `start`.
/// With `fit` off it only compares.
///
/// # Errors
/// No static arm of Lissom among the results; a workload that the model cannot
/// express.
pub fn calibrate(
    results: &Results,
    start: MachineModel,
    fit: bool,
    progress: &mut dyn FnMut(&str),
) -> Result<Calibration> {
    if results.parameters.threads != 1 {
        return Err(BenchError::new(format!(
            "these results are of {} threads, and the simulator has one: give results of one",
            results.parameters.threads
        )));
    }
    let measured = measured(results)?;
    let mut plan = plan(results, &measured, start)?;
    let error_before = distance(&compare(&plan, &measured)?);
    let mut best = error_before;
    let mut steps = [FIRST_STEP; FITTED.len()];
    for _ in 0..MOST_ROUNDS {
        if !fit || steps.iter().all(|step| *step < LEAST_STEP) {
            break;
        }
        for (constant, step) in FITTED.iter().zip(&mut steps) {
            progress(&format!("fitting, error {best:.3}"));
            let before = *constant(&mut plan.machine);
            let tried = [before * (1.0 + *step), before / (1.0 + *step)];
            let mut better = false;
            for value in tried {
                *constant(&mut plan.machine) = value;
                let error = distance(&compare(&plan, &measured)?);
                if error < best * WORTH {
                    best = error;
                    better = true;
                    break;
                }
                *constant(&mut plan.machine) = before;
            }
            if !better {
                *step /= 2.0;
            }
        }
    }
    let compared = compare(&plan, &measured)?;
    Ok(Calibration {
        program: None,
        measured_by: results.programs().into_iter().cloned().collect(),
        workload: plan.workload.name.clone(),
        machine: plan.machine,
        error: best,
        error_before,
        totals: totals(&measured, &compared),
        compared,
    })
}

/// An arm with the seconds of its closed sessions, each and together, over the rounds.
struct Measured {
    policy: Policy,
    sessions: Vec<(String, Figure)>,
    total: Figure,
}

fn measured(results: &Results) -> Result<Vec<Measured>> {
    let arms = results.parameters.arms.iter();
    let ours = arms.filter(|arm| arm.is_switchable());
    let found: Vec<Measured> = ours.filter_map(|arm| Measured::of(results, arm)).collect();
    if found.is_empty() {
        return Err(BenchError::new(
            "the results hold no whole run of fixed-K or lazy-leveling to calibrate by: \
             measure one with `lissom bench`",
        ));
    }
    Ok(found)
}

impl Measured {
    fn of(results: &Results, arm: &ArmName) -> Option<Measured> {
        let runs: Vec<&ArmRun> = results.runs.iter().filter(|run| run.arm == *arm).collect();
        let closed = runs.first()?.sessions.iter().enumerate();
        let closed = closed.filter(|(_, session)| !session.open);
        let sessions: Vec<(String, Figure)> = closed
            .filter_map(|(at, session)| {
                let of = |run: &&ArmRun| Some(run.sessions.get(at)?.seconds);
                let seconds = Figure::of(runs.iter().filter_map(of))?;
                Some((session.name.clone(), seconds))
            })
            .collect();
        let measured = Measured {
            policy: arm.to_string().parse().ok()?,
            sessions,
            total: Figure::of(runs.iter().map(|run| closed_seconds(run)))?,
        };
        (!measured.sessions.is_empty()).then_some(measured)
    }
}

fn plan(results: &Results, measured: &[Measured], machine: MachineModel) -> Result<SimulationPlan> {
    let parameters = &results.parameters;
    Ok(SimulationPlan {
        workload: parameters.workload.clone(),
        arms: measured
            .iter()
            .map(|arm| arm.policy.clone().into())
            .collect(),
        resources: parameters.resources.clone(),
        machine,
        device_bytes_per_second: None,
        filters: Default::default(),
        noise: 0.0,
        slow_noise: 0.0,
        seed: 1,
        seeds: 1,
        oracle: false,
        reopen: false,
    })
}

fn compare(plan: &SimulationPlan, measured: &[Measured]) -> Result<Vec<Compared>> {
    let simulation = run_simulation(plan, &mut |_| ())?;
    let mut all = Vec::new();
    for (arm, measured) in simulation.arms.iter().zip(measured) {
        for (name, seconds) in &measured.sessions {
            let same = arm.outcome.sessions.iter().find(|it| it.name == *name);
            if let Some(simulated) = same {
                all.push(Compared {
                    arm: arm.arm.clone(),
                    session: name.clone(),
                    measured: seconds.clone(),
                    simulated: simulated.seconds,
                });
            }
        }
    }
    Ok(all)
}

fn distance(compared: &[Compared]) -> f64 {
    let squares = compared
        .iter()
        .map(|it| (it.simulated / it.measured.median).ln().powi(2));
    (squares.sum::<f64>() / compared.len().max(1) as f64).sqrt()
}

fn totals(measured: &[Measured], compared: &[Compared]) -> Vec<ComparedTotal> {
    let total = |measured: &Measured| {
        let arm = measured.policy.to_string();
        let own = compared.iter().filter(|it| it.arm == arm);
        let simulated = own.map(|it| it.simulated).sum();
        ComparedTotal {
            measured: measured.total.clone(),
            simulated,
            arm,
        }
    };
    let mut totals: Vec<ComparedTotal> = measured.iter().map(total).collect();
    totals.sort_by(|a, b| a.measured.median.total_cmp(&b.measured.median));
    totals
}
