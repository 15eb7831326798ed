//! Latencies in buckets that grow by an eighth.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lissom_core::observation::Latency;

use super::nanos;

/// Buckets per power of two.
const STEPS: u64 = 8;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Up to 2^43 ns, some two hours; longer ones count as that.
const BUCKETS: usize = (41 * STEPS) as usize;

/// Counts of latencies; written by any number of threads.
#[derive(Debug)]
pub(crate) struct Histogram(Box<[AtomicU64]>);

/// Counts at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counts(Box<[u64]>);

impl Default for Histogram {
    fn default() -> Self {
        Histogram((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Default for Counts {
    fn default() -> Self {
        Counts(vec![0; BUCKETS].into())
    }
}

impl Histogram {
    pub(crate) fn record(&self, latency: Duration) {
        self.0[bucket(nanos(latency))].fetch_add(1, Relaxed);
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts(self.0.iter().map(|count| count.load(Relaxed)).collect())
    }
}

impl Counts {
    pub(crate) fn since(&self, earlier: &Counts) -> Counts {
        let pairs = self.0.iter().zip(&earlier.0);
        Counts(pairs.map(|(now, then)| now.saturating_sub(*then)).collect())
    }

    pub(crate) fn latency(&self) -> Latency {
        Latency {
            count: self.0.iter().sum(),
            mean: self.mean(),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
        }
    }

    /// As if every value lay in the middle of its bucket.
    fn mean(&self) -> Duration {
        let total: u64 = self.0.iter().sum();
        let buckets = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        let sum: f64 = buckets
            .map(|(at, count)| {
                let below = at.checked_sub(1).map_or(0, upper_end);
                *count as f64 * 0.5 * (below as f64 + upper_end(at) as f64)
            })
            .sum();
        Duration::from_nanos((sum / total.max(1) as f64) as u64)
    }

    /// The upper end of the bucket that holds the quantile.
    fn quantile(&self, share: f64) -> Duration {
        let total: u64 = self.0.iter().sum();
        let rank = ((total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, count) in self.0.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Duration::from_nanos(upper_end(at));
            }
        }
        Duration::ZERO
    }
}

/// Values below 8 have a bucket each; above, the three bits behind the highest
/// one choose the step.
fn bucket(nanos: u64) -> usize {
    let at = if nanos < STEPS {
        nanos
    } else {
        let shift = nanos.ilog2() - STEP_BITS;
        u64::from(shift) * STEPS + (nanos >> shift)
    };
    (at as usize).min(BUCKETS - 1)
}

/// The largest value of a bucket.
fn upper_end(bucket: usize) -> u64 {
    let at = bucket as u64;
    if at < 2 * STEPS {
        at
    } else {
        let shift = at / STEPS - 1;
        (((at % STEPS + STEPS) + 1) << shift) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_at_most_an_eighth_above_its_values() {
        for nanos in (0..100_000).chain([1 << 30, (1 << 39) + 12_345]) {
            let end = upper_end(bucket(nanos));
            assert!(end >= nanos && end - nanos <= nanos / 8, "{nanos} {end}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_difference() {
        let histogram = Histogram::default();
        histogram.record(Duration::from_secs(1));
        let before = histogram.counts();
        for micros in 1..=100 {
            histogram.record(Duration::from_micros(micros));
        }
        let latency = histogram.counts().since(&before).latency();
        assert_eq!(latency.count, 100);
        let mean = latency.mean.as_secs_f64() * 1e6;
        assert!((mean - 50.5).abs() < 50.5 / 16.0, "{mean}");
        let near = |found: Duration, micros: u64| {
            let least = Duration::from_micros(micros);
            found >= least && found <= least * 9 / 8
        };
        assert!(
            near(latency.p50, 50) && near(latency.p99, 99),
            "{latency:?}"
        );
    }

    #[test]
    fn nothing_timed_is_zero() {
        assert_eq!(Counts::default().latency(), Latency::default());
    }
}
