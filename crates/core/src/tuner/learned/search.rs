//! The limits that cost least, by the model, of those that single steps lead to.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::bars::Bars;
use crate::layout::{Layout, LogicalLevel};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::tuner::Question;

/// Rounds over all levels; a few suffice, since levels hardly depend on each other.
const ROUNDS: usize = 4;

/// The largest limit that makes a tree of its own.
pub(super) fn largest(shape: &Shape) -> u16 {
    let ratio = u16::try_from(shape.size_ratio).unwrap_or(u16::MAX);
    Layout::V1.max_run_limit().min(ratio)
}

/// The limits of a level that steps of one lead to, from this one, without a bar on the way. Those
/// above `largest` are one tree with it.
fn reach(bars: &Bars, level: LogicalLevel, from: RunLimit, largest: u16) -> RangeInclusive<u16> {
    let open = |limit: &u16| !bars.stand(level, RunLimit::clamped(*limit));
    let from = from.get().min(largest);
    let lowest = (1..from).rev().take_while(open).last();
    let highest = (from + 1..=largest).take_while(open).last();
    lowest.unwrap_or(from)..=highest.unwrap_or(from)
}

/// The best limits of the first `levels` levels, level by level from the present
/// ones, and their cost.
pub(super) fn best(
    seen: &Question<'_>,
    levels: usize,
    bars: &Bars,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let mut best = seen.limits.clone();
    let mut least = cost(&best)?;
    for _ in 0..ROUNDS {
        let before = least;
        for at in 1..=levels {
            let level = LogicalLevel(at as u16);
            let from = seen.limits.get(level);
            for limit in reach(bars, level, from, largest(seen.shape)) {
                let mut other = best.clone();
                other.set(level, RunLimit::clamped(limit));
                let found = cost(&other)?;
                if found < least {
                    (best, least) = (other, found);
                }
            }
        }
        if least >= before {
            break;
        }
    }
    Some((best, least))
}

/// The best limits that differ from the present ones in one level, in `only` if that is
/// given, and their cost.
pub(super) fn best_of_one(
    seen: &Question<'_>,
    levels: usize,
    only: Option<LogicalLevel>,
    bars: &Bars,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let mut best = seen.limits.clone();
    let mut least = cost(&best)?;
    let levels = (1..=levels).map(|at| LogicalLevel(at as u16));
    for level in levels.filter(|level| only.is_none_or(|only| only == *level)) {
        let from = seen.limits.get(level);
        for limit in reach(bars, level, from, largest(seen.shape)) {
            let mut other = seen.limits.clone();
            other.set(level, RunLimit::clamped(limit));
            let found = cost(&other)?;
            if found < least {
                (best, least) = (other, found);
            }
        }
    }
    Some((best, least))
}

/// The best limit that all levels share, and its cost.
pub(super) fn best_alike(
    seen: &Question<'_>,
    bars: &Bars,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let most = largest(seen.shape);
    let within = |limit: &u16| {
        let mut levels = Layout::V1.logical_levels();
        levels.all(|level| reach(bars, level, seen.limits.get(level), most).contains(limit))
    };
    (1..=most)
        .filter(within)
        .map(RunLimit::clamped)
        .map(RunLimits::uniform)
        .filter_map(|limits| Some((cost(&limits)?, limits)))
        .min_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(least, best)| (best, least))
}

/// One run towards a limit, if that is not barred. Limits above `largest` are one tree with it, so that
/// the first step leads below it.
pub(super) fn step(
    bars: &Bars,
    level: LogicalLevel,
    from: RunLimit,
    to: RunLimit,
    largest: u16,
) -> RunLimit {
    if to == from {
        return from;
    }
    let from = from.min(RunLimit::clamped(largest));
    let next = match to.cmp(&from) {
        Ordering::Less => from.get() - 1,
        Ordering::Equal => return from,
        Ordering::Greater => from.get() + 1,
    };
    let next = RunLimit::clamped(next);
    if bars.stand(level, next) { from } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Mission;
    use crate::testing::small_shape;
    use crate::tree::Tree;

    const LEVEL: LogicalLevel = LogicalLevel(1);

    fn limit(runs: u16) -> RunLimit {
        RunLimit::clamped(runs)
    }

    fn barred(limits: &[u16]) -> Bars {
        let mut bars = Bars::default();
        for runs in limits {
            bars.bar(LEVEL, limit(*runs));
        }
        bars
    }

    #[test]
    fn a_step_is_one_run_and_none_onto_a_bar() {
        let bars = barred(&[6]);
        let to = |from: u16, to: u16| step(&bars, LEVEL, limit(from), limit(to), 9).get();
        assert_eq!((to(4, 9), to(4, 1), to(4, 4)), (5, 3, 4));
        assert_eq!((to(5, 9), to(7, 1)), (5, 7), "6 is not stepped over");
        assert_eq!(to(6, 9), 7, "a bar holds nobody who is on it");
        assert_eq!(
            (to(12, 8), to(12, 9), to(12, 12)),
            (8, 9, 12),
            "9 to 12 are one tree"
        );
    }

    #[test]
    fn what_lies_behind_a_bar_is_out_of_reach() {
        let range = |bars: &[u16], from: u16| reach(&barred(bars), LEVEL, limit(from), 10);
        assert_eq!(range(&[], 4), 1..=10);
        assert_eq!(range(&[2, 8], 4), 3..=7);
        assert_eq!(range(&[3, 5], 4), 4..=4);
        assert_eq!(range(&[4], 4), 1..=10);
        assert_eq!(range(&[], 12), 1..=10, "more is no tree of its own");
        assert_eq!(range(&[8, 11], 12), 9..=10, "nor is it barred there");
        assert_eq!(range(&[9], 12), 10..=10);
    }

    /// Ten runs are best by far, then four.
    #[test]
    fn the_best_of_those_in_reach_is_chosen() {
        let cost = |limits: &RunLimits| match limits.get(LEVEL).get() {
            10 => Some(1.0),
            runs => Some(5.0 + f64::from(runs.abs_diff(4))),
        };
        let (shape, tree) = (small_shape(), Tree::default());
        let limits = RunLimits::uniform(RunLimit::ONE);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            refused: &[],
            mission: &Mission::default(),
        };
        let first = |found: Option<(RunLimits, f64)>| found.map(|it| it.0.get(LEVEL).get());
        let cases: [(&[u16], u16); 4] = [(&[], 10), (&[7], 4), (&[3], 2), (&[2], 1)];
        for (bars, expected) in cases {
            let bars = barred(bars);
            let found = [
                best(&seen, 2, &bars, cost),
                best_of_one(&seen, 2, None, &bars, cost),
                best_alike(&seen, &bars, cost),
            ];
            assert_eq!(found.map(first), [Some(expected); 3], "{bars:?}");
        }
    }
}
