//! What is simulated.

use lissom_core::filters::FilterAllocation;
use lissom_core::schedule::{DebtBounds, ScheduleKind};
use lissom_core::shape::Shape;
use lissom_core::tuner::{Allowance, Policy};
use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::popularity::Popularity;

/// Shares of the operations, which sum to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Mix {
    /// Point reads of keys that exist.
    pub get_present: f64,
    /// Point reads of keys that do not.
    pub get_absent: f64,
    /// Writes of new keys.
    pub put: f64,
    /// Writes of existing keys.
    pub update: f64,
    /// Deletes of existing keys.
    pub delete: f64,
    /// Range reads from an existing key on.
    pub scan: f64,
}

impl Mix {
    /// Writes of any kind.
    pub fn writes(&self) -> f64 {
        self.put + self.update + self.delete
    }
}

/// How operations are offered, operations a second.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Rate {
    /// At most so many. What could not be done is not made up for: the session takes
    /// longer.
    Constant(f64),
    /// High and low by turns, starting high. What could not be done when it was due is
    /// done as soon as it can be. A turn lasts a millisecond at least.
    Periodic {
        /// At the high turn.
        high: f64,
        /// At the low turn.
        low: f64,
        /// Seconds of a high turn.
        high_seconds: f64,
        /// Seconds of a low turn.
        low_seconds: f64,
    },
}

/// One measured session.
#[derive(Clone, PartialEq, Debug)]
pub struct Session {
    /// Name in tables.
    pub name: String,
    /// Operations.
    pub operations: u64,
    /// What they are.
    pub mix: Mix,
    /// Which keys they name.
    pub keys: Popularity,
    /// Mean entries that a scan returns.
    pub scan_length: f64,
    /// How they are offered; as fast as they go when absent.
    pub rate: Option<Rate>,
    /// Who chooses the run limits from here on; as before when absent.
    pub policy: Option<Policy>,
    /// Whether users rest at its end until nothing is left to flush or merge, which counts for it,
    /// bytes and time. Otherwise the next session goes on with it.
    pub settles: bool,
}

/// The store: everything that the autopilot does not decide.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreModel {
    /// Dimensions of the tree.
    pub shape: Shape,
    /// Compactions at a time.
    pub workers: usize,
    /// Memtables, the active one included.
    pub max_write_buffer_number: usize,
    /// L0 files at which writes stop.
    pub level0_stop_writes_trigger: u32,
    /// What no schedule lets L0 pass.
    pub debt_bounds: DebtBounds,
    /// Bytes a second that schedules hold the device for;
    /// [`Machine::device_bytes_per_second`] when absent.
    pub device_bytes_per_second: Option<f64>,
    /// Memory for memtables, filters, indexes and data blocks, bytes.
    pub memory_budget_bytes: f64,
    /// Filter bits for each key, on average.
    pub bloom_bits_per_key: f64,
    /// How the levels share them.
    pub filters: FilterAllocation,
    /// Uncompressed bytes of a data block.
    pub block_bytes: f64,
    /// Bytes of an entry, key and value.
    pub entry_bytes: f64,
    /// Operations after which a mission ends.
    pub mission_operations: u64,
    /// Seconds after which a mission ends.
    pub mission_seconds: f64,
}

/// A store, a machine, a workload, and who decides.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// The store.
    pub store: StoreModel,
    /// What it runs on.
    pub machine: Machine,
    /// Entries that are loaded before the first session, in random order.
    pub entries: u64,
    /// Updates of each entry after the load, not measured.
    pub warm_updates: f64,
    /// Measured sessions.
    pub sessions: Vec<Session>,
    /// Who chooses the run limits from the load on.
    pub policy: Policy,
    /// Whether the limits are held, as by a pin, once the first session begins: what the
    /// load has led to, and nothing more.
    pub frozen: bool,
    /// What `learned` is allowed.
    pub allowance: Allowance,
    /// When to compact, from the load on.
    pub schedule: ScheduleKind,
    /// Relative spread of what the tuner is told of times: the standard
    /// deviation of their logarithm.
    pub noise: f64,
    /// The same of what it is told of gets and scans alone, in a part that drifts within
    /// minutes instead of being drawn anew for each mission.
    pub slow_noise: f64,
    /// One read in so many, on average, is timed and looked at; each with 1, and 128 as in the
    /// store. Beside the noise.
    pub timed_one_in: u64,
    /// Seed of the noise.
    pub seed: u64,
}
