//! How much there is to win, and what was won of it.

use super::*;

#[test]
fn headroom_is_best_static_minus_the_best_of_each_session() {
    // fixed-1: 10 + 30 + 5 = 45; fixed-10: 28 + 8 + 6 = 42; bound 10 + 8 + 5 = 23.
    let mut runs = Vec::new();
    for round in 0..3 {
        let noise = f64::from(round);
        runs.push(run("fixed-1", round, [10.0 + noise, 30.0, 5.0]));
        runs.push(run("fixed-10", round, [28.0, 8.0, 6.0]));
        runs.push(run("thresholds-30-70", round, [1.0, 1.0, 1.0]));
        let schedule = "oracle:a=fixed-1,b=fixed-10,offered=fixed-1,closing=fixed-1";
        runs.push(run(schedule, round, [12.0, 9.0, 6.0]));
    }
    let arms: Vec<String> = runs[..4].iter().map(|run| run.arm.to_string()).collect();
    let arms: Vec<&str> = arms.iter().map(String::as_str).collect();
    let verdict = judge(&parameters(&arms), &runs);
    let headroom = verdict.headroom.unwrap();
    assert_eq!(headroom.best_static, arm("fixed-10"));
    // The middle round of fixed-1 takes 11 s for session a.
    assert_eq!(headroom.all.seconds, 11.0 + 8.0 + 5.0);
    assert_eq!(headroom.all.headroom.seconds, 42.0 - 24.0);
    // Whichever round is left out, the same arms are chosen: no luck was in it.
    let others = headroom.all.in_other_rounds.as_ref().unwrap();
    assert_eq!(others.seconds.values, [23.0, 24.0, 25.0]);
    assert_eq!((others.mean_seconds, others.headroom.seconds), (24.0, 18.0));
    assert_eq!(others.headroom.share, 18.0 / 42.0);
    assert_eq!(headroom.switchable.as_ref(), Some(&headroom.all));
    assert_eq!(headroom.oracle_seconds.unwrap().median, 27.0);
    assert!(!headroom.all.inside_spread);
    assert_eq!(headroom.balance, 11.0 / 8.0);
    let names: Vec<String> = headroom
        .all
        .best_per_session
        .iter()
        .map(|best| format!("{} {}", best.session, best.arm))
        .collect();
    assert_eq!(
        names,
        ["a fixed-1", "b fixed-10", "closing fixed-1"],
        "open sessions have no time to win"
    );
    let standings: Vec<Option<Standing>> = verdict.arms.iter().map(|arm| arm.standing).collect();
    assert_eq!(
        standings,
        [
            Some(Standing::Loss),
            None,
            Some(Standing::Win),
            Some(Standing::Win)
        ]
    );
}

#[test]
fn no_store_switches_to_another() {
    // Tuned leveled is the best in b, and no store of Lissom's becomes it: 10 + 2 + 5 over
    // all arms, 10 + 20 + 5 over the two that one store can be.
    let arms = ["fixed-1", "rocksdb-leveled-tuned", "fixed-10"];
    let seconds = [[10.0, 21.0, 5.0], [14.0, 2.0, 6.0], [30.0, 20.0, 7.0]];
    let runs: Vec<ArmRun> = (0..3)
        .flat_map(|round| {
            let of = move |at: usize| run(arms[at], round, seconds[at]);
            [of(0), of(1), of(2)]
        })
        .collect();
    let headroom = judge(&parameters(&arms), &runs).headroom.unwrap();
    assert_eq!(headroom.best_static, arm("rocksdb-leveled-tuned"));
    assert_eq!(headroom.all.seconds, 17.0);
    assert_eq!(headroom.all.headroom.seconds, 22.0 - 17.0);
    let own = headroom.switchable.unwrap();
    assert_eq!(own.arms, [arm("fixed-1"), arm("fixed-10")]);
    assert_eq!(own.seconds, 35.0);
    assert_eq!(own.headroom.seconds, 22.0 - 35.0, "nothing to win");
    assert_eq!(own.in_other_rounds.unwrap().headroom.seconds, -13.0);
    assert!(own.inside_spread && !headroom.all.inside_spread);
}

#[test]
fn luck_is_no_headroom() {
    // Both arms take 10 s for a on the mean, and 8 s where they are lucky.
    let mut runs = Vec::new();
    let lucky = [[8.0, 8.0, 14.0], [14.0, 8.0, 8.0]];
    for round in 0..3 {
        for (name, a) in ["fixed-1", "fixed-10"].iter().zip(lucky) {
            runs.push(run(name, round, [a[round as usize], 5.0, 1.0]));
        }
    }
    let bound = judge(&parameters(&["fixed-1", "fixed-10"]), &runs)
        .headroom
        .unwrap()
        .all;
    assert_eq!(bound.seconds, 8.0 + 5.0 + 1.0);
    // Round 1: median 11 against 8, so the second arm, 14. Round 2: 11 against 11, the
    // first, 8. Round 3: 8 against 11, the first, 14. And 6 for b and the closing session.
    let others = bound.in_other_rounds.unwrap();
    assert_eq!(others.seconds.values, [20.0, 14.0, 20.0]);
    assert_eq!(others.mean_seconds, 18.0);
    assert_eq!(
        others.headroom.seconds, 0.0,
        "the best static arm had luck, too"
    );
    assert!(bound.inside_spread);
}

#[test]
fn what_was_won_is_told_by_every_yardstick() {
    // fixed-1: 10 + 30 + 5; fixed-10: 28 + 8 + 6 = 42, the best; bound 10 + 8 + 5 = 23.
    let oracle = "oracle:a=fixed-1,b=fixed-10,offered=fixed-1,closing=fixed-1";
    let arms = ["fixed-1", "fixed-10", "learned", oracle];
    let seconds = [
        [10.0, 30.0, 5.0],
        [28.0, 8.0, 6.0],
        [10.5, 8.65, 5.0],
        [12.0, 9.0, 6.0],
    ];
    let of = |arms: &[&str]| -> Vec<Won> {
        let runs: Vec<ArmRun> = (0..3)
            .flat_map(|round| {
                let one = move |at: usize| run(arms[at], round, seconds[at]);
                (0..arms.len()).map(one).collect::<Vec<_>>()
            })
            .collect();
        judge(&parameters(arms), &runs).won
    };
    let found = of(&arms);
    let by = |yardstick: Yardstick| {
        let mut all = found.iter().filter(|it| it.yardstick == yardstick);
        let one = all.next().expect("a row");
        assert!(one.arm == arm("learned") && all.next().is_none());
        (one.over, one.share.expect("something to win"))
    };
    assert_eq!(found.len(), 3, "all arms of the hull are one store's");
    let near = |(over, share): (f64, f64), seconds: f64| {
        let right = [24.15 / seconds - 1.0, (42.0 - 24.15) / (42.0 - seconds)];
        (over - right[0]).abs() < 1e-9 && (share - right[1]).abs() < 1e-9
    };
    assert!(near(by(Yardstick::Switchable), 23.0), "{found:?}");
    assert!(near(by(Yardstick::SwitchableInOtherRounds), 23.0));
    assert!(near(by(Yardstick::Oracle), 27.0));
    // Alone there is nothing to switch to.
    let one = of(&["fixed-1"]);
    assert!(one.is_empty(), "static arms win nothing");
}

/// The best static arm takes 40 to 44 s, and perfect knowledge 39 to 43 or to 39.9.
#[test]
fn perfect_knowledge_inside_the_spread_leaves_nothing_to_win() {
    let oracle = "oracle:a=fixed-1,b=lazy-leveling,offered=fixed-1,closing=fixed-1";
    let arms = ["fixed-1", "fixed-10", "learned", oracle];
    let shares = |known: [f64; 3]| {
        let runs: Vec<ArmRun> = (0..3)
            .flat_map(|round| {
                let noise = 2.0 * f64::from(round);
                let a = [30.0 + noise, 50.0, 20.0, known[round as usize] - 10.0];
                [0, 1, 2, 3].map(|at| run(arms[at], round, [a[at], 5.0, 5.0]))
            })
            .collect();
        let verdict = judge(&parameters(&arms), &runs);
        let standing = verdict.headroom.as_ref().unwrap().oracle_standing();
        let mut won = verdict.won.into_iter();
        let of_oracle = won.find(|it| it.yardstick == Yardstick::Oracle).unwrap();
        (standing, of_oracle.share)
    };
    assert_eq!(shares([39.0, 41.0, 43.0]), (Some(Standing::Tie), None));
    let (standing, share) = shares([39.0, 39.5, 39.9]);
    assert_eq!(standing, Some(Standing::Win));
    // 42 - 30 of 42 - 39.5.
    assert!((share.unwrap() - 12.0 / 2.5).abs() < 1e-9, "{share:?}");
}

#[test]
fn of_nothing_no_share_is_won() {
    let arms = ["fixed-1", "fixed-4", "learned"];
    let seconds = [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [1.5, 1.0, 1.0]];
    let runs: Vec<ArmRun> = (0..3)
        .flat_map(|round| [0, 1, 2].map(|at| run(arms[at], round, seconds[at])))
        .collect();
    let won = judge(&parameters(&arms), &runs).won;
    assert!(won.iter().all(|it| it.share.is_none()), "{won:?}");
    assert!(
        won.iter()
            .all(|it| (it.over - 3.5 / 3.0 + 1.0).abs() < 1e-9)
    );
}
