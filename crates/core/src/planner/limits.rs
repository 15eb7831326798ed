//! What a change of run limits does.

use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::shape::{RunLimits, Transition};
use crate::state::TreeState;

/// The planner's memory after the limits were changed, by the shape's
/// [`Transition`]. Pinned limits are not changed.
pub fn with_limits(seen: &Observation, limits: RunLimits) -> TreeState {
    let mut now = seen.clone();
    if now.pinned {
        return now.state;
    }
    now.state.waiting = Some(limits);
    if now.shape.transition == Transition::Greedy {
        force_changed(&mut now);
    }
    (now.state.limits, now.state.waiting) = taken_up(&now, None);
    now.state
}

/// Levels whose limit is about to change are merged down. The runs of the deepest one become one:
/// merged down at each change, the tree would get a level deeper each time.
fn force_changed(now: &mut Observation) {
    let state = &mut now.state;
    let layout = &now.shape.layout;
    let deepest = now.tree.deepest_occupied(layout);
    for level in layout.logical_levels() {
        let changed = state.wanted_limits().get(level) != state.limits.get(level);
        let (merged, least) = match deepest == Some(level) {
            true => (&mut state.consolidate, 2),
            false => (&mut state.forced, 1),
        };
        let runs = now.tree.runs_of(layout, level).len();
        if changed && runs >= least && !merged.contains(&level) {
            merged.push(level);
        }
    }
}

/// The limits in force, and those that still wait, once each level has taken up what
/// waits for it and may hold.
///
/// Under the lazy transition that is a level which is about to be drained (`drained`) and
/// every level without a run; under the others all levels. While the limits are pinned
/// it is none. Limits wait as long as one level keeps another one.
pub(super) fn taken_up(
    seen: &Observation,
    drained: Option<LogicalLevel>,
) -> (RunLimits, Option<RunLimits>) {
    let before = &seen.state.limits;
    let Some(waiting) = seen.state.waiting.as_ref().filter(|_| !seen.pinned) else {
        return (before.clone(), seen.state.waiting.clone());
    };
    let layout = &seen.shape.layout;
    let lazy = seen.shape.transition == Transition::Lazy;
    let keeps = |level: &LogicalLevel| {
        lazy && drained != Some(*level) && !seen.tree.runs_of(layout, *level).is_empty()
    };
    let mut limits = waiting.clone();
    for level in layout.logical_levels().filter(keeps) {
        let kept = before.get(level);
        if kept != waiting.get(level) {
            limits.set(level, kept);
        }
    }
    let left = (limits != *waiting).then(|| waiting.clone());
    (limits, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::PhysicalLevel;
    use crate::shape::RunLimit;
    use crate::testing::{Model, small_shape};

    fn uniform(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    /// Level 2 holds a run, and no other level.
    fn one_run(transition: Transition) -> Model {
        let mut shape = small_shape();
        shape.transition = transition;
        let (_, last) = shape.layout.span(LogicalLevel(2));
        let mut model = Model::new(shape, uniform(1));
        model.place(last, 0..20);
        model
    }

    #[test]
    fn empty_levels_take_a_lazy_limit_at_once() {
        let mut model = one_run(Transition::Lazy);
        model.state = with_limits(&model.observation(), uniform(6));
        assert_eq!(model.state.limits.to_string(), "6,1,6");
        assert_eq!(model.state.waiting, Some(uniform(6)));
        let drained = taken_up(&model.observation(), Some(LogicalLevel(2)));
        assert_eq!(drained, (uniform(6), None), "nothing is left to wait for");
        let mut emptied = model.observation();
        emptied.tree = Default::default();
        assert_eq!(taken_up(&emptied, None), (uniform(6), None));
    }

    /// Level 1 is drained first, and the limits of level 2 go on waiting.
    #[test]
    fn limits_wait_until_the_last_level_has_them() {
        let mut model = one_run(Transition::Lazy);
        let (_, last) = model.shape.layout.span(LogicalLevel(1));
        model.place(last, 0..20);
        let mut wanted = uniform(1);
        wanted.set(LogicalLevel(1), RunLimit::clamped(3));
        wanted.set(LogicalLevel(2), RunLimit::clamped(5));
        model.state = with_limits(&model.observation(), wanted.clone());
        assert_eq!(model.state.limits.get(LogicalLevel(1)).get(), 1);
        let (limits, waiting) = taken_up(&model.observation(), Some(LogicalLevel(1)));
        assert_eq!(limits.get(LogicalLevel(1)).get(), 3);
        assert_eq!(limits.get(LogicalLevel(2)).get(), 1);
        assert_eq!(waiting, Some(wanted));
    }

    #[test]
    fn a_change_that_is_taken_back_waits_no_more() {
        let mut model = one_run(Transition::Lazy);
        model.state = with_limits(&model.observation(), uniform(6));
        model.state = with_limits(&model.observation(), uniform(1));
        assert_eq!(model.state.limits, uniform(1));
        assert_eq!(model.state.waiting, None);
    }

    #[test]
    fn under_other_transitions_nothing_waits() {
        for transition in [
            Transition::Flexible,
            Transition::Greedy,
            Transition::FileGranular,
        ] {
            let mut model = one_run(transition);
            // As a store leaves it that was lazy when it was open before.
            model.state.waiting = Some(uniform(9));
            model.state = with_limits(&model.observation(), uniform(6));
            assert_eq!(model.state.limits, uniform(6), "{transition:?}");
            assert_eq!(model.state.waiting, None, "{transition:?}");
            assert_eq!(
                model.state.forced,
                [],
                "{transition:?}: it is where it would go"
            );
        }
    }

    #[test]
    fn a_greedy_change_merges_levels_down_and_the_deepest_within() {
        let mut model = one_run(Transition::Greedy);
        let (_, last) = model.shape.layout.span(LogicalLevel(1));
        model.place(last, 0..20);
        model.state = with_limits(&model.observation(), uniform(6));
        assert_eq!(model.state.forced, [LogicalLevel(1)]);
        assert_eq!(model.state.consolidate, [], "it has one run");
        let mut model = one_run(Transition::Greedy);
        let (_, oldest) = model.shape.layout.span(LogicalLevel(2));
        model.place(PhysicalLevel(oldest.0 - 1), 0..20);
        model.state = with_limits(&model.observation(), uniform(6));
        assert_eq!(model.state.forced, []);
        assert_eq!(model.state.consolidate, [LogicalLevel(2)]);
    }

    #[test]
    fn pinned_limits_stay_and_waiting_ones_wait() {
        let mut model = one_run(Transition::Lazy);
        model.state = with_limits(&model.observation(), uniform(6));
        let before = model.state.clone();
        model.pinned = true;
        assert_eq!(with_limits(&model.observation(), uniform(2)), before);
        let mut emptied = model.observation();
        emptied.tree = Default::default();
        let held = (before.limits.clone(), before.waiting.clone());
        assert_eq!(taken_up(&emptied, Some(LogicalLevel(2))), held);
    }
}
