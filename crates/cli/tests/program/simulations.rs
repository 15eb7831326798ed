//! sim and replay.

use std::time::{Duration, Instant};

use super::support::{done, ends, json};

const SMALL: [&str; 8] = [
    "sim",
    "five-sessions",
    "--entries",
    "50k",
    "--write-buffer-size",
    "262144",
    "--block-cache-size",
    "2MiB",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn a_workload_is_simulated_alike_every_time() {
    let arms = with(&["--arm", "fixed-1", "--arm", "learned", "--noise", "0.05"]);
    let table = done(&arms);
    for words in [
        "updates-90",
        "total",
        "Best static arm: fixed-1",
        "learned: ",
        "before closing",
        concat!("lissom ", env!("CARGO_PKG_VERSION"), ", commit "),
        "! The hull is not whole: it lacks fixed-K",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert_eq!(table, done(&arms));
    let told = done(&with(&["--arm", "thresholds-30-70", "--decisions"]));
    assert!(
        told.contains("mission ") && told.contains("level 1: "),
        "{told}"
    );
}

#[test]
fn a_learner_has_a_spread_over_seeds_of_the_noise() {
    let arms = ["--arm", "fixed-1", "--arm", "learned", "--seeds", "2"];
    let table = done(&[&with(&arms)[..], &["--noise", "0.05"]].concat());
    assert!(table.contains("Learners with 2 seeds of"), "{table}");
    let total = table.lines().find(|line| line.trim().starts_with("total"));
    assert_eq!(total.expect("a row").matches('±').count(), 1, "{table}");
    let sentence = ends(&with(&arms), 2);
    assert!(sentence.contains("seeds: without noise"), "{sentence}");
}

#[test]
fn a_learner_is_held_reopened_and_drawn() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("pictures");
    let mut arguments = with(&["--arm", "learned", "--arm", "learned-frozen", "--reopen"]);
    arguments.extend(["--out", out.to_str().expect("UTF-8")]);
    let table = done(&arguments);
    for words in [
        "learned, reopened",
        "learned-frozen, reopened",
        "With what an earlier run has taught",
        "pictures/limits.svg",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    let svg = std::fs::read_to_string(out.join("limits.svg")).expect("a picture");
    assert!(svg.contains("<title>learned-frozen, level 1</title>"));
    let file = directory.path().join("pictures/limits.svg/under");
    let file = file.to_str().expect("UTF-8");
    let sentence = ends(&with(&["--arm", "learned", "--out", file]), 1);
    assert!(sentence.contains("cannot write into "), "{sentence}");
}

#[test]
fn an_oracle_is_searched_and_levels_are_listed() {
    let arms = with(&["--arm", "fixed-1", "--arm", "fixed-10"]);
    let by_sessions = done(&[&arms[..], &["--oracle", "--levels"]].concat());
    for words in [
        "The oracle: the fastest static arm of each session; as an arm of `lissom bench`",
        "  oracle:updates-10=fixed-1",
        "Cost by level: updates-90;",
    ] {
        assert!(by_sessions.contains(words), "{words}: {by_sessions}");
    }
    let searched = done(&[&arms[..], &["--oracle=search"]].concat());
    assert!(searched.contains("The oracle: searched by "), "{searched}");
    assert!(!searched.contains("Cost by level"), "{searched}");
    let one = with(&["--arm", "fixed-1", "--oracle=search"]);
    let sentence = ends(&one, 2);
    assert!(
        sentence.contains("oracle: a search needs two"),
        "{sentence}"
    );
    let unknown = ends(&with(&["--oracle=best"]), 2);
    assert!(unknown.contains("search"), "{unknown}");
}

#[test]
fn schedules_are_compared_under_a_periodic_load() {
    let periodic = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../bench/experiments/periodic.toml"
    );
    let mut arguments = SMALL.to_vec();
    arguments[1] = periodic;
    arguments.extend(["--scale", "0.08", "--decisions"]);
    arguments.extend(["--set", "level0_slowdown_writes_trigger=30"]);
    arguments.extend(["--device-bytes-per-second", "20MiB"]);
    for arm in ["fixed-4@eager", "fixed-4@dlc", "fixed-4@silk"] {
        arguments.extend(["--arm", arm]);
    }
    let table = done(&arguments);
    for words in [
        "Against the offered load: periodic",
        "most files in L0",
        "fixed-4@eager",
        "fixed-4@silk",
        "periodic: the load is high: L0 waits",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert_eq!(table, done(&arguments));
}

#[test]
fn a_measured_run_is_compared_and_fitted() {
    let directory = tempfile::tempdir().expect("a directory");
    let out = directory.path().join("out");
    let out = out.to_str().expect("UTF-8");
    done(&[
        "bench",
        "update-only",
        "--buffered-io",
        "--arm",
        "fixed-2",
        "--arm",
        "fixed-4",
        "--out",
        out,
        "--entries",
        "3000",
        "--rounds",
        "1",
        "--write-buffer-size",
        "65536",
    ]);
    let table = done(&["sim", "--compare", out]);
    assert!(table.contains("Arms by measured total"), "{table}");
    let file = directory.path().join("out/results.json");
    let file = file.to_str().expect("UTF-8");
    assert_eq!(done(&["sim", "--compare", file]), table, "a file will do");
    let machine = directory.path().join("machine.json");
    let machine = machine.to_str().expect("UTF-8");
    let fitted = json(&[
        "sim",
        "--calibrate",
        out,
        "--save-machine",
        machine,
        "--json",
    ]);
    let number = |name: &str| fitted[name].as_f64().expect("a number");
    assert!(number("error") <= number("error_before"), "{fitted}");
    let again = json(&["sim", "--compare", out, "--machine", machine, "--json"]);
    assert_eq!(again["error"], fitted["error"]);
    let both = ["sim", "--calibrate", out, "--compare", file];
    let both = json(&[&both[..], &["--json"]].concat());
    let program = &both[0]["program"]["version"];
    assert_eq!(program, env!("CARGO_PKG_VERSION"));
    assert_eq!(both[1]["machine"], fitted["machine"]);
    assert_eq!(
        both[1]["error"], both[1]["error_before"],
        "nothing was fitted"
    );
    // The same results twice are what they are once.
    let twice = ["sim", "--calibrate", out, "--calibrate", file];
    let twice = json(&[&twice[..], &["--compare", out, "--json"]].concat());
    assert_eq!(twice.as_array().map(Vec::len), Some(3));
    for seen in 0..3usize {
        assert_eq!(twice[seen]["machine"], fitted["machine"]);
        assert_eq!(twice[seen]["error"], fitted["error"]);
    }
    // Results tell their own workload.
    assert_eq!(done(&["sim", "ycsb-a", "--compare", out]), table);
    let several = |workload| ["sim", workload, "--compare", out, "--compare", file];
    assert_eq!(done(&several("update-only")), format!("{table}\n{table}"));
    let said = ends(&several("ycsb-a"), 2);
    assert!(
        said.contains("WORKLOAD ycsb-a: the results given"),
        "{said}"
    );
    assert!(said.contains("but of update-only; name one"), "{said}");
}

#[test]
fn a_store_is_decided_again_by_another_policy() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().to_str().expect("UTF-8");
    let settings = lissom::Settings {
        mission_operations: 500,
        exploration: 0.25,
        ..lissom::Settings::default()
    };
    let db = lissom::Db::open(path, settings).expect("a new database");
    let deadline = Instant::now() + Duration::from_secs(60);
    while db.mission("default").is_none_or(|it| it.number < 3) {
        for number in 0..500u32 {
            db.put(number.to_be_bytes(), "value").expect("written");
        }
        assert!(Instant::now() < deadline, "no mission ended");
    }
    drop(db);
    let journal = directory.path().join("LISSOM-JOURNAL");
    let journal = std::fs::read_to_string(journal).expect("a journal");
    // With the opening, and with each mission.
    assert!(journal.matches("\"exploration\":0.25").count() >= 4);
    let policy = ["replay", path, "--policy", "learned", "--json"];
    let obeyed = json(&policy);
    let given = |share| json(&[&policy[..], &["--exploration", share]].concat());
    assert_eq!(obeyed, given("0.25"));
    // Here nobody reads, and no merge for the reads' sake is due.
    let free = json(&[&policy[..], &["--max-write-amplification", "none"]].concat());
    assert_eq!(obeyed, free);
    assert_eq!(
        given("0").as_array().map(Vec::len),
        obeyed.as_array().map(Vec::len)
    );
    let table = done(&["replay", path, "--policy", "thresholds-30-70"]);
    assert!(table.contains("thresholds-30-70 on "), "{table}");
    let decided = json(&["replay", path, "--policy", "fixed-5", "--json"]);
    let missions = decided.as_array().expect("missions");
    assert!(missions.len() >= 3);
    assert!(
        missions.iter().all(|it| it["replayed"]["deeper"] == 5),
        "{decided}"
    );
    // As where the beginning was rotated away.
    let caveat = "does not begin with the store's first mission: learned starts here without";
    let table = |policy| done(&["replay", path, "--policy", policy]);
    assert!(!table("learned").contains(caveat));
    let (_, later) = journal.split_once('\n').expect("lines");
    std::fs::write(directory.path().join("LISSOM-JOURNAL"), later).expect("written");
    assert!(table("learned").contains(caveat), "{}", table("learned"));
    assert!(!table("thresholds-30-70").contains("does not begin"));
    // As after a full disk.
    let torn = format!("{{\"num\n{later}");
    std::fs::write(directory.path().join("LISSOM-JOURNAL"), torn).expect("written");
    let told = table("learned");
    assert!(
        told.contains("1 line of the journal cannot be read"),
        "{told}"
    );
}
