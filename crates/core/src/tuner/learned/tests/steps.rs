//! How far, and for how much, limits move at once.

use super::machine::{ALONE, MACHINE, MachineOfTests, textbook, tree, uniform};
use super::*;

/// Whose reasons these are.
const MARCHES_AND_TRIALS: [&str; 2] = [": the model expects", ": a trial of"];
const LEAPS: [&str; 4] = [
    ": it served",
    ": operations took",
    ": the trial took",
    ": the workload changed",
];

fn is_one_of(why: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| why.contains(kind))
}

/// Three workloads by turns, from five runs everywhere, on a machine. The steps of marches
/// and trials.
fn steps(machine: &MachineOfTests) -> usize {
    let (mut tuner, mut limits) = (Learned::new(EXPLORATION), uniform(5));
    let mut steps = 0;
    for at in 0..600 {
        let trial = machine.ask(&mut tuner, &limits, [0.05, 0.95, 0.5][at / 100 % 3]);
        for change in &trial.changes {
            let why = change.why.as_str();
            let (old, new) = (limits.get(change.level), trial.limits.get(change.level));
            let by = old.get().abs_diff(new.get());
            let is_step = is_one_of(why, &MARCHES_AND_TRIALS);
            assert_ne!(is_step, is_one_of(why, &LEAPS), "{why}");
            assert!(by == 1 || !is_step, "{} from {old} to {new}", change.level);
            assert!(why.contains(" µs") && why.contains("expect"), "{why}");
            steps += usize::from(is_step);
        }
        limits = trial.limits;
    }
    steps
}

#[test]
fn a_level_moves_by_one_run_but_to_what_served_before_and_on_the_way_back() {
    let extra = MachineOfTests {
        extra: 20e-6,
        ..MACHINE
    };
    let cliff = MachineOfTests {
        cliff: 300e-6,
        ..ALONE
    };
    let other = MachineOfTests {
        shaped: textbook,
        ..MACHINE
    };
    for machine in [MACHINE, extra, cliff, other] {
        let steps = steps(&machine);
        assert!(steps > 10, "{steps}");
    }
}

/// The more writes, the more a second run in level 1 gains.
#[test]
fn less_than_a_gain_of_two_percent_moves_nothing() {
    let (shape, one) = (small_shape(), uniform(1));
    let tree = tree(&[1.0, 1.0]);
    let structure = Structure::of(&shape, &tree).expect("levels");
    let (mut stayed, mut moved) = (0, 0);
    for percent in (60..=100).step_by(2) {
        let read_share = f64::from(percent) / 100.0;
        let mut tuner = Learned::new(0.0);
        ALONE.hold(&mut tuner, &one, read_share, 9);
        let after = ALONE.fly(&mut tuner, &one, read_share, 1);
        let cost = |limits: &RunLimits| tuner.cost.under(&structure, limits);
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &one,
            refused: &[],
            mission: &Mission::default(),
        };
        let now = cost(&one).expect("seen");
        let best = search::best(&seen, structure.levels, &tuner.phase.bars, cost);
        let (_, least) = best.expect("seen");
        let is_worth_it = least <= now * (1.0 - WORTH);
        assert_eq!(is_worth_it, !after.is_same(&one), "{percent} %");
        moved += usize::from(is_worth_it);
        stayed += usize::from(least < now && !is_worth_it);
    }
    assert!(moved > 0 && stayed > 0, "{moved} {stayed}");
}
