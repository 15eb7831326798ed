//! Which run it is that follows a search.

use serde::{Deserialize, Serialize};

use super::Contender;

/// A run that follows a search.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FollowUp {
    /// A contender runs again.
    Repeat {
        /// The round, from 1.
        round: u32,
        /// Who runs.
        contender: Contender,
    },
    /// The best runs without what one parameter brings.
    Ablation {
        /// The parameter that is set back.
        parameter: String,
    },
}
