//! `lissom measure-device`

use std::path::PathBuf;

use clap::{ArgMatches, Command};
use lissom::control::measure_device;

use crate::arguments::{get, path};
use crate::failure::Outcome;
use crate::output;

pub fn command() -> Command {
    Command::new("measure-device")
        .about("Has the device of a database measured again when it is next opened")
        .long_about(
            "Has the device of a database measured again when it is next opened.\n\n\
             Schedules go by how much the device reads and writes. It is measured once, in half \
             a second, and by itself again where the directory lies on another device; after \
             this also on the same one.",
        )
        .arg(path())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let directory: PathBuf = get(given, "path");
    measure_device(&directory)?;
    output::print(
        "the device is measured at the next open with a schedule other than eager, if the \
         settings do not give device_bytes_per_second\n",
    )
}
