//! `lissom report`

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom_bench::{Results, write_exports};

use super::bench::shown;
use crate::arguments::{find, get, json, option};
use crate::failure::Outcome;
use crate::output;

pub fn command() -> Command {
    Command::new("report")
        .about("Prints the tables of a benchmark's results anew, and writes its page")
        .long_about(
            "Prints the tables of a benchmark's results anew, and writes its page.\n\n\
             They are judged by the rules of this program, whichever has made them.",
        )
        .arg(
            Arg::new("results")
                .value_name("PATH")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Directory of `lissom bench`, or a file of results: bench/results/NAME.json"),
        )
        .arg(
            option(
                "out",
                "DIR",
                "Directory for report.html, table.txt and pictures [default: PATH, where it is a \
                 directory; for a file nothing is written]",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let path: PathBuf = get(given, "results");
    let results = Results::read(&path)?;
    let out = find::<PathBuf>(given, "out").or_else(|| path.is_dir().then_some(path));
    let exports = out.map(|out| write_exports(&results, &out)).transpose()?;
    if given.get_flag("json") {
        return output::print_json(&results);
    }
    output::print(&shown(&results, exports))
}
