//! advise, and bench uncertainty.

use std::time::{Duration, Instant};

use lissom::core::journal::Entry;
use lissom::core::observation::OperationMix;
use lissom::core::testing::journals;
use lissom::core::tuner::Trial;
use lissom::core::{Mission, RunLimit, RunLimits};

use super::support::{done, ends, json, run, text};

const SYSTEM: [&str; 6] = [
    "--entries",
    "10M",
    "--entry-bytes",
    "1024",
    "--memory",
    "12500000",
];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["advise"];
    all.extend(SYSTEM);
    all.extend(arguments);
    all
}

#[test]
fn both_tunings_stand_side_by_side() {
    let said = done(&with(&["--workload", "z0=49,z1=49,q=1,w=1", "--rho", "1"]));
    for part in [
        "nominal",
        "robust",
        "size ratio",
        "filter bits per entry",
        "If the guess is right",
        "Why: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let seen = json(&with(&[
        "--workload",
        "w=97,z0=1,z1=1,q=1",
        "--json",
        "--limits",
    ]));
    assert!(seen["saved_if_wrong"].as_f64() > Some(0.0), "{seen}");
    let worst = |of: &serde_json::Value| of["worst"]["cost"].as_f64().expect("a cost");
    assert!(worst(&seen["limits"]) <= worst(&seen["advice"]["robust"]) * 1.000_001);
}

#[test]
fn limits_are_told_beside_the_robust_tuning_whether_they_cost_more_or_as_much() {
    let told = |workload| {
        let guess = ["--workload", workload, "--rho", "0", "--limits"];
        done(&with(&guess))
    };
    let more = told("w=100");
    assert!(
        more.contains(" % more than the robust tuning above, which is for the model only."),
        "{more}"
    );
    // Single runs are best of all.
    let same = told("z0=1,z1=1,q=97,w=1");
    assert!(
        same.contains("as many as the robust tuning above."),
        "{same}"
    );
}

/// A tree of 17 levels would cost less, and there are 12.
#[test]
fn limits_are_those_that_can_be_held() {
    let seen = json(&[
        "advise",
        "--workload",
        "q=40,w=60",
        "--rho",
        "0",
        "--entries",
        "250M",
        "--entry-bytes",
        "4096",
        "--memory",
        "12500000",
        "--limits",
        "--json",
    ]);
    let levels = |of: &serde_json::Value| of["levels"].as_u64().expect("levels");
    assert_eq!(levels(&seen["advice"]["robust"]), 17, "{seen}");
    assert!(levels(&seen["limits"]) <= 12, "{seen}");
}

#[test]
fn rho_follows_what_was_observed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("history");
    let path = file.to_str().expect("UTF-8");
    std::fs::write(&file, "z0=25,z1=25,q=25,w=25\nz0=40,z1=40,q=10,w=10\n").expect("written");
    let seen = json(&with(&["--history", path, "--json"]));
    let rho = seen["expected"]["divergence"].as_f64().expect("a number");
    assert!(rho > 0.0 && rho < 0.2, "{rho}");
    let same = json(&with(&["--history", path, "--rho", "auto", "--json"]));
    assert_eq!(seen, same);
    let given = json(&with(&["--history", path, "--rho", "2", "--json"]));
    assert_eq!(given["expected"]["divergence"], 2.0);
}

/// A line of a journal: a mission of so many gets and writes.
fn mission(column_family: &str, gets_found: u64, writes: u64) -> String {
    let operations = OperationMix {
        gets_found,
        writes,
        ..OperationMix::default()
    };
    let mission = Mission {
        operations,
        ..Mission::default()
    };
    let trial = Trial::unanswered(RunLimits::uniform(RunLimit::ONE));
    let entry = Entry {
        column_family: column_family.into(),
        ..journals::entry(1, journals::mission(mission, trial, false))
    };
    serde_json::to_string(&entry).expect("an entry is data") + "\n"
}

#[test]
fn rho_is_not_set_by_an_idle_second_nor_by_another_column_family() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("journal");
    let path = file.to_str().expect("UTF-8");
    let lines = [
        mission("default", 25_000, 25_000),
        mission("default", 1, 0),
        mission("other", 0, 9_000),
        mission("default", 25_000, 25_000),
        mission("other", 9_000, 0),
        mission("default", 1, 0),
    ];
    std::fs::write(&file, lines.concat()).expect("written");
    let rho = |more: &[&str]| {
        let arguments = [&with(&["--history", path, "--json"])[..], more].concat();
        let seen = json(&arguments);
        seen["expected"]["divergence"].as_f64().expect("a number")
    };
    assert!(rho(&[]) < 0.001, "{}", rho(&[]));
    let near = rho(&["--workload", "z1=50,w=50"]);
    assert!(near < 0.001, "{near}");
    let other = rho(&["--column-family", "other"]);
    assert!((other - 2f64.ln()).abs() < 1e-6, "{other}");
    let none = with(&["--history", path, "--column-family", "none"]);
    let sentence = ends(&none, 2);
    let words = "no mission of the column family \"none\", but of \"default\", \"other\"";
    assert!(sentence.contains(words), "{sentence}");
}

/// Operates until a mission of such operations alone has ended.
fn until_mission(db: &lissom::Db, is_it: fn(&OperationMix) -> bool, operate: &dyn Fn(u32)) {
    let deadline = Instant::now() + Duration::from_secs(60);
    for number in 0.. {
        operate(number % 1_000);
        let ended = db.mission("default");
        if ended.is_some_and(|mission| is_it(&mission.operations)) {
            return;
        }
        assert!(Instant::now() < deadline, "no such mission ended");
    }
}

#[test]
fn rho_follows_a_store() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    // As many operations as are not taken together with others.
    let settings = lissom::Settings {
        mission_operations: 5_000,
        mission_time: Duration::from_secs(60),
        ..lissom::Settings::default()
    };
    let db = lissom::Db::open(path, settings).expect("a new database");
    let only_writes = |mix: &OperationMix| mix.writes > 0 && mix.reads() == 0;
    until_mission(&db, only_writes, &|number| {
        db.put(number.to_be_bytes(), "value").expect("written");
    });
    let only_reads = |mix: &OperationMix| mix.reads() > 0 && mix.writes == 0;
    until_mission(&db, only_reads, &|number| {
        db.get(number.to_be_bytes()).expect("read");
    });
    drop(db);
    let seen = json(&with(&["--history", path, "--json"]));
    let rho = seen["expected"]["divergence"].as_f64().expect("a number");
    assert!(
        rho > 0.1,
        "puts and gets alone are far from their mean: {seen}"
    );
}

#[test]
fn an_options_file_is_written_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("OPTIONS");
    let path = file.to_str().expect("UTF-8");
    let arguments = with(&["--workload", "z0=25,z1=25,q=25,w=25", "--options", path]);
    assert!(done(&arguments).contains("written: "));
    let options = std::fs::read_to_string(&file).expect("an OPTIONS file");
    assert!(options.contains("max_bytes_for_level_multiplier="));
    let again = run(&arguments);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("stands already"));
    let other = directory.path().join("OPTIONS-monkey");
    let monkey = ["--workload", "w=1", "--filters", "monkey", "--options"];
    let monkey = [&monkey[..], &[other.to_str().expect("UTF-8")]].concat();
    let sentence = ends(&with(&monkey), 2);
    assert!(sentence.contains("give --filters uniform"), "{sentence}");
    assert!(!other.exists());
}

#[test]
fn wrong_guesses_end_with_2_and_a_sentence() {
    let cases: [(&[&str], &str); 11] = [
        (&["--workload", "z0=50,w=40"], "make them sum to 1"),
        (&["--workload", "z0=-1,w=2"], "give a number of at least 0"),
        (&["--workload", "z0=nan"], "give a number of at least 0"),
        (
            &["--workload", "w=1", "--rho", "-1"],
            "cannot diverge by -1",
        ),
        (
            &["--workload", "w=1", "--rho", "much"],
            "neither a number nor auto",
        ),
        (&["--workload", "w=1", "--rho", "auto"], "needs --history"),
        (
            &["--workload", "w=1", "--history", "no/such"],
            "cannot read",
        ),
        (
            &["--workload", "w=1", "--min-buffer", "1G"],
            "smaller than one write buffer",
        ),
        (
            &["--workload", "w=1", "--min-buffer", "0"],
            "the smallest write buffer cannot have 0 bytes: give at least 1",
        ),
        (
            &["--workload", "w=1", "--column-family", "users"],
            "--history",
        ),
        (&[], "--workload"),
    ];
    for (arguments, says) in cases {
        let ended = run(&with(arguments));
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        let said = text(&ended.stderr);
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
    for (entries, bytes, memory) in [("0", "1024", "1M"), ("1M", "0", "10M"), ("1M", "100", "0")] {
        let ended = run(&[
            "advise",
            "--workload",
            "w=1",
            "--entries",
            entries,
            "--entry-bytes",
            bytes,
            "--memory",
            memory,
        ]);
        assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
    }
}

#[test]
fn a_kind_that_is_not_expected_is_told() {
    let said = done(&with(&["--workload", "z1=50,w=50"]));
    assert!(said.contains("No scans are expected"), "{said}");
}

#[test]
fn the_uncertainty_benchmark_writes_its_pictures() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let said = done(&[
        "bench",
        "uncertainty",
        "--samples",
        "100",
        "--out",
        out.to_str().expect("UTF-8"),
    ]);
    assert!(said.contains("comparisons won, %"), "{said}");
    assert!(said.contains("unbalanced"), "{said}");
    for file in ["uncertainty.json", "gain.svg", "range.svg", "map.svg"] {
        let text = std::fs::read_to_string(out.join(file)).expect(file);
        assert!(!text.is_empty());
        assert!(!file.ends_with("svg") || text.starts_with("<svg"), "{file}");
    }
    let none = run(&["bench", "uncertainty", "--samples", "0"]);
    assert_eq!(none.status.code(), Some(2), "{}", text(&none.stderr));
}

#[test]
fn an_uncertainty_benchmark_of_nothing_or_without_an_end_is_refused() {
    let cases: [(&[&str], &str); 4] = [
        (&["--samples", "1000000000000000000"], "at most"),
        (&["--simulate", "--entries", "0"], "0 entries: give from 10"),
        (&["--simulate", "--queries", "0"], "0 queries of a workload"),
        (
            &["--engine", "--workloads", "0"],
            "0 workloads in a session",
        ),
    ];
    for (arguments, words) in cases {
        let refused = run(&[&["bench", "uncertainty"][..], arguments].concat());
        let told = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{told}");
        assert!(told.contains(words), "{told}");
    }
}

#[test]
#[ignore = "loads 30 databases, about 30 s"]
fn tunings_are_measured_on_the_engine_and_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let arguments = [
        "bench",
        "uncertainty",
        "--engine",
        "--entries",
        "20k",
        "--workloads",
        "1",
        "--queries",
        "50",
        "--out",
        out.to_str().expect("UTF-8"),
    ];
    let first = done(&arguments);
    assert!(first.contains("w14"), "{first}");
    assert!(first.contains("Of 15 pairs, one run each"), "{first}");
    assert_eq!(done(&arguments), first, "nothing is measured twice");
    let mut other = arguments;
    other[6] = "2";
    let refused = run(&other);
    assert!(text(&refused.stderr).contains("results of another plan"));
}
