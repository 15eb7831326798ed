use super::*;

const GOOD: &str = r#"
name = "small"
about = "For tests."
entries = 1000
[[session]]
name = "one"
operations_per_entry = 1.5
mix = { update = 1 }
"#;

fn refused(text: &str, words: &[&str]) {
    let error = parse_workload(text, "some/file.toml")
        .expect_err(text)
        .to_string();
    assert!(error.starts_with("some/file.toml: "), "{error}");
    for word in words {
        assert!(error.contains(word), "\"{error}\" lacks \"{word}\"");
    }
}

#[test]
fn defaults_are_those_documented() {
    let workload = parse_workload(GOOD, "f").unwrap();
    assert_eq!(workload.key_size, 24);
    assert_eq!(workload.value_size, Size::Fixed(1000));
    assert_eq!(workload.fill.random_phase, 0.1);
    assert_eq!(workload.loaded_entries(), workload.entries);
    assert_eq!(workload.sessions[0].rate, Rate::Closed);
    assert_eq!(workload.sessions[0].keys, Keys::Uniform);
    assert_eq!(workload.sessions[0].length(workload.entries), 1500);
}

#[test]
fn every_workload_closes_with_scans_and_point_reads() {
    let sessions = parse_workload(GOOD, "f").unwrap().measured_sessions();
    let closing = sessions.last().unwrap();
    assert_eq!(closing.name, CLOSING_SESSION);
    assert_eq!(closing.mix.scan, closing.mix.get_present);
    assert!(closing.mix.scan > 0.0 && !closing.is_open());
}

#[test]
fn errors_name_file_field_and_remedy() {
    refused("name = ", &["not TOML"]);
    refused(
        &GOOD.replace("update = 1", "updates = 1"),
        &["session[0].mix", "updates", "get_present"],
    );
    refused(
        &GOOD.replace("entries = 1000", "entries = \"many\""),
        &["entries", "string"],
    );
    refused(
        &GOOD.replace("entries = 1000", "entries = 5"),
        &["entries", "at least 1000"],
    );
    refused(
        &GOOD.replace("entries = 1000", "entries = 1000\nspeed = 1"),
        &["speed", "unknown field"],
    );
    refused(
        &GOOD.replace("update = 1", "update = 0"),
        &["session[0] (\"one\").mix", "at least one"],
    );
    refused(
        &GOOD.replace("update = 1", "update = -1"),
        &["mix", "not negative"],
    );
    refused(&GOOD.replace("\"one\"", "\"closing\""), &["closing"]);
    refused(
        &GOOD.replace("operations_per_entry = 1.5", ""),
        &["exactly one of"],
    );
    refused(
        &GOOD.replace("operations_per_entry = 1.5", "seconds = 5"),
        &["seconds", "offer a rate"],
    );
    refused(
        &GOOD.replace("mix =", "keys = { zipf = { theta = 9 } }\nmix ="),
        &["keys.zipf.theta"],
    );
    refused(
        &GOOD.replace("mix =", "rate = { constant = { per_second = 0 } }\nmix ="),
        &["rate.constant"],
    );
    let part = GOOD.replace("[[session]]", "[fill]\nshare = 0.5\n[[session]]");
    refused(&part, &["fill.share", "random_phase to 0"]);
    let still = part.replace("share = 0.5", "share = 0.5\nrandom_phase = 0");
    assert_eq!(parse_workload(&still, "f").unwrap().loaded_entries(), 500);
    refused(
        &still.replace("update = 1", "update = 1, delete = 0.1"),
        &["fill.share", "\"one\" does", "mix.delete"],
    );
    refused(&still.replace("0.5", "2"), &["fill.share", "0..=1"]);
    refused(
        &GOOD.replace("mix =", "scan_length = 0\nmix ="),
        &["scan_length"],
    );
    refused(&GOOD.replace("update = 1", "delete = 1"), &["80 %"]);
    refused(GOOD.split("[[session]]").next().unwrap(), &["session"]);
}

#[test]
fn what_would_never_end_is_refused() {
    let offered = |length: &str, rate: &str| {
        let text = format!("{length}\nrate = {{ {rate} }}");
        GOOD.replace("operations_per_entry = 1.5", &text)
    };
    let constant = |length: &str, rate: &str| {
        offered(length, &format!("constant = {{ per_second = {rate} }}"))
    };
    let bounds = ["rate.constant.per_second", "0.001..=100000000"];
    refused(&constant("seconds = 1", "1e300"), &bounds);
    refused(&constant("operations = 10", "1e-20"), &bounds);
    let many = ["(\"one\").operations: ", "10,000,000,000"];
    refused(&constant("seconds = 1e6", "1e6"), &many);
    refused(&constant("operations = 100000000000", "10"), &many);
    refused(&GOOD.replace("= 1.5", "= 1e12"), &many);
    refused(&constant("seconds = 1e9", "1"), &["seconds", "at most"]);
    let still = "sine = { a = 0.9999, b = 1, c = 0, d = 1 }";
    refused(&offered("seconds = 1", still), &["rate.sine.d - a"]);
    let entries = GOOD.replace("entries = 1000", "entries = 1000000000000000");
    refused(&entries, &["entries", "at most"]);
}

#[test]
fn more_entries_than_can_be_driven_can_be_simulated() {
    let of = |entries: u64, scale: f64| {
        let workload = parse_workload(GOOD, "f").unwrap();
        workload.sized(Some(entries), scale).expect("a workload")
    };
    assert!(of(1_000_000_000, 1.0).check_driven().is_ok());
    let error = of(1_000_000_000_000, 1e-6).check_driven().unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("entries") && error.contains("lissom sim"),
        "{error}"
    );
}

#[test]
fn fast_phases_that_a_slow_one_would_step_over_are_refused() {
    let waves = |rates: &str| {
        let text = format!("seconds = 60\nrate = {{ periodic = {{ {rates} }} }}");
        GOOD.replace("operations_per_entry = 1.5", &text)
    };
    let late = ["rate.periodic", "raise the lower rate"];
    refused(&waves("high = 1000, low = 0.1, seconds = 2"), &late);
    let short = "high = 1, low = 1000, seconds = 60, low_seconds = 2";
    refused(&waves(short), &late);
    for good in [
        "high = 1000, low = 10, seconds = 2",
        "high = 1, low = 1, seconds = 2",
    ] {
        parse_workload(&waves(good), "f").unwrap();
    }
}

#[test]
fn unknown_names_list_the_shipped_ones() {
    let error = load_workload("no-such").unwrap_err().to_string();
    assert!(
        error.contains("five-sessions") && error.contains("random:SEED"),
        "{error}"
    );
    assert!(
        load_workload("random:x")
            .unwrap_err()
            .to_string()
            .contains("seed")
    );
}

#[test]
fn shipped_workloads_are_valid_and_named_as_their_files() {
    for (name, _) in SHIPPED {
        let workload = load_workload(name).unwrap();
        assert_eq!(workload.name, *name);
        assert_eq!(workload.sized(Some(10_000), 0.5).unwrap().entries, 10_000);
    }
    assert!(load_workload("mixed-sessions").unwrap().sessions.len() >= 8);
}

/// Results were published with these files: a changed one needs a new name.
#[test]
fn shipped_workloads_are_frozen() {
    let frozen: Vec<(&str, &str)> = shipped_hashes()
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .collect();
    assert_eq!(
        frozen.len(),
        SHIPPED.len(),
        "workloads/HASHES must list each shipped file once"
    );
    for (name, text) in SHIPPED {
        let file = format!("{name}.toml");
        let (hash, _) = frozen
            .iter()
            .find(|(_, f)| *f == file)
            .expect("every file has a hash");
        assert_eq!(
            sha256_hex(text.as_bytes()),
            *hash,
            "{file} was changed: ship it under a new name"
        );
    }
}

#[test]
fn random_workloads_depend_on_the_seed_alone_and_are_valid() {
    for seed in 0..200 {
        let workload = load_workload(&format!("random:{seed}")).unwrap();
        assert_eq!(workload, random_workload(seed));
        workload.sized(None, 1.0).unwrap();
    }
    assert_ne!(random_workload(1).sessions, random_workload(2).sessions);
}

#[test]
fn scaling_multiplies_operations() {
    let workload = load_workload("mixgraph").unwrap().sized(None, 0.5).unwrap();
    assert_eq!(workload.sessions[0].length(workload.entries), 500_000);
    assert!(
        workload
            .sized(None, 0.0)
            .unwrap_err()
            .to_string()
            .contains("--scale")
    );
}

#[test]
fn sessions_are_repeated_in_turns() {
    let workload = load_workload("five-sessions").unwrap();
    assert_eq!(workload.repeated(1).unwrap(), workload);
    let twice = workload.repeated(2).unwrap();
    let sessions = workload.sessions.len();
    assert_eq!(twice.sessions.len(), 2 * sessions);
    assert_eq!(twice.sessions[sessions].name, "updates-10-2");
    assert_eq!(twice.sessions[sessions].mix, workload.sessions[0].mix);
}

#[test]
fn a_rate_over_seconds_gives_a_fixed_number_of_operations() {
    let text = GOOD.replace(
        "operations_per_entry = 1.5",
        "seconds = 2.5\nrate = { constant = { per_second = 100 } }",
    );
    let workload = parse_workload(&text, "f").unwrap();
    assert_eq!(workload.sessions[0].length(workload.entries), 250);
}

const OFFERED: &str = r#"
name = "offered"
about = "For tests."
entries = 1000
[[session]]
name = "calm"
seconds = 2.0
rate = { constant = { per_second = 50 } }
mix = { update = 1 }
[[session]]
name = "waves"
seconds = 4.0
rate = { periodic = { high = 100, low = 25, seconds = 1 } }
mix = { update = 1 }
[[session]]
name = "rest"
operations = 30
mix = { update = 1 }
"#;

#[test]
fn offered_rates_are_scaled_together() {
    let workload = parse_workload(OFFERED, "f").unwrap();
    let twice = workload.offering(200.0).unwrap();
    let highest: Vec<_> = twice.sessions.iter().map(|it| it.rate.highest()).collect();
    assert_eq!(highest, [Some(100.0), Some(200.0), None]);
    assert_eq!(twice.sessions[0].length(1000), 200);
    assert_eq!(twice.sessions[1].seconds, Some(4.0));
    assert!(workload.offering(0.0).is_err());
    let closed = parse_workload(GOOD, "f").unwrap();
    let error = closed.offering(5.0).unwrap_err().to_string();
    assert!(error.contains("no session has an offered rate"), "{error}");
}

#[test]
fn a_closed_workload_has_the_operations_that_would_be_offered() {
    let workload = parse_workload(OFFERED, "f").unwrap();
    let closed = workload.closed();
    assert!(closed.sessions.iter().all(|session| !session.is_open()));
    for (before, after) in workload.sessions.iter().zip(&closed.sessions) {
        assert_eq!(before.length(1000), after.length(1000));
    }
    assert_eq!(closed.name, "offered-closed");
    closed.sized(None, 0.5).unwrap();
}

#[test]
fn operations_become_due_for_as_long_as_they_are_offered() {
    let workload = parse_workload(OFFERED, "f").unwrap();
    let seconds = |at: usize| workload.sessions[at].offered_seconds(1000);
    assert_eq!(
        [seconds(0), seconds(1), seconds(2)],
        [Some(2.0), Some(4.0), None]
    );
    let mut by_number = workload.sessions[0].clone();
    (by_number.seconds, by_number.operations) = (None, Some(10));
    let last = by_number.offered_seconds(1000).unwrap();
    assert!((last - 0.2).abs() < 1e-9, "{last}");
}
