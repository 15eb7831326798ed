//! Whether a write figure spans enough of the tree's phases to be a claim.

use serde::{Deserialize, Serialize};

use crate::run::{ArmRun, Parameters};

/// Random fills, drawn from a whole drain, after which a write figure needs no full drains.
const RANDOM_FILLS: usize = 5;
/// What `random_phase` may be at most.
const MOST_RANDOM_PHASE: f64 = 100.0;
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
    /// Bytes of the data.
    #[serde(default)]
    pub data_bytes: u64,
}

impl PhaseShortfall {
    /// The shortfall of `written` bytes over a tree of `data_bytes` in so many rounds.
    /// `None` where two full drains are spanned, or five fills that were drawn from a whole one,
    /// and without writes.
    pub fn of(
        parameters: &Parameters,
        data_bytes: u64,
        written: u64,
        rounds: usize,
    ) -> Option<Self> {
        let needed = DRAINS * parameters.resources.drain_bytes(data_bytes);
        let shortfall = Self {
            written,
            needed,
            data_bytes,
        };
        let is_drawn = parameters.workload.fill.random_phase >= shortfall.random_phase();
        let filled = is_drawn && rounds >= RANDOM_FILLS;
        (written > 0 && written < needed && !filled).then_some(shortfall)
    }

    /// The least `random_phase` that draws fills from a whole drain.
    fn random_phase(&self) -> f64 {
        (self.needed / DRAINS) as f64 / self.data_bytes.max(1) as f64
    }

    /// What to do about it, as a sentence.
    pub fn sentence(&self) -> String {
        let phase = (self.random_phase() * 100.0).ceil() / 100.0;
        let or_fills = if phase <= MOST_RANDOM_PHASE {
            format!(", or at least {RANDOM_FILLS} rounds with random_phase = {phase} in [fill]")
        } else {
            String::new()
        };
        format!(
            "Write figures depend on the tree's phase: {} MB were written, two full drains of the last \
             level but one are {} MB. Write amplifications stand in brackets, and are no ground for a \
             claim. Use --scale {:.1}{or_fills}.",
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
