//! The decisions of Lissom.
//!
//! A log-structured merge tree is observed ([`Observation`]); a
//! [`Tuner`](tuner::Tuner) says how many sorted runs each level may hold, the
//! [`planner`] says what to merge, and a [`Schedule`](schedule::Schedule) says
//! what of it runs now. All three are functions from an observation to data:
//! nothing in this crate holds a database handle, a lock, a clock or a random
//! source. Effects live in the crate `lissom`.
//!
//! The folders read in this order: [`layout`] (which physical level of RocksDB
//! holds which run), [`tree`] (files, runs and levels), [`shape`] (capacities
//! and run limits), [`planner`], [`tuner`], [`schedule`], [`journal`].

#![forbid(unsafe_code)]

pub mod cost_model;
pub mod filters;
pub mod guards;
pub mod journal;
pub mod key;
pub mod layout;
pub mod observation;
pub mod plan;
pub mod planner;
pub mod reasons;
pub mod replay;
pub mod robust;
pub mod schedule;
pub mod shape;
pub mod state;
pub mod testing;
pub mod tree;
pub mod tuner;
pub mod validate;

pub use key::Key;
pub use layout::{Layout, LogicalLevel, PhysicalLevel, Slot};
pub use observation::{InFlight, Mission, Observation};
pub use plan::{Excess, Plan, PlanKind, Reason};
pub use shape::{RunLimit, RunLimits, Shape, Transition};
pub use state::{Drain, DrainId, TreeState};
pub use tree::{File, Tree};
