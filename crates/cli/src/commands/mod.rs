//! One file for each command.

mod adopt;
mod advise;
mod apply;
mod attach;
mod bench;
mod compact;
mod demo;
mod detach;
mod inspect;
mod measure_device;
mod pin;
mod replay;
mod report;
mod search;
mod sim;
mod sizes;
mod trial;
mod uncertainty;
mod work;
mod workloads;

use std::io::BufReader;

use clap::{ArgMatches, Command};

use crate::built;
use crate::failure::{Failure, Outcome};

/// The command line.
pub fn program() -> Command {
    Command::new("lissom")
        .version(env!("CARGO_PKG_VERSION"))
        .about("RocksDB with an autopilot for its compaction: databases, benchmarks, tunings")
        .after_help(
            "Bytes and counts may have a unit, k, M, G (thousands) or KiB, MiB, GiB; times ms, s, m \
             or h, otherwise they are seconds.\n\n\
             Results go to standard output, progress to standard error and only on a terminal. \
             Exit codes: 0 done, 1 failed, 2 wrong use.",
        )
        .max_term_width(80)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            demo::command(),
            bench::command(),
            report::command(),
            sim::command(),
            workloads::command(),
            inspect::command(),
            adopt::command(),
            detach::command(),
            pin::command(),
            compact::command(),
            measure_device::command(),
            replay::command(),
            advise::command(),
            search::command(),
            apply::command(),
            attach::command(),
        ])
        .subcommand(attach::watchdog_command())
        .subcommand(trial::command())
        .subcommand(search::space_command())
        .subcommand(
            Command::new("bench-arm")
                .hide(true)
                .about("Runs one arm of a benchmark; `bench` and `demo` start it by themselves"),
        )
}

/// Carries out what was given.
pub fn run(given: &ArgMatches) -> Outcome {
    match given.subcommand() {
        Some(("demo", given)) => demo::run(given),
        Some(("bench", given)) => bench::run(given),
        Some(("report", given)) => report::run(given),
        Some(("sim", given)) => sim::run(given),
        Some(("workloads", given)) => workloads::run(given),
        Some(("inspect", given)) => inspect::run(given),
        Some(("adopt", given)) => adopt::run(given),
        Some(("detach", given)) => detach::run(given),
        Some(("pin", given)) => pin::run(given),
        Some(("compact", given)) => compact::run(given),
        Some(("measure-device", given)) => measure_device::run(given),
        Some(("replay", given)) => replay::run(given),
        Some(("advise", given)) => advise::run(given),
        Some(("search", given)) => search::run(given),
        Some(("apply", given)) => apply::run(given),
        Some(("attach", given)) => attach::run(given),
        Some((attach::WATCHDOG, _)) => attach::run_watchdog(),
        Some(("trial", given)) => trial::run(given),
        Some((search::SPACE, given)) => search::run_space(given),
        Some(("bench-arm", _)) => run_arm(),
        _ => Err(Failure::WrongUse("give a command".into())),
    }
}

/// Runs one arm of a benchmark. All kinds of arms may hold all of their tables open.
fn run_arm() -> Outcome {
    lissom::open_files::raise_limit();
    Ok(lissom_bench::run_arm_child(
        BufReader::new(std::io::stdin()),
        std::io::stdout(),
        Some(built::program()),
        // Nothing may be waited for, as RocksDB's threads are in an orderly exit.
        || signal_hook::low_level::exit(1),
    )?)
}
