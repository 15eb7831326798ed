//! The program from the outside.

#[path = "program/advice.rs"]
mod advice;
#[path = "program/applying.rs"]
mod applying;
#[path = "program/attaching.rs"]
mod attaching;
#[path = "program/benches.rs"]
mod benches;
#[path = "program/campaigns.rs"]
mod campaigns;
#[path = "program/demo.rs"]
mod demo;
#[path = "program/directories.rs"]
mod directories;
#[path = "program/elsewhere.rs"]
mod elsewhere;
#[path = "program/searching.rs"]
mod searching;
#[path = "program/simulations.rs"]
mod simulations;
#[path = "program/support.rs"]
mod support;
#[path = "program/trials.rs"]
mod trials;
#[path = "program/wrong_use.rs"]
mod wrong_use;
