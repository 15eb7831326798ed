//! A column family as the autopilot last saw it, without a look at its files.

use lissom_core::RunLimits;
use lissom_core::journal::TreeSummary;

use super::Autopilot;
use crate::statistics::{Pieces, TunerWork};

/// Limits, tree and work of one column family. Unlike
/// [`FamilyStatistics`](crate::statistics::FamilyStatistics) it costs a few
/// locks and copies, so it suits every second.
#[derive(Clone, PartialEq, Debug)]
pub struct Glance {
    /// The run limits in force.
    pub limits: RunLimits,
    /// The tree.
    pub tree: TreeSummary,
    /// Bytes that the planner still wants to merge.
    pub debt_bytes: u64,
    /// Drains that ended since the open.
    pub drains: u64,
    /// Compactions that the autopilot ran.
    pub pieces: Pieces,
    /// What the tuner did.
    pub tuner: TunerWork,
}

impl Autopilot {
    /// A column family as the autopilot last saw it; `None` if there is none of
    /// that name.
    pub fn glance(&self, family: &str) -> Option<Glance> {
        let family = self.shared.family(family)?;
        let view = family.view.lock().clone();
        let pieces = family.pieces.lock().clone();
        Some(Glance {
            limits: view.limits,
            tree: view.tree,
            debt_bytes: view.debt_bytes,
            drains: view.drains_ended,
            pieces,
            tuner: view.tuner,
        })
    }

    /// Input bytes of the largest merge that ended in a column family since the last
    /// call, or since the open; 0 without a merge, or without a family of that name. A
    /// maximum has no difference, so who compares stretches of time begins it anew. The
    /// one in [`Pieces`] stays.
    pub fn take_largest_merge(&self, family: &str) -> u64 {
        self.shared.family(family).map_or(0, |family| {
            std::mem::take(&mut family.pieces.lock().largest_since_taken)
        })
    }
}
