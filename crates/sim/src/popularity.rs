//! Who is asked for: keys in classes of like popularity.
//!
//! Keys are ranked once and for all, the most popular first, and cut into classes
//! at the places where any session's popularity changes. Hot keys of one session
//! are the hot keys of another.

use serde::{Deserialize, Serialize};

/// How operations choose among the existing keys.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Popularity {
    /// All alike.
    Uniform,
    /// The k-th most popular key in proportion to k^-theta.
    Zipf {
        /// Over 0.
        theta: f64,
    },
    /// A share of the operations goes to a fraction of the keys.
    HotSet {
        /// Of the keys, 0 to 1.
        fraction: f64,
        /// Of the operations, 0 to 1.
        share: f64,
    },
}

/// Classes that a Zipf distribution is cut into.
const ZIPF_CLASSES: i32 = 20;

impl Popularity {
    /// The share of operations on the `fraction` of `keys` keys that is asked
    /// for most.
    fn share_of_first(&self, fraction: f64, keys: f64) -> f64 {
        match *self {
            Popularity::Uniform => fraction,
            Popularity::HotSet {
                fraction: hot,
                share,
            } => {
                if hot >= 1.0 {
                    fraction
                } else if fraction <= hot {
                    share * fraction / hot.max(1e-300)
                } else {
                    share + (1.0 - share) * (fraction - hot) / (1.0 - hot).max(1e-300)
                }
            }
            // The mass of ranks is the integral of x^-theta from 1 on.
            Popularity::Zipf { theta } => {
                let integral = |to: f64| {
                    if (theta - 1.0).abs() < 1e-9 {
                        to.ln()
                    } else {
                        (to.powf(1.0 - theta) - 1.0) / (1.0 - theta)
                    }
                };
                let keys = keys.max(1.0);
                integral(1.0 + fraction * keys) / integral(1.0 + keys)
            }
        }
    }

    fn cuts(&self, keys: f64) -> Vec<f64> {
        match *self {
            Popularity::Uniform => Vec::new(),
            Popularity::HotSet { fraction, .. } => vec![fraction],
            Popularity::Zipf { .. } => (1..ZIPF_CLASSES)
                .map(|at| keys.powf(f64::from(at) / f64::from(ZIPF_CLASSES) - 1.0))
                .collect(),
        }
    }
}

/// The classes that all sessions of a scenario have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct Classes {
    /// Upper ends, as fractions of all keys; the last is 1.
    ends: Vec<f64>,
}

impl Classes {
    /// Classes fine enough for all of these, over so many keys.
    pub fn of<'a>(all: impl Iterator<Item = &'a Popularity>, keys: f64) -> Classes {
        let mut ends: Vec<f64> = all
            .flat_map(|one| one.cuts(keys.max(2.0)))
            .filter(|end| *end > 0.0 && *end < 1.0)
            .collect();
        ends.push(1.0);
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        Classes { ends }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Share of all keys in each class.
    pub fn keys(&self) -> Vec<f64> {
        differences(self.ends.iter().copied())
    }

    /// Share of the operations on each class.
    pub fn operations(&self, popularity: &Popularity, keys: f64) -> Vec<f64> {
        differences(
            self.ends
                .iter()
                .map(|end| popularity.share_of_first(*end, keys)),
        )
    }
}

fn differences(ends: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut before = 0.0;
    ends.map(|end| {
        let share = (end - before).max(0.0);
        before = end;
        share
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Popularity; 4] = [
        Popularity::Uniform,
        Popularity::Zipf { theta: 0.99 },
        Popularity::Zipf { theta: 1.0 },
        Popularity::HotSet {
            fraction: 0.1,
            share: 0.9,
        },
    ];

    #[test]
    fn shares_sum_to_one() {
        let classes = Classes::of(ALL.iter(), 1e6);
        let sum = |shares: Vec<f64>| shares.iter().sum::<f64>();
        assert!((sum(classes.keys()) - 1.0).abs() < 1e-12);
        for popularity in ALL {
            let shares = classes.operations(&popularity, 1e6);
            assert!((sum(shares) - 1.0).abs() < 1e-9, "{popularity:?}");
        }
    }

    #[test]
    fn hot_keys_get_their_share_and_zipf_falls_with_rank() {
        let classes = Classes::of(ALL.iter(), 1e6);
        let hot: f64 = classes
            .keys()
            .iter()
            .zip(classes.operations(&ALL[3], 1e6))
            .scan(0.0, |ranks, (keys, operations)| {
                *ranks += keys;
                Some((*ranks, operations))
            })
            .filter(|(ranks, _)| *ranks <= 0.1 + 1e-12)
            .map(|(_, operations)| operations)
            .sum();
        assert!((hot - 0.9).abs() < 1e-9, "{hot}");
        let zipf = classes.operations(&ALL[1], 1e6);
        let per_key: Vec<f64> = zipf
            .iter()
            .zip(classes.keys())
            .map(|(o, k)| o / k)
            .collect();
        assert!(per_key.windows(2).all(|pair| pair[0] >= pair[1]));
    }
}
