//! One parameter at a time.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::objective::{Metrics, Objective};
use crate::space::{Configuration, Difference, Space};

/// The best without what one parameter brings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ablation {
    /// The parameter, from the default's setting to the best's.
    pub difference: Difference,
    /// The best with this parameter as the default has it, to be run as long as the
    /// best was.
    pub configuration: Configuration,
}

/// What came of an ablation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ablated {
    /// The parameter that was set back.
    pub parameter: String,
    /// What ran; absent in logs of versions that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    /// What was measured without it; absent if it failed.
    pub metrics: Option<Metrics>,
}

/// One run for each parameter in which the best differs from the default.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Ablations {
    /// What to run.
    pub runs: Vec<Ablation>,
    /// Parameters that cannot be set back alone, and the rule that says so.
    pub bound: Vec<(Difference, String)>,
}

/// What to run to see what each parameter contributes.
///
/// Setting back one of several that only work together shows more than its own
/// share, and the shares need not sum to the whole.
///
/// # Errors
/// A configuration that is not of the space.
pub fn ablations(
    space: &Space,
    default: &Configuration,
    best: &Configuration,
) -> Result<Ablations> {
    let mut ablations = Ablations::default();
    for difference in default.differences(best) {
        let Some(from) = difference.from.clone() else {
            continue;
        };
        let mut configuration = best.clone();
        configuration.set(difference.name.as_str(), from);
        // What has no effect without it goes with it.
        let configuration = space.canonical(&configuration)?;
        match space.broken_rules(&configuration)?.first() {
            Some(rule) => ablations.bound.push((difference, rule.to_string())),
            None => ablations.runs.push(Ablation {
                difference,
                configuration,
            }),
        }
    }
    Ok(ablations)
}

/// By which share the best is better than without one parameter, for each goal.
///
/// # Errors
/// A metric that a goal needs is missing.
pub fn contribution(objective: &Objective, best: &Metrics, without: &Metrics) -> Result<Vec<f64>> {
    let (best, without) = (objective.values(best)?, objective.values(without)?);
    let goals = objective.goals();
    let gains = goals.iter().zip(best.iter().zip(without));
    Ok(gains
        .map(|(goal, (best, without))| goal.direction.gain(*best, without))
        .collect())
}
