//! Children that do what they should.

use lissom_search::search::Outcome;
use lissom_trials::session::Trials;
use lissom_trials::{Runner, Template};

use super::support::{
    GOOD, Lab, TRIAL, is_empty, is_gone, is_stopped, job, lab, lab_of, lab_with, lines, measured,
    search, settings, wait_until,
};

#[test]
fn a_trial_is_measured_paused_and_goes_on() {
    let mut lab = lab(GOOD);
    let (seconds, _, throughput) = measured(&lab.first_report(0.3));
    assert!(seconds >= 0.3);
    assert!((throughput - 100.0).abs() < 1e-6);
    let group = lab.group();
    wait_until(|| is_stopped(group));
    lab.runner.go_on(TRIAL, 0.6).expect("it waits");
    let outcome = lab.report();
    let (seconds, setup_seconds, throughput) = measured(&outcome);
    assert!(seconds >= 0.6);
    assert_eq!(setup_seconds, 0.0, "it was set up before");
    assert!((throughput - 100.0).abs() < 1e-6);
    let Outcome::Measured {
        metrics, series, ..
    } = outcome
    else {
        panic!("measured");
    };
    assert!(metrics.get("memory_bytes").is_some_and(|it| it > 100_000.0));
    assert!(
        series.iter().all(|it| it.second >= 0.3),
        "only what is new: {series:?}"
    );
    lab.runner.stop(TRIAL);
    assert!(is_gone(group));
    assert!(!lab.place().exists());
    assert!(
        lab.runner.remarks().is_empty(),
        "{:?}",
        lab.runner.remarks()
    );
}

#[test]
fn a_trial_is_the_first_to_go_when_memory_runs_out() {
    let mut lab = lab(GOOD);
    measured(&lab.first_report(0.1));
    let score = format!("/proc/{}/oom_score_adj", lab.group());
    let score = std::fs::read_to_string(score).expect("it runs");
    assert_eq!(score.trim(), "1000");
}

#[test]
fn a_child_sees_its_configuration_and_an_empty_directory() {
    let script = "test -z \"$(ls -A \"$2\")\" || exit 1\n\
         touch \"$2/data\" || exit 2\n\
         value=$(sed -n 's/^px=//p' \"$1\")\n\
         while :; do echo \"{\\\"throughput\\\": $value}\"; sleep 0.02; done";
    let mut lab = lab(script);
    let (_, _, throughput) = measured(&lab.first_report(0.2));
    assert!((throughput - 42.0).abs() < 1e-6);
    assert!(lab.place().join("data/data").exists());
}

#[test]
fn set_up_does_not_count_as_running() {
    let script = format!("sleep 0.5; {GOOD}");
    let (seconds, setup_seconds, _) = measured(&lab(&script).first_report(0.2));
    assert!(setup_seconds >= 0.4, "{setup_seconds}");
    assert!(seconds >= 0.2);
}

#[test]
fn samples_may_come_by_a_file() {
    let script = "while :; do echo '{\"throughput\": 1}'\n\
         echo '{\"throughput\": 70}' >> \"$2\"; sleep 0.02; done";
    let words = ["sh", "-c", script, "{options}", "x", "{metrics}"];
    let mut lab = lab_of(&words, |_| {});
    let (_, _, throughput) = measured(&lab.first_report(0.2));
    assert!(
        (throughput - 70.0).abs() < 1e-6,
        "the output does not count: {throughput}"
    );
}

#[test]
fn garbage_between_samples_is_passed_over() {
    let script = "echo '{\"ready\": true}'\n\
         while :; do head -c 2000 /dev/urandom; echo; echo '{\"throughput\": 7}'\n\
         echo '[1]'; sleep 0.02; done";
    let (_, _, throughput) = measured(&lab(script).first_report(0.3));
    assert!((throughput - 7.0).abs() < 1e-6);
}

#[test]
fn with_restart_a_trial_that_waits_is_gone_and_begins_anew() {
    let mut lab = lab_with(GOOD, |settings| settings.restart = true);
    lab.runner.start(&job(0.2)).expect("it starts");
    let group = lab.group();
    let (first, ..) = measured(&lab.report());
    assert!(!is_gone(group), "it may go on at once");
    lab.runner.may_end(TRIAL);
    assert!(is_gone(group) && !lab.place().exists());
    lab.runner.go_on(TRIAL, 0.5).expect("anew");
    let Outcome::Measured {
        seconds, series, ..
    } = lab.report()
    else {
        panic!("measured");
    };
    assert!(seconds >= 0.5);
    assert!(series.iter().all(|it| it.second > first), "{series:?}");
    lab.runner.stop(TRIAL);
}

#[test]
fn with_restart_a_trial_that_goes_on_at_once_goes_on_where_it_was() {
    let mut lab = lab_with(GOOD, |settings| settings.restart = true);
    lab.first_report(0.2);
    let group = lab.group();
    lab.runner.go_on(TRIAL, 0.4).expect("it is there");
    let (seconds, setup_seconds, _) = measured(&lab.report());
    assert!(seconds >= 0.4);
    assert_eq!(
        (setup_seconds, lab.group()),
        (0.0, group),
        "not set up again"
    );
    lab.runner.stop(TRIAL);
    assert!(is_gone(group));
}

#[test]
fn directories_are_kept_if_that_is_wanted() {
    let mut lab = lab_with(GOOD, |settings| settings.keep = true);
    lab.first_report(0.1);
    lab.runner.stop(TRIAL);
    assert!(lab.place().join("data").exists() && lab.place().join("OPTIONS").exists());
    lab.first_report(0.1);
    let again = lab.directory.path().join("trials/trial-1-2");
    assert!(again.exists(), "what is kept is not used again");
}

/// A script that adds a line to what all trials share.
fn loading() -> String {
    format!("echo loaded >> \"$2/set\"; {GOOD}")
}

/// The words of its command.
fn sharing(script: &str) -> [&str; 6] {
    ["sh", "-c", script, "trial", "{options}", "{shared}"]
}

/// Another runner of these words in the directory of one that ends.
fn again(lab: Lab, words: &[&str], keep: bool, name: &str) -> Lab {
    let Lab { runner, directory } = lab;
    drop(runner);
    let mut settings = settings(&directory);
    settings.keep = keep;
    let words = words.iter().map(|it| (*it).to_owned()).collect();
    let template = Template::of(words).expect("legal");
    let runner = Runner::new(settings, template, Box::new(lines), search(name));
    let runner = runner.expect("it is free");
    Lab { runner, directory }
}

/// The lines in a directory that trials share.
fn loads(lab: &Lab, shared: &str) -> usize {
    let set = lab.directory.path().join(format!("trials/{shared}/set"));
    let text = std::fs::read_to_string(set).unwrap_or_default();
    text.lines().count()
}

#[test]
fn what_trials_share_stays_until_the_search_has_ended() {
    let script = loading();
    let words = sharing(&script);
    let mut lab = lab_of(&words, |_| {});
    lab.runner.search_begins().expect("nothing was there");
    measured(&lab.first_report(0.1));
    let mut lab = again(lab, &words, false, "one");
    measured(&lab.first_report(0.1));
    assert_eq!(loads(&lab, "shared"), 2, "the search goes on with it");
    lab.runner.search_ended();
    let parent = lab.directory.path().join("trials");
    drop(lab.runner);
    assert!(!parent.exists());
}

#[test]
fn trials_find_nothing_that_another_search_has_loaded() {
    let script = loading();
    let words = sharing(&script);
    for keep in [false, true] {
        let mut lab = lab_of(&words, |settings| settings.keep = keep);
        measured(&lab.first_report(0.1));
        let mut lab = again(lab, &words, keep, "another");
        measured(&lab.first_report(0.1));
        assert_eq!(loads(&lab, "shared"), 1, "its own");
        let remarks = lab.runner.remarks().join("; ");
        assert_eq!(remarks.ends_with("trials/shared-2 now"), keep, "{remarks}");
        assert_eq!(loads(&lab, "shared-2"), usize::from(keep));
    }
}

#[test]
fn nothing_is_left_when_the_runner_goes() {
    let mut lab = lab(GOOD);
    lab.runner.start(&job(1.0)).expect("it starts");
    let group = lab.group();
    let parent = lab.directory.path().join("trials");
    drop(lab.runner);
    assert!(is_gone(group));
    assert!(is_empty(&parent));
}
