//! `lissom demo`: what it measures, what it simulates beside that, and what it tells of the
//! simulation.

mod plan;
#[cfg(test)]
mod tests;
mod told;

pub use plan::{demo_command, demo_plan, demo_simulation};
pub use told::{demo_supplement, render_demo};
