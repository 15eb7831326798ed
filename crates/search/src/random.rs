//! Random numbers from a seed: the same seed, the same decisions.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number in 0..bound; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias is under bound / 2^64.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number of mean 0 and deviation 1 (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Any element, all alike; `None` of an empty slice.
    pub fn choose<'a, T>(&mut self, elements: &'a [T]) -> Option<&'a T> {
        let at = self.below(elements.len() as u64);
        elements.get(at as usize)
    }

    /// Brings the elements into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, elements: &mut [T]) {
        for end in (1..elements.len()).rev() {
            let other = self.below(end as u64 + 1) as usize;
            elements.swap(end, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_one_sequence() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            (0..8).map(|_| random.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn bounds_are_kept_and_means_are_right() {
        let mut random = Random::new(1);
        assert_eq!(random.below(0), 0);
        assert_eq!(random.choose::<u8>(&[]), None);
        let count = 10_000u32;
        let mean = (0..count).map(|_| random.unit()).sum::<f64>() / f64::from(count);
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let squares = (0..count).map(|_| random.normal().powi(2)).sum::<f64>();
        assert!((squares / f64::from(count) - 1.0).abs() < 0.1, "{squares}");
    }

    #[test]
    fn shuffling_keeps_every_element() {
        let mut elements: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut elements);
        assert_ne!(elements, (0..50).collect::<Vec<_>>());
        elements.sort_unstable();
        assert_eq!(elements, (0..50).collect::<Vec<_>>());
    }
}
