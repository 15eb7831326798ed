//! `lissom compact`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::control::Compactor;

use super::work::{Wording, carry_out, consent};
use crate::arguments::{column_family, find, get, path};
use crate::failure::Outcome;

pub fn command() -> Command {
    Command::new("compact")
        .about("Merges everything into one run, by hand and in bounded pieces")
        .long_about(
            "Merges everything into one run, by hand and in bounded pieces.\n\n\
             For a database that no process has open. In a running store call \
             `db.autopilot().compact(\"default\")`.",
        )
        .arg(path())
        .arg(column_family("Compacts only this column family"))
        .args(consent())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let mut compactor = Compactor::new(get::<PathBuf>(given, "path"));
    if let Some(name) = find::<String>(given, "column-family") {
        compactor = compactor.column_family(name);
    }
    let wording = Wording {
        done_already: "is one run already",
        question: "Compact it?",
        done: "compacted",
    };
    let work = compactor.forecast()?;
    carry_out(given, &wording, &work, |watch| compactor.compact(watch))
}
