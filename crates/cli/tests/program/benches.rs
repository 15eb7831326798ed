//! bench, its child, and the list of workloads.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use super::support::{command, done, ends, json, run, text, wait_until};

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
    for file in ["results.json", "report.html", "table.txt"] {
        assert!(out.join(file).exists(), "{file}");
    }

    arguments.push("--json");
    let results = json(&arguments);
    assert_eq!(results["runs"].as_array().expect("runs").len(), 2);
    let program = &results["runs"][0]["program"];
    assert_eq!(program["version"], env!("CARGO_PKG_VERSION"));
    // None in a source archive.
    let digits = |commit: &str| commit.len() >= 40 && commit.chars().all(|c| c.is_ascii_hexdigit());
    assert!(program["commit"].as_str().is_none_or(digits), "{program}");
    let dirty = program["dirty"] == true;
    assert_eq!(program["sources"].is_string(), dirty, "{program}");
    assert!(table.contains(concat!("lissom ", env!("CARGO_PKG_VERSION"), ", commit ")));

    let slim = directory.path().join("small.json");
    let path = |path: &std::path::Path| path.display().to_string();
    done(&["report", &path(&out), "--slim", &path(&slim)]);
    let told = directory.path().join("small.report/table.txt");
    let told = std::fs::read_to_string(told).expect("published");
    assert!(told.contains("fixed-2"), "{told}");
    let published = directory.path().join("small.options");
    let options = std::fs::read_to_string(published.join("rocksdb-leveled")).expect("published");
    assert!(options.contains("write_buffer_size=65536"), "{options}");
    assert!(!published.join("fixed-2").exists(), "it is not stock");

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
fn results_are_shown_anew_from_their_directory_or_from_a_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let out = at("out");
    let mut arguments = vec!["bench", "update-only", "--buffered-io"];
    arguments.extend(["--arm", "fixed-2", "--out", &out]);
    arguments.extend(SMALL);
    let table = done(&arguments);
    let page = directory.path().join("out/report.html");
    std::fs::remove_file(&page).expect("removed");
    assert_eq!(done(&["report", &out]), table);
    assert!(page.exists());

    // As where the results are somebody else's.
    std::fs::remove_file(&page).expect("removed");
    std::fs::create_dir(&page).expect("made");
    let shown = run(&["report", &out]);
    assert_eq!(shown.status.code(), Some(0));
    assert!(text(&shown.stdout).contains("fixed-2"));
    assert!(text(&shown.stderr).contains("give --out DIR"));
    std::fs::remove_dir(&page).expect("removed");

    let file = at("published.json");
    std::fs::rename(at("out/results.json"), &file).expect("renamed");
    let alone = done(&["report", &file]);
    assert!(table.starts_with(&alone) && !alone.contains("report.html"));
    let shown = done(&["report", &file, "--out", &at("elsewhere")]);
    assert!(shown.contains("elsewhere/report.html"), "{shown}");
    assert!(directory.path().join("elsewhere/table.txt").exists());
    let results = json(&["report", &file, "--json"]);
    assert_eq!(results["verdict"]["complete_rounds"], 1);

    let slim = at("slim.json");
    assert_eq!(done(&["report", &file, "--slim", &slim]), alone);
    let size = |path: &str| std::fs::metadata(path).expect("a file").len();
    assert!(size(&slim) < size(&file));
    let shown = done(&["report", &slim]);
    assert!(
        shown.contains("fixed-2") && shown.contains("What it cost"),
        "{shown}"
    );
    let sentence = ends(&["report", &file, "--slim", &file], 2);
    assert!(sentence.contains("give another file"), "{sentence}");
    let sentence = ends(&["report", &file, "--slim", &at("no/such.json")], 1);
    assert!(sentence.contains("cannot write"), "{sentence}");

    for (path, words) in [
        (&out, "out/results.json"),
        (&at("nothing"), "nothing/results.json"),
    ] {
        let sentence = ends(&["report", path], 1);
        assert!(sentence.contains(words), "{sentence}");
    }
    std::fs::write(&file, "{}").expect("written");
    assert!(ends(&["report", &file], 1).contains("no results file"));
}

const WAVES: &str = r#"
name = "waves"
about = "For tests."
entries = 2000
[[session]]
name = "waves"
seconds = 2.0
rate = { periodic = { high = 400, low = 100, seconds = 0.5 } }
mix = { update = 1, get_present = 1 }
"#;

#[test]
fn a_sitting_ends_before_an_arm_that_would_take_too_long() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (workload, out) = (at("waves.toml"), at("out"));
    std::fs::write(&workload, WAVES).expect("written");
    let mut arguments = vec!["bench", &workload, "--rounds", "1", "--buffered-io"];
    arguments.extend([
        "--write-buffer-size",
        "65536",
        "--arm",
        "fixed-2",
        "--out",
        &out,
    ]);
    let with = |until: &'static str| [&arguments[..], &["--until", until]].concat();
    // Its two seconds are known before it has run.
    let stopped = run(&with("0.01"));
    let said = text(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(0), "{said}");
    assert!(said.contains("1 of 1 runs are left"), "{said}");
    assert!(said.contains("fixed-2 in round 1"), "{said}");
    assert!(done(&with("60")).contains("fixed-2"));
    done(&with("0.01"));
    for wrong in ["0", "soon", "inf"] {
        let sentence = ends(&with(wrong), 2);
        assert!(sentence.contains("minutes above 0"), "{sentence}");
    }
}

#[test]
fn rates_are_offered_as_a_share_of_a_measured_maximum() {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).display().to_string();
    let (workload, maximum, out) = (at("waves.toml"), at("maximum"), at("out"));
    std::fs::write(&workload, WAVES).expect("written");
    let bench = |more: &[&str]| {
        let common = ["bench", &workload, "--rounds", "1", "--buffered-io"];
        let small = ["--write-buffer-size", "65536"];
        common
            .iter()
            .chain(&small)
            .chain(more)
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    let closed = bench(&["--arm", "fixed-2", "--closed-loop", "--out", &maximum]);
    let closed: Vec<&str> = closed.iter().map(String::as_str).collect();
    assert!(done(&closed).contains("waves-closed"));
    let mut open = bench(&["--arm", "fixed-2@dlc", "--rates-from", &maximum]);
    open.extend(["--rate-share", "0.05", "--out", &out].map(str::to_owned));
    let open: Vec<&str> = open.iter().map(String::as_str).collect();
    let table = done(&open);
    for words in ["Against the offered load: waves", "offered-waves.svg"] {
        assert!(table.contains(words), "{table}");
    }
    let of_arm = |arm: &'static str| [&open[..], &["--maximum-of", arm]].concat();
    assert_eq!(done(&of_arm("fixed-2")), table, "it is the slowest");
    let sentence = ends(&of_arm("fixed-9"), 2);
    assert!(sentence.contains("hold fixed-2; choose one"), "{sentence}");
    let other: Vec<&str> = open.iter().copied().chain(["--threads", "2"]).collect();
    let refused = run(&other);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("other --threads"),
        "{}",
        text(&refused.stderr)
    );
}

#[test]
fn a_child_without_a_job_says_who_starts_it() {
    let output = run(&["bench-arm"]);
    assert!(text(&output.stdout).contains("which other commands start by themselves"));
}

/// Processes that a process has started.
fn children(id: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{id}/task"))
        .into_iter()
        .flatten();
    let of_thread = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("children"));
    let all: String = threads.flatten().flat_map(of_thread).collect();
    let numbers = all.split_whitespace();
    numbers.map(|id| id.parse().expect("a number")).collect()
}

/// Also of one whose end nobody has asked for.
fn has_ended(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"));
    stat.map_or(true, |stat| stat.contains(") Z "))
}

/// Ends with the test, however that ends.
struct Bench(Child);

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// It would go on in the database of whoever runs the same command again.
#[test]
fn an_arm_does_not_outlive_a_bench_that_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().to_str().expect("UTF-8");
    let arguments = ["bench", "update-only", "--buffered-io", "--arm", "fixed-2"];
    let arguments = [&arguments[..], &["--entries", "4M", "--out", out]].concat();
    let mut quiet = command(&arguments);
    quiet.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bench = Bench(quiet.spawn().expect("the program starts"));
    let id = bench.0.id();
    let loads = Path::new(out).join("database/CURRENT");
    wait_until(|| loads.exists() && !children(id).is_empty());
    let beside = ends(&arguments, 1);
    assert!(beside.contains("another run writes"), "{beside}");
    let arm = children(id)[0];
    assert!(!has_ended(arm));
    bench.0.kill().expect("it runs");
    bench.0.wait().expect("it ended");
    wait_until(|| has_ended(arm));
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
