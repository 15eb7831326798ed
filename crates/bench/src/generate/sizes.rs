//! Sizes and lengths.

use super::rng::Rng;
use crate::workload::{DrawnSize, Size};

/// Draws a size.
pub fn draw(size: Size, rng: &mut Rng) -> u64 {
    match size {
        Size::Fixed(size) => size,
        Size::Drawn(DrawnSize::Uniform { min, max }) => min + rng.below(max - min + 1),
        Size::Drawn(DrawnSize::Pareto {
            theta,
            k,
            sigma,
            min,
            max,
        }) => {
            let drawn = pareto(1.0 - rng.unit(), theta, k, sigma).ceil();
            wrap(drawn, min, max)
        }
    }
}

/// Inverse of the generalised Pareto distribution's complementary function at `u`,
/// 0 < u <= 1: theta + sigma * (u^-k - 1) / k (Cao et al., FAST 2020).
pub fn pareto(u: f64, theta: f64, k: f64, sigma: f64) -> f64 {
    if k == 0.0 {
        theta - sigma * u.ln()
    } else {
        theta + sigma * (u.powf(-k) - 1.0) / k
    }
}

/// db_bench's bounds: at least `min`, and a size above `max` wraps round.
fn wrap(drawn: f64, min: u64, max: u64) -> u64 {
    if !drawn.is_finite() || drawn < min as f64 {
        return min;
    }
    let drawn = drawn.min(1e18) as u64;
    if drawn > max {
        (drawn % max).max(min)
    } else {
        drawn
    }
}
