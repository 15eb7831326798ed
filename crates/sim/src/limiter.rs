//! The rate limiter that flushes and compactions have in common.

/// Share of the rate that compactions get even where flushes want all of it, as in
/// RocksDB's, which serves a compaction first one time in ten.
const FAIRNESS: f64 = 0.1;

/// Shares of their full speeds that flushes and compactions keep under a rate, when they
/// want so many bytes a second. Flushes go first.
pub(crate) fn shares(rate: f64, flushes: f64, merges: f64) -> (f64, f64) {
    let merged = merges.min((rate - flushes).max(FAIRNESS * rate));
    let flushed = flushes.min(rate - merged);
    (part(flushed, flushes), part(merged, merges))
}

fn part(granted: f64, wanted: f64) -> f64 {
    if granted < wanted {
        granted / wanted
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_suffices_slows_nobody() {
        assert_eq!(shares(100.0, 40.0, 60.0), (1.0, 1.0));
        assert_eq!(shares(100.0, 0.0, 0.0), (1.0, 1.0));
        assert_eq!(shares(f64::INFINITY, 40.0, 60.0), (1.0, 1.0));
    }

    #[test]
    fn flushes_go_first_and_leave_compactions_a_tenth() {
        assert_eq!(shares(100.0, 40.0, 120.0), (1.0, 0.5));
        assert_eq!(shares(100.0, 180.0, 100.0), (0.5, 0.1));
        assert_eq!(shares(100.0, 200.0, 0.0), (0.5, 1.0));
    }
}
