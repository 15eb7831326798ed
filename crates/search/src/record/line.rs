//! Lines of the log.

use serde::{Deserialize, Serialize};

use crate::error::{Result, SearchError};
use crate::fingerprint::Fingerprint;
use crate::search::{Decision, Measurement, Search, Setup};
use crate::verdict::{Ablated, FollowUp, Repeated};

/// The log's format; readers refuse others.
pub const VERSION: u32 = 1;

/// The names of all events, as lines have them.
pub(super) const EVENTS: [&str; 10] = [
    "begin",
    "decision",
    "measurement",
    "reserved",
    "restarts",
    "repeats",
    "repeated",
    "ablated",
    "in-vain",
    "end",
];

/// What is measured: a workload on a machine by a program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// For sentences.
    pub name: String,
    /// Equal for targets whose measurements may be compared.
    pub fingerprint: Fingerprint,
    /// Equal for targets that differ in nothing but the program's build; absent where nobody has
    /// told them apart, as in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub but_build: Option<Fingerprint>,
}

impl Target {
    /// A target of this name; `facts` are everything on which measurements depend:
    /// the workload's own fingerprint, the program and its version, memory, device.
    pub fn new<T: AsRef<str>>(name: &str, facts: impl IntoIterator<Item = T>) -> Target {
        Target {
            name: name.to_owned(),
            fingerprint: Fingerprint::of(facts),
            but_build: None,
        }
    }

    /// A target of this name; `build` are those of the `facts` that tell builds of its program
    /// apart.
    pub fn built(name: &str, facts: &[String], build: &[String]) -> Target {
        let others = facts.iter().filter(|it| !build.contains(it));
        Target {
            but_build: Some(Fingerprint::of(others)),
            ..Target::new(name, facts)
        }
    }

    /// Whether it is known to differ from another target in nothing but the program's build.
    pub fn is_another_build_of(&self, other: &Target) -> bool {
        let alike = self.but_build.is_some() && self.but_build == other.but_build;
        alike && self.fingerprint != other.fingerprint
    }
}

/// The first line of a search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Begin {
    /// [`VERSION`].
    pub version: u32,
    /// The name of the space.
    pub space: String,
    /// Its fingerprint.
    pub space_fingerprint: Fingerprint,
    /// What is measured.
    pub target: Target,
    /// What is to be found, and how.
    pub setup: Setup,
    /// Rounds of repeats that were asked for; absent where they are not written down, as in
    /// older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<u32>,
}

impl Begin {
    /// The first line of this search; who repeats its best adds how often.
    pub fn of(search: &Search, target: Target) -> Begin {
        Begin {
            version: VERSION,
            space: search.space().name().to_owned(),
            space_fingerprint: search.space().fingerprint(),
            target,
            setup: search.setup().clone(),
            repeats: None,
        }
    }
}

/// A line of the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A search begins.
    Begin(Box<Begin>),
    /// The search was asked and decided; waiting is not written down.
    Decision {
        /// Seconds by the clock since the search began.
        at: f64,
        /// What it decided.
        decision: Decision,
    },
    /// The search was told.
    Measurement {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Of what.
        measurement: Measurement,
    },
    /// What is kept of the budget for repeats was changed, since trials have shown what
    /// they take before they run.
    Reserved {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Seconds that are kept from here on.
        seconds: f64,
    },
    /// Whether trials begin anew when they go on was found out, as when memory does not
    /// suffice for all that would wait.
    Restarts {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Whether they do from here on.
        restarts: bool,
    },
    /// How the contenders are run again, after the search.
    Repeats {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Rounds, each of which holds all contenders.
        rounds: u32,
        /// Seconds that each of them runs.
        seconds: f64,
    },
    /// A contender was run again, after the search.
    Repeated {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Who, and what came of it.
        repeated: Repeated,
    },
    /// The best was run without what one parameter brings, after the search.
    Ablated {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Without what, and what came of it.
        ablated: Ablated,
    },
    /// An attempt at a run behind the search told nothing: it was lost, or the budget ended
    /// before it reported.
    InVain {
        /// Seconds by the clock since the search began.
        at: f64,
        /// Which run.
        what: FollowUp,
        /// What happened.
        why: String,
    },
    /// Nothing more is to come: the verdict is complete, and what was found is written.
    End {
        /// Seconds by the clock since the search began.
        at: f64,
    },
}

impl Event {
    /// Seconds by the clock since the search began.
    pub fn at(&self) -> f64 {
        match self {
            Event::Begin(_) => 0.0,
            Event::Decision { at, .. }
            | Event::Measurement { at, .. }
            | Event::Reserved { at, .. }
            | Event::Restarts { at, .. }
            | Event::Repeats { at, .. }
            | Event::Repeated { at, .. }
            | Event::Ablated { at, .. }
            | Event::InVain { at, .. }
            | Event::End { at } => *at,
        }
    }

    /// Seconds that it tells of, beside its own; 0 if it tells of none.
    fn told(&self) -> f64 {
        match self {
            Event::Reserved { seconds, .. } | Event::Repeats { seconds, .. } => *seconds,
            Event::Decision {
                decision: Decision::Start { until, .. } | Decision::Continue { until, .. },
                ..
            } => *until,
            _ => 0.0,
        }
    }
}

/// The event as a line, the line break included.
///
/// # Errors
/// A number that JSON cannot hold.
pub fn encode(event: &Event) -> Result<String> {
    if let Event::Measurement { measurement, .. } = event {
        measurement.check()?;
    }
    let at = event.at();
    if !at.is_finite() {
        return Err(SearchError::new(format!(
            "an event at {at} s cannot be logged: give the seconds since the search began"
        )));
    }
    let told = event.told();
    if !told.is_finite() {
        return Err(SearchError::new(format!(
            "an event that tells {told} s cannot be logged: give a number of seconds"
        )));
    }
    let text = serde_json::to_string(event)
        .map_err(|error| SearchError::new(format!("an event cannot be logged: {error}")))?;
    Ok(text + "\n")
}
