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
            let layout = &seen.shape.layout;
            for level in layout.logical_levels() {
                let changed = limits.get(level) != state.limits.get(level);
                let occupied = !seen.tree.runs_of(layout, level).is_empty();
                if changed && occupied && !state.forced.contains(&level) {
                    state.forced.push(level);
                }
            }
            state.limits = limits;
        }
    }
    state
}
