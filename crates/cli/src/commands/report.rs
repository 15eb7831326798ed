//! `lissom report`

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom_bench::{RESULTS_FILE, Results, publish_exports, write_exports};

use super::bench::shown;
use crate::arguments::{find, get, json, option};
use crate::failure::{Failure, Outcome};
use crate::output;

pub fn command() -> Command {
    Command::new("report")
        .about("Prints the tables of a benchmark's results anew, and writes its page")
        .long_about(
            "Prints the tables of a benchmark's results anew, and writes its page.\n\n\
             They are judged by the rules of this program, whichever has made them.\n\n\
             --slim writes the results without their samples by second, small enough to be \
             published. Such a file is shown like any other, but for what only samples tell: \
             no lines over time, no memory by tenths of a run, no convergence, no intervals of an \
             offered load. So the tables, and the pictures of offered loads and of run limits \
             (limits.svg), go beside it: into NAME.report for NAME.json; and, where PATH is a \
             directory, the OPTIONS of stock arms into NAME.options.",
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
        .arg(
            option(
                "slim",
                "FILE",
                "Writes the results without samples by second into this file, as \
                 bench/results/NAME.json; PATH stays as it is",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let path: PathBuf = get(given, "results");
    let results = Results::read(&path)?;
    if let Some(file) = find::<PathBuf>(given, "slim") {
        publish(&results, &path, &file)?;
    }
    let exports = match find::<PathBuf>(given, "out") {
        Some(out) => Some(write_exports(&results, &out)?),
        None if path.is_dir() => match write_exports(&results, &path) {
            Ok(exports) => Some(exports),
            // They may be another user's; what they tell is shown all the same.
            Err(failure) => {
                output::say(&format!("no page was written: {failure}; give --out DIR"));
                None
            }
        },
        None => None,
    };
    if given.get_flag("json") {
        return output::print_json(&results);
    }
    output::print(&shown(&results, exports))
}

/// Writes slim results, but never over those with the samples: nothing brings them back; what
/// only samples tell, as text and pictures; and the OPTIONS of stock arms, which a directory
/// alone has.
fn publish(results: &Results, path: &Path, file: &Path) -> Outcome {
    let whole = if path.is_dir() {
        path.join(RESULTS_FILE)
    } else {
        path.to_path_buf()
    };
    let real = |path: &Path| path.canonicalize().ok();
    if file.exists() && real(&whole) == real(file) {
        return Err(Failure::WrongUse(format!(
            "--slim {}: these are the results with their samples, which would be lost; give \
             another file",
            file.display()
        )));
    }
    results.publish(file)?;
    publish_exports(results, file)?;
    if path.is_dir() {
        results.publish_options(path, file)?;
    }
    Ok(())
}
