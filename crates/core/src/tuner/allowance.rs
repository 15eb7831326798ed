//! What a user allows a learner.

use serde::{Deserialize, Serialize};

use super::EXPLORATION;

/// The default of what flushes and compactions may write for each byte that users write, before
/// merges for the reads' sake wait.
pub const MAX_WRITE_AMPLIFICATION: f64 = 30.0;

/// What a user allows a learner. The journal tells it wherever a tuner begins.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Allowance {
    /// Share of the missions that `learned` may spend on trials, from 0 to 1; none with 0. The
    /// default of [`EXPLORATION`] where a journal does not tell. `lerp` explores by noise
    /// whatever the share, but for 0: then it has none.
    #[serde(default = "unrecorded_exploration")]
    pub exploration: f64,
    /// `learned` begins merges for the reads' sake only while flushes and compactions, these
    /// merges included, have written less than this times what users wrote, but for what was saved
    /// up; none at all with 0. Absent where nothing bounds them, and in journals that do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_write_amplification: Option<f64>,
}

impl Allowance {
    /// What a journal that tells of none was run with.
    pub const UNRECORDED: Allowance = Allowance {
        exploration: EXPLORATION,
        max_write_amplification: None,
    };

    /// The default, but for the share of the missions that may be spent on trials.
    pub fn exploring(exploration: f64) -> Allowance {
        Allowance {
            exploration,
            ..Allowance::default()
        }
    }
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance {
            exploration: EXPLORATION,
            max_write_amplification: Some(MAX_WRITE_AMPLIFICATION),
        }
    }
}

fn unrecorded_exploration() -> f64 {
    Allowance::UNRECORDED.exploration
}
