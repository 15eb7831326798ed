//! What a judgement of single runs gives for an arm, over the rounds that hold all arms.

use super::words::{figure, micros_figure};
use crate::arms::ArmName;
use crate::judge::Figure;
use crate::run::{ArmRun, Results};

/// What `judge` says of each run of an arm.
pub(super) fn judged<T>(
    results: &Results,
    arm: &ArmName,
    judge: impl Fn(&ArmRun) -> Option<T>,
) -> Vec<T> {
    let arms = &results.parameters.arms;
    let is_whole = |round| arms.iter().all(|arm| results.holds(arm, round));
    let own = results.runs.iter().filter(|run| run.arm == *arm);
    own.filter(|run| is_whole(run.round))
        .filter_map(judge)
        .collect()
}

/// A figure over rounds.
pub(super) fn cell<T>(seen: &[T], of: impl Fn(&T) -> f64) -> String {
    Figure::of(seen.iter().map(of)).map_or("-".into(), |it| figure(&it))
}

/// The same over the rounds that tell it.
pub(super) fn told<T>(seen: &[T], of: impl Fn(&T) -> Option<f64>) -> String {
    Figure::of(seen.iter().filter_map(of)).map_or("-".into(), |it| figure(&it))
}

/// A latency over rounds.
pub(super) fn latency<T>(seen: &[T], of: impl Fn(&T) -> f64) -> String {
    told_latency(seen, |it| Some(of(it)))
}

/// The same over the rounds that tell it.
pub(super) fn told_latency<T>(seen: &[T], of: impl Fn(&T) -> Option<f64>) -> String {
    Figure::of(seen.iter().filter_map(of)).map_or("-".into(), |it| micros_figure(&it))
}
