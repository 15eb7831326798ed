//! `lissom pin`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::control::{pin, unpin};
use serde::Serialize;

use crate::arguments::{flag, get, json, path};
use crate::failure::Outcome;
use crate::output;

#[derive(Serialize)]
struct Report {
    pinned: bool,
    changed: bool,
}

pub fn command() -> Command {
    Command::new("pin")
        .about("Holds the current run limits of a database, or lets them change again")
        .long_about(
            "Holds the current run limits of a database, or lets them change again.\n\n\
             Works at once on a running store, without a restart, and holds over reopenings.",
        )
        .arg(path())
        .arg(flag("off", "Lets the limits change again"))
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let directory: PathBuf = get(given, "path");
    let pinned = !given.get_flag("off");
    let changed = if pinned {
        pin(&directory)?
    } else {
        unpin(&directory)?
    };
    if given.get_flag("json") {
        return output::print_json(&Report { pinned, changed });
    }
    output::print(match (pinned, changed) {
        (true, true) => "the run limits are held; `lissom pin --off` lets them change again\n",
        (true, false) => "the run limits were held already\n",
        (false, true) => "the run limits may change again\n",
        (false, false) => "the run limits were not held\n",
    })
}
