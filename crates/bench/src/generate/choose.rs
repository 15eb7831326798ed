//! Which key number an operation asks for.

use super::mixgraph::KeyRanges;
use super::rng::{Rng, mix};
use super::zipf::zipf_rank;
use crate::workload::Keys;

/// A distribution over 0..n, where n may grow between draws.
#[derive(Debug, Clone)]
pub enum Chooser {
    /// See [`Keys::Uniform`].
    Uniform,
    /// See [`Keys::Zipf`].
    Zipf(f64),
    /// See [`Keys::Latest`].
    Latest(f64),
    /// See [`Keys::HotSet`].
    HotSet {
        /// Fraction of the keys that is hot.
        fraction: f64,
        /// Share of the requests that goes there.
        share: f64,
    },
    /// See [`Keys::Mixgraph`].
    Mixgraph(KeyRanges),
}

impl Chooser {
    /// Prepares the distribution `keys`.
    pub fn new(keys: Keys) -> Self {
        match keys {
            Keys::Uniform => Self::Uniform,
            Keys::Zipf { theta } => Self::Zipf(theta),
            Keys::Latest { theta } => Self::Latest(theta),
            Keys::HotSet { fraction, share } => Self::HotSet { fraction, share },
            Keys::Mixgraph(model) => Self::Mixgraph(KeyRanges::new(&model)),
        }
    }

    /// Draws a number in 0..n; n is above 0.
    pub fn draw(&self, rng: &mut Rng, n: u64) -> u64 {
        match self {
            Self::Uniform => rng.below(n),
            // Hot ranks are scattered, or the hot keys would all be the oldest ones.
            Self::Zipf(theta) => mix(zipf_rank(rng, n, *theta)) % n,
            Self::Latest(theta) => n - 1 - zipf_rank(rng, n, *theta),
            Self::HotSet { fraction, share } => {
                let hot = ((n as f64 * fraction) as u64).clamp(1, n);
                if hot == n || rng.unit() < *share {
                    rng.below(hot)
                } else {
                    hot + rng.below(n - hot)
                }
            }
            Self::Mixgraph(ranges) => ranges.draw(rng, n),
        }
    }
}
