//! What was measured of Lissom's static arms, and the same sessions in the simulator.

use serde::{Deserialize, Serialize};

use super::side_by_side::side_by_side;
use super::{Contender, MachineModel, SimulationPlan, passes};
use crate::arms::ArmName;
use crate::error::{BenchError, Result};
use crate::judge::{Figure, closed_seconds};
use crate::run::{ArmRun, Program, Results};
use lissom::core::tuner::Policy;

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

/// The results that the simulator is held against, and the plan that simulates the same; its
/// machine gives way to the one that is tried.
pub(super) struct Target {
    pub(super) plan: SimulationPlan,
    /// By arm, in the order of the plan's.
    pub(super) measured: Vec<Measured>,
    pub(super) measured_by: Vec<Program>,
}

/// An arm with the seconds of its closed sessions, each and together, over the rounds.
pub(super) struct Measured {
    pub(super) policy: Policy,
    pub(super) sessions: Vec<(String, Figure)>,
    pub(super) total: Figure,
}

impl Target {
    /// One for each of the results. Where there are several, an error tells which it is of.
    pub(super) fn all(results: &[Results]) -> Result<Vec<Target>> {
        let of = |it: &Results| {
            Target::of(it).map_err(|error| match results {
                [_] => error,
                _ => error.at(format!("results of {}", it.parameters.workload.name)),
            })
        };
        results.iter().map(of).collect()
    }

    fn of(results: &Results) -> Result<Target> {
        if results.parameters.threads != 1 {
            return Err(BenchError::new(format!(
                "these results are of {} threads, and the simulator has one: give results of one",
                results.parameters.threads
            )));
        }
        let measured = measured(results)?;
        Ok(Target {
            plan: plan(results, &measured),
            measured,
            measured_by: results.programs().into_iter().cloned().collect(),
        })
    }

    /// Arms by measured total time, fastest first.
    pub(super) fn totals(&self, compared: &[Compared]) -> Vec<ComparedTotal> {
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
        let mut totals: Vec<ComparedTotal> = self.measured.iter().map(total).collect();
        totals.sort_by(|a, b| a.measured.median.total_cmp(&b.measured.median));
        totals
    }
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
        let runs: Vec<&ArmRun> = results
            .whole_rounds()
            .filter(|run| run.arm == *arm)
            .collect();
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

fn plan(results: &Results, measured: &[Measured]) -> SimulationPlan {
    let parameters = &results.parameters;
    let arms = measured.iter().map(|arm| arm.policy.clone().into());
    let resources = parameters.resources.clone();
    SimulationPlan::of(parameters.workload.clone(), arms.collect(), resources)
}

/// Every closed session on this machine, by target. All arms of all targets are simulated side
/// by side.
pub(super) fn compare(targets: &[Target], machine: MachineModel) -> Result<Vec<Vec<Compared>>> {
    let plan = |target: &Target| SimulationPlan {
        machine,
        ..target.plan.clone()
    };
    let plans: Vec<SimulationPlan> = targets.iter().map(plan).collect();
    let mut arms: Vec<(usize, &SimulationPlan, &Contender, &Measured)> = Vec::new();
    for (at, (target, plan)) in targets.iter().zip(&plans).enumerate() {
        let own = plan.arms.iter().zip(&target.measured);
        arms.extend(own.map(|(contender, measured)| (at, plan, contender, measured)));
    }
    let simulated = side_by_side(&arms, |(_, plan, contender, measured)| {
        compare_arm(plan, contender, measured)
    });
    let mut all: Vec<Vec<Compared>> = vec![Vec::new(); targets.len()];
    for ((at, ..), compared) in arms.iter().zip(simulated) {
        all[*at].extend(compared?);
    }
    Ok(all)
}

fn compare_arm(
    plan: &SimulationPlan,
    contender: &Contender,
    measured: &Measured,
) -> Result<Vec<Compared>> {
    let mut all = Vec::new();
    for arm in passes(plan, contender)? {
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
