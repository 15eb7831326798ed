//! search, around a small program of one's own.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use super::small_search::{Bench, PROGRAM, SPACE};
use super::support::{command, ends, json, run, text};

#[test]
fn the_best_is_found_proven_and_written() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    let output = run(&Bench::with(&arguments, &["--json"]));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["findings"];
    let best = &found["best"]["configuration"];
    let (px, py) = (best["px"].as_u64(), best["py"].as_u64());
    let (px, py) = (px.expect("a number"), py.expect("a number"));
    assert!(px + py >= 9, "of the better half: {best}");
    let options = fs::read_to_string(bench.path("OPTIONS")).expect("written");
    assert!(options.contains(&format!("--px={px}")), "{options}");
    assert!(options.contains(&format!("--py={py}")), "{options}");
    assert_eq!(found["verdict"]["complete_rounds"], 3);
    let comparisons = found["verdict"]["goals"][0]["comparisons"].as_array();
    let against_default = comparisons
        .and_then(|all| all.iter().find(|it| it["against"] == "default"))
        .expect("the default is repeated");
    assert_eq!(against_default["standing"], "better", "{against_default}");
    let wanted = (100 + 10 * (px + py)) as f64 / 140.0 - 1.0;
    let gain = against_default["gain"].as_f64().expect("a number");
    assert!((gain - wanted).abs() < 1e-6, "{gain} {wanted}");
    assert!(
        !found["contributions"]
            .as_array()
            .expect("ablations")
            .is_empty()
    );
    let page = fs::read_to_string(bench.path("search.html")).expect("written");
    assert!(page.starts_with("<!doctype html>"));
    assert!(!bench.path("search.trials").exists(), "no trial is left");
    assert!(
        bench
            .log()
            .lines()
            .last()
            .is_some_and(|it| it.contains("\"end\""))
    );
}

#[test]
fn trials_may_all_be_full_and_features_left_out() {
    let bench = Bench::new(PROGRAM);
    let mut arguments = bench.arguments();
    let budget = arguments.iter().position(|it| it == "60s").expect("given");
    arguments[budget] = "8s".to_owned();
    let more = ["--full", "--without", "total", "--repeats", "0", "--json"];
    let output = run(&Bench::with(&arguments, &more));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["findings"];
    assert_eq!(found["arms"], 1, "no feature parts them");
    assert_eq!(found["points"].as_array().map(Vec::len), Some(1));
    let more = ["--without", "speed", "--new"];
    let sentence = ends(&Bench::with(&arguments, &more), 2);
    assert!(sentence.contains("the features are total"), "{sentence}");
}

#[test]
fn a_space_is_printed_and_answers_questions() {
    let bench = Bench::new(PROGRAM);
    let space = bench.path("space.toml").display().to_string();
    let described = json(&["space", "--space", &space]);
    assert_eq!(described["parameters"][1]["name"], "py");
    assert_eq!(described["default"]["px"], 2);
    assert_eq!(described["features"][0], "total");
    let mut child = command(&["space", "--space", &space, "--answer"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut questions = child.stdin.take().expect("piped");
    questions
        .write_all(
            b"{\"check\": {\"px\": 3, \"py\": 4}}\n{\"check\": {\"px\": 30, \"py\": 4}}\n\
              {\"sample\": {\"count\": 3, \"seed\": 7}}\n{\"write\": {\"px\": 3, \"py\": 4}}\nhello\n",
        )
        .expect("it reads");
    drop(questions);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stdout);
    let answers: Vec<serde_json::Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    assert_eq!(answers.len(), 5, "{said}");
    assert_eq!(answers[0]["checked"]["features"][0], 7.0, "{said}");
    let outside = answers[1]["error"].as_str().expect("a sentence");
    assert!(outside.contains("px is 30"), "{outside}");
    assert_eq!(answers[2]["sampled"].as_array().map(Vec::len), Some(3));
    let written = answers[3]["written"]["text"].as_str().expect("a file");
    assert!(written.contains("\"px\": 3"), "{written}");
    let nonsense = answers[4]["error"].as_str().expect("a sentence");
    assert!(nonsense.starts_with("this is no question"), "{nonsense}");
}

#[test]
#[ignore = "runs for a minute"]
fn a_workload_is_searched_and_its_data_are_loaded_once() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("OPTIONS").display().to_string();
    let arguments = [
        "search",
        "mixed-sessions",
        "--entries",
        "20k",
        "--evaluation",
        "2s",
        "--budget",
        "60s",
        "--memory",
        "512MiB",
        "--json",
        "--out",
        &out,
    ];
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let metrics = &report["findings"]["best"]["metrics"];
    for name in [
        "throughput",
        "p99_micros",
        "memory_bytes",
        "sessions_visited",
    ] {
        assert!(metrics[name].as_f64() > Some(0.0), "{name}: {metrics}");
    }
    assert!(
        fs::read_to_string(&out)
            .expect("written")
            .contains("[DBOptions]")
    );
    assert!(
        !directory.path().join("search.trials").exists(),
        "the data set is removed, too"
    );
}

#[test]
fn a_program_without_the_metric_is_one_sentence() {
    let bench = Bench::new("while :; do echo '{\"speed\": 3}'; sleep 0.01; done");
    let arguments = bench.arguments();
    let sentence = ends(&Bench::with(&arguments, &[]), 1);
    assert!(
        sentence.contains("reported no metric throughput, but memory_bytes, speed"),
        "{sentence}"
    );
    assert!(!bench.path("OPTIONS").exists());
}

#[test]
fn a_program_that_always_fails_is_one_sentence() {
    let bench = Bench::new("echo 'no such device' >&2; exit 7");
    let arguments = bench.arguments();
    let output = run(&Bench::with(&arguments, &[]));
    assert_eq!(output.status.code(), Some(1));
    let sentence = text(&output.stderr);
    assert!(sentence.contains("nothing was found"), "{sentence}");
    assert!(sentence.contains("exit status: 7"), "{sentence}");
    assert!(sentence.contains("no such device"), "{sentence}");
    assert!(
        bench.path("search.html").exists(),
        "the report has the causes"
    );
}

#[test]
fn a_wrong_space_or_log_is_one_sentence() {
    let bench = Bench::new(PROGRAM);
    let arguments = bench.arguments();
    fs::write(bench.path("search.jsonl"), "{}\n").expect("writable");
    let sentence = ends(&Bench::with(&arguments, &[]), 1);
    assert!(
        sentence.contains("search.jsonl: line 1 of the search log"),
        "{sentence}"
    );
    for (change, says) in [
        ("range = [0, 9]", "its range from 9 to 0 is empty"),
        ("expression = \"px + py\"", "\"px + pz\", column 6"),
        (
            "kind = \"integer\"",
            "of the space: unknown variant `number`",
        ),
    ] {
        let wrong = match change {
            "range = [0, 9]" => "range = [9, 0]",
            "kind = \"integer\"" => "kind = \"number\"",
            _ => "expression = \"px + pz\"",
        };
        fs::write(bench.path("space.toml"), SPACE.replacen(change, wrong, 1)).expect("writable");
        let sentence = ends(&Bench::with(&arguments, &[]), 2);
        assert!(sentence.contains(says), "{sentence}");
        assert!(sentence.contains("space.toml"), "{sentence}");
    }
}

/// The default asks for no filters, and needs no bits.
#[test]
fn a_space_that_lacks_what_one_of_its_words_asks_for_is_refused_before_anything_is_measured() {
    let bench = Bench::new(PROGRAM);
    let filters = "
[[parameter]]
name = \"filter_policy\"
kind = \"choice\"
values = [\"none\", \"bloomfilter\"]
default = \"none\"
change = \"reopen\"
section = \"table\"
source = \"a test\"
";
    fs::write(bench.path("space.toml"), format!("{SPACE}{filters}")).expect("writable");
    let arguments = bench.arguments();
    let sentence = ends(&Bench::with(&arguments, &[]), 2);
    assert!(sentence.contains("parameter bits_per_key"), "{sentence}");
    assert_eq!(bench.log(), "");
}
