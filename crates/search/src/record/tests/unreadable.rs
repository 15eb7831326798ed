//! Lines that this program cannot make anything of.

use super::*;
use crate::record::line::EVENTS;

#[test]
fn damage_and_other_formats_name_the_line() {
    let first = first_line(&fresh());
    for (text, says) in [
        (
            format!("{first}{{\"event\":\n{first}"),
            "line 2 of the search log: it is damaged",
        ),
        (
            "hello\n".to_owned(),
            "line 1 of the search log: it is damaged",
        ),
        (
            first.replace("\"version\":1", "\"version\":2"),
            "line 1 of the search log: it was written in another format (version 2; this \
             program has 1)",
        ),
        (
            format!("{first}{{}}\n"),
            "line 2 of the search log: it tells of no event: this is no search log",
        ),
        (
            format!("{first}{{\"event\":\"decision\",\"at\":0.0}}\n"),
            "line 2 of the search log: what it tells of the event decision is not as this \
             program writes it (missing field `decision`",
        ),
        (
            "{\"event\":\"decision\",\"at\":0.0,\"decision\":{\"decision\":\"wait\",\
             \"reason\":\"x\"}}\n"
                .to_owned(),
            "line 1 of the search log: it stands before the beginning",
        ),
    ] {
        let error = Log::parse(&text).expect_err(says).to_string();
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn what_a_newer_version_has_written_is_not_called_damaged() {
    let newer = first_line(&fresh()) + "{\"event\":\"praised\",\"at\":1.5}\n";
    // Also where only the line break is missing: it would be cut off as if it were half a line.
    for text in [newer.as_str(), newer.trim_end()] {
        let error = Log::parse(text).expect_err("unknown").to_string();
        assert_eq!(
            error,
            "line 2 of the search log: it tells of the event \"praised\", which this program does \
             not know: a newer lissom wrote it, so use that one, or begin another log"
        );
    }
}

#[test]
fn the_names_of_events_are_those_of_lines() {
    let unknown = serde_json::from_str::<Event>("{\"event\":\"\"}").expect_err("no name");
    let known = EVENTS.map(|name| format!("`{name}`")).join(", ");
    let wanted = format!("expected one of {known}");
    let unknown = unknown.to_string();
    assert!(unknown.contains(&wanted), "{unknown}");
}
