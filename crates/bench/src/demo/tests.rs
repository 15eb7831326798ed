//! The plans of the demo, and what it tells.

use super::*;
use crate::arms::Resources;
use crate::run::LEAST_ROUNDS;
use crate::simulate::{Simulation, SimulationPlan, run_simulation};
use crate::workload::Session;

#[test]
fn the_demo_is_a_changing_workload_in_small_beside_static_arms() {
    let plan = demo_plan("unused".into()).unwrap();
    plan.check().unwrap();
    let arms: Vec<String> = plan.arms.iter().map(ToString::to_string).collect();
    for arm in [
        "learned",
        "thresholds-30-70",
        "fixed-1",
        "fixed-10",
        "rocksdb-leveled",
        "rocksdb-universal",
    ] {
        assert!(arms.iter().any(|name| name == arm), "{arm}");
    }
    assert_eq!(plan.rounds, LEAST_ROUNDS, "it is a comparison");

    let sessions = &plan.workload.sessions;
    let has = |wanted: &dyn Fn(&Session) -> bool| sessions.iter().any(wanted);
    assert!(sessions.len() >= 8);
    assert!(has(&|it| it.mix.scan > 50.0) && has(&|it| it.mix.get_absent > 50.0));
    assert!(
        has(&|it| it.mix.put > 50.0 && it.rate.highest() > Some(10_000.0)),
        "bursts"
    );
    assert!(has(&|it| it.mix.delete > 50.0));
    assert!(
        has(&|it| it.rate.highest() < Some(1_000.0) && it.is_open()),
        "a quiet phase"
    );

    // 18 runs over 50,000 entries took 103 s on two cores, and it should be about two
    // minutes. What is offered takes its time on any machine.
    let runs = plan.arms.len() as u64 * u64::from(plan.rounds);
    assert!((800_000..=1_500_000).contains(&(runs * plan.workload.entries)));
    let offered: f64 = sessions
        .iter()
        .filter_map(|session| session.offered_seconds(plan.workload.entries))
        .sum();
    assert!(offered * (runs as f64) < 60.0, "{offered}");
}

#[test]
fn what_is_simulated_is_long_and_has_the_hull_and_two_learners() {
    let plan = demo_simulation().unwrap();
    plan.check().unwrap();
    let held = plan.arms.iter().filter(|arm| arm.is_static()).count();
    let learners = plan.arms.iter().filter(|arm| arm.learns()).count();
    assert_eq!((held, learners), (4, 2));
    assert!(plan.noise > 0.0, "learners are told times as they would be");
    let missions = |session: &Session| {
        session.length(plan.workload.entries) / plan.resources.mission_operations
    };
    assert!(plan.workload.sessions.iter().all(|it| missions(it) >= 8));
    // Few enough to be simulated in seconds.
    let sessions = plan.workload.sessions.iter();
    let operations: u64 = sessions.map(|it| it.length(plan.workload.entries)).sum();
    assert!(operations + plan.workload.entries < 6_000_000);
}

/// The demo's simulation in small, in many short missions.
fn simulated() -> (SimulationPlan, Simulation) {
    let mut plan = demo_simulation().unwrap();
    plan.workload = plan.workload.sized(Some(50_000), 5.0).unwrap();
    plan.resources = Resources {
        write_buffer_size: 256 << 10,
        target_file_size_base: 512 << 10,
        block_cache_size: 2 << 20,
        mission_operations: 2_000,
        ..Resources::default()
    };
    let seen = run_simulation(&plan, &mut |_| ()).unwrap();
    (plan, seen)
}

#[test]
fn the_simulation_is_told_as_one_with_its_times_and_the_changes_of_each_learner() {
    let (plan, seen) = simulated();
    let text = render_demo(&plan, &seen);
    let heading = "\nSimulated, not measured: the learner on five-sessions\n  The sessions";
    assert!(text.starts_with(heading), "{text}");
    assert!(text.contains("five-sessions, simulated: 50000 entries"));
    let (_, times) = text.split_once("Virtual time, s\n").expect("a table");
    let (times, _) = times.split_once("\n\n").expect("its end");
    for arm in &seen.arms {
        assert!(times.contains(&arm.arm), "{}: {times}", arm.arm);
    }
    for row in ["updates-90", "closing", "total"] {
        assert!(times.contains(row), "{row}: {times}");
    }
    assert!(text.contains("\nBest static arm: "), "{text}");
    let told = text.matches("\nRun limits under ").count();
    assert_eq!(told, 2, "of the learners alone: {text}");
    for arm in seen.arms.iter().filter(|arm| arm.learns) {
        let (_, own) = text
            .split_once(&format!("\nRun limits under {}: ", arm.arm))
            .expect("a list");
        let own = own.split("\n\n").next().expect("its end");
        let changes = arm.outcome.limit_changes().len();
        assert!(own.contains(&format!(", {changes} change")), "{own}");
        assert_eq!(own.matches(": from ").count(), changes.min(6), "{own}");
    }
    let again = format!("  {}\n", demo_command(&plan).replace('\n', "\n  "));
    assert!(text.ends_with(&again), "{text}");
    for note in text.lines().skip(2).take_while(|line| !line.is_empty()) {
        assert!(note.chars().count() <= 100, "{note}");
    }
}

#[test]
fn the_page_is_given_the_picture_and_says_that_it_is_simulated() {
    let (plan, seen) = simulated();
    let shown = demo_supplement(&plan, &seen);
    assert!(shown.heading.starts_with("Simulated, not measured: "));
    assert!(
        shown.note.contains("an hour on the engine"),
        "{}",
        shown.note
    );
    assert!(shown.note.contains("Nothing here is measured"));
    assert_eq!(shown.command, demo_command(&plan));
    for arm in ["learned", "learned-from-10"] {
        let line = format!("<title>{arm}, level 1</title>");
        assert!(shown.picture.contains(&line), "{arm}: {}", shown.picture);
    }
    assert!(shown.picture.starts_with("<svg ") && !shown.picture.contains("fixed-1, level"));
}
