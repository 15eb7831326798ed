//! The TOML form of a workload. Every table refuses unknown fields.

use serde::{Deserialize, Serialize};

use super::rate::Rate;

/// A workload: what is loaded, and the sessions that follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Name in tables and file names: letters, digits and dashes.
    pub name: String,
    /// One sentence that says what the workload stands for.
    pub about: String,
    /// Entries that are loaded before the first session.
    pub entries: u64,
    /// Bytes of a key, at least 17. Default: 24.
    #[serde(default = "default_key_size")]
    pub key_size: usize,
    /// Bytes of a value. Default: 1000.
    #[serde(default = "default_value_size")]
    pub value_size: Size,
    /// Share of a value's bytes that compress to nothing, 0 to 1. Default: 0.5.
    #[serde(default = "default_compressible_share")]
    pub compressible_share: f64,
    /// Whether neighbours in number are neighbours in key order. Default: hashed.
    #[serde(default)]
    pub key_order: KeyOrder,
    /// How the store is brought to its starting state.
    #[serde(default)]
    pub fill: Fill,
    /// The measured sessions, in order.
    #[serde(rename = "session")]
    pub sessions: Vec<Session>,
}

/// Size in bytes, or a length in entries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Size {
    /// Always the same.
    Fixed(u64),
    /// Drawn for each operation.
    Drawn(DrawnSize),
}

/// Distribution of a size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DrawnSize {
    /// Every whole number from `min` to `max` alike.
    Uniform {
        /// Smallest size.
        min: u64,
        /// Largest size.
        max: u64,
    },
    /// Generalised Pareto distribution: theta + sigma * (u^-k - 1) / k.
    Pareto {
        /// Location.
        theta: f64,
        /// Shape.
        k: f64,
        /// Scale.
        sigma: f64,
        /// Smallest size; what is drawn below it is raised to it.
        min: u64,
        /// Largest size; what is drawn above it wraps round, as in db_bench.
        max: u64,
    },
}

/// Order of keys against their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// A key's place is a hash of its number (YCSB).
    #[default]
    Hashed,
    /// A key's place is its number (mixgraph).
    Ordered,
}

/// How the store reaches its starting state; none of it is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    /// Order of the loading writes. Default: random.
    #[serde(default)]
    pub order: FillOrder,
    /// Updates per entry after the load, so that the tree is in its steady state.
    /// Default: 0.
    #[serde(default)]
    pub updates_per_entry: f64,
    /// Largest number of further updates per entry; each round draws its own share
    /// of it, the same for all arms, so that rounds start at different phases of the
    /// tree. Default: 0.1.
    #[serde(default = "default_random_phase")]
    pub random_phase: f64,
    /// Share of the entries that the load writes, those with the lowest numbers. Every
    /// other key comes into being when the first write asks for it, and until then reads
    /// of it find nothing. Default: 1.
    #[serde(default = "everything", skip_serializing_if = "is_everything")]
    pub share: f64,
}

/// Order of the loading writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FillOrder {
    /// Random in key order.
    #[default]
    Random,
    /// By key number.
    Numbered,
}

/// One measured session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Name in tables.
    pub name: String,
    /// Length as operations per loaded entry (scales with `--entries`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_entry: Option<f64>,
    /// Length as a number of operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Length in seconds; only where a rate is offered, so that all arms get the
    /// same operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Offered rate. Default: closed.
    #[serde(default)]
    pub rate: Rate,
    /// Which keys are asked for. Default: uniform.
    #[serde(default)]
    pub keys: Keys,
    /// Entries that a scan returns. Default: 10.
    #[serde(default = "default_scan_length")]
    pub scan_length: Size,
    /// Weights of the operations.
    pub mix: Mix,
}

/// Weights of the kinds of operations; only their ratios count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mix {
    /// Point reads of keys that exist.
    pub get_present: f64,
    /// Point reads of keys that do not exist, between keys that do.
    pub get_absent: f64,
    /// Writes of new keys.
    pub put: f64,
    /// Writes of existing keys.
    pub update: f64,
    /// Deletes of existing keys.
    pub delete: f64,
    /// Range reads from an existing key on.
    pub scan: f64,
    /// A read and then a write of the same existing key.
    pub read_modify_write: f64,
}

/// Distribution over the existing keys.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Keys {
    /// All alike.
    #[default]
    Uniform,
    /// Zipf's law over key numbers; the hot keys are spread over the key space, and stay hot
    /// while keys are added.
    Zipf {
        /// Exponent; YCSB uses 0.99.
        theta: f64,
    },
    /// Zipf's law over age, newest first.
    Latest {
        /// Exponent.
        theta: f64,
    },
    /// A share of the requests goes to a fraction of the keys.
    HotSet {
        /// Fraction of the keys that is hot.
        fraction: f64,
        /// Share of the requests that goes there.
        share: f64,
    },
    /// Facebook's key-range model (Cao et al., FAST 2020).
    Mixgraph(MixgraphKeys),
}

/// Parameters of the key-range model, with db_bench's names.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixgraphKeys {
    /// Key ranges.
    pub keyrange_num: u64,
    /// Weight of range i is a * e^(b i) + c * e^(d i).
    pub keyrange_dist_a: f64,
    /// See `keyrange_dist_a`.
    pub keyrange_dist_b: f64,
    /// See `keyrange_dist_a`.
    pub keyrange_dist_c: f64,
    /// See `keyrange_dist_a`.
    pub keyrange_dist_d: f64,
    /// Within a range, key (u / a)^(1 / b) is asked for.
    pub key_dist_a: f64,
    /// See `key_dist_a`.
    pub key_dist_b: f64,
}

impl Default for Fill {
    fn default() -> Self {
        Self {
            order: FillOrder::default(),
            updates_per_entry: 0.0,
            random_phase: default_random_phase(),
            share: everything(),
        }
    }
}

fn default_key_size() -> usize {
    24
}

fn default_value_size() -> Size {
    Size::Fixed(1000)
}

fn default_compressible_share() -> f64 {
    0.5
}

fn default_random_phase() -> f64 {
    0.1
}

fn everything() -> f64 {
    1.0
}

/// What is loaded as a whole has the fingerprint that it had without this field.
fn is_everything(share: &f64) -> bool {
    *share >= 1.0
}

pub(crate) fn default_scan_length() -> Size {
    Size::Fixed(10)
}
