//! Zipf's law by rejection inversion (Hörmann and Derflinger, 1996): constant time
//! and no table, so the number of keys may change at every draw.

use super::rng::Rng;

/// Draws a rank in 0..n with probability proportional to 1 / (rank + 1)^theta.
pub fn zipf_rank(rng: &mut Rng, n: u64, theta: f64) -> u64 {
    let n = n as f64;
    let low = integral(1.5, theta) - 1.0;
    let high = integral(n + 0.5, theta);
    let shortcut = 2.0 - inverse(integral(2.5, theta) - density(2.0, theta), theta);
    loop {
        let u = high + rng.unit() * (low - high);
        let x = inverse(u, theta);
        let k = x.round().clamp(1.0, n);
        if k - x <= shortcut || u >= integral(k + 0.5, theta) - density(k, theta) {
            return k as u64 - 1;
        }
    }
}

fn density(x: f64, theta: f64) -> f64 {
    (-theta * x.ln()).exp()
}

/// Integral of the density from 1 to x; continuous in theta at 1.
fn integral(x: f64, theta: f64) -> f64 {
    let log = x.ln();
    log * exp_minus_one_over((1.0 - theta) * log)
}

fn inverse(y: f64, theta: f64) -> f64 {
    let t = (y * (1.0 - theta)).max(-1.0);
    (y * log_one_plus_over(t)).exp()
}

/// (e^x - 1) / x
fn exp_minus_one_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x / 2.0
    }
}

/// ln(1 + x) / x
fn log_one_plus_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x / 2.0
    }
}
