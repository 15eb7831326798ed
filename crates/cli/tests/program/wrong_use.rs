//! Wrong use ends with 2 and says what would be right.

use super::support::{done, ends};

#[test]
fn what_cannot_be_meant_is_refused() {
    for (arguments, words) in [
        (&["inspect"][..], "<PATH>"),
        (&["fly"], "unrecognized subcommand 'fly'"),
        (
            &["inspect", ".", "--colour"],
            "unexpected argument '--colour'",
        ),
        (&["inspect", ".", "--why", "many"], "invalid value 'many'"),
        (&["inspect", ".", "--why", "0"], "number from 1 on"),
        (&["inspect", "--why", "."], "PATH comes before --why"),
        (
            &["adopt", ".", "--policy", "best"],
            "choose fixed-K, lazy-leveling",
        ),
        (&["adopt", ".", "--size-ratio", "1"], "1 is not in 2..=100"),
        (&["adopt", ".", "--yes", "--dry-run"], "cannot be used with"),
        (&["bench", "ycsb-a"], "--arm <NAME>"),
        (
            &["bench", "ycsb-a", "--arm", "fixed-0"],
            "fixed-1 to fixed-10",
        ),
        (
            &["bench", "nothing", "--arm", "fixed-1"],
            "the shipped ones are",
        ),
        (
            &["bench", "ycsb-a", "--arm", "fixed-1", "--rounds", "0"],
            "--rounds must be at least 1",
        ),
        (
            &["bench", "ycsb-a", "--arm", "fixed-1", "--scale", "0"],
            "it must be above 0",
        ),
        (
            &["bench", "ycsb-a", "--arm", "fixed-1", "--arm", "fixed-1"],
            "given twice",
        ),
        (
            &["bench", "ycsb-a", "--arm", "fixed-1", "--rate-share", "0.5"],
            "--rates-from <PATH>",
        ),
        (
            &["bench", "ycsb-a", "--arm", "lerp", "--maximum-of", "lerp"],
            "--rates-from <PATH>",
        ),
        (
            &[
                "bench",
                "ycsb-a",
                "--arm",
                "fixed-1",
                "--closed-loop",
                "--rates-from",
                "x",
            ],
            "cannot be used with",
        ),
        (&["report"], "<PATH>"),
        (&["apply", "."], "<OPTIONS>"),
        (&["apply", ".", "OPTIONS", "--undo"], "cannot be used with"),
        (&["apply", ".", "--finish", "--undo"], "cannot be used with"),
        (
            &["apply", ".", "OPTIONS", "--running", "--rewrite"],
            "cannot be used with",
        ),
        (&["apply", ".", "OPTIONS", "--yes"], "--undo"),
        (&["sim"], "WORKLOAD"),
        (&["sim", "ycsb-d"], "does not know keys by age"),
        (
            &["sim", "ycsb-a", "--noise", "-1"],
            "it must be from 0 to 2",
        ),
        (
            &["sim", "ycsb-a", "--slow-noise", "NaN"],
            "--slow-noise NaN: it must be from 0 to 2",
        ),
        (&["sim", "ycsb-a", "--timed-one-in", "0"], "--timed-one-in"),
        (&["sim", "ycsb-a", "--arm", "best"], "choose fixed-K"),
        (
            &["sim", "ycsb-a", "--arm", "fixed-4@lazy"],
            "choose eager, paced",
        ),
        (
            &["sim", "ycsb-a", "--arm", "fixed-4-frozen"],
            "choose learned-frozen",
        ),
        (
            &["sim", "ycsb-a", "--arm", "fixed-4", "--reopen"],
            "no arm keeps what it learns",
        ),
        (
            &["sim", "ycsb-a", "--arm", "fixed-4", "--out", "/nowhere"],
            "no run limits to draw",
        ),
        (
            &["sim", "--compare", "x", "--reopen"],
            "cannot be used with",
        ),
        (
            &["sim", "ycsb-a", "--set", "exploration=2"],
            "exploration must lie in 0..=1",
        ),
        (
            &["replay", ".", "--exploration", "-1"],
            "is no share from 0 to 1",
        ),
        (
            &["sim", "ycsb-a", "--set", "max_write_amplification=-1"],
            "max_write_amplification must be at least 0",
        ),
        (
            &["replay", ".", "--max-write-amplification", "-1"],
            "is no number of at least 0, as 30, nor none",
        ),
        (
            &["sim", "ycsb-a", "--set", "speed=1"],
            "unknown field `speed`",
        ),
        (
            &["sim", "ycsb-a", "--device-bytes-per-second", "5"],
            "it must be at least 1048576",
        ),
        (
            &["sim", "ycsb-a", "--machine", "/nowhere"],
            "cannot read /nowhere",
        ),
        (&["search"], "<WORKLOAD>"),
        (&["search", "nothing"], "the shipped ones are"),
        (
            &["search", "ycsb-a", "--space", "/nowhere.toml"],
            "--space /nowhere.toml is no space of the program",
        ),
        (
            &["search", "ycsb-a", "--objective", "speed"],
            "choose throughput, p99",
        ),
        (
            &["search", "ycsb-a", "--constraint", "memory_bytes < 3"],
            "write a metric, <= and a number",
        ),
        (
            &["search", "ycsb-a", "--constant", "colour=1"],
            "it has no constant colour",
        ),
        (
            &["search", "ycsb-a", "--constant", "entries"],
            "write NAME=VALUE",
        ),
        (
            &["search", "ycsb-a", "--budget", "10s"],
            "too short for one trial",
        ),
        (
            &["search", "ycsb-a", "--evaluation", "0s"],
            "a full evaluation of 0 s",
        ),
        (
            &[
                "search",
                "ycsb-a",
                "--out",
                "same.jsonl",
                "--log",
                "same.jsonl",
            ],
            "--out and --log are both same.jsonl",
        ),
        (
            &["search", "ycsb-a", "--out", "same", "--report", "./same"],
            "--out and --report are both ./same",
        ),
        (&["search", "ycsb-a", "--budget", "soon"], "has no unit"),
        (
            &["search", "ycsb-a", "--system", "lissom"],
            "--system lissom cannot try the space rocksdb: there is no setting",
        ),
        (
            &["search", "ycsb-a", "--memory", "8000GiB"],
            "a --memory of at most",
        ),
        (
            &["search", "ycsb-a", "--command", "prog {options}"],
            "cannot be used with",
        ),
        (
            &["search", "--command", "prog --db {directory}"],
            "has no {options}",
        ),
        (
            &["search", "--command", "prog '{options}"],
            "a quote without its end",
        ),
        (
            &["search", "ycsb-a", "--runner", "ray '"],
            "--runner: the command \"ray '\" has a quote without its end",
        ),
        (
            &["search", "ycsb-a", "--runner", ""],
            "--runner: the command is empty",
        ),
        (
            &[
                "search",
                "--command",
                "prog {options}",
                "--memory",
                "512MiB",
                "--restart",
                "--out",
                "/no/where/OPTIONS",
            ],
            "cannot write /no/where/OPTIONS",
        ),
        (&["attach"], "<URL>"),
        (&["attach", "mysql://u@h"], "--io-limit <BYTES>"),
        (
            &["attach", "db1", "--io-limit", "100M"],
            "must begin with mysql://",
        ),
        (
            &["attach", "mysql://h", "--io-limit", "100M"],
            "no user is given",
        ),
        (
            &["attach", "mysql://u@h/db", "--io-limit", "100M"],
            "no database",
        ),
        (
            &[
                "attach",
                "mysql://u@h",
                "--io-limit",
                "100M",
                "--lease",
                "1",
            ],
            "four intervals",
        ),
        (
            &[
                "attach",
                "mysql://u@h",
                "--io-limit",
                "100M",
                "--actuator",
                "brake",
            ],
            "choose level0-trigger",
        ),
        (
            &[
                "attach",
                "mysql://u@h",
                "--io-limit",
                "100M",
                "--lease",
                "5m",
            ],
            "1 h with the actuator level0-trigger",
        ),
        (
            &["attach", "mysql://u@h", "--restore", "--dry-run"],
            "cannot be used with",
        ),
        (
            &[
                "attach",
                "mysql://u@h",
                "--io-limit",
                "100M",
                "--defaults-file",
                "/nowhere",
            ],
            "cannot read /nowhere",
        ),
    ] {
        let sentence = ends(arguments, 2);
        assert!(sentence.contains(words), "{arguments:?}: {sentence}");
    }
}

#[test]
fn what_a_calibration_would_not_read_is_refused() {
    for asked in [
        &["--arm", "fixed-4"][..],
        &["--entries", "1M"],
        &["--scale", "0.1"],
        &["--repeat", "2"],
        &["--set", "level0_slowdown_writes_trigger=60"],
        &["--write-buffer-size", "1MiB"],
        &["--block-cache-size", "1MiB"],
        &["--filters", "uniform"],
        &["--noise", "0.05"],
        &["--slow-noise", "0.05"],
        &["--timed-one-in", "128"],
        &["--seed", "2"],
        &["--seeds", "2"],
        &["--oracle"],
        &["--decisions"],
        &["--levels"],
        &["--device-bytes-per-second", "20MiB"],
        &["--reopen"],
        &["--out", "/nowhere"],
    ] {
        for results in ["--calibrate", "--compare"] {
            let arguments = [&["sim", results, "/nowhere"][..], asked].concat();
            let sentence = ends(&arguments, 2);
            assert!(
                sentence.contains("cannot be used with"),
                "{arguments:?}: {sentence}"
            );
        }
    }
}

#[test]
fn a_password_in_a_url_is_refused_and_not_repeated() {
    for url in [
        "mysql://u:hunter2@h",
        "u:hunter2@h",
        "mysql://u:hunter2@h:1/db",
    ] {
        let sentence = ends(&["attach", url, "--io-limit", "100M"], 2);
        assert!(!sentence.contains("hunter2"), "{sentence}");
    }
}

#[test]
fn help_names_every_command_and_fits_the_terminal() {
    let help = done(&["--help"]);
    for command in [
        "demo",
        "bench",
        "report",
        "workloads",
        "inspect",
        "adopt",
        "detach",
        "pin",
        "compact",
        "measure-device",
        "sim",
        "replay",
        "search",
        "apply",
        "attach",
    ] {
        assert!(help.contains(&format!("\n  {command}")), "{help}");
        let of_command = done(&[command, "--help"]);
        assert!(of_command.contains("Usage: lissom"), "{of_command}");
        for line in of_command.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
    assert!(!help.contains("bench-arm") && !help.contains("attach-watchdog"));
    assert!(done(&["--version"]).starts_with("lissom "));
}
