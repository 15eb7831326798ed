//! `lissom demo`

use clap::{ArgMatches, Command};
use lissom_bench::{
    Results, Simulation, demo_plan, demo_simulation, demo_supplement, render_demo, render_table,
    write_exports, write_report_with,
};
use serde::Serialize;

use super::bench::{complain, measure, places};
use super::sim::simulate;
use crate::arguments::{get, json, out};
use crate::failure::Outcome;
use crate::output;

/// The results of the benchmark, and the simulation as a field beside theirs.
#[derive(Serialize)]
struct Seen<'a> {
    #[serde(flatten)]
    measured: &'a Results,
    simulated: &'a Simulation,
}

pub fn command() -> Command {
    Command::new("demo")
        .about("An embedded store lives through a changing workload, beside static arms")
        .long_about(
            "An embedded store lives through a changing workload, beside static arms.\n\n\
             Takes about two minutes on two cores; then come the table and where the report \
             lies. The store is small: it shows how things work, not who is faster. An \
             interrupted demo goes on with the same command.\n\n\
             In sessions so short nothing can be learned. So a second part, which is simulated \
             in seconds and says so, shows the learner `learned` change its run limits over \
             longer sessions, beside static arms, and why; the report has it as a picture.",
        )
        .arg(out("bench/out/demo"))
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let (plan, simulation) = (demo_plan(get(given, "out"))?, demo_simulation()?);
    let as_json = given.get_flag("json");
    let measured = measure(&plan)?;
    let exports = write_exports(&measured, &plan.out)?;
    if !as_json {
        output::print(&render_table(&measured))?;
    }
    let simulated = simulate(&simulation)?;
    let supplement = demo_supplement(&simulation, &simulated);
    write_report_with(&measured, &supplement, &plan.out)?;
    if as_json {
        output::print_json(&Seen {
            measured: &measured,
            simulated: &simulated,
        })?;
    } else {
        output::print(&(render_demo(&simulation, &simulated) + &places(exports)))?;
    }
    complain(&measured, &plan.out)
}
