//! The program from the outside.

#[path = "program/advice.rs"]
mod advice;
#[path = "program/applying.rs"]
mod applying;
#[path = "program/attaching.rs"]
mod attaching;
#[path = "program/benches.rs"]
mod benches;
#[allow(dead_code)] // only what it makes of sources is looked at
#[path = "../build.rs"]
mod build_script;
#[path = "program/building.rs"]
mod building;
#[path = "program/campaigns.rs"]
mod campaigns;
#[path = "program/demo.rs"]
mod demo;
#[path = "program/directories.rs"]
mod directories;
#[path = "program/elsewhere.rs"]
mod elsewhere;
#[path = "program/interrupted.rs"]
mod interrupted;
#[path = "program/searching.rs"]
mod searching;
#[path = "program/simulations.rs"]
mod simulations;
#[path = "program/small_search.rs"]
mod small_search;
#[path = "program/support.rs"]
mod support;
#[path = "program/trials.rs"]
mod trials;
#[path = "program/wrong_use.rs"]
mod wrong_use;
