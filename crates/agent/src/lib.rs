//! An agent beside MyRocks.
//!
//! Over plain SQL it reads the server's counters, estimates the load of its
//! clients, lets level 0 wait while that is high, and lets it be compacted while
//! it is low (DLC, EDBT 2021). It bounds what waits, reads back whatever it
//! sets, and leaves the server with its original settings, however it ends.
//!
//! The crate has two halves. [`decide`] says what should be set, and why:
//! functions of what was seen. The rest acts: [`server`] is the seam to the
//! server, with SQL behind it; [`connect`] says where it is and who asks;
//! [`watchdog`] outlives the agent; [`attach`] runs it all.

#![forbid(unsafe_code)]

pub mod attach;
pub mod connect;
pub mod decide;
mod error;
mod files;
pub mod metrics;
pub mod server;
mod settings;
mod signals;
#[cfg(test)]
mod testing;
pub mod watchdog;

pub use attach::Attachment;
pub use error::{Error, ErrorKind, Result};
pub use files::{Places, default_directory};
pub use settings::{Settings, load_model};
