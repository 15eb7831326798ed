//! `lissom demo`

use clap::{ArgMatches, Command};
use lissom_bench::demo_plan;

use super::bench::run_and_report;
use crate::arguments::{get, json, out};
use crate::failure::Outcome;

pub fn command() -> Command {
    Command::new("demo")
        .about("An embedded store lives through a changing workload, beside static arms")
        .long_about(
            "An embedded store lives through a changing workload, beside static arms.\n\n\
             Takes about two minutes on two cores; then come the table and where the report \
             lies. The store is small: it shows how things work, not who is faster. An \
             interrupted demo goes on with the same command.",
        )
        .arg(out("bench/out/demo"))
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let plan = demo_plan(get(given, "out"))?;
    run_and_report(&plan, given.get_flag("json"))
}
