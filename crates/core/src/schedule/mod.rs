//! When? Once per interval a schedule sees the load and what the tree owes, and
//! gives an order that holds until the next: whether L0 waits, how much may go on
//! below it, and at which rate.
//!
//! A schedule is pure: it is told the time, and has no other source of it. Whatever
//! it orders, [`Debt::bounded`] lets everything go once L0 has come to its bound. The
//! planner obeys what is left: an order is part of its
//! [observation](crate::observation::Observation).
//!
//! Under every schedule merges give way to whoever wants a processor, and where that is asked for
//! the device, as long as they can ([`WorkerPriority`]).

mod client;
mod debt;
mod dlc;
mod estimate;
mod kind;
mod level0_work;
mod load;
mod look_ahead;
mod paced;
mod phase;
mod priority;
mod silk;
mod speed;
#[cfg(test)]
mod tests;
mod work;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use client::Client;
pub use debt::{Debt, DebtBounds};
pub use dlc::{Burst, Delay, Dlc};
pub use estimate::{Estimate, Merges};
pub use kind::{ScheduleKind, ScheduleKindError};
pub use level0_work::Level0Work;
pub use load::{Conditions, FullLoad, Load, LoadModel};
pub use look_ahead::LookAhead;
pub use paced::Paced;
pub use phase::{Phase, PhaseLimits, Phases};
pub use priority::{Level0, Moment, Priority, PriorityOrder, PriorityOrders, WorkerPriority};
pub use silk::Silk;
pub use speed::MergeSpeed;
pub use work::Work;

/// No schedule is asked more often, however time is compressed: each look at the load is
/// work too, and so is a look at the tree under every order.
pub const LEAST_INTERVAL: Duration = Duration::from_millis(10);

/// Whether a number that was kept over a restart can be a sum, a length or a rate.
fn is_amount(number: f64) -> bool {
    number.is_finite() && number >= 0.0
}

/// What L0 may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level0Order {
    /// It is merged into level 1 as soon as it is due.
    #[default]
    Merge,
    /// It is merged into a run of its own, so that only what was flushed since is
    /// rewritten: what RocksDB calls an intra-L0 compaction. Where level 1 has few slots
    /// left for new runs it is merged into the newest one: L0 never waits for a slot. Runs
    /// over the run limit are merged back under [`Level0Order::Merge`], with L0 or without.
    MergeApart,
    /// It waits.
    Wait,
}

/// How much may go on below L0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeepOrder {
    /// Whatever is due and finds a worker.
    #[default]
    All,
    /// A full level gives what it holds as it takes in more, rather than at once.
    Paced,
    /// So many compactions at a time.
    AtMost(usize),
}

/// What a schedule sees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Seen {
    /// The interval that has just ended.
    pub load: Load,
    /// What the machine and the data are like.
    pub conditions: Conditions,
    /// What the tree owes.
    pub debt: Debt,
}

/// What holds until the next interval ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Order {
    /// For L0.
    pub level0: Level0Order,
    /// For what lies below L0.
    pub deep: DeepOrder,
    /// Bytes a second that compactions may read and write together; any number when
    /// absent.
    pub bytes_per_second: Option<u64>,
    /// How loaded the store is held to be.
    pub phase: Phase,
    /// L0 has come to its bound, and the order is [`Debt::bounded`]'s; false in journals
    /// that do not tell it.
    #[serde(default)]
    pub at_bound: bool,
    /// A sentence without a full stop.
    pub why: String,
}

impl Order {
    /// Everything at once.
    pub fn all(phase: Phase, why: impl Into<String>) -> Order {
        Order {
            level0: Level0Order::Merge,
            deep: DeepOrder::All,
            bytes_per_second: None,
            phase,
            at_bound: false,
            why: why.into(),
        }
    }

    /// Whether two orders mean the same but for the rate. One at the bound means something
    /// else than one that lets everything go by itself.
    pub fn is_like(&self, other: &Order) -> bool {
        let meaning = |order: &Order| (order.level0, order.deep, order.phase, order.at_bound);
        meaning(self) == meaning(other)
    }
}

/// Gives orders.
///
/// A schedule is deterministic: the same intervals give the same orders. The checks
/// in [`crate::testing::schedule_contract`] hold for every schedule.
pub trait Schedule: Send {
    /// The schedule's name, as settings and arms spell it.
    fn name(&self) -> String;

    /// How often it wants to be asked.
    fn interval(&self) -> Duration;

    /// Whether it looks at [`Load::user_cpu`]. That costs a look at every thread of the
    /// process, in most intervals; where nobody asks it is left out, and the field is absent.
    /// Default: no.
    fn needs_processors(&self) -> bool {
        false
    }

    /// The order after an interval.
    fn order(&mut self, seen: &Seen) -> Order;

    /// What it has learned of the load, for the state file; `null` when nothing.
    fn state(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Takes up what [`Schedule::state`] gave.
    ///
    /// # Errors
    /// A sentence when the value does not come from this kind of schedule; it then
    /// goes on as if it were new.
    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        if state.is_null() {
            Ok(())
        } else {
            Err(format!("the schedule {} keeps no state", self.name()))
        }
    }
}

/// Compacts as soon as something is due and a worker is free.
#[derive(Clone, Copy, Debug, Default)]
pub struct Eager;

impl Schedule for Eager {
    fn name(&self) -> String {
        "eager".into()
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn order(&mut self, _: &Seen) -> Order {
        Order::all(Phase::Low, "whatever is due is merged at once")
    }
}

/// Share of the device that is left to nobody.
const RESERVE: f64 = 0.05;

/// Least share of the device for flushes and compactions.
const FLOOR: f64 = 0.1;

/// The least rate for flushes and compactions together, times the bytes a second that
/// users write to the log: RocksDB's limiter is over flushes too, and one that falls behind
/// the writes stops the writers.
pub const FLUSHES: f64 = 1.5;

/// The rate that is left of the device by users whose load is such a share of a [full](FullLoad)
/// one, never under a floor that keeps compactions and flushes going:
/// device * (1 - share - reserve). DLC's equation 2, limit - client - reserve, is the same where
/// the device is what fills up; elsewhere users never move a share of it that mattered.
fn leftover(seen: &Seen, share: f64) -> u64 {
    let limit = seen.conditions.device_bytes_per_second;
    let floor = (FLOOR * limit).max(FLUSHES * seen.load.logged_per_second());
    // `max` and `min` take any number; `clamp` would panic on some.
    let rate = (limit * (1.0 - RESERVE - share)).max(floor);
    rate.min(limit.max(floor)).max(1.0) as u64
}
