//! What the rules of a believable benchmark forbid to claim.

use super::*;
use crate::run::{Offer, Program};

#[test]
fn an_arm_that_builds_the_tree_of_another_one_is_told() {
    let arms = ["fixed-7", "fixed-10@eager"];
    let runs = arms.map(|name| {
        let mut run = run(name, 0, [1.0; 3]);
        run.sessions[0].live_bytes = 2_000_000_000;
        run
    });
    let verdict = judge(&parameters(&arms), &runs);
    let told = "fits 2000 MB of data is 7: fixed-10@eager builds the tree that fixed-7 would.";
    let is_told = |caution: &String| caution.ends_with(told);
    assert!(
        verdict.cautions.iter().any(is_told),
        "{:?}",
        verdict.cautions
    );
}

#[test]
fn runs_of_several_starts_of_a_machine_are_told() {
    let arms = ["fixed-1", "fixed-4"];
    let told = |boots: [[Option<&str>; 2]; 2]| {
        let mut runs = Vec::new();
        for (round, boots) in (0..).zip(boots) {
            for (arm, boot) in arms.iter().zip(boots) {
                let mut run = run(arm, round, [1.0; 3]);
                run.boot = boot.map(str::to_owned);
                runs.push(run);
            }
        }
        let cautions = judge(&parameters(&arms), &runs).cautions;
        let of_starts = cautions.into_iter().filter(|it| it.contains("starts of a"));
        of_starts.collect::<Vec<_>>().join(" ")
    };
    let (one, other) = (Some("a"), Some("b"));
    assert_eq!(told([[one, one], [one, one]]), "");
    assert_eq!(told([[None, None], [one, one]]), "", "an older file");
    let rounds = told([[one, one], [other, other]]);
    assert!(rounds.contains("within each round"), "{rounds}");
    let mixed = told([[one, one], [one, other]]);
    assert!(mixed.contains("Round 2 was measured under 2"), "{mixed}");
}

#[test]
fn rates_of_another_machine_or_program_are_told() {
    let program = |version: &str| Program {
        version: version.to_owned(),
        commit: None,
        dirty: false,
        sources: None,
    };
    let told = |boot: Option<&str>, version: &str| {
        let mut parameters = parameters(&["fixed-1"]);
        parameters.offered = Some(Offer {
            maximum: 1000.0,
            share: 0.9,
            of: None,
            boots: vec!["a".to_owned()],
            programs: vec![program("1")],
        });
        let mut run = run("fixed-1", 0, [1.0; 3]);
        (run.boot, run.program) = (boot.map(str::to_owned), Some(program(version)));
        let cautions = judge(&parameters, &[run]).cautions;
        cautions.into_iter().find(|it| it.contains("of a maximum"))
    };
    assert_eq!(told(Some("a"), "1"), None);
    assert_eq!(told(None, "1"), None, "the system does not tell");
    let elsewhere = told(Some("b"), "1").expect("a caution");
    assert!(elsewhere.contains("90 %") && elsewhere.contains("another start"));
    let otherwise = told(Some("a"), "2").expect("a caution");
    assert!(otherwise.contains("by another program"), "{otherwise}");
    assert!(told(Some("b"), "2").is_some_and(|it| it.contains("another, by another")));
}

#[test]
fn arms_that_give_fewer_answers_are_told() {
    let arms = ["fixed-1", "fixed-4"];
    let told = |verified: u64, operations: u64, threads: u32| {
        let mut runs = arms.map(|name| run(name, 0, [1.0; 3]));
        runs[1].sessions[1].verified = verified;
        runs[1].sessions[1].operations = operations;
        let mut parameters = parameters(&arms);
        parameters.threads = threads;
        let cautions = judge(&parameters, &runs).cautions;
        cautions.into_iter().find(|it| it.contains("answers"))
    };
    let caution = told(2, 100, 1).expect("a caution");
    assert!(
        caution.starts_with("fixed-4 gave 2 answers to 100 operations of b (round 1), fixed-1"),
        "{caution}"
    );
    assert_eq!(told(1, 100, 1), None);
    assert_eq!(told(2, 200, 1), None, "it was asked something else");
    assert_eq!(told(2, 100, 4), None, "threads meet each other's keys");
}

#[test]
fn unmet_rules_are_said() {
    let mut one = run("fixed-1", 0, [1.0, 9.0, 1.0]);
    one.load.settled = false;
    one.totals.user_bytes = 1000;
    let verdict = judge(&parameters(&["fixed-1"]), &[one]);
    let said = |words: &str| {
        verdict
            .cautions
            .iter()
            .any(|caution| caution.contains(words))
    };
    assert!(
        said("Not a comparison: 1 complete round;"),
        "{:?}",
        verdict.cautions
    );
    assert!(said(
        "lacks fixed-K of more than one run, lazy-leveling, rocksdb-leveled, \
         rocksdb-leveled-tuned, rocksdb-universal"
    ));
    assert!(!said("The size ratio that fits"), "one level is enough");
    assert!(said("two full drains") && said("in brackets"));
    let resources = &parameters(&["fixed-1"]).resources;
    let shortfall = PhaseShortfall {
        written: 1000,
        needed: 2 * resources.drain_bytes(1000),
        data_bytes: 1000,
    };
    assert_eq!(verdict.write_shortfall, Some(shortfall));
    assert!(said("background work left"));
    assert!(said("Sessions are unequal"));
}

#[test]
fn five_fills_that_were_drawn_from_a_whole_drain_answer_for_short_write_sessions() {
    let mut parameters = parameters(&["fixed-1"]);
    let data_bytes = 2_048_000_000;
    let drain = parameters.resources.drain_bytes(data_bytes) as f64 / data_bytes as f64;
    assert!((0.1..0.5).contains(&drain), "{drain}");
    let mut short = |phase: f64, rounds| {
        parameters.workload.fill.random_phase = phase;
        PhaseShortfall::of(&parameters, data_bytes, 1000, rounds)
    };
    assert_eq!(short(drain + 0.01, 5), None);
    assert!(short(drain + 0.01, 4).is_some());
    let sentence = short(0.1, 5).expect("all begin alike").sentence();
    let advised = (drain * 100.0).ceil() / 100.0;
    let advice = format!("or at least 5 rounds with random_phase = {advised} in [fill].");
    assert!(sentence.ends_with(&advice), "{sentence}");
}

#[test]
fn incomplete_rounds_do_not_count() {
    let runs = [
        run("fixed-1", 0, [1.0, 1.0, 1.0]),
        run("fixed-10", 0, [2.0, 2.0, 2.0]),
        run("fixed-1", 1, [100.0, 100.0, 100.0]),
    ];
    let verdict = judge(&parameters(&["fixed-1", "fixed-10"]), &runs);
    assert_eq!(verdict.complete_rounds, 1);
    assert_eq!(verdict.arms[0].total_seconds.values, [3.0]);
    assert_eq!(judge(&parameters(&["fixed-1"]), &[]).headroom, None);
}

#[test]
fn where_every_session_offers_a_rate_nobody_wins_by_time() {
    let arms = ["fixed-1", "fixed-10", "learned"];
    let verdict = |offered: &[usize]| {
        let mut runs = Vec::new();
        for round in 0..3 {
            for (name, closing) in arms.iter().zip([1.0, 2.0, 3.0]) {
                let mut run = run(name, round, [5.0, 5.0, closing]);
                for number in offered {
                    run.sessions[*number].open = true;
                }
                runs.push(run);
            }
        }
        judge(&parameters(&arms), &runs)
    };
    let some = verdict(&[0]);
    assert!(some.headroom.is_some() && !some.won.is_empty());
    let all = verdict(&[0, 1]);
    assert_eq!((all.headroom, all.won), (None, Vec::new()));
    assert!(all.arms.iter().all(|arm| arm.standing.is_none()));
}
