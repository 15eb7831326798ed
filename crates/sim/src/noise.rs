//! Spread of what tuners are told.

/// Seeded log-normal factors (splitmix64, Box and Muller's method).
pub(crate) struct Noise {
    state: u64,
    deviation: f64,
}

impl Noise {
    pub(crate) fn new(seed: u64, deviation: f64) -> Noise {
        Noise {
            state: seed,
            deviation,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next factor, whose logarithm has the deviation.
    pub(crate) fn factor(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.uniform();
        (self.deviation * radius * angle.cos()).exp()
    }
}
