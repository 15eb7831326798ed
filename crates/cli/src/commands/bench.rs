//! `lissom bench`

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use lissom_bench::{
    ArmName, Bar, DEFAULT_SPACE_BOUND, Exporting, Exports, LEAST_ROUNDS, Results, RunPlan,
    render_table, run as run_plan, write_exports,
};

use super::sizes::{self, wrong};
use super::uncertainty;
use crate::arguments::{amount, find, flag, get, json, option, out};
use crate::failure::{Failure, Outcome};
use crate::output;

pub fn command() -> Command {
    Command::new("bench")
        .about("Compares arms on a workload, in rounds, each arm in a process of its own")
        .long_about(
            "Compares arms on a workload, in rounds, each arm in a process of its own.\n\n\
             Writes results.json, report.html and table.txt after each arm; an interrupted run \
             goes on with the same command.",
        )
        .arg(
            Arg::new("workload")
                .value_name("WORKLOAD")
                .required(true)
                .help("A shipped workload (see `lissom workloads`), `random`, or a TOML file"),
        )
        .arg(
            option(
                "arm",
                "NAME",
                "A contender; repeat it. Stock RocksDB: rocksdb-leveled, rocksdb-leveled-tuned, \
                 rocksdb-leveled-auto-rate, rocksdb-leveled-low-priority, rocksdb-universal. \
                 Lissom: fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned, learned-from-K, \
                 lerp, lerp-monkey, learned-frozen, oracle:SESSION=fixed-K,...; fixed-4@dlc with a schedule; \
                 fixed-4+normal-priority with merges that never give way",
            )
            .required(true)
            .action(ArgAction::Append)
            .value_parser(|name: &str| name.parse::<ArmName>()),
        )
        .arg(
            option(
                "options",
                "NAME=PATH",
                "One more contender, rocksdb-options-NAME: stock RocksDB with your OPTIONS file; \
                 memory, direct I/O and background jobs are those of all arms. Repeat it",
            )
            .action(ArgAction::Append)
            .value_parser(named_file),
        )
        .arg(out("bench/out"))
        .args(sizes::arguments())
        .args(amounts())
        .args(resources())
        .args(rates())
        .arg(json())
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .subcommand(uncertainty::command())
}

/// How much is run.
fn amounts() -> [Arg; 6] {
    [
        option(
            "rounds",
            "N",
            "Rounds, each holding all arms; under 3 are no comparison [default: 3]",
        )
        .value_parser(value_parser!(u32)),
        option("seed", "N", "Seed of data, operations and fill phases")
            .default_value("1")
            .value_parser(value_parser!(u64)),
        option("threads", "N", "Threads that operate")
            .default_value("1")
            .value_parser(value_parser!(u32)),
        option(
            "space-bound",
            "FACTOR",
            "Most space amplification; arms above it are out of the comparison [default: 3]",
        )
        .value_parser(value_parser!(f64)),
        flag(
            "keep-load",
            "Keeps each arm's loaded directory and copies it in later rounds; arms that learn from \
             their load make it in each",
        ),
        option(
            "until",
            "MINUTES",
            "Begins no arm that would end later than this from now, judged by how long arms took \
             so far; the same command goes on with what is left",
        )
        .value_parser(minutes),
    ]
}

/// What all arms share.
fn resources() -> [Arg; 2] {
    [
        option(
            "target-file-size-base",
            "BYTES",
            "Smallest target size of a table file; stock leveled and universal keep 64 MiB \
             [default: 4 MiB]",
        )
        .value_parser(amount),
        flag("buffered-io", "Uses the operating system's cache"),
    ]
}

/// NAME=PATH, where NAME may be that of an arm.
fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no NAME=PATH, as tuned=OPTIONS-000123"))?;
    let arm = ArmName::RocksdbOptions(name.to_string()).to_string();
    arm.parse::<ArmName>()
        .map_err(|_| format!("{name:?} is no name: use letters, digits and -_."))?;
    Ok((name.to_string(), PathBuf::from(path)))
}

/// Minutes above 0, as 95 or 1.5.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: Option<f64> = text.parse().ok().filter(|it| *it > 0.0);
    let time = minutes.and_then(|it| Duration::try_from_secs_f64(it * 60.0).ok());
    time.ok_or_else(|| format!("{text:?} is no number of minutes above 0, as 95 or 1.5"))
}

/// Share of the maximum that is offered, unless another one is given.
const RATE_SHARE: f64 = 0.9;

/// How operations are offered.
fn rates() -> [Arg; 4] {
    [
        flag(
            "closed-loop",
            "Sends each operation when the last one has ended, whatever rate the workload offers: \
             finds the maximum",
        )
        .conflicts_with("rates-from"),
        option(
            "rates-from",
            "PATH",
            "Scales the workload's rates by the maximum in these results of --closed-loop, a \
             directory or file: what the slowest arm there carried, or that of --maximum-of",
        )
        .value_parser(value_parser!(PathBuf)),
        option(
            "maximum-of",
            "ARM",
            "Takes the maximum of this arm, whichever was the slowest [default: the slowest]",
        )
        .value_parser(|name: &str| name.parse::<ArmName>())
        .requires("rates-from"),
        option(
            "rate-share",
            "SHARE",
            "Share of that maximum that the highest rate is [default: 0.9]",
        )
        .value_parser(value_parser!(f64))
        .requires("rates-from"),
    ]
}

pub fn run(given: &ArgMatches) -> Outcome {
    if let Some(("uncertainty", given)) = given.subcommand() {
        return uncertainty::run(given);
    }
    run_and_report(&plan(given)?, given.get_flag("json"))
}

fn plan(given: &ArgMatches) -> Result<RunPlan, Failure> {
    let seed: u64 = get(given, "seed");
    let name = match get::<String>(given, "workload") {
        name if name == "random" => format!("random:{seed}"),
        name => name,
    };
    let workload = sizes::workload(given, &name)?;
    let arms = given
        .get_many::<ArmName>("arm")
        .unwrap_or_default()
        .cloned()
        .collect();
    let mut plan = RunPlan::new(workload, arms, get(given, "out"))?;
    plan.seed = seed;
    plan.rounds = find(given, "rounds").unwrap_or(LEAST_ROUNDS);
    plan.threads = get(given, "threads");
    plan.space_bound = find(given, "space-bound").unwrap_or(DEFAULT_SPACE_BOUND);
    plan.keep_load = given.get_flag("keep-load");
    plan.until = find(given, "until");
    plan.resources = sizes::resources(given)?;
    plan.resources.direct_io = !given.get_flag("buffered-io");
    add_options_files(&mut plan, given)?;
    if let Some(bytes) = find(given, "target-file-size-base") {
        plan.resources.target_file_size_base = bytes;
    }
    if given.get_flag("closed-loop") {
        plan.close_loops();
    }
    if let Some(path) = find::<PathBuf>(given, "rates-from") {
        let share = find(given, "rate-share").unwrap_or(RATE_SHARE);
        let of = find::<ArmName>(given, "maximum-of");
        let measured = Results::read(&path)?;
        plan.offer(&measured, of.as_ref(), share).map_err(wrong)?;
    }
    plan.check().map_err(wrong)?;
    Ok(plan)
}

/// Adds the arms that have OPTIONS files.
fn add_options_files(plan: &mut RunPlan, given: &ArgMatches) -> Outcome {
    type Named = (String, PathBuf);
    for (name, path) in given.get_many::<Named>("options").unwrap_or_default() {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::WrongUse(format!("--options {name}={}: {error}", path.display()))
        })?;
        let files = &mut plan.resources.options_files;
        if files.insert(name.clone(), text).is_some() {
            let sentence = format!("--options {name} is given twice: use two names");
            return Err(Failure::WrongUse(sentence));
        }
        let arm = ArmName::RocksdbOptions(name.clone());
        if !plan.arms.contains(&arm) {
            plan.arms.push(arm);
        }
    }
    Ok(())
}

/// Runs what a plan lacks, with a bar; page, table and pictures are there after each arm.
pub fn measure(plan: &RunPlan) -> Result<Results, Failure> {
    let mut bar = Bar::default();
    let results = run_plan(plan, &mut Exporting::new(&mut bar, &plan.out));
    bar.finish();
    Ok(results?)
}

/// Runs a plan, writes the report and its pictures, and prints the table.
fn run_and_report(plan: &RunPlan, json: bool) -> Outcome {
    let results = measure(plan)?;
    let exports = write_exports(&results, &plan.out)?;
    if json {
        output::print_json(&results)?;
    } else {
        output::print(&shown(&results, Some(exports)))?;
    }
    if plan.until.is_some() {
        tell_what_is_left(plan, &results);
    }
    complain(&results, &plan.out)
}

/// On standard error, since it is no result.
fn tell_what_is_left(plan: &RunPlan, results: &Results) {
    let left = plan.left(results);
    if left.is_empty() {
        return;
    }
    let of = plan.arms.len() * plan.rounds as usize;
    let names: Vec<String> = left
        .iter()
        .map(|(round, arm)| format!("{arm} in round {}", round + 1))
        .collect();
    output::say(&format!(
        "{} of {of} runs are left, and the same command goes on with them: {}",
        left.len(),
        names.join(", ")
    ));
}

/// The tables, and where the page and the pictures are.
pub fn shown(results: &Results, exports: Option<Exports>) -> String {
    render_table(results) + &exports.map_or(String::new(), places)
}

/// Where the page and the pictures are.
pub fn places(exports: Exports) -> String {
    let mut text = place("\nreport", exports.report);
    text.extend(exports.pictures.into_iter().map(|it| place("picture", it)));
    text
}

/// A line that says where a file is.
pub fn place(what: &str, path: PathBuf) -> String {
    let path = path.canonicalize().unwrap_or(path);
    format!("{what}: {}\n", path.display())
}

/// An arm that failed is a failed benchmark, though the others stand.
pub fn complain(results: &Results, out: &Path) -> Outcome {
    let failures = results.failures.iter().filter(|it| !it.made_good);
    let sentences: Vec<&str> = failures.map(|it| it.sentence.as_str()).collect();
    if sentences.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{}; what succeeded stands in {}, and the same command goes on from there",
        sentences.join("; "),
        out.display()
    )))
}
