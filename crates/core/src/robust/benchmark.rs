//! The uncertainty benchmark: how tunings fare over many sampled workloads
//! (Endure, section 6).

use serde::{Deserialize, Serialize};

use crate::cost_model::{Costs, Workload};

/// A sampled workload, with the operations that an engine is to run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample {
    /// Operations of each kind (z0, z1, q, w).
    pub counts: [u32; 4],
    /// Their shares.
    pub workload: Workload,
}

/// Operations of one kind in a sample stay under this.
const MOST_OPERATIONS: f64 = 10_000.0;

/// Workloads of four counts, each even in 0 to 9,999. `uniform` gives numbers
/// in [0, 1). The benchmark takes 10,000 of them.
pub fn sample(count: usize, uniform: &mut dyn FnMut() -> f64) -> Vec<Sample> {
    let mut samples = Vec::with_capacity(count);
    // Four zeros are no workload. A source that only gives zeros would be asked
    // for ever: it is asked twice as often as it should need to be.
    for _ in 0..count.saturating_mul(2) {
        if samples.len() == count {
            break;
        }
        let counts = [(); 4].map(|()| (uniform() * MOST_OPERATIONS) as u32);
        if let Ok(workload) = Workload::from_counts(counts.map(f64::from)) {
            samples.push(Sample { counts, workload });
        }
    }
    samples
}

/// What one tuning gains in throughput over another on a workload (delta,
/// throughput being 1 / cost): C(base) / C(other) - 1. Over 0 when `other` is
/// better. The formula holds for any costs over 0.
pub fn gain(workload: &Workload, base: &Costs, other: &Costs) -> f64 {
    base.under(workload) / other.under(workload) - 1.0
}

/// The range of a tuning's throughput over samples (theta): its largest less
/// its least, operations per I/O. 0 without samples.
pub fn throughput_range(samples: &[Sample], costs: &Costs) -> f64 {
    let throughputs = samples
        .iter()
        .map(|sample| 1.0 / costs.under(&sample.workload));
    let (least, most) = throughputs.fold((f64::INFINITY, 0f64), |(least, most), throughput| {
        (least.min(throughput), most.max(throughput))
    });
    (most - least).max(0.0)
}

/// One tuning against another over samples.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Comparison {
    /// Samples on which the other tuning is better.
    pub won: usize,
    /// Samples on which it is worse.
    pub lost: usize,
    /// Samples on which both cost the same, to one part in 10^9.
    pub tied: usize,
    /// Its mean gain ([`gain`]).
    pub mean_gain: f64,
    /// Its least gain.
    pub least_gain: f64,
    /// Its largest gain.
    pub most_gain: f64,
}

impl Comparison {
    /// Compares `other` with `base`; `None` without samples.
    pub fn new(samples: &[Sample], base: &Costs, other: &Costs) -> Option<Comparison> {
        let gains: Vec<f64> = samples
            .iter()
            .map(|sample| gain(&sample.workload, base, other))
            .collect();
        const EQUAL: f64 = 1e-9;
        let won = gains.iter().filter(|gain| **gain > EQUAL).count();
        let lost = gains.iter().filter(|gain| **gain < -EQUAL).count();
        (!gains.is_empty()).then(|| Comparison {
            won,
            lost,
            tied: gains.len() - won - lost,
            mean_gain: gains.iter().sum::<f64>() / gains.len() as f64,
            least_gain: gains.iter().copied().fold(f64::INFINITY, f64::min),
            most_gain: gains.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// Share of the samples that were won.
    pub fn share_won(&self) -> f64 {
        self.won as f64 / (self.won + self.lost + self.tied).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(shares: &[[f64; 4]]) -> Vec<Sample> {
        let sample = |counts: &[f64; 4]| Sample {
            counts: counts.map(|count| count as u32),
            workload: Workload::from_counts(*counts).expect("some"),
        };
        shares.iter().map(sample).collect()
    }

    /// Costs 4 against 2 double the throughput, 2 against 4 halve it.
    #[test]
    fn gains_and_ranges_by_hand() {
        let seen = samples(&[
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 0.0, 0.0],
        ]);
        let base = Costs([4.0, 1.0, 1.0, 2.0]);
        let other = Costs([2.0, 1.0, 1.0, 4.0]);
        let compared = Comparison::new(&seen, &base, &other).expect("samples");
        assert_eq!((compared.won, compared.lost, compared.tied), (1, 1, 1));
        assert_eq!((compared.least_gain, compared.most_gain), (-0.5, 1.0));
        assert!((compared.mean_gain - 0.5 / 3.0).abs() < 1e-15);
        assert!((compared.share_won() - 1.0 / 3.0).abs() < 1e-15);
        // 1/1 - 1/4
        assert_eq!(throughput_range(&seen, &base), 0.75);
        assert_eq!(Comparison::new(&[], &base, &other), None);
        assert_eq!(throughput_range(&[], &base), 0.0);
    }

    #[test]
    fn samples_follow_their_source() {
        let mut sequence = [0.0, 0.5, 0.25, 0.99999].into_iter().cycle();
        let drawn = sample(3, &mut || sequence.next().expect("endless"));
        assert_eq!(drawn.len(), 3);
        assert_eq!(drawn[0].counts, [0, 5000, 2500, 9999]);
        assert!((drawn[0].workload.shares()[1] - 5000.0 / 17499.0).abs() < 1e-15);
        assert!(sample(3, &mut || 0.0).is_empty());
    }
}
