//! Limits of the other levels from those that were learned.

use crate::filters::FilterAllocation;
use crate::shape::{RunLimit, RunLimits};

/// Levels that are learned: with uniform filters the first is enough, with
/// Monkey's the first two.
pub(super) fn learned_levels(filters: FilterAllocation) -> usize {
    match filters {
        FilterAllocation::Uniform => 1,
        FilterAllocation::Monkey => 2,
    }
}

/// Limits for `levels` levels, the learned ones given.
///
/// *Uniform*: all levels alike. *Monkey* (RusKey, lemma 5.1):
/// 1/K_{i+1}² = 1/K_i² + T * (1/K_i² - 1/K_{i-1}²), rounded to the nearest
/// limit. Limits fall with depth there; a second limit above the first is put
/// back to it.
pub(super) fn propagate(
    filters: FilterAllocation,
    size_ratio: u32,
    learned: &[RunLimit],
    levels: usize,
) -> RunLimits {
    let first = learned.first().copied().unwrap_or(RunLimit::ONE);
    if filters == FilterAllocation::Uniform {
        return RunLimits::uniform(first);
    }
    let second = learned.get(1).copied().unwrap_or(first).min(first);
    let inverse_square = |limit: RunLimit| f64::from(limit.get()).powi(-2);
    let mut all = vec![first, second];
    let (mut above, mut here) = (inverse_square(first), inverse_square(second));
    while all.len() < levels {
        let below = here + f64::from(size_ratio) * (here - above);
        all.push(RunLimit::clamped(below.powf(-0.5).round() as u16));
        (above, here) = (here, below);
    }
    all.truncate(levels.max(1));
    RunLimits {
        deeper: all.last().copied().unwrap_or(first),
        levels: all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::LogicalLevel;

    fn monkey(first: u16, second: u16, levels: usize) -> Vec<u16> {
        let learned = [RunLimit::clamped(first), RunLimit::clamped(second)];
        let limits = propagate(FilterAllocation::Monkey, 10, &learned, levels);
        (1..=levels as u16)
            .map(|level| limits.get(LogicalLevel(level)).get())
            .collect()
    }

    #[test]
    fn the_published_example() {
        assert_eq!(monkey(9, 7, 4), [9, 7, 3, 1]);
    }

    #[test]
    fn equal_limits_stay_equal_and_rising_ones_are_put_back() {
        assert_eq!(monkey(5, 5, 4), [5, 5, 5, 5]);
        assert_eq!(monkey(3, 8, 3), [3, 3, 3]);
        assert_eq!(monkey(4, 4, 1), [4]);
    }

    #[test]
    fn uniform_filters_have_the_same_limit_everywhere() {
        let limits = propagate(FilterAllocation::Uniform, 10, &[RunLimit::clamped(6)], 4);
        assert_eq!(limits, RunLimits::uniform(RunLimit::clamped(6)));
    }
}
