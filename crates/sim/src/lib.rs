//! Lissom's decisions over a modelled tree, in virtual time.
//!
//! The planner, the tuners and the schedules are the store's own; the tree is a model.
//! It knows no keys, only how many each file holds of each class of popularity
//! ([`content`]), what a read costs over such files ([`reads`]), and how the user's
//! thread, flushes and compactions share cores and device ([`machine`]). Equal scenarios
//! give equal outcomes, to the last bit.
//!
//! A schedule is told of virtual counters: blocks that reads brought in, bytes written
//! by users, flushes and compactions, and the users' share of the cores. A rate that it
//! orders slows flushes and compactions down at once: flushes get what they want of it,
//! compactions the rest, but a tenth at least; who waits for it takes neither cores nor
//! device.
//!
//! What it leaves out: the spread of latencies (only means are known), bursts within a
//! rate, more than one user at a time, ordered keys, compression, that a tombstone is
//! smaller than an entry, that blocks of files which a merge has made are not in the cache
//! yet (they are there as often as if they had been for long), and stock RocksDB's own
//! compaction. Under Monkey's allocation all files have at any time the filter bits that suit the
//! tree as it is, while in the store a file keeps those that it was written with, and new files get
//! others only once a level's entries have changed by a tenth.
//!
//! ```text
//! scenario ─► run ─► outcome
//!              │ what is written ── content, tree
//!              │ what is read ───── popularity, reads, cache
//!              │ what is offered ── pace
//!              │ how long it takes  machine, jobs, limiter
//!              └ what is decided ── pilot, scheduler: lissom_core's planner, tuner, schedule
//! ```

#![forbid(unsafe_code)]

pub mod cache;
pub mod content;
mod jobs;
mod limiter;
pub mod machine;
mod memtable;
mod mission;
mod noise;
pub mod outcome;
mod pace;
mod pilot;
pub mod popularity;
pub mod reads;
mod run;
mod sampling;
pub mod scenario;
mod scheduler;
pub mod tree;
mod watch;

pub use machine::Machine;
pub use outcome::{
    Decision, HeldLimits, LevelCost, LimitChange, Offered, Ordered, Outcome, SessionOutcome,
};
pub use popularity::Popularity;
pub use run::{Stuck, simulate, simulate_reopened};
pub use scenario::{Mix, Rate, Scenario, Session, StoreModel};

#[cfg(test)]
mod tests;
