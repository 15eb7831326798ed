//! What a judgement of single runs gives for an arm, over the rounds that hold all arms.

use super::words::{figure, micros_figure};
use crate::arms::ArmName;
use crate::judge::Figure;
use crate::run::{ArmRun, Results};

/// An arm's runs in the rounds that hold all arms. Every table is of these: one of other rounds
/// would not stand beside the rest.
pub(super) fn whole<'a>(
    results: &'a Results,
    arm: &'a ArmName,
) -> impl Iterator<Item = &'a ArmRun> {
    results.whole_rounds().filter(move |run| run.arm == *arm)
}

/// What `judge` says of each run of an arm.
pub(super) fn judged<T>(
    results: &Results,
    arm: &ArmName,
    judge: impl Fn(&ArmRun) -> Option<T>,
) -> Vec<T> {
    whole(results, arm).filter_map(judge).collect()
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
