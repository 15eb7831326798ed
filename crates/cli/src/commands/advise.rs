//! `lissom advise`

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom::core::cost_model::{ModelError, RunPolicy, Workload};
use lissom::core::filters::FilterAllocation;
use lissom::core::robust::history::{self, Observed};
use lissom::core::robust::{
    Advice, DesignSpace, Expectation, Neighbourhood, Tuned, advise, tune_limits,
};
use lissom::inspect::observed_workloads;
use lissom::stock;
use serde::Serialize;

use crate::arguments::{amount, column_family, find, flag, get, json, option};
use crate::failure::{Failure, Outcome};
use crate::output;

/// The divergence where none is given and nothing was observed.
const RHO: &str = "1";

pub fn command() -> Command {
    Command::new("advise")
        .about("Advises a tuning for a workload that is only a guess")
        .long_about(
            "Advises a tuning for a workload that is only a guess: the nominal tuning, best if \
             the guess is right, beside the robust one, whose worst case within a divergence of \
             rho is best (Endure). Needs no database; the advice can be written for stock \
             RocksDB.\n\n\
             With --history the guess, or rho, or both come from what was observed. The missions \
             of a journal are those of one column family, merged until each workload has some \
             thousand operations, since shares of few are chance; the mean weighs them by \
             operations, and rho is the distance of the farthest.",
        )
        .args(expected())
        .args(system())
        .arg(flag("stock", "Chooses among leveling and tiering only"))
        .arg(
            flag(
                "limits",
                "Chooses a run limit for each level, as Lissom can hold",
            )
            .conflicts_with_all(["stock", "options"]),
        )
        .arg(
            option(
                "options",
                "FILE",
                "Writes the robust tuning as an OPTIONS file for stock RocksDB",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .arg(json())
}

fn expected() -> [Arg; 4] {
    [
        option(
            "workload",
            "SHARES",
            "Expected shares of gets of absent keys, gets of present keys, scans and writes, as \
             z0=25,z1=25,q=25,w=25; without it, the mean of the history",
        )
        .required_unless_present("history")
        .value_parser(|text: &str| text.parse::<Workload>().map_err(|error| error.to_string())),
        option(
            "rho",
            "NUMBER|auto",
            "How far the workload may turn out to be another, in nats: 0 not at all, 0.2 a \
             little, 2 much; auto: as far as the history shows [default: 1, or auto with a \
             history]",
        )
        .allow_negative_numbers(true),
        option(
            "history",
            "FILE|DB",
            "Observed workloads: a database's journal, or a file with one a line",
        )
        .value_parser(value_parser!(PathBuf)),
        column_family("The column family of the history's missions [default: default]")
            .requires("history"),
    ]
}

fn system() -> [Arg; 7] {
    let count = |name, value, default, help| {
        option(name, value, help)
            .default_value(default)
            .value_parser(amount)
    };
    [
        option("entries", "N", "Entries that the store will hold, as 10M")
            .required(true)
            .value_parser(amount),
        option("entry-bytes", "BYTES", "Bytes of an entry, key and value")
            .required(true)
            .value_parser(amount),
        option(
            "memory",
            "BYTES",
            "Memory for write buffers and filters together, as 12M or 64MiB; cached blocks come \
             on top",
        )
        .required(true)
        .value_parser(amount),
        count("min-buffer", "BYTES", "1MiB", "Smallest write buffer"),
        count("block-bytes", "BYTES", "4096", "Bytes of a block"),
        count("scan-entries", "N", "10", "Entries that a scan returns"),
        option(
            "filters",
            "KIND",
            "How filter memory is shared among levels; stock RocksDB, for which --options writes, \
             has uniform ones",
        )
        .value_parser(["uniform", "monkey"])
        .default_value("uniform"),
    ]
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    expected: &'a Expectation,
    advice: &'a Advice,
    /// The robust tuning with a run limit for each level, if it was asked for.
    limits: Option<&'a Tuned>,
    lost_if_right: f64,
    saved_if_wrong: f64,
    why: String,
}

pub fn run(given: &ArgMatches) -> Outcome {
    let expected = expectation(given)?;
    let model = expected.model().map_err(wrong)?;
    let near = expected.neighbourhood().map_err(wrong)?;
    let advice = advise(&model, &near, &space(given)).map_err(wrong)?;
    let limits = given
        .get_flag("limits")
        .then(|| tune_limits(&model, &near, &DesignSpace::held()))
        .transpose()
        .map_err(wrong)?;
    if let Some(file) = find::<PathBuf>(given, "options") {
        stock::write_options_file(&advice.robust, &file)?;
    }
    if given.get_flag("json") {
        return output::print_json(&Report {
            expected: &expected,
            advice: &advice,
            limits: limits.as_ref(),
            lost_if_right: advice.lost_if_right(),
            saved_if_wrong: advice.saved_if_wrong(),
            why: advice.difference().to_string(),
        });
    }
    output::print(&text(&advice, limits.as_ref(), given))
}

/// Stock RocksDB holds leveling and tiering.
fn space(given: &ArgMatches) -> DesignSpace {
    let mut space = DesignSpace::default();
    if given.get_flag("stock") || given.contains_id("options") {
        space.policies = vec![RunPolicy::Leveling, RunPolicy::Tiering];
    }
    space
}

fn expectation(given: &ArgMatches) -> Result<Expectation, Failure> {
    let near = neighbourhood(given)?;
    let number = |name| get::<u64>(given, name);
    Ok(Expectation {
        divergence: near.divergence(),
        min_buffer_bytes: number("min-buffer"),
        block_bytes: number("block-bytes"),
        scan_entries: number("scan-entries"),
        filters: filters(given)?,
        ..Expectation::new(
            *near.expected(),
            number("entries"),
            number("entry-bytes"),
            number("memory"),
        )
    })
}

fn filters(given: &ArgMatches) -> Result<FilterAllocation, Failure> {
    if get::<String>(given, "filters") != "monkey" {
        return Ok(FilterAllocation::Uniform);
    }
    if given.contains_id("options") {
        return Err(Failure::WrongUse(
            "--options writes uniform filters, as stock RocksDB has them, not those that \
             --filters monkey reckons with: give --filters uniform"
                .into(),
        ));
    }
    Ok(FilterAllocation::Monkey)
}

/// What was observed, if a history is given.
fn observed(given: &ArgMatches) -> Result<Option<Vec<Observed>>, Failure> {
    let family = find::<String>(given, "column-family").unwrap_or_else(|| "default".into());
    find::<PathBuf>(given, "history")
        .map(|path| observed_workloads(&path, &family))
        .transpose()
        .map_err(|error| Failure::WrongUse(error.to_string()))
}

/// The expected workload and rho, given or from what was observed.
fn neighbourhood(given: &ArgMatches) -> Result<Neighbourhood, Failure> {
    let workload: Option<Workload> = find(given, "workload");
    let rho: Option<String> = find(given, "rho");
    let observed = observed(given)?;
    let spread = match (&workload, &observed) {
        (Some(workload), Some(observed)) => {
            let all = observed.iter().map(|it| &it.workload);
            Some(history::around(*workload, all))
        }
        (None, Some(observed)) => Some(history::around_mean(observed)),
        (_, None) => None,
    };
    let automatic = match &rho {
        Some(text) => text == "auto",
        None => observed.is_some(),
    };
    if automatic {
        return spread
            .ok_or_else(|| {
                Failure::WrongUse("--rho auto needs --history: give it, or a number".into())
            })?
            .map_err(wrong);
    }
    let expected = match (workload, &observed) {
        (Some(workload), _) => workload,
        (None, Some(observed)) => history::mean(observed).map_err(wrong)?,
        (None, None) => {
            return Err(Failure::WrongUse(
                "give --workload, --history, or both".into(),
            ));
        }
    };
    let text = rho.unwrap_or_else(|| RHO.to_owned());
    let rho = text.parse().map_err(|_| {
        Failure::WrongUse(format!(
            "--rho {text:?} is neither a number nor auto: give one of them"
        ))
    })?;
    Neighbourhood::new(expected, rho).map_err(wrong)
}

fn wrong(error: ModelError) -> Failure {
    Failure::WrongUse(error.to_string())
}

fn text(advice: &Advice, limits: Option<&Tuned>, given: &ArgMatches) -> String {
    let mut text = advice.to_string();
    if let Some(tuned) = limits {
        text += &with_limits(tuned, &advice.robust);
    }
    if let Some(file) = find::<PathBuf>(given, "options") {
        text += &format!("written: {}\n", file.display());
    }
    text
}

/// Limits by level beside the robust tuning of the table.
fn with_limits(limits: &Tuned, robust: &Tuned) -> String {
    let held = robust.tuning.run_limits(robust.levels).is_ok();
    format!(
        "With a limit for each level: {}, {:.3} I/Os in the worst case, {} the robust tuning \
         above{}.\n",
        limits.tuning,
        limits.worst.cost,
        compared(limits.worst.cost / robust.worst.cost - 1.0),
        if held {
            ""
        } else {
            ", which is for the model only"
        }
    )
}

/// How much more or less than something else, to a tenth of a percent.
fn compared(change: f64) -> String {
    let percent = (1_000.0 * change).round() / 10.0;
    if percent == 0.0 {
        return "as many as".into();
    }
    let word = if percent > 0.0 { "more" } else { "less" };
    format!("{:.1} % {word} than", percent.abs())
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn what_costs_more_is_not_said_to_cost_less() {
        assert_eq!(compared(0.402), "40.2 % more than");
        assert_eq!(compared(-0.021), "2.1 % less than");
        for change in [0.0, 0.0004, -0.0004] {
            assert_eq!(compared(change), "as many as");
        }
    }
}
