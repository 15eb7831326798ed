//! Which key number an operation asks for.

use std::cell::OnceCell;

use super::mixgraph::KeyRanges;
use super::rng::{Rng, mix};
use super::zipf::zipf_rank;
use crate::workload::Keys;

/// A distribution over 0..n, where n may grow between draws.
#[derive(Debug, Clone)]
pub enum Chooser {
    /// See [`Keys::Uniform`].
    Uniform,
    /// See [`Keys::Zipf`]. How many keys there were at the first draw.
    Zipf(f64, OnceCell<u64>),
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
            Keys::Zipf { theta } => Self::Zipf(theta, OnceCell::new()),
            Keys::Latest { theta } => Self::Latest(theta),
            Keys::HotSet { fraction, share } => Self::HotSet { fraction, share },
            Keys::Mixgraph(model) => Self::Mixgraph(KeyRanges::new(&model)),
        }
    }

    /// Draws a number in 0..n; n is above 0.
    pub fn draw(&self, rng: &mut Rng, n: u64) -> u64 {
        match self {
            Self::Uniform => rng.below(n),
            Self::Zipf(theta, begun) => {
                let begun = *begun.get_or_init(|| n);
                scatter(zipf_rank(rng, n, *theta), begun.min(n), n)
            }
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

/// The key of a rank: hot ranks are scattered, or the hot keys would all be the oldest ones. Of
/// n + 1 keys each rank has the one that it had of n, or with a chance of one in n + 1 the new
/// one, so that hot keys stay where they are while keys are added to the first `begun`.
///
/// Of those k or more are reached with a chance of n / k: so the next key is n / u, for u from 0 to
/// 1 (Lamping and Veach, A Fast, Minimal Memory, Consistent Hash Algorithm, 2014).
fn scatter(rank: u64, begun: u64, n: u64) -> u64 {
    let mut rng = Rng::new(&[rank]);
    let (mut key, mut keys) = (mix(rank) % begun, begun);
    loop {
        // Never by 0; what is too large is the largest number.
        let next = (keys as f64 / (1.0 - rng.unit())) as u64;
        if next >= n {
            return key;
        }
        (key, keys) = (next, next + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hot_keys_stay_where_they_are_while_keys_are_added() {
        for begun in [1, 3, 1_000, 1_024, 2_000_000] {
            for n in [begun, begun + 1, 3 * begun, 2_000_001] {
                let mut moved = 0;
                for rank in 0..1_000 {
                    let (before, after) = (scatter(rank, begun, n), scatter(rank, begun, n + 1));
                    assert!(before < n, "{rank} of {n}");
                    assert!(after == before || after == n, "{rank} of {n}");
                    moved += u64::from(after != before);
                }
                let expected = 1_000 / (n + 1);
                assert!(moved <= expected + expected / 5 + 10, "{moved} of {n}");
            }
        }
    }

    #[test]
    fn hot_keys_are_scattered_over_all_that_were_added() {
        for begun in [1, 1_000_000, 3_000_000] {
            let n = 3_000_000;
            let keys = (0..1_000).map(|rank| scatter(rank, begun, n));
            let keys: std::collections::BTreeSet<u64> = keys.collect();
            assert!(keys.len() > 990, "{}", keys.len());
            for part in 0..3 {
                let within = keys.range(part * n / 3..(part + 1) * n / 3).count();
                assert!((280..390).contains(&within), "{begun}, {part}: {within}");
            }
        }
    }

    /// What was measured with keys that nobody added to stays comparable.
    #[test]
    fn without_new_keys_a_rank_has_the_key_that_it_always_had() {
        for rank in 0..1_000 {
            assert_eq!(scatter(rank, 2_000_000, 2_000_000), mix(rank) % 2_000_000);
        }
    }
}
