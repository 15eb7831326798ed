//! What `lissom sim` is told.

use std::path::PathBuf;

use clap::{Arg, ArgAction, Command, value_parser};
use lissom_bench::Contender;

use crate::arguments::{amount, flag, json, option};
use crate::commands::sizes;

/// What a simulation reads and a calibration does not: whoever gives it beside one meant something
/// that would not happen.
const OF_A_SIMULATION: [&str; 19] = [
    "arm",
    "entries",
    "scale",
    "repeat",
    "write-buffer-size",
    "block-cache-size",
    "set",
    "filters",
    "noise",
    "slow-noise",
    "timed-one-in",
    "seed",
    "seeds",
    "device-bytes-per-second",
    "oracle",
    "decisions",
    "levels",
    "reopen",
    "out",
];

pub fn command() -> Command {
    Command::new("sim")
        .about(
            "Runs a workload in virtual time: the same planner, tuners and schedules over a \
             modelled tree",
        )
        .long_about(
            "Runs a workload in virtual time: the same planner, tuners and schedules over a \
             modelled tree. Minutes of a real store take a second. With --calibrate the machine's \
             constants are fitted to a measured run instead, and the model's error is shown; \
             --machine takes them up. With --compare beside it the fitted constants are then held \
             against other results, which they were not fitted to. Both may be repeated. One \
             workload cannot tell all constants apart, so give --calibrate results of several, \
             measured on one machine: the constants are fitted to all of them together, each of \
             the results weighing the same.\n\n\
             Results tell their own workload: WORKLOAD may be left out beside them. Where several \
             are given it must be one of theirs, and changes nothing. What else a simulation is \
             told is refused beside them, but for --machine: the constants to begin with.\n\n\
             --reopen tells what a learner gains by what it has kept: its sessions are gone \
             through twice, the second time in a tree that is loaded anew, with a tuner that \
             has restored the state which the first one saved.",
        )
        .arg(
            Arg::new("workload")
                .value_name("WORKLOAD")
                .required_unless_present_any(["calibrate", "compare"])
                .help("A shipped workload (see `lissom workloads`), random:SEED, or a TOML file"),
        )
        .arg(
            option(
                "arm",
                "NAME",
                "A contender; repeat it: fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned, lerp, \
                 learned-from-K, which begins at K, learned-without-PART, \
                 lerp-without-propagation, lerp-without-pull; learned-frozen, \
                 learned-from-K-frozen and lerp-frozen, held after the load; fixed-4@dlc with \
                 a schedule [default: fixed-1, -4, -10, lazy-leveling]",
            )
            .action(ArgAction::Append)
            .value_parser(|name: &str| name.parse::<Contender>()),
        )
        .args(sizes::arguments())
        .args(tuners())
        .args(machine())
        .arg(oracle())
        .args(lists())
        .args(learners())
        .arg(json())
}

fn oracle() -> Arg {
    option(
        "oracle",
        "HOW",
        "Adds an arm of perfect knowledge and prints what it follows, for --arm of `lissom bench`: \
         alone or with =sessions in each session the static arm that was best in it; with =search \
         the sequence of static arms that takes the least in all, whatever tree each session \
         leaves, found by changing one session's arm at a time over whole runs, and never behind \
         the best static arm",
    )
    .num_args(0..=1)
    .require_equals(true)
    .default_missing_value("sessions")
    .value_parser(["sessions", "search"])
}

/// What is listed beside the tables.
fn lists() -> [Arg; 2] {
    [
        flag(
            "decisions",
            "Lists every change of the run limits, and what schedules ordered",
        ),
        flag(
            "levels",
            "Lists what each level cost in each session: block reads, filters, merges",
        ),
    ]
}

/// What is shown of arms that choose their limits.
fn learners() -> [Arg; 2] {
    [
        flag(
            "reopen",
            "Runs each arm that keeps what it learns a second time, with what it has kept: \
             `learned` and `learned, reopened`; other arms are run once",
        ),
        option(
            "out",
            "DIR",
            "Writes limits.svg into this directory: the run limits of each level, and the time \
             of an operation, over the sessions, of each arm that follows the workload",
        )
        .value_parser(value_parser!(PathBuf)),
    ]
}

/// What the tree and its tuners are told.
fn tuners() -> [Arg; 6] {
    let share = |name, help| {
        option(name, "SHARE", help)
            .default_value("0")
            .allow_negative_numbers(true)
            .value_parser(value_parser!(f64))
    };
    [
        option(
            "filters",
            "KIND",
            "How levels share the filters: uniform or monkey",
        )
        .default_value("uniform")
        .value_parser(["uniform", "monkey"]),
        share(
            "noise",
            "Spread of the times that tuners are told, as 0.05: a factor for each mission",
        ),
        share(
            "slow-noise",
            "Spread of a factor of the times of gets and scans that drifts within two minutes, \
             beside --noise",
        ),
        option(
            "timed-one-in",
            "N",
            "Tuners are told the times, block reads and filters of one read in N on average, 128 \
             as in the store; every write is timed",
        )
        .default_value("1")
        .value_parser(value_parser!(u64).range(1..=1_000_000)),
        option("seed", "N", "Seed of the noise")
            .default_value("1")
            .value_parser(value_parser!(u64)),
        option(
            "seeds",
            "N",
            "Runs each learner with N seeds of the noise, from --seed on: medians, and half the \
             range; other arms, which do not meet the noise, are run once",
        )
        .default_value("1")
        .value_parser(value_parser!(u32).range(1..=1_000)),
    ]
}

fn machine() -> [Arg; 5] {
    let file = |name, value, help| option(name, value, help).value_parser(value_parser!(PathBuf));
    [
        file(
            "machine",
            "FILE",
            "The machine's constants, as --save-machine writes them",
        ),
        option(
            "device-bytes-per-second",
            "BYTES",
            "What schedules hold the device for, reads and writes together [default: what the \
             machine's constants allow]",
        )
        .value_parser(amount),
        file(
            "calibrate",
            "PATH",
            "Fits the constants to results of `lissom bench`: their directory, or a file of them; \
             repeat it for other workloads measured on the same machine, to fit them together",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(OF_A_SIMULATION),
        file(
            "compare",
            "PATH",
            "Compares with results of `lissom bench`, fitting nothing: their directory, or a file \
             of them as bench/results/NAME.json; after --calibrate with the fitted constants; may \
             be repeated",
        )
        .action(ArgAction::Append)
        .conflicts_with_all(OF_A_SIMULATION),
        file("save-machine", "FILE", "Writes the fitted constants here").requires("calibrate"),
    ]
}
