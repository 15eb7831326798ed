//! advise, and bench uncertainty.

use std::time::{Duration, Instant};

use lissom::core::observation::OperationMix;

use super::support::{done, json, run, text};

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
    let settings = lissom::Settings {
        mission_operations: 500,
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
}

#[test]
fn wrong_guesses_end_with_2_and_a_sentence() {
    let cases: [(&[&str], &str); 9] = [
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
