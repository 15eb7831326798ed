//! `lissom inspect`

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::inspect::{Question, draw, inspect};

use crate::arguments::{column_family, find, get, json, option, path};
use crate::failure::Outcome;
use crate::output;

/// Decisions that are told unless a count is given.
const DECISIONS: &str = "12";

pub fn command() -> Command {
    Command::new("inspect")
        .about("Draws a database's tree: levels, runs, sizes, limits")
        .long_about(
            "Draws a database's tree: levels, runs, sizes, limits.\n\n\
             Reads only, so it also works while another process has the database open, and on \
             plain RocksDB directories.",
        )
        .arg(path())
        .arg(column_family("Draws only this column family"))
        .arg(
            option(
                "why",
                "COUNT",
                "Tells why each level has its run limit, and the last decisions, each with its reason \
                 and outcome; 12 without a COUNT",
            )
            .num_args(0..=1)
            .default_missing_value(DECISIONS)
            .value_parser(count),
        )
        .arg(json())
}

/// How many decisions. A directory behind the option is taken for it, too.
fn count(text: &str) -> Result<NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "COUNT is a whole number from 1 on; PATH comes before --why".to_owned())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let why: Option<NonZeroUsize> = find(given, "why");
    let question = Question {
        column_family: find(given, "column-family"),
        decisions: why.map_or(0, NonZeroUsize::get),
    };
    let seen = inspect(&get::<PathBuf>(given, "path"), &question)?;
    if given.get_flag("json") {
        return output::print_json(&seen);
    }
    let mut text = draw(&seen, &output::style());
    if why.is_some() && seen.decisions.is_empty() {
        text += "\nno recent decisions are on record\n";
    }
    output::print(&text)
}
