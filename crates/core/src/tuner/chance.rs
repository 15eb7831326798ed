//! How far shares lie apart, and those of few operations from those of many.

/// The largest difference of a share.
pub(super) fn distance(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Two standard errors, at most, of a share among so many operations: what differs by less
/// may be the same workload. Of none it is without bound.
///
/// The deviation of a share p among n is sqrt(p * (1 - p) / n), highest at one half.
pub(super) fn by_chance(operations: u64) -> f64 {
    1.0 / (operations as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_few_operations_tell_little() {
        assert!(by_chance(50_000) < 0.005);
        assert_eq!(by_chance(100), 0.1);
        assert_eq!(by_chance(1), 1.0);
        assert!(by_chance(0).is_infinite());
    }
}
