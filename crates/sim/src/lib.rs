//! Lissom's decisions over a modelled tree, in virtual time.
//!
//! The planner and the tuners are the store's own; the tree is a model. It knows
//! no keys, only how many each file holds of each class of popularity
//! ([`content`]), what a read costs over such files ([`reads`]), and how the
//! user's thread, flushes and compactions share cores and device ([`machine`]).
//! Equal scenarios give equal outcomes, to the last bit.
//!
//! What it leaves out: the spread of latencies (only means are known), bursts
//! within a rate and backlogs after a stop, ordered keys, compression, that a
//! tombstone is smaller than an entry, and stock RocksDB's own compaction.
//!
//! ```text
//! scenario ─► run ─► outcome
//!              │ what is written ── content, tree
//!              │ what is read ───── popularity, reads, cache
//!              │ how long it takes  machine, jobs
//!              └ what is decided ── pilot: lissom_core's planner and tuner
//! ```

#![forbid(unsafe_code)]

pub mod cache;
pub mod content;
mod jobs;
pub mod machine;
mod memtable;
mod mission;
mod noise;
pub mod outcome;
mod pilot;
pub mod popularity;
pub mod reads;
mod run;
pub mod scenario;
pub mod tree;

pub use machine::Machine;
pub use outcome::{Decision, Outcome, SessionOutcome};
pub use popularity::Popularity;
pub use run::{Stuck, simulate};
pub use scenario::{Mix, Scenario, Session, StoreModel};

#[cfg(test)]
mod tests;
