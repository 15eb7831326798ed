//! Whether a write figure spans enough of the tree's phases to be a claim.

use serde::{Deserialize, Serialize};

use crate::run::{ArmRun, Parameters};

/// Random fills after which a write figure needs no full drains.
const RANDOM_FILLS: usize = 5;
/// Full drains of the last level but one that it must span otherwise.
const DRAINS: u64 = 2;

/// Too little was written for a write figure: how much a tree writes depends on how full
/// its levels were when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseShortfall {
    /// Bytes of keys and values that were written.
    pub written: u64,
    /// Bytes of two full drains of the last level but one.
    pub needed: u64,
}

impl PhaseShortfall {
    /// The shortfall of `written` bytes over a tree of `data_bytes` in so many rounds.
    /// `None` where two full drains or five random fills are spanned, and without writes.
    pub fn of(
        parameters: &Parameters,
        data_bytes: u64,
        written: u64,
        rounds: usize,
    ) -> Option<Self> {
        let needed = DRAINS * parameters.resources.drain_bytes(data_bytes);
        let filled = parameters.workload.fill.random_phase > 0.0 && rounds >= RANDOM_FILLS;
        let short = written > 0 && written < needed && !filled;
        short.then_some(Self { written, needed })
    }

    /// What to do about it, as a sentence.
    pub fn sentence(&self) -> String {
        format!(
            "Write figures depend on the tree's phase: {} MB were written, two full drains of the last \
             level but one are {} MB. Write amplifications stand in brackets, and are no ground for a \
             claim. Use --scale {:.1}, or at least {RANDOM_FILLS} rounds with random fills.",
            self.written / 1_000_000,
            self.needed / 1_000_000,
            (self.needed as f64 / self.written as f64 * 10.0).ceil() / 10.0
        )
    }
}

/// The shortfall over all sessions; every arm writes the same.
pub fn of_rounds(parameters: &Parameters, rounds: &[Vec<&ArmRun>]) -> Option<PhaseShortfall> {
    let run = rounds.first()?.first()?;
    let data_bytes = run.data_bytes()?;
    PhaseShortfall::of(parameters, data_bytes, run.totals.user_bytes, rounds.len())
}
