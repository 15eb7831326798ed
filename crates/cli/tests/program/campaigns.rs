//! `bench/dremel` around the program: the spaces, searches and trials that it takes for
//! granted are those of this build.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::support::{skip, text};

const HARNESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/dremel");

/// A campaign of two methods that need no library, with the shortest of evaluations.
fn campaign(out: &Path, more: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_lissom");
    let words = [
        "-B",
        HARNESS,
        "run",
        "--lissom",
        program,
        "--settings",
        "initial-get90-skew09",
        "--methods",
        "dremel",
        "random",
        "--evaluation",
        "0.6",
        "--budget",
        "96",
        "--scale",
        "0.125",
    ];
    Command::new("python3")
        .args(words)
        .args(more)
        .arg("--out")
        .arg(out)
        // Whatever environment is installed here: this test needs none.
        .env("LISSOM_DREMEL_PYTHON", out.join("none"))
        .stdin(Stdio::null())
        .output()
        .expect("Python starts")
}

fn records(out: &Path) -> Vec<Value> {
    let text = fs::read_to_string(out.join("results.jsonl")).expect("results");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn of<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|it| it["type"] == kind).collect()
}

#[test]
#[ignore = "runs for two minutes"]
fn a_campaign_runs_in_slots_around_the_program() {
    let python = Command::new("python3")
        .args(["-c", "import tomllib"])
        .stderr(Stdio::null())
        .status();
    if !python.is_ok_and(|it| it.success()) {
        skip("the test of bench/dremel needs Python 3.11");
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path();
    // Too short for everything, and long enough for a search and a round of repeats.
    let first = campaign(out, &["--until", "0.8"]);
    assert_eq!(first.status.code(), Some(3), "{}", text(&first.stderr));
    assert!(text(&first.stderr).contains("the same command goes on"));
    let last = campaign(out, &[]);
    assert_eq!(last.status.code(), Some(0), "{}", text(&last.stderr));
    let held = records(out);
    for method in ["dremel", "random"] {
        let found = of(&held, "found");
        let own = found.iter().filter(|it| it["method"] == method);
        let numbers: Vec<&Value> = own.map(|it| &it["configuration"]["num_levels"]).collect();
        assert_eq!(numbers.len(), 1, "{method}");
        assert!(numbers.iter().all(|it| it.is_u64()), "{numbers:?}");
    }
    assert!(of(&held, "failed").is_empty());
    let finals = of(&held, "final");
    let rounds = |who: &str| finals.iter().filter(|it| it["contender"] == who).count();
    for who in ["dremel", "random", "guide", "rocksdb"] {
        assert_eq!(rounds(who), 3, "{who}");
    }
    assert_eq!(rounds("rocksdb-unscaled"), 1);
    for run in finals {
        let metrics = &run["metrics"];
        assert!(metrics["throughput"].is_number(), "{run}");
        assert!(metrics["get_p99_micros"].is_number(), "{run}");
    }
    let report = text(&last.stdout);
    for words in [
        "A SHORTER RUN",
        "of the guide's",
        "after half of its budget",
    ] {
        assert!(report.contains(words), "{report}");
    }
    assert!(out.join("dremel.html").exists());
}
