//! Quantile buckets.

/// Where a feature's values are cut into buckets of equally many configurations
/// (Dremel, 4.4.1 and figure 6).
///
/// Equal values are never parted, so a feature of few values has buckets of unequal
/// sizes, and one that is always the same has a single bucket.
#[derive(Clone, PartialEq, Debug)]
pub struct Cuts {
    /// The smallest value of each bucket but the first, ascending.
    cuts: Vec<f64>,
}

impl Cuts {
    /// Cuts for so many buckets of these values. Values that are no number have no
    /// place in the order and must not occur.
    pub fn of(values: &[f64], buckets: usize) -> Cuts {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut cuts: Vec<f64> = (1..buckets)
            .filter_map(|bucket| cut_near(&sorted, sorted.len() * bucket / buckets))
            .collect();
        cuts.dedup();
        Cuts { cuts }
    }

    /// The bucket of a value, from 0 for the smallest values.
    pub fn bucket(&self, value: f64) -> usize {
        self.cuts.partition_point(|cut| *cut <= value)
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.cuts.len() + 1
    }
}

/// The value that begins a bucket nearest to a place without parting equal values;
/// `None` if all values are equal.
fn cut_near(sorted: &[f64], place: usize) -> Option<f64> {
    let wanted = *sorted.get(place)?;
    let begin = sorted.partition_point(|value| *value < wanted);
    let end = sorted.partition_point(|value| *value <= wanted);
    let before = place - begin;
    let behind = end - place;
    let cut = if begin > 0 && (before <= behind || end == sorted.len()) {
        begin
    } else {
        end
    };
    sorted.get(cut).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of the values each bucket holds.
    fn sizes(values: &[f64], buckets: usize) -> Vec<usize> {
        let cuts = Cuts::of(values, buckets);
        let mut sizes = vec![0; cuts.buckets()];
        for value in values {
            sizes[cuts.bucket(*value)] += 1;
        }
        sizes
    }

    #[test]
    fn different_values_share_evenly() {
        let values: Vec<f64> = (0..100i32).map(|at| f64::from(at * 37 % 100)).collect();
        assert_eq!(sizes(&values, 2), [50, 50]);
        assert_eq!(sizes(&values, 4), [25, 25, 25, 25]);
        assert_eq!(sizes(&values, 5), [20; 5]);
        assert_eq!(sizes(&values, 1), [100]);
    }

    #[test]
    fn equal_values_stay_together() {
        assert_eq!(sizes(&[1.0, 1.0, 1.0, 2.0, 3.0], 2), [3, 2]);
        assert_eq!(sizes(&[1.0, 2.0, 3.0, 3.0, 3.0], 2), [2, 3]);
        assert_eq!(sizes(&[7.0; 9], 3), [9]);
        assert_eq!(sizes(&[0.0, 0.0, 0.0, 1.0], 4), [3, 1]);
        assert_eq!(sizes(&[], 3), [0]);
    }

    #[test]
    fn values_beyond_the_sample_have_a_bucket() {
        let cuts = Cuts::of(&[1.0, 2.0, 3.0, 4.0], 2);
        assert_eq!(cuts.bucket(-10.0), 0);
        assert_eq!(cuts.bucket(2.9), 0);
        assert_eq!(cuts.bucket(3.0), 1);
        assert_eq!(cuts.bucket(99.0), 1);
    }
}
