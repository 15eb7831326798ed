//! bench, its child, and the list of workloads.

use super::support::{done, json, run, text};

const SMALL: [&str; 8] = [
    "--entries",
    "3000",
    "--rounds",
    "1",
    "--write-buffer-size",
    "65536",
    "--scale",
    "0.1",
];

#[test]
fn a_small_benchmark_leaves_results_and_a_report_and_goes_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let mut arguments = vec!["bench", "update-only", "--buffered-io"];
    arguments.extend(["--arm", "fixed-2", "--arm", "rocksdb-leveled"]);
    arguments.extend(["--out", out.to_str().expect("UTF-8")]);
    arguments.extend(SMALL);
    let table = done(&arguments);
    assert!(
        table.contains("fixed-2") && table.contains("rocksdb-leveled"),
        "{table}"
    );
    assert!(table.contains("report.html"), "{table}");
    assert!(out.join("results.json").exists() && out.join("report.html").exists());

    arguments.push("--json");
    let results = json(&arguments);
    assert_eq!(results["runs"].as_array().expect("runs").len(), 2);

    arguments.extend(["--seed", "2"]);
    let other = run(&arguments);
    assert_eq!(other.status.code(), Some(1));
    assert!(
        text(&other.stderr).contains("other --seed"),
        "{}",
        text(&other.stderr)
    );
}

#[test]
fn a_child_without_a_job_says_who_starts_it() {
    let output = run(&["bench-arm"]);
    assert!(text(&output.stdout).contains("which other commands start by themselves"));
}

#[test]
fn workloads_are_listed() {
    let list = done(&["workloads"]);
    assert!(
        list.contains("mixed-sessions") && list.contains("ycsb-f"),
        "{list}"
    );
    let rows = json(&["workloads", "--json"]);
    assert!(rows.as_array().expect("rows").len() >= 10);
    assert!(rows[0]["entries"].as_u64().expect("a number") > 0);
}
