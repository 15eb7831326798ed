//! Upper confidence bounds of arms (Dremel, 4.6.2 and algorithm 2).

use std::collections::BTreeMap;

use super::arms::ArmId;
use super::points::{deviation, mean};

/// What is known of an arm.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// The arm.
    pub arm: ArmId,
    /// Trials that count, failed ones with the worst score of all.
    pub samples: usize,
    /// Their mean score, more is better.
    pub mean: f64,
    /// Their standard deviation; of a single one that of all arms together.
    pub deviation: f64,
}

impl Bound {
    /// Mean plus deviation.
    pub fn upper(&self) -> f64 {
        self.mean + self.deviation
    }
}

/// The arms that have a sample, the highest upper bound first.
pub(super) fn bounds(scores: &BTreeMap<ArmId, Vec<f64>>) -> Vec<Bound> {
    let all: Vec<f64> = scores.values().flatten().copied().collect();
    let global = deviation(&all);
    let sampled = scores.iter().filter(|(_, scores)| !scores.is_empty());
    let mut bounds: Vec<Bound> = sampled
        .map(|(arm, scores)| Bound {
            arm: *arm,
            samples: scores.len(),
            mean: mean(scores),
            deviation: if scores.len() < 2 {
                global
            } else {
                deviation(scores)
            },
        })
        .collect();
    // The sort is stable: of equal bounds the lower arm comes first.
    bounds.sort_by(|one, other| other.upper().total_cmp(&one.upper()));
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sample_borrows_the_deviation_of_all() {
        // All: 10, 20, 30, 40; mean 25, deviation sqrt(500 / 3) = 12.91.
        let scores = BTreeMap::from([
            (ArmId(1), vec![10.0]),
            (ArmId(2), vec![20.0, 30.0]),
            (ArmId(3), vec![40.0]),
            (ArmId(4), vec![]),
        ]);
        let found = bounds(&scores);
        let order: Vec<usize> = found.iter().map(|bound| bound.arm.0).collect();
        assert_eq!(order, [3, 2, 1]);
        assert!((found[0].upper() - 52.909_944).abs() < 1e-5);
        assert!((found[1].upper() - (25.0 + 50f64.sqrt())).abs() < 1e-9);
        assert!((found[2].upper() - 22.909_944).abs() < 1e-5);
    }

    #[test]
    fn equal_bounds_keep_the_order_of_arms() {
        let scores = BTreeMap::from([(ArmId(2), vec![1.0]), (ArmId(1), vec![1.0])]);
        let order: Vec<usize> = bounds(&scores).iter().map(|bound| bound.arm.0).collect();
        assert_eq!(order, [1, 2]);
    }
}
