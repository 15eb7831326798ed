//! How far the shares of few operations lie from those of many.

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
