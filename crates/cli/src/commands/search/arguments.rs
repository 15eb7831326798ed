//! The arguments of `lissom search`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, value_parser};
use lissom_search::export::Format;
use lissom_search::expression::{Expression, Names};
use lissom_search::objective::{Constraint, Objective};
use lissom_search::verdict::MOST_ROUNDS;

use crate::arguments::{amount, duration, flag, option};

/// What is measured.
pub fn subject() -> [Arg; 5] {
    [
        Arg::new("workload")
            .value_name("WORKLOAD")
            .required_unless_present("command")
            .conflicts_with("command")
            .help("A shipped workload (see `lissom workloads`), `random`, or a TOML file"),
        option(
            "command",
            "COMMAND",
            "A program of your own instead, in words as a shell splits them; {options} stands for \
             the file with the configuration, {directory} for an empty directory, {metrics}, \
             {shared}, {trial}, {seconds} and {seed} as in docs/search.md",
        ),
        option(
            "system",
            "NAME",
            "What runs the workload: rocksdb or lissom [default: lissom for its own space, \
             otherwise rocksdb]",
        )
        .value_parser(["rocksdb", super::subject::LISSOM])
        .conflicts_with("command"),
        option(
            "entries",
            "N",
            "Entries of the workload, as 2M [default: its own]",
        )
        .value_parser(amount)
        .conflicts_with("command"),
        option(
            "threads",
            "N",
            "Threads that operate the workload [default: 1]",
        )
        .value_parser(value_parser!(u32).range(1..))
        .conflicts_with("command"),
    ]
}

/// What may be tried, and how it is written.
pub fn space() -> [Arg; 3] {
    [
        option(
            "space",
            "NAME|FILE",
            "What may be tried: rocksdb (11.12), dremel (as published), lissom, or a TOML file",
        )
        .default_value("rocksdb"),
        option(
            "constant",
            "NAME=VALUE",
            "A constant of the space, as entries=2000000 or memory=1GiB; repeat it. By default \
             they are those of the workload and the machine, and memory is 3/4 of --memory",
        )
        .action(ArgAction::Append)
        .value_parser(constant),
        option(
            "format",
            "NAME",
            "How the best configuration is written, and with --command what the program reads: \
             rocksdb, json, flink, cassandra or flags [default: rocksdb for the spaces rocksdb and \
             dremel and for a workload on stock RocksDB, otherwise json]",
        )
        .value_parser(|text: &str| text.parse::<Format>().map_err(|error| error.to_string())),
    ]
}

/// What is sought.
pub fn sought() -> [Arg; 2] {
    [
        option(
            "objective",
            "OBJECTIVE",
            "throughput; p99, p99-get or p99-put; both, both-get or both-put (throughput and that \
             latency); or maximise EXPRESSION, minimise EXPRESSION over metrics",
        )
        .default_value("throughput")
        .value_parser(|text: &str| text.parse::<Objective>().map_err(|error| error.to_string())),
        option(
            "constraint",
            "BOUND",
            "A bound that the best must keep, as 'memory_bytes <= 1GiB'; repeat it",
        )
        .action(ArgAction::Append)
        .value_parser(|text: &str| {
            text.parse::<Constraint>()
                .map_err(|error| error.to_string())
        }),
    ]
}

/// What may be spent.
pub fn spent() -> [Arg; 5] {
    [
        option("budget", "TIME", "Time for everything, as 20m or 2h")
            .default_value("20m")
            .value_parser(duration),
        option(
            "evaluation",
            "TIME",
            "The longest that a trial runs, without set-up",
        )
        .default_value("60s")
        .value_parser(duration),
        option(
            "setup",
            "TIME",
            "What a trial takes before it runs, loading for all left out, until trials have shown \
             it [default: 0s]",
        )
        .value_parser(duration),
        option(
            "repeats",
            "N",
            "Rounds in which best, runner-up and default are repeated, 0 for none, and then no \
             ablations either; at most a third of the budget is kept for both",
        )
        .default_value("3")
        .value_parser(value_parser!(u32).range(0..=i64::from(MOST_ROUNDS))),
        option("seed", "N", "Seed of the search, and of a random workload")
            .default_value("1")
            .value_parser(value_parser!(u64)),
    ]
}

/// How it goes about it; the defaults are Dremel's, but that it uses the whole budget.
pub fn method() -> [Arg; 5] {
    [
        option(
            "buckets",
            "N",
            "Buckets of each feature; arms are their combinations, with four features 16, 81 or \
             256 of 2, 3 or 4",
        )
        .default_value("2")
        .value_parser(value_parser!(u32).range(1..)),
        option(
            "without",
            "FEATURE",
            "Leaves a feature of the space out, to see what it is worth; repeat it",
        )
        .action(ArgAction::Append),
        flag(
            "full",
            "Runs every trial for a full evaluation instead of stopping the worse half early",
        ),
        option(
            "further",
            "HOW",
            "How the rounds choose from an arm: random, heuristic (the smallest value of the \
             space's heuristic feature, if it has one), or near (its best with two settings drawn \
             anew) [default: random]",
        )
        .value_parser(["random", "heuristic", "near"]),
        flag(
            "as-published",
            "Ends after Dremel's three rounds and its last comparison, also where that leaves \
             some of the budget, instead of going on with both",
        ),
    ]
}

/// Where trials run.
pub fn elsewhere() -> [Arg; 2] {
    [
        option(
            "workers",
            "N",
            "Trials that run at once [default: 1; with --runner as many as it has workers]; on one \
             machine they disturb each other's figures, of which the report warns",
        )
        .value_parser(value_parser!(u32).range(1..=1_000)),
        option(
            "runner",
            "COMMAND",
            "A program that runs the trials on other machines, in words as a shell splits them, \
             as 'examples/runners/ray_runner.py --address auto'; docs/search.md has its protocol",
        ),
    ]
}

/// What a trial may take.
pub fn bounds() -> [Arg; 4] {
    [
        option(
            "memory",
            "BYTES",
            "Memory of a trial's processes, together; one that takes more is stopped",
        )
        .default_value("256MiB")
        .value_parser(amount),
        option(
            "deadline",
            "TIME",
            "Running time without a sample after which a trial counts as hung [default: half of \
             --evaluation, at least 10s]",
        )
        .value_parser(duration),
        option(
            "setup-deadline",
            "TIME",
            "Time of set-up after which a trial counts as hung",
        )
        .default_value("10m")
        .value_parser(duration),
        flag(
            "restart",
            "Ends trials at each comparison and starts the better ones anew, instead of letting \
             them wait with their memory: slower, for small machines",
        ),
    ]
}

/// Where everything goes.
pub fn files() -> [Arg; 6] {
    let file = |name, help| option(name, "FILE", help).value_parser(value_parser!(PathBuf));
    [
        file("out", "Where the best configuration is written").default_value("OPTIONS-found"),
        file(
            "log",
            "The log of searches [default: search.jsonl beside --out]",
        ),
        file("report", "The report [default: search.html beside --out]"),
        option(
            "directory",
            "DIR",
            "Directory for the trials' data; best on the disk that is to be tuned for [default: \
             search.trials beside --out]",
        )
        .value_parser(value_parser!(PathBuf)),
        flag("keep", "Keeps the directories of trials that ended"),
        flag(
            "new",
            "Begins anew even if the last search in the log was interrupted",
        ),
    ]
}

/// `NAME=VALUE`; the value may have a unit.
fn constant(text: &str) -> Result<(String, f64), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(format!(
            "{text:?} is no constant: write NAME=VALUE, as entries=2000000"
        ));
    };
    let value = Expression::parse(value)
        .and_then(|expression| expression.quantity(&Names::default()))
        .map_err(|error| format!("the value of {}, {error}", name.trim()))?
        .value(&[]);
    if value.is_finite() {
        Ok((name.trim().to_owned(), value))
    } else {
        Err(format!(
            "the value of {} comes to {value}: write a number",
            name.trim()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_may_have_units() {
        assert_eq!(
            constant("memory=2GiB"),
            Ok(("memory".to_owned(), 2_147_483_648.0))
        );
        assert_eq!(constant("entries = 2e6"), Ok(("entries".to_owned(), 2e6)));
        for wrong in ["memory", "memory=", "memory=lots", "memory=1/0"] {
            assert!(constant(wrong).is_err(), "{wrong}");
        }
    }
}
