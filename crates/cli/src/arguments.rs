//! Arguments that several commands share, and reading them.

use std::path::PathBuf;
use std::time::Duration;

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
    flag("json", "Prints JSON instead of text")
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
        _ => {
            return Err(format!(
                "{text:?} is not a whole number, alone or with k, M, G, KiB, MiB or GiB behind it"
            ));
        }
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .ok_or_else(|| format!("{text:?} is not a whole number, or too large a one"))
}

/// A share, from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    let share: Option<f64> = text.parse().ok();
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| format!("{text:?} is no share from 0 to 1, as 0.1"))
}

/// A number of at least 0, or the word for none.
pub fn times_or_none(text: &str) -> Result<Option<f64>, String> {
    if text == "none" {
        return Ok(None);
    }
    let times: Option<f64> = text.parse().ok();
    times
        .filter(|times| *times >= 0.0 && times.is_finite())
        .map(Some)
        .ok_or_else(|| format!("{text:?} is no number of at least 0, as 30, nor none"))
}

/// A length of time: a number with an optional unit, ms, s, m or h; without one,
/// seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let seconds = match text.get(number.len()..) {
        Some("ms") => 0.001,
        Some("" | "s") => 1.0,
        Some("m" | "min") => 60.0,
        Some("h") => 3600.0,
        _ => {
            return Err(format!(
                "{text:?} has no unit of ms, s, m or h: write a length of time, such as 90s or 20m"
            ));
        }
    };
    number
        .parse::<f64>()
        .ok()
        .and_then(|number| Duration::try_from_secs_f64(number * seconds).ok())
        .ok_or_else(|| format!("{text:?} is not a length of time, such as 90s or 20m"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{amount, duration, share, times_or_none};

    #[test]
    fn durations_may_have_units() {
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("20m"), Ok(Duration::from_secs(1200)));
        for wrong in [
            "", "s", "-1s", "1 day", "1d", "nan", "inf", "1e300h", "1..5s",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn shares_are_from_0_to_1() {
        assert_eq!(share("0"), Ok(0.0));
        assert_eq!(share("1"), Ok(1.0));
        for wrong in ["", "-0.1", "1.5", "nan", "inf", "10%"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bound_is_a_number_or_none() {
        assert_eq!(times_or_none("0"), Ok(Some(0.0)));
        assert_eq!(times_or_none("12.5"), Ok(Some(12.5)));
        assert_eq!(times_or_none("none"), Ok(None));
        for wrong in ["", "-1", "nan", "inf", "ten"] {
            assert!(times_or_none(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn amounts_may_have_units() {
        assert_eq!(amount("17"), Ok(17));
        assert_eq!(amount("2M"), Ok(2_000_000));
        assert_eq!(amount("4MiB"), Ok(4 << 20));
        for wrong in ["", "M", "-1", "1.5M", "2m", "99999999999G"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
