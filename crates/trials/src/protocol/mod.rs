//! What a trial's child says, line by line.
//!
//! - An object of numbers is a sample: metrics over the time since the line before,
//!   or over `seconds`, if that is among them. Metrics that are named in an array
//!   `cumulative` are over all the time since it was ready. Other members are passed
//!   over, also `NaN` and `Infinity`, which JSON does not have.
//! - `{"ready": true}` ends the set-up. A child that never says so ends it by its
//!   first sample, which does not count.
//! - `{"error": "WORDS"}` is its own account of why it fails.
//! - `{"note": "WORDS"}` is something to know about its configuration, as an option that is not
//!   taken as it was given. It stands beside the best in the end.
//! - Everything else is words for people; the last of them explain a failure.

mod numbers;
mod tail;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

pub(crate) use tail::Tail;
pub(crate) use tail::clean;

/// The variable that names a trial in the environment of all its processes. A program
/// that finds it there should end when its standard input does: the search is gone.
pub const TRIAL_VARIABLE: &str = "LISSOM_TRIAL";

/// The member that is the length of a sample's window.
const SECONDS: &str = "seconds";
/// The member that names metrics over all the time.
const CUMULATIVE: &str = "cumulative";

/// What one line says.
#[derive(Clone, PartialEq, Debug)]
pub enum Said {
    /// The set-up is over.
    Ready,
    /// Something was measured.
    Sample(Window),
    /// It fails, and says why.
    Failure(String),
    /// Something to know about its configuration.
    Note(String),
    /// Words for people.
    Words(String),
}

/// Metrics over a window of time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Window {
    /// Seconds of the window; absent where the line before tells.
    pub seconds: Option<f64>,
    /// Numbers by name, at least one, all finite.
    pub metrics: BTreeMap<String, f64>,
    /// Those of them that are over all the time since it was ready: of these the last
    /// value counts.
    pub cumulative: BTreeSet<String>,
}

/// What a line says, its line break removed or not.
pub fn said(line: &str) -> Said {
    let line = line.trim();
    let Some(members) = members(line) else {
        return Said::Words(line.to_owned());
    };
    if let Some(error) = members.get("error").filter(|it| is_failure(it)) {
        let words = error
            .as_str()
            .map_or_else(|| error.to_string(), str::to_owned);
        return Said::Failure(clean(&words));
    }
    if members.get("ready") == Some(&Value::Bool(true)) {
        return Said::Ready;
    }
    let note = members.get("note").and_then(Value::as_str).map(clean);
    let names = members.get(CUMULATIVE).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    let cumulative = names.map(str::to_owned).collect();
    let numbers = members
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_f64()?)));
    let mut metrics: BTreeMap<String, f64> = numbers.collect();
    let seconds = metrics.remove(SECONDS).filter(|it| *it > 0.0);
    if metrics.is_empty() {
        return note.map_or_else(|| Said::Words(line.to_owned()), Said::Note);
    }
    Said::Sample(Window {
        seconds,
        metrics,
        cumulative,
    })
}

/// A member that is empty, off, null or a number says that nothing is wrong, or how often.
fn is_failure(error: &Value) -> bool {
    match error {
        Value::Null | Value::Number(_) => false,
        Value::Bool(is_on) => *is_on,
        Value::String(words) => !words.trim().is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// The members of an object; `None` of anything else. Numbers that JSON does not have, or that
/// are beyond measure, are null, so that they do not take the others with them.
fn members(line: &str) -> Option<Map<String, Value>> {
    let read = |text: &str| match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Some(members),
        _ => None,
    };
    let repaired = || line.starts_with('{').then(|| numbers::nulled(line));
    read(line).or_else(|| read(&repaired()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_kind_of_line() {
        let sample = said("{\"throughput\": 512.5, \"name\": \"x\", \"seconds\": 2}\n");
        let Said::Sample(window) = sample else {
            panic!("{sample:?}");
        };
        assert_eq!(window.seconds, Some(2.0));
        let wanted = BTreeMap::from([("throughput".to_owned(), 512.5)]);
        assert_eq!(window.metrics, wanted);
        assert!(window.cumulative.is_empty());
        let sample = said("{\"p99_micros\": 7, \"cumulative\": [\"p99_micros\", 3]}");
        let Said::Sample(window) = sample else {
            panic!("{sample:?}");
        };
        assert_eq!(window.cumulative, ["p99_micros".to_owned()].into());
        assert_eq!(said(" {\"ready\": true}"), Said::Ready);
        let failure = said("{\"error\": \"cannot open: no\\nfile\"}");
        assert_eq!(failure, Said::Failure("cannot open: no file".to_owned()));
        let note = said("{\"note\": \"a is used as 3\"}");
        assert_eq!(note, Said::Note("a is used as 3".to_owned()));
        assert_eq!(
            said("{\"error\": {\"code\": 3}}"),
            Said::Failure("{\"code\":3}".to_owned())
        );
        assert_eq!(said("{\"error\": true}"), Said::Failure("true".to_owned()));
    }

    #[test]
    fn an_error_that_is_none_takes_no_others_with_it() {
        for none in ["null", "false", "0", "\"\"", "\" \""] {
            let Said::Sample(window) = said(&format!("{{\"error\": {none}, \"get\": 7}}")) else {
                panic!("{none} is no failure");
            };
            assert_eq!(window.metrics["get"], 7.0);
        }
    }

    #[test]
    fn numbers_that_are_none_do_not_take_others_with_them() {
        let line = "{\"throughput\": 512.5, \"p99_micros\": NaN, \"a\": -Infinity, \"b\": 1e999}";
        let Said::Sample(window) = said(line) else {
            panic!("a sample");
        };
        let wanted = BTreeMap::from([("throughput".to_owned(), 512.5)]);
        assert_eq!(window.metrics, wanted);
        let Said::Sample(window) = said("{\"throughput\": 1, \"seconds\": Infinity}") else {
            panic!("a sample");
        };
        assert_eq!(window.seconds, None);
    }

    #[test]
    fn what_measures_nothing_is_words() {
        for line in [
            "",
            "opening ...",
            "12",
            "[1, 2]",
            "{}",
            "{\"ready\": false}",
            "{\"throughput\": \"many\"}",
            "{\"seconds\": 1}",
            "{\"note\": 1e999}",
            "{\"throughput\": 1e999}",
            "{\"throughput\": 1} trailing",
            "{\"throughput\": NaN}",
        ] {
            assert_eq!(said(line), Said::Words(line.to_owned()), "{line}");
        }
        let Said::Sample(window) = said("{\"throughput\": 1, \"seconds\": -1}") else {
            panic!("a sample");
        };
        assert_eq!(window.seconds, None);
    }

    proptest! {
        #[test]
        fn no_line_is_too_strange(line in ".*") {
            match said(&line) {
                Said::Sample(window) => {
                    prop_assert!(!window.metrics.is_empty());
                    prop_assert!(window.metrics.values().all(|it| it.is_finite()));
                }
                Said::Words(words) => prop_assert_eq!(words, line.trim()),
                Said::Ready | Said::Failure(_) | Said::Note(_) => {}
            }
        }
    }
}
