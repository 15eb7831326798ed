//! What the figures of a simulation lack, as sentences.

use super::{SimulatedArm, Simulation};
use crate::arms::ArmName;
use crate::judge::hull_caution;

/// Every one of them; empty is best.
pub(super) fn cautions(seen: &Simulation) -> Vec<String> {
    let fixed = seen.arms.iter().filter(|arm| arm.is_static);
    let fixed: Vec<ArmName> = fixed.filter_map(|arm| arm.arm.parse().ok()).collect();
    let idle = seen.arms.iter().filter_map(idle);
    let lacks = hull_caution(&fixed, false);
    lacks.into_iter().chain(idle).collect()
}

/// A learner that learned nothing in a session, whatever its time there.
fn idle(arm: &SimulatedArm) -> Option<String> {
    let sessions = arm.outcome.sessions.iter().filter(|it| it.steps == 0);
    let names: Vec<&str> = sessions.map(|it| it.name.as_str()).collect();
    (arm.learns && !names.is_empty()).then(|| {
        format!(
            "{} took no step in session {}: its time there shows no learning.",
            arm.arm,
            names.join(", ")
        )
    })
}
