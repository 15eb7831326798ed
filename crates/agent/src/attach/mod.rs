//! The agent: reads, decides, acts, reads back; interval by interval.

mod act;
mod agent;
mod hands;
mod records;
mod restoring;
mod run;
mod taking_back;

pub use agent::Agent;
pub use records::Records;
pub use restoring::RestoreReport;
pub use run::Attachment;
