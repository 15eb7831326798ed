//! Who may be better than whom: bounds on space, perfect knowledge, stars and ranks.

use super::tests::{parameters, run};
use super::*;

#[test]
fn an_arm_over_the_space_bound_is_out_of_the_hull() {
    let mut runs = Vec::new();
    for round in 0..3 {
        runs.push(run("fixed-1", round, [10.0, 10.0, 1.0]));
        let mut wide = run("fixed-10", round, [1.0, 1.0, 1.0]);
        // Over the bound in one round only: that is enough.
        wide.totals.peak_space_amplification = if round == 1 { 3.2 } else { 2.0 };
        runs.push(wide);
    }
    let verdict = judge(&parameters(&["fixed-1", "fixed-10"]), &runs);
    assert!(verdict.arms[1].over_space_bound && !verdict.arms[1].in_hull);
    assert_eq!(verdict.headroom.unwrap().best_static, ArmName::Fixed(1));
    assert!(
        verdict
            .cautions
            .iter()
            .any(|c| c.starts_with("fixed-10") && c.contains("3.20"))
    );
}

#[test]
fn an_arm_over_the_space_bound_wins_nothing_and_displaces_nobody() {
    let oracle = "oracle:a=fixed-1,b=fixed-1,offered=fixed-1,closing=fixed-1";
    let arms = ["fixed-1", "fixed-4", "learned", oracle];
    let seconds = [[10.0; 3], [12.0; 3], [1.0; 3], [2.0; 3]];
    let judged = |wide: &str| {
        let all = (0..3).flat_map(|round| [0, 1, 2, 3].map(|at: usize| (round, at)));
        let runs: Vec<ArmRun> = all
            .map(|(round, at)| {
                let mut run = run(arms[at], round, seconds[at]);
                if arms[at] == wide {
                    run.totals.peak_space_amplification = 3.2;
                }
                run
            })
            .collect();
        judge(&parameters(&arms), &runs)
    };
    let verdict = judged("learned");
    let all = &verdict.arms;
    let standings: Vec<Option<Standing>> = all.iter().map(|arm| arm.standing).collect();
    let (win, loss) = (Some(Standing::Win), Some(Standing::Loss));
    assert_eq!(standings, [None, loss, None, win]);
    let best: Vec<bool> = all.iter().map(|arm| arm.sessions[0].best).collect();
    assert_eq!(best, [true, false, false, false], "the oracle has none");
    let ranks: Vec<Option<f64>> = all.iter().map(|arm| arm.mean_rank(all)).collect();
    assert_eq!(ranks, [Some(1.0), Some(2.0), None, None]);
    let of_oracle = |verdict: &Verdict| verdict.headroom.as_ref()?.oracle_seconds.clone();
    assert!(of_oracle(&verdict).is_some());
    assert_eq!(of_oracle(&judged(oracle)), None, "nor is it a yardstick");
}

#[test]
fn the_best_of_a_session_are_those_that_nobody_is_ahead_of() {
    let arms = ["fixed-1", "fixed-4", "fixed-10"];
    // Session a: 4 to 6, 5 to 7, and 7 to 9 s: the third meets the second, not the first.
    let runs = |rounds: u32| -> Vec<ArmRun> {
        let all = (0..rounds)
            .flat_map(|round| arms.iter().zip([4.0, 5.0, 7.0]).map(move |of| (round, of)));
        all.map(|(round, (name, least))| run(name, round, [least + f64::from(round), 1.0, 1.0]))
            .collect()
    };
    let best = |rounds| {
        let verdict = judge(&parameters(&arms), &runs(rounds));
        let best = verdict.arms.iter().map(|arm| arm.sessions[0].best);
        best.collect::<Vec<bool>>()
    };
    assert_eq!(best(3), [true, true, false]);
    assert_eq!(best(2), [false; 3], "too few rounds for a claim");
}

#[test]
fn ties_share_a_rank_and_neither_open_sessions_nor_the_closing_one_have_any() {
    let oracle = "oracle:a=fixed-1,b=fixed-10,offered=fixed-1,closing=fixed-1";
    let arms = ["fixed-1", "fixed-4", "fixed-10", oracle];
    let seconds = [
        [1.0, 9.0, 1.0],
        [1.05, 5.0, 3.0],
        [3.0, 1.0, 2.0],
        [0.1, 0.1, 0.1],
    ];
    let runs: Vec<ArmRun> = (0..3)
        .flat_map(|round| {
            let spread = 1.0 + 0.1 * f64::from(round);
            let of = move |at: usize| run(arms[at], round, seconds[at].map(|it| it * spread));
            [of(0), of(1), of(2), of(3)]
        })
        .collect();
    let verdict = judge(&parameters(&arms), &runs);
    let all = &verdict.arms;
    let ranks: Vec<Vec<(&str, usize)>> = all.iter().map(|arm| arm.ranks(all)).collect();
    assert_eq!(ranks[0], [("a", 1), ("b", 3)]);
    assert_eq!(ranks[1], [("a", 1), ("b", 2)]);
    assert_eq!(ranks[2], [("a", 3), ("b", 1)]);
    assert!(ranks[3].is_empty(), "who knows everything is no rival");
    let means: Vec<Option<f64>> = all.iter().map(|arm| arm.mean_rank(all)).collect();
    assert_eq!(means, [Some(2.0), Some(1.5), Some(2.0), None]);
}

#[test]
fn of_several_settings_of_the_thresholds_only_the_best_by_total_has_a_rank() {
    let arms = [
        "thresholds-20-80",
        "thresholds-30-70",
        "thresholds-40-60",
        "fixed-1",
    ];
    // The first setting is over the bound on space; the third wins session a and loses in all.
    let seconds = [
        [1.0, 1.0, 1.0],
        [4.0, 4.0, 1.0],
        [2.0, 9.0, 1.0],
        [5.0, 5.0, 1.0],
    ];
    let all = (0..3).flat_map(|round| [0, 1, 2, 3].map(|at: usize| (round, at)));
    let runs: Vec<ArmRun> = all
        .map(|(round, at)| {
            let mut run = run(arms[at], round, seconds[at]);
            if at == 0 {
                run.totals.peak_space_amplification = 3.2;
            }
            run
        })
        .collect();
    let verdict = judge(&parameters(&arms), &runs);
    let all = &verdict.arms;
    let rivals: Vec<bool> = all.iter().map(|arm| arm.is_rival).collect();
    assert_eq!(rivals, [false, true, false, true]);
    let ranks: Vec<Option<f64>> = all.iter().map(|arm| arm.mean_rank(all)).collect();
    assert_eq!(ranks, [None, Some(1.0), None, Some(2.0)]);
    let best: Vec<bool> = all.iter().map(|arm| arm.sessions[0].best).collect();
    assert_eq!(best, [false, true, false, false]);
    // Its figures stay.
    assert_eq!(all[2].standing, Some(Standing::Loss));
    assert!(verdict.won.iter().any(|won| won.arm == all[2].arm));
}

/// Runs whose session a took each arm so long, round by round.
fn three_rounds(arms: [&str; 3], seconds: [[f64; 3]; 3]) -> Vec<ArmRun> {
    let all = (0..3u32).flat_map(|round| (0..arms.len()).map(move |arm| (round, arm)));
    all.map(|(round, arm)| {
        let took = seconds[arm][round as usize];
        run(arms[arm], round, [took, 1.0, 1.0])
    })
    .collect()
}

#[test]
fn nobody_is_better_for_a_wide_range() {
    let arms = ["fixed-1", "fixed-4", "fixed-10"];
    // Session a: 9.9 to 10.1 s, 8 to 14, and 8 to 13.2: both meet the first one's range, and
    // only the last is within 5 % of its median.
    let seconds = [[9.9, 10.0, 10.1], [8.0, 11.0, 14.0], [8.0, 10.4, 13.2]];
    let runs = three_rounds(arms, seconds);
    let verdict = judge(&parameters(&arms), &runs);
    let all = &verdict.arms;
    let best: Vec<bool> = all.iter().map(|arm| arm.sessions[0].best).collect();
    assert_eq!(best, [true, false, true]);
    let ranks: Vec<(&str, usize)> = all.iter().map(|arm| arm.ranks(all)[0]).collect();
    assert_eq!(ranks, [("a", 1), ("a", 2), ("a", 1)]);
    // In b nobody is better than another.
    let mean = |arm: &ArmVerdict| (arm.mean_rank(all), arm.mean_rank_by_medians(all));
    let means: Vec<(Option<f64>, Option<f64>)> = all.iter().map(mean).collect();
    let expected = [(1.0, 1.0), (1.5, 2.0), (1.0, 1.5)];
    assert_eq!(means, expected.map(|(own, by)| (Some(own), Some(by))));
}

#[test]
fn who_shares_no_first_rank_has_no_star() {
    let arms = ["fixed-1", "fixed-4", "fixed-10"];
    // Session a: the first has the lowest median and a range that holds both others; the second is
    // ahead of the third in every round.
    let seconds = [[5.0, 9.0, 20.0], [10.0; 3], [15.0; 3]];
    let runs = three_rounds(arms, seconds);
    let verdict = judge(&parameters(&arms), &runs);
    let all = &verdict.arms;
    let ranks: Vec<usize> = all.iter().map(|arm| arm.ranks(all)[0].1).collect();
    let best: Vec<bool> = all.iter().map(|arm| arm.sessions[0].best).collect();
    assert_eq!((ranks, best), (vec![1, 1, 2], vec![true, true, false]));
}

#[test]
fn a_headroom_without_an_oracle_is_said_to_be_no_runs() {
    let oracle = "oracle:a=fixed-1,b=fixed-1,offered=fixed-1,closing=fixed-1";
    let said = |arms: &[&str]| {
        let of = |round| arms.iter().map(move |name| run(name, round, [1.0; 3]));
        let runs: Vec<ArmRun> = (0..3).flat_map(of).collect();
        let cautions = judge(&parameters(arms), &runs).cautions;
        cautions.iter().any(|it| it.contains("perfect knowledge"))
    };
    assert!(said(&["fixed-1", "fixed-10"]));
    assert!(!said(&["fixed-1", "fixed-10", oracle]));
    assert!(!said(&["fixed-1"]), "there is nothing to switch to");
}
