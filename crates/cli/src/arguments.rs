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

/// A whole number with an optional unit: k, M, G (thousands) or KiB, MiB, GiB.
pub fn amount(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(format!("{text:?} has no unit of k, M, G, KiB, MiB or GiB")),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("{text:?} is not a whole number with an optional unit"))
}

/// Seconds: a number with ms, s, m (or min) or h behind it, or none.
pub fn duration(text: &str) -> Result<f64, String> {
    let letters = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (number, unit) = text.split_at(text.len() - letters.len());
    let factor = match unit {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("{text:?} has no unit of ms, s, m or h")),
    };
    number
        .parse::<f64>()
        .map(|number| number * factor)
        .map_err(|_| format!("{text:?} is not a time, as 90s, 20m or 1.5h"))
}

#[cfg(test)]
mod tests {
    use super::{amount, duration};

    #[test]
    fn amounts_may_have_units() {
        assert_eq!(amount("17"), Ok(17));
        assert_eq!(amount("2M"), Ok(2_000_000));
        assert_eq!(amount("4MiB"), Ok(4 << 20));
        for wrong in ["", "M", "-1", "1.5M", "2m", "99999999999G"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_may_have_units() {
        assert_eq!(duration("90"), Ok(90.0));
        assert_eq!(duration("60s"), Ok(60.0));
        assert_eq!(duration("500ms"), Ok(0.5));
        assert_eq!(duration("20m"), Ok(1_200.0));
        assert_eq!(duration("2min"), Ok(120.0));
        assert_eq!(duration("1.5h"), Ok(5_400.0));
        for wrong in ["", "m", "-1s", "1d", "1 m", "1..5s", "inf", "NaN"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
