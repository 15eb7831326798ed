//! What was seen, what was set, why, and what came of it: one line of JSON for
//! each decision.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use lissom_core::schedule::Phase;
use serde::{Deserialize, Serialize};

use super::change::Outcome;
use super::continuity::Continuity;
use super::observation::{Family, Instance};
use super::pilot::Decision;
use super::stage::Stage;
use crate::settings::Settings;

/// The journal's format; readers refuse newer ones.
pub const JOURNAL_VERSION: u32 = 1;

/// A line of the journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Counts from 1 in each journal.
    pub number: u64,
    /// Time since the agent began.
    pub at: Duration,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a line tells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The agent began.
    Begin {
        /// The journal's format.
        version: u32,
        /// Seconds since 1970.
        unix_seconds: u64,
        /// The server, as it is reached.
        server: String,
        /// How the agent is to behave.
        settings: Box<Settings>,
    },
    /// A server was seen for the first time, after a restart, or in another's
    /// place.
    Server {
        /// Which.
        instance: Instance,
        /// How it follows upon the last one.
        continuity: Continuity,
        /// Its column families.
        families: BTreeMap<String, Family>,
    },
    /// Something was decided.
    Decision {
        /// What and why.
        decision: Box<Decision>,
        /// The load's phase.
        phase: Phase,
        /// What clients use, if it is known.
        client_bytes_per_sec: Option<f64>,
        /// What came of it.
        outcome: Outcome,
    },
    /// Settings that an earlier agent left were taken back, or this one's at
    /// its end.
    Restored {
        /// What was set, as text.
        changes: Vec<String>,
    },
    /// The connection was lost, or the server is not ready for another one.
    Lost {
        /// How.
        why: String,
    },
    /// The server answered, and the interval was not completed all the same.
    Failed {
        /// What was in the way.
        why: String,
    },
    /// After either, intervals are completed again.
    Found,
    /// Something that a person should know.
    Note {
        /// One sentence.
        text: String,
    },
    /// The agent ended.
    End {
        /// Whether the server was seen to have its original settings. If not, this agent has
        /// changed nothing.
        ///
        /// Default in a journal that does not tell: true
        #[serde(default = "is_seen")]
        restored: bool,
    },
}

fn is_seen() -> bool {
    true
}

/// One line for a person.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9.1} s  {}", self.at.as_secs_f64(), self.event)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Begin {
                server, settings, ..
            } => {
                let dry = if settings.dry_run { ", dry run" } else { "" };
                write!(f, "attaching to {server}{dry}")
            }
            Event::Server {
                instance,
                continuity,
                families,
            } => write!(
                f,
                "{} {}, up for {} s, {} column families",
                sight(*continuity),
                instance.identity,
                instance.uptime.cast_signed(),
                families.len()
            ),
            Event::Decision {
                decision, outcome, ..
            } => write!(
                f,
                "{}{}, because {}: {outcome}",
                verb(decision),
                decision.change,
                decision.why
            ),
            Event::Restored { changes } if changes.is_empty() => {
                f.write_str("nothing to take back: all settings are the original ones")
            }
            Event::Restored { changes } => write!(f, "taken back: {}", changes.join(", ")),
            Event::Lost { why } => write!(f, "lost the server, or it is not ready: {why}"),
            Event::Failed { why } => write!(f, "the interval was not completed: {why}"),
            Event::Found => f.write_str("the server is looked after again"),
            Event::Note { text } => f.write_str(text),
            Event::End { restored: true } => {
                f.write_str("ended: the server has its original settings")
            }
            Event::End { restored: false } => f.write_str("ended: nothing was changed"),
        }
    }
}

fn sight(continuity: Continuity) -> &'static str {
    match continuity {
        Continuity::First => "found server",
        Continuity::Same => "still at server",
        Continuity::Restarted => "restarted, with its configured settings: server",
        Continuity::Other => "another server answers now:",
    }
}

fn verb(decision: &Decision) -> &'static str {
    match (decision.from, decision.to) {
        (_, None) => "",
        (from, to) if from == to => "again ",
        (_, Some(Stage::Delayed)) => "delay ",
        (_, Some(Stage::Draining)) => "resume ",
        (_, Some(Stage::Original)) => "restore ",
    }
}
