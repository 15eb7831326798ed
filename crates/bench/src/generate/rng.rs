//! A small seeded generator whose sequence is part of the benchmark: it must never
//! change, or old results lose their meaning. Algorithms: SplitMix64 and
//! xoshiro256** (Blackman and Vigna).

/// Mixes 64 bits so that each output bit depends on each input bit; a bijection.
pub fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Seeded generator of random numbers.
#[derive(Debug, Clone)]
pub struct Rng([u64; 4]);

impl Rng {
    /// A generator that depends on every number in `seeds`.
    pub fn new(seeds: &[u64]) -> Self {
        let mut state = 0x6c69_7373_6f6d_u64;
        for seed in seeds {
            state = mix(state ^ mix(*seed));
        }
        Self(std::array::from_fn(|i| mix(state.wrapping_add(i as u64))))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in 0..bound; `bound` is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias is under bound / 2^64.
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }
}
