//! When? A schedule says which plans run now.

use crate::observation::Observation;
use crate::plan::Plan;

/// Admits plans.
pub trait Schedule: Send {
    /// The schedule's name.
    fn name(&self) -> &'static str;

    /// The plans that start now, in order; the others are proposed again later.
    fn admit(&mut self, seen: &Observation, plans: Vec<Plan>) -> Vec<Plan>;
}

/// Compacts as soon as something is planned and a worker is free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Eager;

impl Schedule for Eager {
    fn name(&self) -> &'static str {
        "eager"
    }

    fn admit(&mut self, seen: &Observation, mut plans: Vec<Plan>) -> Vec<Plan> {
        plans.truncate(seen.workers.saturating_sub(seen.in_flight.len()));
        plans
    }
}
