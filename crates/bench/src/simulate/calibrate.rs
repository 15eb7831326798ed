//! The machine's constants from a measured run.
//!
//! They are fitted to the times of closed sessions, all of Lissom's static arms at
//! once: each constant in turn is made larger and smaller by a step, what brings
//! the model nearer is kept, and steps that bring nothing are halved. A constant that is 0
//! takes its first step from a unit of its own.

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

type Constant = fn(&mut MachineModel) -> &mut f64;

/// Constants that a run's session times can tell apart, each with the unit that steps are
/// shares of while it is 0; those with a unit of 0 stay there.
const FITTED: [(Constant, f64); 11] = [
    (|machine| &mut machine.read_interference, 4.0),
    (|machine| &mut machine.device_queue, 0.0),
    (|machine| &mut machine.block_read, 0.0),
    (|machine| &mut machine.put_cpu, 0.0),
    (|machine| &mut machine.miss_cpu, 0.0),
    (|machine| &mut machine.probe_cpu, 0.0),
    (|machine| &mut machine.seek_cpu, 0.0),
    (|machine| &mut machine.merge_byte_cpu, 0.0),
    (|machine| &mut machine.byte_read, 0.0),
    (|machine| &mut machine.byte_write, 0.0),
    (|machine| &mut machine.delayed_write_rate, 0.0),
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
    let error = if fit {
        fit_constants(&mut plan, &measured, error_before, progress)?
    } else {
        error_before
    };
    let compared = compare(&plan, &measured)?;
    Ok(Calibration {
        program: None,
        measured_by: results.programs().into_iter().cloned().collect(),
        workload: plan.workload.name.clone(),
        machine: plan.machine,
        error,
        error_before,
        totals: totals(&measured, &compared),
        compared,
    })
}

/// Fits the plan's machine, whose error is known, and returns the error that is left.
fn fit_constants(
    plan: &mut SimulationPlan,
    measured: &[Measured],
    error_before: f64,
    progress: &mut dyn FnMut(&str),
) -> Result<f64> {
    let mut best = error_before;
    let mut steps = [FIRST_STEP; FITTED.len()];
    for _ in 0..MOST_ROUNDS {
        if steps.iter().all(|step| *step < LEAST_STEP) {
            break;
        }
        for ((constant, unit), step) in FITTED.iter().zip(&mut steps) {
            progress(&format!("fitting, error {best:.3}"));
            let before = *constant(&mut plan.machine);
            let mut better = false;
            for value in tried(before, *unit, *step) {
                *constant(&mut plan.machine) = value;
                let error = distance(&compare(plan, measured)?);
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
    Ok(best)
}

/// What a step leads to, and what is tried if that brings nothing.
fn tried(before: f64, unit: f64, step: f64) -> [f64; 2] {
    if before > 0.0 {
        [before * (1.0 + step), before / (1.0 + step)]
    } else {
        [unit * step, unit * step * step]
    }
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
        oracle: None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::Resources;
    use crate::workload::load_workload;

    /// Updates and reads under one run a level, in a small tree.
    fn small_plan() -> SimulationPlan {
        let workload = load_workload("five-sessions")
            .and_then(|workload| workload.sized(Some(50_000), 0.5))
            .expect("a workload");
        SimulationPlan {
            workload,
            arms: vec!["fixed-1".parse().expect("an arm")],
            resources: Resources {
                write_buffer_size: 256 << 10,
                target_file_size_base: 512 << 10,
                block_cache_size: 2 << 20,
                ..Resources::default()
            },
            machine: MachineModel::default(),
            device_bytes_per_second: None,
            filters: Default::default(),
            noise: 0.0,
            slow_noise: 0.0,
            seed: 1,
            seeds: 1,
            oracle: None,
            reopen: false,
        }
    }

    /// The plan's own times, as if they had been measured.
    fn measured_as(plan: &SimulationPlan) -> Measured {
        let seen = run_simulation(plan, &mut |_| ()).expect("simulated");
        let outcome = &seen.arms[0].outcome;
        let alone = |seconds: f64| Figure::of([seconds]).expect("a value");
        let sessions = outcome.sessions.iter();
        Measured {
            policy: plan.arms[0].policy.clone(),
            sessions: sessions
                .map(|session| (session.name.clone(), alone(session.seconds)))
                .collect(),
            total: alone(outcome.seconds()),
        }
    }

    #[test]
    fn a_constant_that_is_nothing_at_first_is_found() {
        let mut plan = small_plan();
        // Where the first step from nothing leads.
        plan.machine.read_interference = 2.0;
        let measured = [measured_as(&plan)];
        plan.machine.read_interference = 0.0;
        let before = distance(&compare(&plan, &measured).expect("simulated"));
        assert!(before > 0.02, "{before}");
        let left = fit_constants(&mut plan, &measured, before, &mut |_| ());
        assert_eq!(left.expect("fitted"), 0.0);
        assert_eq!(plan.machine.read_interference, 2.0);
    }

    #[test]
    fn what_has_no_unit_stays_nothing() {
        assert_eq!(tried(0.0, 0.0, 0.5), [0.0, 0.0]);
        assert_eq!(tried(0.0, 4.0, 0.5), [2.0, 1.0]);
        assert_eq!(tried(2.0, 4.0, 0.5), [3.0, 2.0 / 1.5]);
    }
}
