//! What clients leave of the device, for flushes and compactions (equation 2 of
//! DLC and SILK).

use lissom_core::schedule::FLUSHES;

use crate::settings::Settings;

/// Steps in which the rate limiter is set, of the device's limit. Coarse ones
/// keep it from moving with every interval, and tell the agent's values from
/// anybody else's.
const STEPS: u64 = 16;

/// The room that is left free (ε), in steps.
const MARGIN: f64 = 0.5;

/// Never under this, nor under [`FLUSHES`] times what is written: flushes must go on.
const FLOOR: u64 = 2;

/// The step for a device.
pub(super) fn step(settings: &Settings) -> u64 {
    (settings.io_limit_bytes_per_sec / STEPS).max(1)
}

/// Whether the agent could have set this value.
pub(super) fn is_step(step: u64, bytes_per_sec: u64) -> bool {
    step > 0
        && bytes_per_sec.is_multiple_of(step)
        && (FLOOR..=STEPS).contains(&(bytes_per_sec / step))
}

/// The highest value that the agent could set.
pub(super) fn highest(step: u64) -> u64 {
    STEPS.saturating_mul(step)
}

/// Every value that the agent could set.
pub(super) fn steps(step: u64) -> impl Iterator<Item = u64> {
    (FLOOR..=STEPS).map(move |count| count.saturating_mul(step))
}

/// Limit less clients less ε, in whole steps, between the floor and the limit; of what
/// clients move, so much goes to the log and is flushed later.
pub(super) fn internal_bytes_per_sec(
    settings: &Settings,
    client_bytes_per_sec: f64,
    logged_bytes_per_sec: f64,
) -> u64 {
    let step = step(settings);
    let in_steps = |bytes_per_sec: f64| bytes_per_sec / step as f64;
    let left = STEPS as f64 - MARGIN - in_steps(client_bytes_per_sec);
    let flushed = in_steps(FLUSHES * logged_bytes_per_sec);
    let least = (flushed.max(0.0).ceil() as u64).clamp(FLOOR, STEPS);
    let steps = (left.max(0.0).floor() as u64).clamp(least, STEPS);
    steps * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_in_steps_with_a_floor() {
        let settings = Settings::new(16_000);
        for (client, internal) in [
            (0.0, 15_000),
            (500.0, 15_000),
            (501.0, 14_000),
            (8_000.0, 7_000),
            (13_600.0, 2_000),
            (1e12, 2_000),
        ] {
            let set = internal_bytes_per_sec(&settings, client, 0.0);
            assert_eq!(set, internal, "{client}");
            assert!(is_step(step(&settings), set));
        }
        for (logged, internal) in [
            (1_000.0, 2_000),
            (2_000.0, 3_000),
            (2_001.0, 4_000),
            (1e12, 16_000),
        ] {
            let set = internal_bytes_per_sec(&settings, 1e12, logged);
            assert_eq!(set, internal, "flushes of {logged}");
            assert!(is_step(step(&settings), set));
        }
        assert!(!is_step(1_000, 0));
        assert!(!is_step(1_000, 1_000));
        assert!(!is_step(1_000, 2_500));
        assert!(!is_step(1_000, 17_000));
        assert!(!is_step(0, 5));
    }
}
