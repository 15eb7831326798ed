//! `lissom compact`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::control::{Compactor, ask_to_compact};

use super::work::{Wording, carry_out, consent};
use crate::arguments::{column_family, find, flag, get, path};
use crate::failure::Outcome;
use crate::output;

pub fn command() -> Command {
    Command::new("compact")
        .about("Merges everything into one run, by hand and in bounded pieces")
        .long_about(
            "Merges everything into one run, by hand and in bounded pieces.\n\n\
             For a database that no process has open. With --running the process that has \
             it open is asked to do it; from within, call \
             `db.autopilot().compact(\"default\")`.",
        )
        .arg(path())
        .arg(column_family("Compacts only this column family"))
        .arg(
            flag("running", "Asks the process that has the database open")
                .conflicts_with_all(["dry-run", "yes", "json"]),
        )
        .args(consent())
}

pub fn run(given: &ArgMatches) -> Outcome {
    lissom::open_files::raise_limit();
    if given.get_flag("running") {
        return ask(given);
    }
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

fn ask(given: &ArgMatches) -> Outcome {
    let directory = get::<PathBuf>(given, "path");
    let family = find::<String>(given, "column-family");
    let asked = ask_to_compact(&directory, family.as_deref())?;
    output::print(&format!(
        "{}: asked to merge {}; a running store begins at once, another one when it is opened. \
         `lissom inspect` shows how far it is.\n",
        directory.display(),
        asked.join(", ")
    ))
}
