//! `lissom detach`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::adopt::Detacher;

use super::work::{Wording, carry_out, consent};
use crate::arguments::{get, path};
use crate::failure::Outcome;

pub fn command() -> Command {
    Command::new("detach")
        .about("Gives a directory back as a plain RocksDB directory")
        .long_about(
            "Gives a directory back as a plain RocksDB directory.\n\n\
             Merges each column family into one run, in bounded pieces, so that it has no more \
             than RocksDB's 7 levels and opens with its default options. It may be killed at any \
             instant: the same command goes on. No other process may have the database open. \
             Lissom's own files are removed at the end.",
        )
        .arg(path())
        .args(consent())
}

pub fn run(given: &ArgMatches) -> Outcome {
    lissom::open_files::raise_limit();
    let detacher = Detacher::new(get::<PathBuf>(given, "path"));
    let wording = Wording {
        done_already: "is a plain RocksDB directory already",
        question: "Detach it?",
        done: "detached: it is a plain RocksDB directory",
    };
    let work = detacher.forecast()?;
    carry_out(given, &wording, &work, |watch| detacher.detach(watch))
}
