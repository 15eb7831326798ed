//! The machine's constants from measured runs.
//!
//! They are fitted to the times of closed sessions, all of Lissom's static arms at
//! once, of one result file or of several of the same machine: each constant in turn is made
//! larger and smaller by a step, what brings the model nearer is kept, and steps that bring
//! nothing are halved. A constant that is 0 takes its first step from a unit of its own.
//! None comes to stand for what it is not: each stays within a factor of its default.
//!
//! One workload cannot tell all constants apart: among reads and updates, a dear write can
//! hardly be told from a slow read. Where there are several files, each weighs the same,
//! however many sessions it has.

use serde::{Deserialize, Serialize};

use super::MachineModel;
use super::measured::{Compared, ComparedTotal, Target, compare};
use crate::error::Result;
use crate::run::{Program, Results};

/// First step of each constant, relative.
const FIRST_STEP: f64 = 0.5;
/// Rounds over all constants end here.
const MOST_ROUNDS: usize = 40;
/// A smaller gain is none.
const WORTH: f64 = 0.999;
/// Steps below this end the search.
const LEAST_STEP: f64 = 0.03;
/// A constant is at most so many times its default, or its unit where that is 0, and at least
/// such a part of it. What is told apart badly would go anywhere: a filter's probe to twenty times
/// what memory takes.
const MOST_TIMES: f64 = 8.0;

type Constant = fn(&mut MachineModel) -> &mut f64;

/// Constants that a run's session times can tell apart, each with the unit that steps are
/// shares of while it is 0; those with a unit of 0 stay there.
const FITTED: [(Constant, f64); 12] = [
    (|machine| &mut machine.read_interference, 4.0),
    (|machine| &mut machine.wake_cpu, 10e-6),
    (|machine| &mut machine.device_queue, 0.0),
    (|machine| &mut machine.block_read, 0.0),
    (|machine| &mut machine.put_cpu, 0.0),
    (|machine| &mut machine.miss_cpu, 0.0),
    (|machine| &mut machine.probe_cpu, 0.0),
    (|machine| &mut machine.seek_cpu, 0.0),
    (|machine| &mut machine.merge_byte_cpu, 0.0),
    (|machine| &mut machine.byte_read, 0.0),
    (|machine| &mut machine.byte_write, 0.0),
    (|machine| &mut machine.delayed_write_rate, 0.0),
];

/// What a calibration found of one result file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// The program that simulated, where it told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// Those that measured, as far as they told.
    pub measured_by: Vec<Program>,
    /// The workload's name.
    pub workload: String,
    /// The constants.
    pub machine: MachineModel,
    /// Root of the mean squared difference of the logarithms: 0.1 is about 10 %.
    pub error: f64,
    /// The same before.
    pub error_before: f64,
    /// Every session.
    pub compared: Vec<Compared>,
    /// Arms by measured total time, fastest first.
    pub totals: Vec<ComparedTotal>,
}

/// Fits one set of constants to all these results, starting from those of `start`; one
/// calibration for each of the results, in their order.
///
/// # Errors
/// No static arm of Lissom among the results; a workload that the model cannot
/// express.
pub fn calibrate(
    results: &[Results],
    start: MachineModel,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Calibration>> {
    if results.is_empty() {
        return Ok(Vec::new());
    }
    let targets = Target::all(results)?;
    let before = distances(&compare(&targets, start)?);
    let machine = fit_constants(&targets, start, joint_error(&before), progress)?;
    let after = compare(&targets, machine)?;
    Ok(calibrations(&targets, machine, &before, after))
}

/// Holds these constants against results, fitting nothing; one calibration for each of the
/// results, in their order.
///
/// # Errors
/// As [`calibrate`].
pub fn compare_measured(results: &[Results], machine: MachineModel) -> Result<Vec<Calibration>> {
    let targets = Target::all(results)?;
    let compared = compare(&targets, machine)?;
    let errors = distances(&compared);
    Ok(calibrations(&targets, machine, &errors, compared))
}

fn calibrations(
    targets: &[Target],
    machine: MachineModel,
    errors_before: &[f64],
    compared: Vec<Vec<Compared>>,
) -> Vec<Calibration> {
    let each = targets.iter().zip(errors_before).zip(compared);
    each.map(|((target, error_before), compared)| Calibration {
        program: None,
        measured_by: target.measured_by.clone(),
        workload: target.plan.workload.name.clone(),
        machine,
        error: distance(&compared),
        error_before: *error_before,
        totals: target.totals(&compared),
        compared,
    })
    .collect()
}

/// The constants that bring the targets nearer than those of `start`, whose error is known.
fn fit_constants(
    targets: &[Target],
    start: MachineModel,
    error_before: f64,
    progress: &mut dyn FnMut(&str),
) -> Result<MachineModel> {
    let (mut machine, mut best) = (start, error_before);
    let mut steps = [FIRST_STEP; FITTED.len()];
    for _ in 0..MOST_ROUNDS {
        if steps.iter().all(|step| *step < LEAST_STEP) {
            break;
        }
        for ((constant, unit), step) in FITTED.iter().zip(&mut steps) {
            progress(&format!("fitting, error {best:.3}"));
            let before = *constant(&mut machine);
            let mut better = false;
            let usual = *constant(&mut MachineModel::default());
            let tried = tried(before, *unit, *step).into_iter();
            let leads_in = |value: &f64| {
                is_plausible(*value, usual, *unit) || is_nearer(*value, before, usual)
            };
            for value in tried.filter(leads_in) {
                *constant(&mut machine) = value;
                let error = joint_error(&distances(&compare(targets, machine)?));
                if error < best * WORTH {
                    best = error;
                    better = true;
                    break;
                }
                *constant(&mut machine) = before;
            }
            if !better {
                *step /= 2.0;
            }
        }
    }
    Ok(machine)
}

/// Whether a constant of this default can be so.
fn is_plausible(value: f64, usual: f64, unit: f64) -> bool {
    let least = usual / MOST_TIMES;
    let most = if usual > 0.0 { usual } else { unit } * MOST_TIMES;
    (least..=most).contains(&value)
}

/// Whether a constant is nearer to this default than before, as from a machine that was fitted
/// without bounds.
fn is_nearer(value: f64, before: f64, usual: f64) -> bool {
    let off = |value: f64| (value / usual).ln().abs();
    usual > 0.0 && off(value) < off(before)
}

/// What a step leads to, and what is tried if that brings nothing.
fn tried(before: f64, unit: f64, step: f64) -> [f64; 2] {
    if before > 0.0 {
        [before * (1.0 + step), before / (1.0 + step)]
    } else {
        [unit * step, unit * step * step]
    }
}

/// By how much results are missed together, each weighing the same.
pub(super) fn joint_error(errors: &[f64]) -> f64 {
    let mut errors = errors.to_vec();
    // A sum depends on the order of its terms in the last digit, and a fit must not.
    errors.sort_by(f64::total_cmp);
    root_mean_square(&errors)
}

fn distances(compared: &[Vec<Compared>]) -> Vec<f64> {
    compared.iter().map(|own| distance(own)).collect()
}

fn distance(compared: &[Compared]) -> f64 {
    let missed = compared.iter();
    let missed: Vec<f64> = missed
        .map(|it| (it.simulated / it.measured.median).ln())
        .collect();
    root_mean_square(&missed)
}

fn root_mean_square(values: &[f64]) -> f64 {
    let squares = values.iter().map(|value| value.powi(2));
    (squares.sum::<f64>() / values.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Figure;
    use crate::simulate::measured::Measured;
    use crate::simulate::tests::plan;
    use crate::simulate::{SimulationPlan, run_simulation};

    /// One run a level in a small tree, half as long.
    fn small_plan(workload: &str) -> SimulationPlan {
        let plan = plan(workload, &["fixed-1"]);
        SimulationPlan {
            workload: plan.workload.sized(None, 0.5).expect("a shorter one"),
            oracle: None,
            ..plan
        }
    }

    fn alone(seconds: f64) -> Figure {
        Figure::of([seconds]).expect("a value")
    }

    /// A workload's times on a machine, as if they had been measured.
    fn measured_on(machine: MachineModel, workload: &str) -> Target {
        let plan = SimulationPlan {
            machine,
            ..small_plan(workload)
        };
        let seen = run_simulation(&plan, &mut |_| ()).expect("simulated");
        let outcome = &seen.arms[0].outcome;
        let sessions = outcome.sessions.iter();
        let measured = Measured {
            policy: plan.arms[0].policy.clone(),
            sessions: sessions
                .map(|session| (session.name.clone(), alone(session.seconds)))
                .collect(),
            total: alone(outcome.seconds()),
        };
        Target {
            plan,
            measured: vec![measured],
            measured_by: Vec::new(),
        }
    }

    /// Where the first step from nothing leads.
    fn with_interference() -> MachineModel {
        MachineModel {
            read_interference: 2.0,
            ..MachineModel::default()
        }
    }

    fn error(targets: &[Target], machine: MachineModel) -> f64 {
        joint_error(&distances(&compare(targets, machine).expect("simulated")))
    }

    /// What a fit leads to from the default machine, and the errors before and after it.
    fn fitted(targets: &[Target]) -> (MachineModel, f64, f64) {
        let start = MachineModel::default();
        let before = error(targets, start);
        let machine = fit_constants(targets, start, before, &mut |_| ()).expect("fitted");
        (machine, before, error(targets, machine))
    }

    #[test]
    fn a_constant_that_is_nothing_at_first_is_found() {
        // Updates and reads.
        let targets = [measured_on(with_interference(), "five-sessions")];
        let (machine, before, left) = fitted(&targets);
        assert!(before > 0.02, "{before}");
        assert_eq!(left, 0.0);
        assert_eq!(machine.read_interference, 2.0);
    }

    #[test]
    fn what_one_workload_cannot_tell_another_one_does() {
        // Beside reads alone nothing is merged.
        let reads = || measured_on(with_interference(), "ycsb-c");
        let (machine, before, _) = fitted(&[reads()]);
        assert_eq!((machine, before), (MachineModel::default(), 0.0));
        let both = [reads(), measured_on(with_interference(), "five-sessions")];
        let (machine, before, left) = fitted(&both);
        assert!(before > 0.0, "{before}");
        assert_eq!(left, 0.0);
        assert_eq!(machine.read_interference, 2.0);
    }

    #[test]
    fn side_by_side_each_target_is_what_it_is_alone() {
        let names = ["update-only", "five-sessions"];
        let targets = names.map(|name| measured_on(with_interference(), name));
        let compared = |targets: &[Target]| {
            let compared = compare(targets, MachineModel::default());
            compared.expect("simulated")
        };
        let both = compared(&targets);
        assert_eq!(
            both,
            [compared(&targets[..1]), compared(&targets[1..])].concat()
        );
        assert_ne!(both[0].len(), both[1].len());
    }

    #[test]
    fn each_result_weighs_the_same_however_many_sessions_it_has() {
        let session = |simulated: f64| Compared {
            arm: "fixed-1".into(),
            session: "s".into(),
            measured: alone(1.0),
            simulated,
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let missed = vec![session(2.0)];
        let met = vec![session(1.0), session(1.0), session(1.0)];
        let joint = joint_error(&distances(&[missed.clone(), met]));
        assert!(near(joint, 2f64.ln() / 2f64.sqrt()), "{joint}");
        let only = joint_error(&distances(&[missed]));
        assert!(near(only, 2f64.ln()), "{only}");
    }

    #[test]
    fn the_order_of_results_changes_no_digit_of_the_error() {
        let errors = [1e8, 1.0, 1.0, 1.0];
        let mut turned = errors;
        turned.reverse();
        assert_ne!(root_mean_square(&errors), root_mean_square(&turned));
        assert_eq!(joint_error(&errors), joint_error(&turned));
    }

    #[test]
    fn no_constant_leaves_what_can_be() {
        let plausible = |usual, unit| {
            let values = [0.0, 0.1, 0.2, 1.0, 8.0, 9.0, 33.0];
            values.map(|value| is_plausible(value, usual, unit))
        };
        let of_one = [false, false, true, true, true, false, false];
        assert_eq!(plausible(1.0, 0.0), of_one);
        assert_eq!(
            plausible(0.0, 4.0),
            [true, true, true, true, true, true, false]
        );
        assert_eq!(
            plausible(0.0, 0.0),
            [true, false, false, false, false, false, false]
        );
        assert!(is_nearer(20.0, 30.0, 1.0) && !is_nearer(30.0, 20.0, 1.0));
        assert!(is_nearer(0.02, 0.01, 1.0) && !is_nearer(1.0, 2.0, 0.0));
        // What takes ten times as long is met as nearly as eight times can.
        let slow = MachineModel {
            put_cpu: 10.0 * MachineModel::default().put_cpu,
            ..MachineModel::default()
        };
        let (machine, before, after) = fitted(&[measured_on(slow, "update-only")]);
        assert!(machine.put_cpu <= MOST_TIMES * MachineModel::default().put_cpu);
        assert!(after < before, "{after} of {before}");
    }

    #[test]
    fn what_has_no_unit_stays_nothing() {
        assert_eq!(tried(0.0, 0.0, 0.5), [0.0, 0.0]);
        assert_eq!(tried(0.0, 4.0, 0.5), [2.0, 1.0]);
        assert_eq!(tried(2.0, 4.0, 0.5), [3.0, 2.0 / 1.5]);
    }
}
