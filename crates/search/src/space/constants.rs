//! Figures of the machine and the workload, which rules and ranges may use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Constants by name: memory in bytes, cores, entries, bytes of an entry, bandwidth
/// in bytes per second, or whatever a space declares.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constants(BTreeMap<String, f64>);

impl Constants {
    /// None.
    pub fn new() -> Constants {
        Constants::default()
    }

    /// These and one more; a later value of the same name replaces the earlier.
    pub fn with(mut self, name: impl Into<String>, value: f64) -> Constants {
        self.0.insert(name.into(), value);
        self
    }

    /// The value of a constant.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    /// Names and values, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }
}
