//! The decisions: functions from what was seen to what should be set, and why.
//!
//! Nothing here connects, waits, reads a clock or writes a file. In reading
//! order: [`Observation`] (what may be seen), [`Analyser`] (high or low load, by
//! the core's models), [`Actuator`] (how compaction is delayed), [`Situation`]
//! (one column family's next stage), [`Lease`] (what the server had before),
//! [`Pilot`] (all of it, interval by interval), [`Change`] (what is set, and
//! whether it took effect).

mod actuator;
mod change;
mod continuity;
pub mod event;
mod journal;
mod lease;
mod limiter;
mod load;
mod observation;
mod options;
mod pilot;
mod reason;
mod stage;
pub mod statement;

pub use actuator::{Actuator, Unmanaged, manage};
pub use change::{Change, Difference, Outcome};
pub use continuity::{Continuity, continuity};
pub use journal::{Entry, Event, JOURNAL_VERSION};
pub use lease::{Lease, LeasedFamily, LeasedRateLimiter, Standing};
pub use lissom_core::schedule::{LoadModel, Phase};
pub use load::Analyser;
pub use observation::{Counters, Families, Family, Instance, Observation};
pub use options::{Assignment, FamilyOptions, OptionName, OptionsByFamily};
pub use pilot::{Decision, Pilot, Sight};
pub use reason::Reason;
pub use stage::{Growth, Situation, Stage};
