//! Workloads in the simulator: the same files, the same store, virtual time.

mod calibrate;
mod scenario;
mod table;
#[cfg(test)]
mod tests;

use lissom::core::tuner::Policy;
pub use lissom_sim::Machine as MachineModel;
use lissom_sim::{Outcome, Scenario};
use serde::{Deserialize, Serialize};

use crate::arms::Resources;
use crate::error::{Place, Result};
use crate::workload::Workload;

pub use calibrate::{Calibration, Compared, calibrate};
pub use table::{render_calibration, render_simulation};

/// What is simulated.
#[derive(Clone, PartialEq, Debug)]
pub struct SimulationPlan {
    /// The workload.
    pub workload: Workload,
    /// Who chooses the run limits, one arm each.
    pub policies: Vec<Policy>,
    /// Memory, triggers and sizes, as in a measured run.
    pub resources: Resources,
    /// The machine.
    pub machine: MachineModel,
    /// How filter memory is shared among levels.
    pub filters: lissom::core::filters::FilterAllocation,
    /// Relative spread of the times that tuners are told.
    pub noise: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// Adds an arm that follows in each session the static arm that was best in it.
    pub oracle: bool,
}

/// All arms of a plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Simulation {
    /// The workload's name.
    pub workload: String,
    /// Entries that were loaded.
    pub entries: u64,
    /// The machine.
    pub machine: MachineModel,
    /// By arm.
    pub arms: Vec<SimulatedArm>,
}

/// One arm.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SimulatedArm {
    /// Its policy.
    pub arm: String,
    /// Whether its limits are always the same.
    pub is_static: bool,
    /// What came of it.
    pub outcome: Outcome,
}

/// Carries a plan out, arm by arm; `progress` is told of each.
///
/// # Errors
/// A workload that the model cannot express, with the field's name.
pub fn run_simulation(plan: &SimulationPlan, progress: &mut dyn FnMut(&str)) -> Result<Simulation> {
    let mut arms = Vec::new();
    for policy in &plan.policies {
        progress(&format!("simulating {policy}"));
        arms.push(SimulatedArm {
            arm: policy.to_string(),
            is_static: is_static(policy),
            outcome: simulate(&scenario::scenario(plan, policy)?)?,
        });
    }
    if plan.oracle {
        progress("simulating the oracle");
        arms.extend(oracle(plan, &arms)?);
    }
    Ok(Simulation {
        workload: plan.workload.name.clone(),
        entries: plan.workload.entries,
        machine: plan.machine,
        arms,
    })
}

fn is_static(policy: &Policy) -> bool {
    matches!(policy, Policy::Fixed(_) | Policy::LazyLeveling)
}

/// One real run that switches with perfect knowledge. `None` without static arms.
fn oracle(plan: &SimulationPlan, arms: &[SimulatedArm]) -> Result<Option<SimulatedArm>> {
    let fixed: Vec<(&Policy, &Outcome)> = plan
        .policies
        .iter()
        .zip(arms)
        .filter(|(policy, _)| is_static(policy))
        .map(|(policy, arm)| (policy, &arm.outcome))
        .collect();
    let sessions = fixed.first().map_or(0, |(_, seen)| seen.sessions.len());
    let best: Vec<&Policy> = (0..sessions)
        .filter_map(|at| {
            let took = |seen: &Outcome| seen.sessions[at].seconds;
            let least = fixed.iter().min_by(|a, b| took(a.1).total_cmp(&took(b.1)));
            least.map(|(policy, _)| *policy)
        })
        .collect();
    let Some(first) = best.first() else {
        return Ok(None);
    };
    let mut scenario = scenario::scenario(plan, first)?;
    for (session, policy) in scenario.sessions.iter_mut().zip(&best) {
        session.policy = Some((*policy).clone());
    }
    Ok(Some(SimulatedArm {
        arm: "oracle".into(),
        is_static: false,
        outcome: simulate(&scenario)?,
    }))
}

fn simulate(scenario: &Scenario) -> Result<Outcome> {
    lissom_sim::simulate(scenario).place(format!("arm {}", scenario.policy))
}
