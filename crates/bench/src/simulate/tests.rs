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
        oracle: true,
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
    assert_eq!(first(&seen), format!("0 of {missions}"));
    // Twice as long all the way.
    for (_, seconds) in &mut seen.arms[2].outcome.sessions[0].course {
        *seconds *= 2.0;
    }
    assert_eq!(first(&seen), format!("not in {missions}"));
}

#[test]
fn a_comparison_tells_who_wins_and_by_how_much() {
    let of = |arm: &str, session: &str, measured: f64, simulated: f64| Compared {
        arm: arm.into(),
        session: session.into(),
        measured,
        simulated,
    };
    let mut seen = Calibration {
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
        totals: vec![
            ("fixed-4".into(), 32.0, 33.0),
            ("fixed-1".into(), 40.0, 31.0),
        ],
    };
    let text = render_calibration(&seen);
    let line = "Fastest in total: measured fixed-4 by 25.0 %, simulated fixed-1 by 6.5 %; in \
                sessions the same arm in 1 of 2\n";
    assert!(text.ends_with(line), "{text}");
    seen.totals.truncate(1);
    assert!(!render_calibration(&seen).contains("Fastest"));
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
