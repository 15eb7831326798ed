//! Workloads of the harness in the simulator.

use super::*;
use crate::workload::load_workload;

fn plan(workload: &str, arms: &[&str]) -> SimulationPlan {
    let workload = load_workload(workload)
        .and_then(|workload| workload.sized(Some(50_000), 1.0))
        .expect("a workload");
    SimulationPlan {
        workload,
        arms: arms
            .iter()
            .map(|arm| arm.parse().expect("an arm"))
            .collect(),
        resources: Resources {
            write_buffer_size: 256 << 10,
            target_file_size_base: 512 << 10,
            block_cache_size: 2 << 20,
            ..Resources::default()
        },
        machine: MachineModel::default(),
        device_bytes_per_second: None,
        filters: Default::default(),
        noise: 0.0,
        slow_noise: 0.0,
        seed: 1,
        seeds: 1,
        oracle: true,
        reopen: false,
    }
}

#[test]
fn shipped_workloads_are_simulated_or_refused_by_name() {
    for (name, _) in crate::workload::SHIPPED {
        match run_simulation(&plan(name, &["fixed-4"]), &mut |_| ()) {
            Ok(seen) => {
                let sessions = &seen.arms[0].outcome.sessions;
                assert_eq!(
                    sessions.last().expect("sessions").name,
                    crate::CLOSING_SESSION
                );
                assert!(sessions.iter().all(|it| it.seconds > 0.0), "{name}");
            }
            Err(error) => assert!(error.to_string().contains("does not know"), "{error}"),
        }
    }
}

/// Experiments are files that a measurement may find after hours.
#[test]
fn the_experiments_of_ruskey_are_workloads_that_the_simulator_knows() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/experiments");
    let entries = std::fs::read_dir(folder).expect("the folder of experiments");
    let mut seen = 0;
    for entry in entries {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy();
        if name.starts_with("ruskey-") {
            let mut plan = plan(&path.to_string_lossy(), &["fixed-4"]);
            plan.workload = plan.workload.sized(None, 0.1).expect("a shorter one");
            plan.oracle = false;
            run_simulation(&plan, &mut |_| ()).expect("simulated");
            seen += 1;
        }
    }
    assert_eq!(seen, 7);
}

#[test]
fn ties_share_a_rank_and_neither_the_oracle_nor_the_closing_session_has_one() {
    let arms = ["fixed-4", "fixed-4@eager", "fixed-10"];
    let seen = run_simulation(&plan("update-only", &arms), &mut |_| ()).expect("simulated");
    let text = render_simulation(&seen);
    let ranks = text.split("Ranks;").nth(1).expect("a table");
    let ranks = ranks.split("\n\n").next().expect("its end");
    assert!(
        !ranks.contains("oracle") && !ranks.contains("closing"),
        "{ranks}"
    );
    let mean = ranks.lines().find(|line| line.trim().starts_with("mean"));
    let mean: Vec<&str> = mean.expect("a row").split_whitespace().collect();
    assert_eq!(mean[1], mean[2], "{ranks}");
}

#[test]
fn the_table_names_the_best_static_arm() {
    let arms = ["fixed-1", "fixed-10", "thresholds-30-70"];
    let seen = run_simulation(&plan("five-sessions", &arms), &mut |_| ()).expect("simulated");
    let text = render_simulation(&seen);
    assert!(text.contains("Best static arm: fixed-"), "{text}");
    assert!(text.contains("Without the closing session the best static arm is fixed-"));
    assert!(text.contains("thresholds-30-70: "), "{text}");
    assert!(text.contains("% over the best of each session"), "{text}");
    assert!(text.contains("  oracle: "), "{text}");
    assert!(text.contains("Changes of the run limits"), "{text}");
    assert!(text.matches('*').count() >= 6, "{text}");
}

#[test]
fn missions_until_an_arm_is_as_good_as_the_best_static_one_are_told() {
    let arms = ["fixed-1", "fixed-10", "thresholds-30-70"];
    let mut seen = run_simulation(&plan("five-sessions", &arms), &mut |_| ()).expect("simulated");
    for arm in &seen.arms {
        for session in &arm.outcome.sessions {
            assert_eq!(
                session.course.len() as u64,
                session.missions + 1,
                "{}",
                arm.arm
            );
            let end = (session.operations, session.seconds);
            assert_eq!(session.course.last(), Some(&end));
        }
    }
    // A copy of the best static arm is as good from the first mission on.
    let took = |arm: &SimulatedArm| arm.outcome.sessions[0].seconds;
    let best = if took(&seen.arms[0]) <= took(&seen.arms[1]) {
        0
    } else {
        1
    };
    seen.arms[2].outcome = seen.arms[best].outcome.clone();
    let first = |seen: &Simulation| {
        let text = render_simulation(seen);
        let (_, table) = text.split_once("Missions until the rest").expect("a table");
        let row = table.lines().nth(2).expect("the first session").to_owned();
        row.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
    };
    let missions = seen.arms[2].outcome.sessions[0].missions;
    assert_eq!(first(&seen), "-", "that tells nothing of learning");
    // Twice as long all the way.
    for (_, seconds) in &mut seen.arms[2].outcome.sessions[0].course {
        *seconds *= 2.0;
    }
    assert_eq!(first(&seen), format!("not in {missions}"));
}

#[test]
fn nothing_is_told_where_the_learner_that_is_held_does_as_well() {
    let arms = ["fixed-1", "learned", "learned-frozen"];
    let mut seen = run_simulation(&plan("update-only", &arms), &mut |_| ()).expect("simulated");
    let course = |seconds: &[f64; 10]| -> Vec<(f64, f64)> {
        let end = |part: usize| (10.0 * part as f64, seconds[..part].iter().sum::<f64>());
        (1..=10).map(end).collect()
    };
    let mut slow_at_first = [1.0; 10];
    slow_at_first[..3].fill(1.1);
    let all = [[1.0; 10], slow_at_first, [2.0; 10]];
    for (arm, seconds) in seen.arms.iter_mut().zip(&all) {
        let session = &mut arm.outcome.sessions[0];
        session.operations = 100.0;
        session.course = course(seconds);
        session.seconds = seconds.iter().sum::<f64>();
    }
    let first = |seen: &Simulation| {
        let text = render_simulation(seen);
        let (_, table) = text.split_once("Missions until the rest").expect("a table");
        let row = table.lines().nth(2).expect("the first session");
        row.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let missions = |seen: &Simulation, arm: usize| seen.arms[arm].outcome.sessions[0].missions;
    let (free, held) = (missions(&seen, 1), missions(&seen, 2));
    let told = format!(" fixed-1 0 of {free} not in {held}");
    assert!(first(&seen).ends_with(&told), "{}", first(&seen));
    seen.arms[2].outcome = seen.arms[0].outcome.clone();
    assert!(first(&seen).ends_with(" fixed-1 - -"), "{}", first(&seen));
}

#[test]
fn a_learner_that_took_no_step_is_told() {
    let arms = ["fixed-1", "learned", "thresholds-30-70"];
    let mut seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let sessions = &seen.arms[1].outcome.sessions;
    assert!(sessions[..5].iter().all(|it| it.steps > 0), "{sessions:?}");
    let cell = format!("{} in {}", sessions[0].steps, sessions[0].missions);
    let text = render_simulation(&seen);
    assert!(!text.contains("took no step in session updates-"), "{text}");
    let (_, table) = text.split_once("Steps of learning").expect("a table");
    let table = table.split("\n\n").next().expect("its end");
    assert!(table.contains(&cell), "{table}");
    assert!(!table.contains("thresholds"), "it does not learn: {table}");
    for at in [0, 2] {
        seen.arms[1].outcome.sessions[at].steps = 0;
    }
    let text = render_simulation(&seen);
    let told = "  ! learned took no step in session updates-10, updates-90";
    assert!(text.contains(told), "{text}");
}

#[test]
fn the_heading_names_the_program_and_what_the_hull_lacks() {
    let mut seen = run_simulation(&plan("update-only", &["fixed-1"]), &mut |_| ()).expect("seen");
    seen.program = Some(Program {
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef".into()),
        dirty: false,
    });
    let text = render_simulation(&seen);
    let head = "update-only, simulated: 50000 entries; lissom 0.1.0, commit 0123456789ab\n";
    assert!(text.starts_with(head), "{text}");
    let lacks = "The hull is not whole: it lacks fixed-K of more than one run, lazy-leveling.";
    assert!(text.contains(lacks), "{text}");
    let whole = ["fixed-1", "fixed-4", "lazy-leveling"];
    let seen = run_simulation(&plan("update-only", &whole), &mut |_| ()).expect("simulated");
    assert!(!render_simulation(&seen).contains("The hull is not whole"));
}

#[test]
fn only_learners_are_run_with_every_seed() {
    let mut plan = learning(&["fixed-1", "learned", "learned-frozen"]);
    (plan.noise, plan.seeds) = (0.1, 3);
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let others: Vec<usize> = seen.arms.iter().map(|arm| arm.others.len()).collect();
    assert_eq!(others, [0, 2, 2, 0], "the oracle is the last");
    let text = render_simulation(&seen);
    assert!(text.contains("Learners with 3 seeds of"), "{text}");
    let total = text.lines().find(|line| line.trim().starts_with("total"));
    assert_eq!(total.expect("a row").matches('±').count(), 2, "{text}");
    // Each is what that seed alone gives.
    (plan.seed, plan.seeds) = (3, 1);
    let third = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(third.arms[1].outcome, seen.arms[1].others[1]);
    assert_eq!(third.arms[0], seen.arms[0]);

    plan.seeds = 2;
    for (noise, arms, says) in [
        (0.0, ["learned"], "add noise"),
        (0.1, ["fixed-1"], "add the arm learned"),
    ] {
        plan.noise = noise;
        let arms = arms.iter();
        plan.arms = arms.map(|arm| arm.parse().expect("an arm")).collect();
        let error = run_simulation(&plan, &mut |_| ()).expect_err("all alike");
        let error = error.to_string();
        assert!(
            error.starts_with("seeds: ") && error.contains(says),
            "{error}"
        );
    }
}

#[test]
fn a_learner_may_begin_at_other_limits() {
    let arms = ["learned-from-10", "learned-from-10-frozen"];
    let mut plan = plan("update-only", &arms);
    // No mission ends in so short a load.
    plan.workload = plan.workload.sized(Some(2_000), 1.0).expect("a small one");
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    for arm in &seen.arms {
        assert_eq!(arm.outcome.held[0].limits.to_string(), "10", "{}", arm.arm);
    }
}

/// Times of three rounds, with so much below and above the middle.
fn around(seconds: f64, half: f64) -> Figure {
    Figure::of([seconds - half, seconds, seconds + half]).expect("values")
}

/// A comparison of two arms, whose times spread by so much.
fn compared(half: f64) -> Calibration {
    let of = |arm: &str, session: &str, measured: f64, simulated: f64| Compared {
        arm: arm.into(),
        session: session.into(),
        measured: around(measured, half),
        simulated,
    };
    let sum = |arm: &str, measured: f64, simulated: f64| ComparedTotal {
        arm: arm.into(),
        measured: around(measured, half),
        simulated,
    };
    Calibration {
        program: None,
        measured_by: Vec::new(),
        workload: "w".into(),
        machine: MachineModel::default(),
        error: 0.1,
        error_before: 0.1,
        compared: vec![
            of("fixed-1", "reads", 10.0, 11.0),
            of("fixed-1", "writes", 30.0, 20.0),
            of("fixed-4", "reads", 12.0, 12.0),
            of("fixed-4", "writes", 20.0, 21.0),
        ],
        totals: vec![sum("fixed-4", 32.0, 33.0), sum("fixed-1", 40.0, 31.0)],
    }
}

#[test]
fn a_comparison_tells_who_wins_and_by_how_much() {
    let mut seen = compared(0.5);
    let text = render_calibration(&seen);
    let line = "Fastest in total: measured fixed-4 by 25.0 %, simulated fixed-1 by 6.5 %; of 2 \
                sessions that were measured apart, who is simulated the fastest is among the \
                fastest in 1\n";
    assert!(text.ends_with(line), "{text}");
    seen.totals.truncate(1);
    assert!(!render_calibration(&seen).contains("Fastest"));
}

#[test]
fn inside_the_spread_nobody_wins() {
    // 28 to 36 s and 36 to 44; reads 6 to 14 and 8 to 16, writes 26 to 34 and 16 to 24.
    let mut seen = compared(4.0);
    let text = render_calibration(&seen);
    let told = "measured a tie of fixed-4, fixed-1, simulated fixed-1 by 6.5 %; of 1 sessions";
    assert!(text.contains(told) && text.ends_with("in 0\n"), "{text}");
    for total in &mut seen.totals {
        total.measured = Figure::of([total.measured.median]).expect("a value");
    }
    let text = render_calibration(&seen);
    assert!(text.contains("it has under 3 rounds"), "{text}");
    assert!(!text.contains("measured fixed-4"), "{text}");
}

#[test]
fn an_arm_for_monkeys_filters_has_them_whatever_the_others_have() {
    use lissom::core::filters::FilterAllocation::{Monkey, Uniform};
    let mut plan = plan("update-only", &["lerp", "lerp-monkey"]);
    for (all, expected) in [(Uniform, [Uniform, Monkey]), (Monkey, [Monkey, Monkey])] {
        plan.filters = all;
        let filters = [0, 1].map(|at: usize| {
            let scenario = scenario::scenario(&plan, &plan.arms[at]);
            scenario.expect("a scenario").store.filters
        });
        assert_eq!(filters, expected);
    }
}

/// DLC's load, a twentieth as long.
const PERIODIC: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../bench/experiments/periodic.toml"
);

#[test]
fn schedules_are_shown_against_the_load_that_was_offered() {
    let mut plan = plan(PERIODIC, &["fixed-4", "fixed-4@eager", "fixed-4@dlc"]);
    plan.workload = plan.workload.sized(None, 0.2).expect("a shorter one");
    plan.device_bytes_per_second = Some(1 << 20);
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let [none, eager, dlc] = &seen.arms[..3] else {
        panic!("{} arms", seen.arms.len());
    };
    assert_eq!(none.outcome, eager.outcome);
    assert!(none.is_static && !eager.is_static && !eager.chooses_limits);
    assert!(!dlc.outcome.orders.is_empty() && eager.outcome.orders.is_empty());
    for arm in &seen.arms {
        let offered = arm.outcome.sessions[0].offered.as_ref();
        assert!(offered.is_some_and(|it| it.seconds >= 25), "{}", arm.arm);
    }
    let text = render_simulation(&seen);
    assert!(
        text.contains("Against the offered load: periodic"),
        "{text}"
    );
    assert!(text.contains("Best static arm: fixed-4,"), "{text}");
    assert!(text.matches("fixed-4@dlc").count() >= 5, "{text}");
    assert!(!text.contains("Changes of the run limits"), "{text}");
}

/// Five sessions of many short missions.
fn learning(arms: &[&str]) -> SimulationPlan {
    let mut plan = plan("five-sessions", arms);
    plan.workload = plan.workload.sized(None, 5.0).expect("a longer one");
    plan.resources.mission_operations = 2_000;
    plan
}

#[test]
fn a_learner_that_is_held_keeps_the_limits_of_the_load() {
    let arms = ["learned", "learned-frozen", "learned-from-4-frozen"];
    let seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let [free, frozen, from_four] = &seen.arms[..3] else {
        panic!("{} arms", seen.arms.len());
    };
    assert!(!free.outcome.decisions.is_empty());
    assert_eq!(free.outcome.held[0], frozen.outcome.held[0], "one load");
    for arm in [frozen, from_four] {
        assert!(arm.chooses_limits && !arm.is_static, "{}", arm.arm);
        let began = &arm.outcome.held[0].limits;
        assert!(arm.outcome.held.iter().all(|it| it.limits == *began));
        assert!(arm.outcome.decisions.is_empty(), "{}", arm.arm);
    }
    assert!(render_simulation(&seen).contains("learned-from-4-frozen"));
}

#[test]
fn only_who_keeps_something_is_reopened() {
    let mut plan = learning(&["learned", "fixed-4", "lerp", "fixed-1"]);
    plan.reopen = true;
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    let names: Vec<&str> = seen.arms.iter().map(|arm| &*arm.arm).collect();
    let expected = [
        "learned",
        "learned, reopened",
        "fixed-4",
        "lerp",
        "fixed-1",
        "oracle",
    ];
    assert_eq!(names, expected);
    assert_ne!(seen.arms[0].outcome, seen.arms[1].outcome);
    let text = render_simulation(&seen);
    let (_, table) = text
        .split_once("With what an earlier run")
        .expect("a table");
    let table = table.split("\n\n").next().expect("its end");
    assert!(
        table.contains("learned, reopened") && !table.contains("fixed-4"),
        "{table}"
    );
    let total = table.lines().find(|line| line.trim().starts_with("total"));
    assert_eq!(
        total.expect("a row").split_whitespace().count(),
        4,
        "{table}"
    );
    // The oracle follows the static arms, whoever stands between them.
    let fixed = learning(&["fixed-4", "fixed-1"]);
    let fixed = run_simulation(&fixed, &mut |_| ()).expect("simulated");
    assert_eq!(fixed.arms[2], seen.arms[5]);

    plan.reopen = false;
    let once = run_simulation(&plan, &mut |_| ()).expect("simulated");
    assert_eq!(once.arms[0], seen.arms[0], "the first pass knows nothing");
    assert!(!render_simulation(&once).contains("reopened"));
}

#[test]
fn nothing_is_reopened_where_nothing_is_kept() {
    let mut plan = plan("update-only", &["fixed-4", "lerp"]);
    plan.reopen = true;
    let error = run_simulation(&plan, &mut |_| ()).expect_err("no learner");
    assert!(error.to_string().contains("add the arm learned"), "{error}");
}

#[test]
fn the_picture_has_a_line_for_each_level_of_each_learner_and_names_the_sessions() {
    let arms = ["fixed-4", "thresholds-30-70", "learned"];
    let seen = run_simulation(&learning(&arms), &mut |_| ()).expect("simulated");
    let out = tempfile::tempdir().expect("a directory");
    let path = write_limits(&seen, out.path()).expect("written");
    assert!(path.ends_with(LIMITS_FILE));
    let svg = std::fs::read_to_string(&path).expect("a picture");
    let followers = [&seen.arms[1], &seen.arms[2]];
    let levels = followers.iter().flat_map(|arm| &arm.outcome.sessions);
    let levels = levels.map(|session| session.levels).max().expect("levels");
    assert!(levels >= 2, "{levels}");
    for arm in followers {
        for level in 1..=levels {
            let line = format!("<title>{}, level {level}</title>", arm.arm);
            assert_eq!(svg.matches(&line).count(), 1, "{line}: {svg}");
        }
    }
    assert_eq!(svg.matches("<title>").count(), 2 * usize::from(levels));
    assert!(svg.contains(&format!(">level {levels}</text>")), "a legend");
    for session in &seen.arms[0].outcome.sessions {
        let name = format!(">{}</text>", session.name);
        assert_eq!(svg.matches(&name).count(), 2, "{name}: {svg}");
    }
    // Between the first place and the end of the line a step goes up or down for each change.
    let (line, _) = svg
        .split_once("<title>thresholds-30-70, level 1</title>")
        .expect("a line");
    let line = line.rsplit("d=\"").next().expect("a path");
    let held = &seen.arms[1].outcome.held;
    assert_eq!(line.matches('V').count(), held.len() - 1, "{line}");
    let rest = svg.replace("http://www.w3.org/2000/svg", "");
    assert!(!rest.contains("http") && !rest.contains("url("));
}

#[test]
fn a_picture_that_cannot_be_written_says_where() {
    let seen = run_simulation(&plan("update-only", &["learned"]), &mut |_| ()).expect("simulated");
    let out = tempfile::tempdir().expect("a directory");
    let file = out.path().join("file");
    std::fs::write(&file, "").expect("written");
    let error = write_limits(&seen, &file).expect_err("a file").to_string();
    assert!(
        error.starts_with("cannot write ") && error.contains("file/limits.svg: "),
        "{error}"
    );
    assert!(
        error.ends_with("check the path and the free space"),
        "{error}"
    );
}
