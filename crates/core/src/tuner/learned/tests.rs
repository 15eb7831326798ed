//! The learner against a machine that obeys a formula, and against nonsense.

use std::time::Duration;

use super::present::OTHER;
use super::*;
use crate::layout::LogicalLevel;
use crate::observation::{Latency, LevelMission, OperationMix};
use crate::shape::{RunLimit, Shape};
use crate::testing::{numbered_files, small_shape, tuner_contract};
use crate::tree::Tree;

const OPERATIONS: u64 = 50_000;

/// A tree of two levels with so many runs in each, the oldest of 20,000 bytes.
fn tree(runs: &[f64]) -> Tree {
    let layout = small_shape().layout;
    let (_, deepest) = layout.span(LogicalLevel(2));
    let mut levels = vec![Vec::new(); usize::from(deepest.0) + 1];
    for (at, runs) in runs.iter().enumerate() {
        let (_, last) = layout.span(LogicalLevel(at as u16 + 1));
        for run in 0..runs.round() as u16 {
            levels[usize::from(last.0 - run)] = numbered_files(1);
        }
    }
    levels[usize::from(deepest.0)] = numbered_files(200);
    Tree::new(levels).expect("runs")
}

/// What the model expects of limits.
fn shaped(shape: &Shape, limits: &RunLimits) -> structure::Shaped {
    let tree = tree(&[1.0, 1.0]);
    let structure = Structure::of(shape, &tree).expect("levels");
    structure.under(limits)
}

/// Another structure than the model's, RusKey's of section 5.2 in every level: a read
/// meets half of the runs, and each byte is rewritten T / K times. So the deepest level
/// is rewritten nearly twice as much at one run as the model has it, and a third at ten.
fn textbook(shape: &Shape, limits: &RunLimits) -> structure::Shaped {
    let limits = [1, 2].map(|level| f64::from(limits.get(LogicalLevel(level)).get()));
    let ratio = f64::from(shape.size_ratio);
    let rewritten = limits.map(|limit| ratio / limit);
    structure::Shaped {
        runs: limits.map(|limit| f64::midpoint(limit, 1.0)).to_vec(),
        rewrites: rewritten.iter().sum(),
        rewritten: rewritten.to_vec(),
    }
}

/// What an operation takes: reads by runs, writes by rewrites, and `extra` for
/// each run of level 1, which the model does not know of.
struct MachineOfTests {
    shaped: fn(&Shape, &RunLimits) -> structure::Shaped,
    run: f64,
    byte: f64,
    extra: f64,
}

impl MachineOfTests {
    fn mission(&self, shape: &Shape, limits: &RunLimits, read_share: f64) -> Mission {
        let shaped = (self.shaped)(shape, limits);
        let reads = (OPERATIONS as f64 * read_share) as u64;
        let writes = OPERATIONS - reads;
        let bytes = writes as f64 * 1000.0;
        let compacted = bytes * shaped.rewrites;
        let runs: f64 = shaped.runs.iter().sum();
        let seconds = compacted * self.byte;
        let first = f64::from(limits.get(LogicalLevel(1)).get());
        let mean = |seconds: f64| Latency {
            mean: Duration::from_secs_f64(seconds),
            ..Latency::default()
        };
        Mission {
            number: 1,
            duration: Duration::from_secs(1),
            operations: OperationMix {
                gets_found: reads,
                writes,
                ..OperationMix::default()
            },
            get: mean(50e-6 + self.run * runs),
            put: mean(10e-6 + 0.5 * seconds / writes.max(1) as f64 + self.extra * first),
            levels: vec![LevelMission {
                compaction_time: Duration::from_secs_f64(seconds),
                ..LevelMission::default()
            }],
            user_write_bytes: bytes as u64,
            compaction_write_bytes: compacted as u64,
            ..Mission::default()
        }
    }

    fn cost(&self, limits: &RunLimits, read_share: f64) -> f64 {
        let mission = self.mission(&small_shape(), limits, read_share);
        let shares = memory::shares(&mission).expect("operations");
        took(&mission, &shares).expect("timed")
    }

    fn best(&self, read_share: f64) -> f64 {
        let all = (1..=10).flat_map(|one| (1..=10).map(move |two| (one, two)));
        all.map(|(one, two)| {
            let mut limits = RunLimits::uniform(RunLimit::clamped(two));
            limits.set(LogicalLevel(1), RunLimit::clamped(one));
            self.cost(&limits, read_share)
        })
        .fold(f64::INFINITY, f64::min)
    }

    /// So many missions under limits that somebody holds.
    fn hold(&self, tuner: &mut Learned, limits: &RunLimits, read_share: f64, missions: u32) {
        let shape = small_shape();
        let tree = tree(&(self.shaped)(&shape, limits).runs);
        for _ in 0..missions {
            let mission = self.mission(&shape, limits, read_share);
            let trial = tuner.ask(&Question {
                shape: &shape,
                tree: &tree,
                limits,
                mission: &mission,
            });
            tuner.tell(trial.id, &mission);
        }
    }

    /// The limits after so many missions.
    fn fly(
        &self,
        tuner: &mut Learned,
        limits: &RunLimits,
        read_share: f64,
        missions: u32,
    ) -> RunLimits {
        let shape = small_shape();
        let mut limits = limits.clone();
        for _ in 0..missions {
            let tree = tree(&(self.shaped)(&shape, &limits).runs);
            let mission = self.mission(&shape, &limits, read_share);
            let trial = tuner.ask(&Question {
                shape: &shape,
                tree: &tree,
                limits: &limits,
                mission: &mission,
            });
            for level in shape.layout.logical_levels() {
                let (old, new) = (limits.get(level).get(), trial.limits.get(level).get());
                let told = trial.changes.iter().any(|change| change.level == level);
                assert_eq!(old != new, told, "{level}");
            }
            tuner.tell(trial.id, &mission);
            limits = trial.limits;
        }
        limits
    }
}

const MACHINE: MachineOfTests = MachineOfTests {
    shaped,
    run: 8e-6,
    byte: 10e-9,
    extra: 0.0,
};

fn uniform(limit: u16) -> RunLimits {
    RunLimits::uniform(RunLimit::clamped(limit))
}

#[test]
fn it_keeps_the_contract() {
    tuner_contract(|| Box::new(Learned::new(EXPLORATION)));
    tuner_contract(|| Box::new(Learned::new(0.0)));
}

#[test]
fn thirty_missions_bring_it_near_the_best() {
    for read_share in [0.05, 0.5, 0.95] {
        for start in [1, 5, 10] {
            let mut tuner = Learned::new(0.0);
            let limits = MACHINE.fly(&mut tuner, &uniform(start), read_share, 30);
            let reached = MACHINE.cost(&limits, read_share) / MACHINE.best(read_share);
            assert!(
                reached < 1.05,
                "{read_share} from {start}: {limits}, {reached}"
            );
        }
    }
}

/// Starts that cost 1.26 to 4.2 of the best.
#[test]
fn a_tree_that_is_not_as_the_model_has_it_is_learned_all_the_same() {
    let machine = MachineOfTests {
        shaped: textbook,
        ..MACHINE
    };
    for (read_share, start) in [(0.05, 1), (0.5, 1), (0.5, 10), (0.95, 10)] {
        let best = machine.best(read_share);
        let begun = machine.cost(&uniform(start), read_share) / best;
        assert!(begun > 1.2, "{read_share} from {start}: {begun}");
        let mut tuner = Learned::new(0.0);
        let limits = machine.fly(&mut tuner, &uniform(start), read_share, 60);
        let reached = machine.cost(&limits, read_share) / best;
        assert!(
            reached < 1.1,
            "{read_share} from {start}: {limits}, {reached}"
        );
    }
}

#[test]
fn a_model_that_is_wrong_is_overruled_by_what_is_measured() {
    let machine = MachineOfTests {
        extra: 20e-6,
        ..MACHINE
    };
    let mut tuner = Learned::new(EXPLORATION);
    let limits = machine.fly(&mut tuner, &uniform(1), 0.05, 300);
    // Where it began costs 1.18 of the best, where the model goes 3.07.
    let reached = machine.cost(&limits, 0.05) / machine.best(0.05);
    assert!(reached < 1.1, "{limits}: {reached}");
    assert!(tuner.explored > 0);
}

/// Also after the workload was another one meanwhile, and after a restart. Where the model
/// goes costs three times the best; it goes there less and less.
#[test]
fn what_proved_wrong_is_remembered() {
    let machine = MachineOfTests {
        extra: 20e-6,
        ..MACHINE
    };
    let best = machine.best(0.05);
    // Missions that cost a third too much.
    let astray = |tuner: &mut Learned, limits: &mut RunLimits, missions: u32| {
        let mut astray = 0;
        for _ in 0..missions {
            *limits = machine.fly(tuner, limits, 0.05, 1);
            astray += usize::from(machine.cost(limits, 0.05) > 1.33 * best);
        }
        astray
    };
    let (mut tuner, mut limits) = (Learned::new(0.0), uniform(1));
    let first = astray(&mut tuner, &mut limits, 290);
    assert!(first > 10, "{first}");
    for _ in 0..2 {
        limits = machine.fly(&mut tuner, &limits, 0.95, 60);
        let again = astray(&mut tuner, &mut limits, 200);
        assert!(again <= OTHER as usize, "{again} after another workload");
    }
    let mut reopened = Learned::new(0.0);
    reopened.restore(&tuner.state()).expect("its own state");
    let again = astray(&mut reopened, &mut limits, 200);
    assert!(again <= 1, "{again} after a restart");
    let later = astray(&mut reopened, &mut limits, 4_000);
    assert!(later < 4 * first, "{later} later, {first} at first");
}

/// The model errs in level 1 and is right in level 2.
#[test]
fn the_level_that_made_a_march_worse_is_found() {
    let machine = MachineOfTests {
        extra: 20e-6,
        ..MACHINE
    };
    let mut tuner = Learned::new(0.0);
    let limits = machine.fly(&mut tuner, &uniform(1), 0.05, 100);
    let reached = machine.cost(&limits, 0.05) / machine.best(0.05);
    assert!(reached < 1.05, "{limits}: {reached}");
}

/// One mission of another mix between those of a workload.
#[test]
fn a_mission_of_something_else_does_not_count_for_the_limits() {
    let mut tuner = Learned::new(0.0);
    let limits = MACHINE.fly(&mut tuner, &uniform(1), 0.5, 60);
    let before = tuner.phase.mean(&limits).expect("measured");
    MACHINE.fly(&mut tuner, &limits, 0.9, 1);
    assert_eq!(tuner.present.other, 1);
    assert_eq!(tuner.phase.mean(&limits), Some(before));
}

/// A run more in level 1 makes everything take 12 % longer. It takes two missions for
/// that to show, and four to be believed.
#[test]
fn a_trial_that_is_clearly_worse_ends_before_its_time() {
    let machine = MachineOfTests {
        run: 40e-6,
        ..MACHINE
    };
    let explored = |text: &str| {
        let learning = Learning::parse(text, |_| Err("none".into())).expect(text);
        let mut tuner = Learned::with(EXPLORATION, learning);
        let before = machine.fly(&mut tuner, &uniform(1), 0.95, 110);
        assert_eq!(tuner.explored, 0, "there is no budget yet");
        let after = machine.fly(&mut tuner, &before, 0.95, 40);
        assert!(phase::same(&before, &after), "{before} {after}");
        tuner.explored
    };
    assert_eq!(explored(""), 6);
    assert_eq!(explored("-without-guardrails"), 12);
}

/// Missions of twenty operations, of which half are reads on the whole.
#[test]
fn a_mission_of_few_operations_is_not_another_workload() {
    let shape = small_shape();
    let limits = uniform(1);
    let tree = tree(&shaped(&shape, &limits).runs);
    let mut tuner = Learned::new(EXPLORATION);
    let mut ask = |reads: u64, operations: u64| {
        let mut mission = MACHINE.mission(&shape, &limits, 0.5);
        (mission.operations.gets_found, mission.operations.writes) = (reads, operations - reads);
        tuner.ask(&Question {
            shape: &shape,
            tree: &tree,
            limits: &limits,
            mission: &mission,
        });
        (
            tuner.phase.missions(),
            tuner.present.shares.expect("seen")[1],
        )
    };
    let mut last = 0;
    for reads in [10, 7, 6, 14, 13, 9, 11, 15, 14, 6, 7, 8, 10, 10, 12, 8] {
        let (missions, share) = ask(reads, 20);
        assert!(missions > last, "the phase began anew at {reads}");
        assert!((0.35..0.65).contains(&share), "{share}");
        last = missions;
    }
    // Many that differ as much are another workload.
    for _ in 0..OTHER {
        last = ask(7_000, 10_000).0;
    }
    let (missions, share) = ask(7_000, 10_000);
    assert!(missions <= last + 1 && missions <= 3, "{missions}");
    assert!((share - 0.7).abs() < 0.01, "{share}");
}

#[test]
fn it_tries_no_limit_that_cannot_show_itself() {
    let mut tuner = Learned::new(EXPLORATION);
    MACHINE.fly(&mut tuner, &uniform(1), 1.0, 400);
    assert!(tuner.trials > 0 && tuner.explored == 0);
}

#[test]
fn without_a_budget_it_explores_nothing() {
    let mut tuner = Learned::new(0.0);
    MACHINE.fly(&mut tuner, &uniform(1), 0.5, 400);
    assert_eq!((tuner.explored, tuner.trials), (0, 0));
}

#[test]
fn a_workload_that_comes_back_is_served_at_once_also_after_a_restart() {
    let mut tuner = Learned::new(0.0);
    let writes = MACHINE.fly(&mut tuner, &uniform(1), 0.05, 60);
    let reads = MACHINE.fly(&mut tuner, &writes, 0.95, 60);
    assert_ne!(writes, reads);
    assert_eq!(MACHINE.fly(&mut tuner, &reads, 0.05, OTHER), writes);

    let mut again = Learned::new(0.0);
    again.restore(&tuner.state()).expect("its own state");
    assert_eq!(MACHINE.fly(&mut again, &uniform(3), 0.95, 1), reads);
}

#[test]
fn limits_that_somebody_holds_are_not_remembered() {
    let mut tuner = Learned::new(0.0);
    MACHINE.hold(&mut tuner, &uniform(10), 0.95, 60);
    let shares = tuner.present.shares.expect("seen");
    let found = |tuner: &Learned| {
        let memory = tuner.memory_with_present();
        let found = memory.find(&shares, tuner.data);
        found.map(|it| it.limits.clone())
    };
    assert_eq!(found(&tuner), None);
    let limits = MACHINE.fly(&mut tuner, &uniform(10), 0.95, 60);
    assert_ne!(limits, uniform(10));
    assert_eq!(found(&tuner), Some(limits));
}

#[test]
fn a_state_that_cannot_be_is_refused_with_a_sentence() {
    let mut tuner = Learned::new(0.0);
    MACHINE.fly(&mut tuner, &uniform(1), 0.5, 5);
    let mut state = tuner.state();
    state["cost"]["byte"] = serde_json::json!(-1.0);
    let why = tuner.restore(&state).expect_err("a negative time");
    assert!(why.contains("cannot be"), "{why}");
    let why = tuner
        .restore(&serde_json::json!({"cost": 1}))
        .expect_err("no state");
    assert!(why.contains("cannot be read"), "{why}");
}
