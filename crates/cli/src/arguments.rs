//! Arguments that several commands share, and reading them.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

/// The directory of a database.
pub fn path() -> Arg {
    Arg::new("path")
        .value_name("PATH")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("Directory of the database")
}

/// `--json`
pub fn json() -> Arg {
    flag("json", "Writes JSON")
}

/// `--column-family NAME`
pub fn column_family(help: &'static str) -> Arg {
    Arg::new("column-family")
        .long("column-family")
        .value_name("NAME")
        .help(help)
}

/// `--out DIR`
pub fn out(default: &'static str) -> Arg {
    Arg::new("out")
        .long("out")
        .value_name("DIR")
        .default_value(default)
        .value_parser(value_parser!(PathBuf))
        .help("Directory for results, report and databases")
}

/// An argument without a value.
pub fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// An argument with a value.
pub fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// The value of an argument that is required or has a default.
pub fn get<T: Clone + Send + Sync + 'static>(given: &ArgMatches, name: &str) -> T {
    given
        .get_one::<T>(name)
        .cloned()
        .expect("the argument is required or has a default")
}

/// The value of an argument that may be absent.
pub fn find<T: Clone + Send + Sync + 'static>(given: &ArgMatches, name: &str) -> Option<T> {
    given.get_one::<T>(name).cloned()
}
