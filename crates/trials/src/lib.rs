//! The edge of a search: trials as child processes, the log on the disk, and what a
//! search found as data, text and a page.
//!
//! What is decided is decided by [`lissom_search`]. This crate starts, pauses,
//! watches and ends what it asks for, and writes down what comes of it. The modules
//! read in this order: [`protocol`] (what a child says), [`Template`] (how it is
//! started), [`Runner`] (children of this machine), [`Elsewhere`] (a program that runs
//! them on others), [`session`] (the loop over anything that runs trials), [`LogFile`],
//! [`findings`], [`report`].

#![forbid(unsafe_code)]

mod elsewhere;
mod error;
mod files;
pub mod findings;
mod log;
pub mod protocol;
pub mod report;
mod runner;
pub mod session;
mod signals;
mod template;

pub use elsewhere::{Elsewhere, Patience};
pub use error::{Result, TrialsError};
pub use files::{check_writable, replace};
pub use log::LogFile;
pub use runner::{Demand, Room, Runner, Settings, Writer, admit, clear_leftovers};
pub use signals::{Suspension, asked_to_end};
pub use template::{Template, words};
