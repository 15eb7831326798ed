//! Why an interrupted search does not go on.

use lissom_search::record::Begin;
use lissom_search::search::{Setup, TimePoints};

use super::Plan;

/// That an interrupted search does not go on, and why: a sentence.
pub(super) fn left_behind(begin: &Begin, plan: &Plan) -> String {
    let name = &begin.target.name;
    let parts = other_parts(begin, plan);
    if parts.is_empty() {
        return format!(
            "an interrupted search with other settings ({}) stands in the log and cannot go on \
             behind this one, which learns from it",
            other_settings(begin, plan)
        );
    }
    if is_same_space(begin, plan) && plan.target.is_another_build_of(&begin.target) {
        return format!(
            "an interrupted search of {name} stands in the log and does not go on, since it has \
             measured another build of the program, whose figures may be others"
        );
    }
    format!(
        "an interrupted search of {name} stands in the log and cannot go on behind this one, \
         which has {}: give targets that take turns a --log each",
        parts.join(" and ")
    )
}

fn is_same_space(begin: &Begin, plan: &Plan) -> bool {
    begin.space_fingerprint == plan.space.fingerprint()
}

/// What of space and target differs.
fn other_parts(begin: &Begin, plan: &Plan) -> Vec<&'static str> {
    let is_same_target = begin.target.fingerprint == plan.target.fingerprint;
    differing(&[
        (
            is_same_space(begin, plan),
            "another space (its parameters, rules, features or constants)",
        ),
        (
            is_same_target,
            "another target (what is measured, its build, --memory, --format, the machine or \
             the --runner)",
        ),
    ])
}

/// The options that were given otherwise, by what the log tells.
fn other_settings(begin: &Begin, plan: &Plan) -> String {
    let mut options = sought(&begin.setup, &plan.setup);
    options.extend(method(&begin.setup, &plan.setup));
    let is_same = begin.repeats.is_none_or(|it| it == plan.rounds);
    options.extend(differing(&[(is_same, "--repeats")]));
    match (options.is_empty(), begin.repeats) {
        (false, _) => options.join(", "),
        (true, Some(_)) => "defaults of another version".to_owned(),
        (true, None) => "--repeats, or defaults of another version".to_owned(),
    }
}

fn sought(before: &Setup, now: &Setup) -> Vec<&'static str> {
    let same_budget = before.budget_seconds == now.budget_seconds;
    differing(&[
        (before.objective == now.objective, "--objective"),
        (before.constraints == now.constraints, "--constraint"),
        (same_budget, "--budget"),
        (before.seed == now.seed, "--seed"),
    ])
}

fn method(before: &Setup, now: &Setup) -> Vec<&'static str> {
    let (before, now) = (&before.method, &now.method);
    let is_full = |points: &TimePoints| matches!(points, TimePoints::Fixed(_));
    let same_evaluation = before.points.longest() == now.points.longest();
    differing(&[
        (same_evaluation, "--evaluation"),
        (is_full(&before.points) == is_full(&now.points), "--full"),
        (before.setup_seconds == now.setup_seconds, "--setup"),
        (before.buckets == now.buckets, "--buckets"),
        (before.without == now.without, "--without"),
        (before.further == now.further, "--further"),
        (before.whole_budget == now.whole_budget, "--as-published"),
        (before.workers == now.workers, "--workers"),
    ])
}

/// The names of what is not the same.
fn differing(all: &[(bool, &'static str)]) -> Vec<&'static str> {
    let others = all.iter().filter(|(is_same, _)| !is_same);
    others.map(|(_, name)| *name).collect()
}
