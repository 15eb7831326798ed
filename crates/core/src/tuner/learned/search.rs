//! The limits that cost least, by the model.

use super::phase::Phase;
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

/// The best limits of the first `levels` levels, level by level from the present
/// ones, and their cost.
pub(super) fn best(
    seen: &Question<'_>,
    levels: usize,
    phase: &Phase,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let mut best = seen.limits.clone();
    let mut least = cost(&best)?;
    for _ in 0..ROUNDS {
        let before = least;
        for at in 1..=levels {
            let level = LogicalLevel(at as u16);
            for limit in 1..=largest(seen.shape) {
                let limit = RunLimit::clamped(limit);
                if phase.is_barred(level, limit) {
                    continue;
                }
                let mut other = best.clone();
                other.set(level, limit);
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
    phase: &Phase,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let mut best = seen.limits.clone();
    let mut least = cost(&best)?;
    let levels = (1..=levels).map(|at| LogicalLevel(at as u16));
    for level in levels.filter(|level| only.is_none_or(|only| only == *level)) {
        for limit in (1..=largest(seen.shape)).map(RunLimit::clamped) {
            if phase.is_barred(level, limit) {
                continue;
            }
            let mut other = seen.limits.clone();
            other.set(level, limit);
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
    phase: &Phase,
    cost: impl Fn(&RunLimits) -> Option<f64>,
) -> Option<(RunLimits, f64)> {
    let open = |limit: &RunLimit| {
        let mut levels = Layout::V1.logical_levels();
        !levels.any(|level| phase.is_barred(level, *limit))
    };
    (1..=largest(seen.shape))
        .map(RunLimit::clamped)
        .filter(open)
        .map(RunLimits::uniform)
        .filter_map(|limits| Some((cost(&limits)?, limits)))
        .min_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(least, best)| (best, least))
}

/// One step from a limit towards another: to the next that is not barred.
pub(super) fn step(phase: &Phase, level: LogicalLevel, from: RunLimit, to: RunLimit) -> RunLimit {
    let up = from.get() + 1..=to.get();
    let down = (to.get()..from.get()).rev();
    let open = |limit: &RunLimit| !phase.is_barred(level, *limit);
    let found = up.chain(down).map(RunLimit::clamped).find(open);
    found.unwrap_or(from)
}
