//! Runners: the one for this machine, and scripts that behave badly.
//!
//! The scripts invent the times of their trials, so that what is measured is exact and
//! takes no time.

mod failing;
mod field;
mod local;
mod scripted;
