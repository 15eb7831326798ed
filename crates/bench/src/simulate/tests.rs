//! Workloads of the harness in the simulator.

mod learners;
mod nearing;
mod oracles;
mod shown;

use super::*;
use crate::workload::load_workload;

/// A workload on a small tree, with the oracle of its sessions.
pub(super) fn plan(workload: &str, arms: &[&str]) -> SimulationPlan {
    let workload = load_workload(workload)
        .and_then(|workload| workload.sized(Some(50_000), 1.0))
        .expect("a workload");
    let arms = arms.iter().map(|arm| arm.parse().expect("an arm"));
    let resources = Resources {
        write_buffer_size: 256 << 10,
        target_file_size_base: 512 << 10,
        block_cache_size: 2 << 20,
        ..Resources::default()
    };
    SimulationPlan {
        oracle: Some(OracleKind::Sessions),
        ..SimulationPlan::of(workload, arms.collect(), resources)
    }
}

/// Five sessions of many short missions.
fn learning(arms: &[&str]) -> SimulationPlan {
    let mut plan = plan("five-sessions", arms);
    plan.workload = plan.workload.sized(None, 5.0).expect("a longer one");
    plan.resources.mission_operations = 2_000;
    plan
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

/// A petabyte.
#[test]
fn a_trillion_entries_are_looked_at() {
    let mut plan = plan("five-sessions", &["fixed-1", "learned"]);
    let workload = plan.workload.sized(Some(1_000_000_000_000), 1e-6);
    plan.workload = workload.expect("a shorter one");
    plan.resources = Resources::default();
    plan.oracle = None;
    let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
    for arm in &seen.arms {
        assert!(arm.outcome.sessions.iter().all(|it| it.seconds > 0.0));
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
            plan.oracle = None;
            run_simulation(&plan, &mut |_| ()).expect("simulated");
            seen += 1;
        }
    }
    assert_eq!(seen, 7);
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
