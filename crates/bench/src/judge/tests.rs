use super::*;
use crate::arms::ArmName;
use crate::drive::{LatencySummary, OpKind};
use crate::run::{LoadRecord, RunPlan, SessionRecord, Totals};
use crate::store::Counters;
use crate::workload::{CLOSING_SESSION, load_workload};

fn arm(name: &str) -> ArmName {
    name.parse().unwrap()
}

pub(super) fn parameters(arms: &[&str]) -> Parameters {
    let workload = load_workload("update-only").unwrap();
    let arms = arms.iter().map(|name| arm(name)).collect();
    RunPlan::new(workload, arms, "unused".into())
        .unwrap()
        .parameters()
}

fn session(name: &str, seconds: f64, open: bool) -> SessionRecord {
    SessionRecord {
        name: name.to_string(),
        open,
        operations: 100,
        seconds,
        latencies: Vec::new(),
        latency: Default::default(),
        user_bytes: 1000,
        verified: 1,
        counters: Counters::default(),
        live_bytes: 1000,
        disk_bytes: 1000,
        peak_space_amplification: 1.0,
    }
}

/// A run with sessions `a`, `b` and the closing one, each of the given seconds.
pub(super) fn run(name: &str, round: u32, seconds: [f64; 3]) -> ArmRun {
    let sessions = vec![
        session("a", seconds[0], false),
        session("b", seconds[1], false),
        session("offered", 100.0, true),
        session(CLOSING_SESSION, seconds[2], false),
    ];
    let totals = Totals {
        user_bytes: 4_000_000_000,
        peak_space_amplification: 1.5,
        ..Totals::default()
    };
    let load = LoadRecord {
        settled: true,
        ..LoadRecord::default()
    };
    ArmRun {
        arm: arm(name),
        round,
        program: None,
        load,
        sessions,
        totals,
        samples: Vec::new(),
    }
}

#[test]
fn medians_and_spreads() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    let figure = Figure::of([1.0, 2.0, 9.0]).unwrap();
    assert_eq!(
        (figure.median, figure.min, figure.max, figure.mad),
        (2.0, 1.0, 9.0, 1.0)
    );
    assert_eq!(Figure::of([]), None);
}

#[test]
fn a_difference_inside_the_spread_is_a_tie() {
    let figure = |values: [f64; 3]| Figure::of(values).unwrap();
    let base = figure([10.0, 11.0, 12.0]);
    assert_eq!(figure([7.0, 8.0, 9.0]).against(&base), Standing::Win);
    assert_eq!(figure([7.0, 8.0, 10.0]).against(&base), Standing::Tie);
    assert_eq!(figure([11.5, 13.0, 14.0]).against(&base), Standing::Tie);
    assert_eq!(figure([12.1, 13.0, 14.0]).against(&base), Standing::Loss);
}

#[test]
fn who_is_ahead_is_so_outside_its_own_range() {
    let figure = |values: [f64; 3]| Figure::of(values).unwrap();
    let best = figure([9.9, 10.0, 10.1]);
    let ahead_of = |values| best.is_ahead_of(&figure(values));
    assert!(!ahead_of([10.0, 10.1, 20.0]), "its median is in the range");
    assert!(!ahead_of([10.0, 10.4, 20.0]), "5 % away, and ranges meet");
    assert!(ahead_of([10.0, 10.6, 20.0]), "farther, however wide");
    assert!(ahead_of([10.2, 10.3, 10.4]), "near, and ranges are apart");
    assert!(!ahead_of([9.0, 9.5, 9.8]) && !best.is_ahead_of(&best));
    let wide = figure([5.0, 10.0, 15.0]);
    assert!(!wide.is_ahead_of(&figure([14.0, 14.5, 15.0])));
}

#[test]
fn headroom_is_best_static_minus_the_best_of_each_session() {
    // fixed-1: 10 + 30 + 5 = 45; fixed-10: 28 + 8 + 6 = 42; bound 10 + 8 + 5 = 23.
    let mut runs = Vec::new();
    for round in 0..3 {
        let noise = f64::from(round);
        runs.push(super::tests::run(
            "fixed-1",
            round,
            [10.0 + noise, 30.0, 5.0],
        ));
        runs.push(super::tests::run("fixed-10", round, [28.0, 8.0, 6.0]));
        runs.push(super::tests::run(
            "thresholds-30-70",
            round,
            [1.0, 1.0, 1.0],
        ));
        let schedule = "oracle:a=fixed-1,b=fixed-10,offered=fixed-1,closing=fixed-1";
        runs.push(super::tests::run(schedule, round, [12.0, 9.0, 6.0]));
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
fn debt_is_charged_at_the_measured_speed() {
    let mut owing = run("fixed-10", 0, [1.0, 1.0, 1.0]);
    owing.totals.debt_bytes = 500;
    owing.totals.counters.compaction_read_bytes = 1000;
    owing.totals.counters.compaction_micros = 4_000_000;
    // 1000 bytes in 4 s are 250 bytes per second; 500 bytes owe 2 s.
    assert_eq!(debt_seconds(&owing, &[&owing]), Some(2.0));
    let mut idle = run("fixed-1", 0, [1.0, 1.0, 1.0]);
    idle.totals.debt_bytes = 125;
    assert_eq!(
        debt_seconds(&idle, &[&idle]),
        None,
        "nobody compacted: there is no speed"
    );
    assert_eq!(debt_seconds(&idle, &[&idle, &owing]), Some(0.5));
    idle.totals.debt_bytes = 0;
    assert_eq!(debt_seconds(&idle, &[&idle]), Some(0.0));
    let verdict = judge(&parameters(&["fixed-10"]), &[owing]);
    assert_eq!(verdict.arms[0].total_seconds.median, 5.0);
    let headroom = verdict.headroom.unwrap();
    assert_eq!(headroom.all.best_per_session[2].seconds, 3.0);
    assert_eq!(headroom.all.in_other_rounds, None, "there is one round");
    assert_eq!(headroom.switchable, None, "there is one arm");
}

#[test]
fn an_arm_that_builds_the_tree_of_another_one_is_told() {
    let arms = ["fixed-7", "fixed-10"];
    let runs = arms.map(|name| {
        let mut run = run(name, 0, [1.0; 3]);
        run.sessions[0].live_bytes = 2_000_000_000;
        run
    });
    let verdict = judge(&parameters(&arms), &runs);
    let told = "fits 2000 MB of data is 7: fixed-10 builds the tree that fixed-7 would.";
    let is_told = |caution: &String| caution.ends_with(told);
    assert!(
        verdict.cautions.iter().any(is_told),
        "{:?}",
        verdict.cautions
    );
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
    };
    assert_eq!(verdict.write_shortfall, Some(shortfall));
    assert!(said("background work left"));
    assert!(said("Sessions are unequal"));
}

#[test]
fn five_random_fills_answer_for_short_write_sessions() {
    let short = |round| {
        let mut run = run("fixed-1", round, [1.0, 1.0, 1.0]);
        run.totals.user_bytes = 1000;
        run
    };
    let cautions = |rounds| {
        judge(
            &parameters(&["fixed-1"]),
            &(0..rounds).map(short).collect::<Vec<_>>(),
        )
        .cautions
    };
    assert!(
        cautions(4)
            .iter()
            .any(|caution| caution.contains("two full drains"))
    );
    assert!(
        !cautions(5)
            .iter()
            .any(|caution| caution.contains("two full drains"))
    );
}

#[test]
fn read_amplification_is_blocks_of_users_over_operations_that_read() {
    let of = |count| LatencySummary {
        count,
        ..LatencySummary::default()
    };
    let mut one = run("fixed-1", 0, [1.0, 1.0, 1.0]);
    one.sessions[0].latencies = vec![(OpKind::GetPresent, of(30)), (OpKind::Update, of(500))];
    one.sessions[0].counters.data_blocks_read = Some(60);
    one.sessions[1].latencies = vec![(OpKind::Scan, of(10)), (OpKind::ReadModifyWrite, of(20))];
    one.sessions[1].counters.data_blocks_read = Some(75);
    one.sessions[2].latencies = vec![(OpKind::Put, of(7))];
    one.totals.counters.data_blocks_read = Some(135);
    let verdict = judge(&parameters(&["fixed-1"]), &[one.clone()]);
    let median = |figure: &Option<Figure>| figure.as_ref().map(|it| it.median);
    let arm = &verdict.arms[0];
    assert_eq!(median(&arm.read_amplification), Some(135.0 / 60.0));
    let sessions: Vec<Option<f64>> = arm
        .sessions
        .iter()
        .map(|session| median(&session.read_amplification))
        .collect();
    assert_eq!(sessions, [Some(2.0), Some(2.5), None, None]);
    one.totals.counters.data_blocks_read = None;
    let verdict = judge(&parameters(&["fixed-1"]), &[one]);
    assert_eq!(verdict.arms[0].read_amplification, None, "an older file");
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
fn counters_are_differences() {
    let early = Counters {
        flushed_bytes: 10,
        drains: Some(1),
        ..Counters::default()
    };
    let mut late = Counters {
        flushed_bytes: 25,
        drains: Some(3),
        ..Counters::default()
    };
    late.excesses.insert("burst".into(), 2);
    let since = late.since(&early);
    assert_eq!(
        (since.flushed_bytes, since.drains, since.excesses["burst"]),
        (15, Some(2), 2)
    );
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
