//! What a change of run limits does.

use crate::observation::Observation;
use crate::shape::{RunLimits, Transition};
use crate::state::TreeState;

/// The planner's memory after the limits were changed, by the shape's
/// [`Transition`].
pub fn with_limits(seen: &Observation, limits: RunLimits) -> TreeState {
    let mut state = seen.state.clone();
    match seen.shape.transition {
        Transition::Flexible | Transition::FileGranular => state.limits = limits,
        Transition::Lazy => state.waiting = Some(limits),
        Transition::Greedy => {
            let changed = seen.shape.layout.logical_levels().filter(|level| {
                limits.get(*level) != state.limits.get(*level)
                    && !seen.tree.runs_of(&seen.shape.layout, *level).is_empty()
            });
            for level in changed {
                if !state.forced.contains(&level) {
                    state.forced.push(level);
                }
            }
            state.limits = limits;
        }
    }
    state
}
