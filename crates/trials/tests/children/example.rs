//! The example around db_bench, with a stand-in for db_bench.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use lissom_search::search::{Cause, Outcome};
use lissom_trials::session::Trials;

use super::support::{failed, has_python, job, lab_of, measured};

const EXAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../examples/db_bench_trial.py"
);

/// Fills, and then prints what db_bench prints, for two threads.
const STAND_IN: &str = "#!/bin/sh
case \"$*\" in *fillrandom*) exit 0;; esac
while :; do
for thread in 1 0; do
echo \"2026/01/01-00:00:01  ... thread $thread: (50,50) ops and (50.0,49.0) ops/second in (1.0,1.0) seconds\"
done >&2
echo 'Level    Files   Size     Score Write(GB) W-Amp Rd(MB/s)
  L0      2/0    1.95 MB   0.5      0.0   1.0      0.0
 Sum      2/0    1.95 MB   0.0      0.0   3.5      0.0' >&2
sleep 0.02
done
";

const REFUSING: &str = "#!/bin/sh
echo 'open error: Invalid argument: num_levels' >&2
exit 1
";

/// The example's report on a stand-in; `None` where there is no Python.
fn report(stand_in: &str) -> Option<Outcome> {
    if !has_python() {
        return None;
    }
    assert!(Path::new(EXAMPLE).exists());
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("db_bench");
    fs::write(&program, stand_in).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    let program = program.display().to_string();
    let words = [
        "python3",
        EXAMPLE,
        "--flags",
        "{options}",
        "--directory",
        "{directory}",
        "--threads",
        "2",
        "--db-bench",
        &program,
    ];
    let mut lab = lab_of(&words, |_| {});
    lab.runner.start(&job(0.3)).expect("it starts");
    Some(lab.report())
}

#[test]
fn db_bench_is_measured() {
    let Some(outcome) = report(STAND_IN) else {
        return;
    };
    let (_, _, throughput) = measured(&outcome);
    assert!((throughput - 100.0).abs() < 1e-6, "both threads");
    let Outcome::Measured { metrics, .. } = outcome else {
        panic!("measured");
    };
    let amplification = metrics.get("write_amplification");
    assert!(amplification.is_some_and(|it| (it - 3.5).abs() < 1e-6));
}

#[test]
fn a_benchmark_with_a_thread_more_is_measured_too() {
    let Some(outcome) = report(&STAND_IN.replace("in 1 0", "in 2 1 0")) else {
        return;
    };
    let (_, _, throughput) = measured(&outcome);
    assert!((throughput - 150.0).abs() < 1e-6, "all three threads");
}

/// Reports a second before the pause and three hours over it.
const PAUSED: &str = "
import db_bench_trial as trial
rounds = trial.Rounds(2)
hear = rounds.hear
assert [hear(0, 10.0, 1.0), hear(1, 20.0, 1.0), hear(0, 11.0, 1.0)] == [None, None, 30.0]
rounds.resume()
assert hear(1, 21.0, 1.0) is None, 'it was on its way'
assert hear(0, 0.1, 10800.0) is None and hear(1, 0.1, 10800.0) is None
assert [hear(0, 12.0, 1.0), hear(1, 22.0, 1.0)] == [None, 33.0], rounds.rates
assert hear(0, 13.0, 9.0) is None, 'a stall counts'
assert hear(1, 23.0, 1.0) == 35.0
";

#[test]
fn what_spans_a_pause_is_left_out() {
    if !has_python() {
        return;
    }
    let folder = Path::new(EXAMPLE).parent().expect("a folder");
    let run = Command::new("python3")
        .args(["-B", "-c", PAUSED])
        .env("PYTHONPATH", folder)
        .output();
    let output = run.expect("it ran a moment ago");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn a_configuration_that_db_bench_refuses_says_so() {
    let Some(outcome) = report(REFUSING) else {
        return;
    };
    let (cause, detail) = failed(outcome);
    assert_eq!(cause, Cause::CannotOpen);
    assert!(detail.contains("Invalid argument: num_levels"), "{detail}");
}
