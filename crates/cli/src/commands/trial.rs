//! `lissom trial`: what a search starts for each configuration.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom_bench::trial::{Limits, Signals, System, TrialPlan, run_trial};
use lissom_bench::{BenchError, at_end, load_workload};
use lissom_search::export::OptionsFile;
use lissom_trials::protocol::TRIAL_VARIABLE;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::exit;

use crate::arguments::{amount, duration, find, flag as switch, get, option};
use crate::failure::{Failure, Outcome};

pub fn command() -> Command {
    Command::new("trial")
        .hide(true)
        .about("Runs one configuration under a workload; a search starts it by itself")
        .long_about(
            "Runs one configuration under a workload; a search starts it by itself.\n\n\
             Prints {\"note\": \"...\"} of what it cannot run as it was told, {\"ready\": true} once \
             the data set is there, then one JSON object of metrics for each window, or \
             {\"error\": \"...\"}. SIGTERM ends it; it may be stopped and \
             continued at any time.",
        )
        .args(what())
        .args(how_long())
        .args(with_what())
}

/// The workload and the configuration.
fn what() -> [Arg; 5] {
    [
        option(
            "workload",
            "NAME",
            "A shipped workload (see `lissom workloads`), random:SEED, or a TOML file",
        )
        .required(true),
        option(
            "entries",
            "N",
            "Entries to load, as 2000000 or 2M [default: the workload's]",
        )
        .value_parser(amount),
        option("system", "NAME", "What is tried: rocksdb or lissom")
            .default_value("rocksdb")
            .value_parser(|name: &str| name.parse::<System>()),
        option(
            "options",
            "FILE",
            "The configuration: an OPTIONS file of RocksDB, or a JSON object of Lissom's settings",
        )
        .required(true)
        .value_parser(value_parser!(PathBuf)),
        option(
            "directory",
            "DIR",
            "The database's directory, new or empty; it stays",
        )
        .required(true)
        .value_parser(value_parser!(PathBuf)),
    ]
}

fn how_long() -> [Arg; 5] {
    [
        option("seconds", "TIME", "How long it runs after the set-up")
            .required(true)
            .value_parser(duration),
        option("window", "TIME", "Length of a window, as 1s or 500ms")
            .default_value("1s")
            .value_parser(duration),
        option("seed", "N", "Seed of data and operations")
            .default_value("1")
            .value_parser(value_parser!(u64)),
        option(
            "operations-seed",
            "N",
            "Seed of the operations alone, over the same data [default: --seed]",
        )
        .value_parser(value_parser!(u64)),
        option("threads", "N", "Threads that operate")
            .default_value("1")
            .value_parser(value_parser!(u32)),
    ]
}

fn with_what() -> [Arg; 5] {
    [
        option(
            "rate-limit",
            "BYTES",
            "Bytes per second that flushes, compactions, reads and the log may move together",
        )
        .value_parser(amount),
        option(
            "memory",
            "BYTES",
            "Bytes for write buffers and cached blocks together; stock RocksDB's cache gets what \
             the write buffers leave, unless OPTIONS sets block_cache",
        )
        .value_parser(amount),
        option(
            "prepared",
            "DIR",
            "Where data sets are kept that trials begin with; made if missing",
        )
        .value_parser(value_parser!(PathBuf)),
        option(
            "base",
            "FILE",
            "An OPTIONS file with what stock RocksDB gets where --options does not say",
        )
        .value_parser(value_parser!(PathBuf)),
        switch("buffered-io", "Uses the operating system's cache"),
    ]
}

pub fn run(given: &ArgMatches) -> Outcome {
    end_with_the_search()?;
    let plan = plan(given)?;
    lissom::open_files::raise_limit();
    let result = run_trial(&plan, &mut io::stdout(), listen);
    Ok(result?)
}

/// Whoever started the trial holds its standard input open. If that ends, the search is
/// gone, and nothing is to be put in order: the next search removes the data.
fn end_with_the_search() -> Outcome {
    if std::env::var_os(TRIAL_VARIABLE).is_none() {
        return Ok(());
    }
    Ok(at_end(io::stdin(), || exit(1))?)
}

fn plan(given: &ArgMatches) -> Result<TrialPlan, Failure> {
    // What is wrong here was given on the command line.
    let wrong = |error: BenchError| Failure::WrongUse(error.to_string());
    let workload = load_workload(&get::<String>(given, "workload"))
        .and_then(|workload| workload.sized(find(given, "entries"), 1.0))
        .map_err(wrong)?;
    let seed = get::<u64>(given, "seed");
    let plan = TrialPlan {
        workload,
        system: get(given, "system"),
        options: options("options", &get::<PathBuf>(given, "options"))?,
        directory: get(given, "directory"),
        time: get::<Duration>(given, "seconds"),
        window: get::<Duration>(given, "window"),
        seed,
        operations_seed: find(given, "operations-seed").unwrap_or(seed),
        threads: get(given, "threads"),
        limits: Limits {
            direct_io: !given.get_flag("buffered-io"),
            rate_limit: find(given, "rate-limit"),
            memory: find(given, "memory"),
            base: base(given)?,
        },
        prepared: find(given, "prepared"),
    };
    plan.check().map_err(wrong)?;
    Ok(plan)
}

/// The text of the file that an argument names.
fn options(argument: &str, path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::WrongUse(format!(
            "cannot read {}: {error}; give --{argument} a file that is there",
            path.display()
        ))
    })
}

fn base(given: &ArgMatches) -> Result<Option<OptionsFile>, Failure> {
    let Some(path) = find::<PathBuf>(given, "base") else {
        return Ok(None);
    };
    let read = OptionsFile::parse(&options("base", &path)?);
    read.map(Some)
        .map_err(|error| Failure::WrongUse(format!("--base {}: {error}", path.display())))
}

/// From here on the process ends in order when it is told to.
fn listen() -> Result<Signals, BenchError> {
    let signals = Signals::default();
    let cannot = |error: io::Error| BenchError::new(format!("cannot listen for signals: {error}"));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        flag::register(signal, Arc::clone(&signals.end)).map_err(cannot)?;
    }
    flag::register(SIGCONT, Arc::clone(&signals.resumed)).map_err(cannot)?;
    Ok(signals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_drawn_anew_over_the_same_data() {
        let place = tempfile::tempdir().expect("a directory");
        let path = |name: &str| place.path().join(name).display().to_string();
        std::fs::write(path("OPTIONS"), "{}").expect("written");
        let seeds = |more: &[&str]| {
            let (options, directory) = (path("OPTIONS"), path("data"));
            let words = [
                "trial",
                "--workload",
                "ycsb-a",
                "--seconds",
                "9s",
                "--options",
                &options,
                "--directory",
                &directory,
            ];
            let words = words.iter().chain(more);
            let given = command().try_get_matches_from(words).expect("legal");
            let plan = plan(&given).expect("legal");
            (plan.seed, plan.operations_seed)
        };
        assert_eq!(seeds(&[]), (1, 1));
        assert_eq!(seeds(&["--seed", "7"]), (7, 7));
        assert_eq!(seeds(&["--operations-seed", "3"]), (1, 3));
    }
}
