//! Facebook's key-range model (Cao et al., FAST 2020, as in RocksDB's db_bench):
//! ranges of keys have two-term exponential weights, and within a range a few keys
//! get most requests by a power law.

use super::rng::{Rng, mix};
use crate::workload::MixgraphKeys;

/// Steps by which weights become whole numbers, as fine as one in a million.
const PRECISION: f64 = 1e6;

/// Weight of each range: a * e^(b i) + c * e^(d i), i from 1.
pub fn range_weights(model: &MixgraphKeys) -> Vec<f64> {
    (1..=model.keyrange_num)
        .map(|i| {
            let i = i as f64;
            model.keyrange_dist_a * (model.keyrange_dist_b * i).exp()
                + model.keyrange_dist_c * (model.keyrange_dist_d * i).exp()
        })
        .collect()
}

/// The model, ready to draw from.
#[derive(Debug, Clone)]
pub struct KeyRanges {
    /// Cumulated weight and position of each range, in a fixed shuffled order.
    ranges: Vec<(u64, u64)>,
    total: u64,
    key_dist_a: f64,
    key_dist_b: f64,
}

impl KeyRanges {
    /// Prepares `model`. The hot ranges lie scattered over the key space, always at
    /// the same places.
    pub fn new(model: &MixgraphKeys) -> Self {
        let weights = range_weights(model);
        let sum: f64 = weights.iter().sum();
        let mut order: Vec<u64> = (0..model.keyrange_num).collect();
        order.sort_by_key(|position| mix(position ^ 0x6d69_7867));
        let mut total = 0;
        let ranges = weights
            .iter()
            .zip(order)
            .map(|(weight, position)| {
                total += ((weight / sum * PRECISION) as u64).max(1);
                (total, position)
            })
            .collect();
        Self {
            ranges,
            total,
            key_dist_a: model.key_dist_a,
            key_dist_b: model.key_dist_b,
        }
    }

    /// Draws a key number in 0..keys.
    pub fn draw(&self, rng: &mut Rng, keys: u64) -> u64 {
        let ticket = rng.below(self.total);
        let found = self.ranges.partition_point(|(upper, _)| *upper <= ticket);
        let size = (keys / self.ranges.len() as u64).max(1);
        let start = self.ranges[found].1 * size;
        // Inverse of the power law a * x^b.
        let offset = (rng.unit() / self.key_dist_a).powf(1.0 / self.key_dist_b);
        (start + offset.ceil().min(1e18) as u64 % size).min(keys - 1)
    }
}
