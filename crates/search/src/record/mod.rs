//! The log of searches: one line of JSON for each thing that happened, appended and
//! never changed. An interrupted search resumes by replaying it; a later search of
//! the same space and target learns from it.
//!
//! A file may hold several searches behind each other; each begins with a
//! [`Begin`]. This module turns lines into text and back; reading, writing and
//! locking the file are the caller's.

mod line;
mod log;
mod replay;
#[cfg(test)]
mod tests;
mod tried;

pub use line::{Begin, Event, Target, VERSION, encode};
pub use log::{Log, Recorded};
pub use replay::resume;
