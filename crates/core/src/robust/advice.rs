//! Nominal and robust tuning side by side.

use serde::{Deserialize, Serialize};

use super::{DesignSpace, Difference, Neighbourhood, Tuned, tune};
use crate::cost_model::{CostModel, ModelError};

/// What to choose if the guess of the workload is trusted, and what if not.
/// Prints as a table.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Advice {
    /// The guess, and how far it may be wrong.
    pub near: Neighbourhood,
    /// The tuning that costs least if the guess is right, with its worst case
    /// if it is wrong.
    pub nominal: Tuned,
    /// The tuning with the least worst case.
    pub robust: Tuned,
}

/// Both tunings of a space for a neighbourhood.
///
/// # Errors
/// As [`tune`].
pub fn advise(
    model: &CostModel,
    near: &Neighbourhood,
    space: &DesignSpace,
) -> Result<Advice, ModelError> {
    let certain = tune(model, &Neighbourhood::only(*near.expected()), space)?;
    Ok(Advice {
        near: *near,
        nominal: Tuned::new(model, near, certain.tuning)?,
        robust: tune(model, near, space)?,
    })
}

impl Advice {
    /// What the robust tuning costs more if the guess is right, as a share of
    /// what the nominal one costs. At least 0, up to rounding.
    pub fn lost_if_right(&self) -> f64 {
        self.robust.expected_cost / self.nominal.expected_cost - 1.0
    }

    /// What the robust tuning's worst case costs less than the nominal one's,
    /// as a share of that. At least 0, up to the search's tolerance.
    pub fn saved_if_wrong(&self) -> f64 {
        1.0 - self.robust.worst.cost / self.nominal.worst.cost
    }

    /// Why they differ.
    pub fn difference(&self) -> Difference {
        Difference::new(self.near.expected(), &self.nominal, &self.robust)
    }
}
