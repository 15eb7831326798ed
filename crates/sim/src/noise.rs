//! Spread of what tuners are told.

/// Counts from which a Poisson distribution is as good as a normal one.
const MANY: f64 = 30.0;

/// Seconds after which two values of the slow part have little to do with each other: the
/// time constant of their correlation.
const SLOW_SECONDS: f64 = 120.0;

/// Seeded log-normal factors (splitmix64, Box and Muller's method): one of all times,
/// drawn anew for each mission, and one of reads that drifts (an Ornstein-Uhlenbeck
/// process), as a machine with neighbours does.
pub(crate) struct Noise {
    state: u64,
    deviation: f64,
    slow_deviation: f64,
    /// The logarithm of the slow factor, and when it was that.
    slow: f64,
    at: f64,
}

/// How much longer a mission is told than it was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Longer {
    /// All its times.
    pub(crate) all: f64,
    /// Those of gets and scans, beside.
    pub(crate) reads: f64,
}

impl Noise {
    pub(crate) fn new(seed: u64, deviation: f64, slow_deviation: f64) -> Noise {
        Noise {
            state: seed,
            deviation,
            slow_deviation,
            slow: 0.0,
            at: f64::NEG_INFINITY,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        radius * angle.cos()
    }

    /// How many of so many are met by chance (a Poisson distribution, by inversion).
    pub(crate) fn poisson(&mut self, expected: f64) -> u64 {
        if expected > MANY {
            return (expected + expected.sqrt() * self.normal())
                .round()
                .max(0.0) as u64;
        }
        let mut left = self.uniform();
        let (mut count, mut chance) = (0, (-expected).exp());
        while left > chance && chance > 0.0 {
            left -= chance;
            count += 1;
            chance *= expected / count as f64;
        }
        count
    }

    /// The mean of so many times, each of which spreads as widely as it is long, relative to
    /// what is expected (a gamma distribution, by Wilson and Hilferty's cubes, 1931).
    pub(crate) fn mean_of_times(&mut self, count: u64) -> f64 {
        let ninth = 1.0 / (9.0 * count as f64);
        let cube = 1.0 - ninth + ninth.sqrt() * self.normal();
        cube.max(0.0).powi(3)
    }

    /// The factors of a mission that ends at so many seconds; the logarithm of each has
    /// its deviation. Without a slow part nothing is drawn for it, so that the other one
    /// is the same.
    pub(crate) fn factors(&mut self, now: f64) -> Longer {
        let all = (self.deviation * self.normal()).exp();
        if self.slow_deviation > 0.0 {
            let kept = (-(now - self.at).max(0.0) / SLOW_SECONDS).exp();
            let drawn = self.slow_deviation * self.normal();
            self.slow = kept * self.slow + (1.0 - kept * kept).sqrt() * drawn;
            self.at = now;
        }
        Longer {
            all,
            reads: self.slow.exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logarithms of the slow factor, a mission a second.
    fn drift(seconds: u32) -> Vec<f64> {
        let mut noise = Noise::new(7, 0.05, 0.1);
        let at = |second| noise.factors(f64::from(second)).reads.ln();
        (0..seconds).map(at).collect()
    }

    fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
        let count = numbers.len() as f64;
        numbers.sum::<f64>() / count
    }

    #[test]
    fn the_slow_part_has_its_deviation_and_changes_slowly() {
        let drift = drift(100_000);
        let variance = mean(drift.iter().map(|it| it * it));
        assert!((0.007..0.014).contains(&variance), "{variance}");
        // 2 * (1 - exp(-1 / 120)) of the variance from second to second.
        let steps = mean(drift.windows(2).map(|it| (it[1] - it[0]).powi(2)));
        assert!(steps < 0.03 * variance, "{steps} {variance}");
        let apart = mean(drift.windows(600).map(|it| (it[599] - it[0]).powi(2)));
        assert!(apart > variance, "{apart} {variance}");
    }

    #[test]
    fn without_a_slow_part_reads_are_as_long_as_the_rest() {
        let (mut with, mut without) = (Noise::new(3, 0.1, 0.0), Noise::new(3, 0.1, 0.0));
        for second in 0..100 {
            let factors = with.factors(f64::from(second));
            assert_eq!(factors.reads, 1.0);
            assert_eq!(factors, without.factors(0.0));
        }
    }
}
