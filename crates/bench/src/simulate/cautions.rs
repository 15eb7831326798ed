//! What the figures of a simulation or a calibration lack, as sentences.

use super::{SimulatedArm, Simulation};
use crate::arms::ArmName;
use crate::distinct::distinct;
use crate::judge::hull_caution;
use crate::run::{Machine, Results};

/// Every one of them; empty is best.
pub(super) fn cautions(seen: &Simulation) -> Vec<String> {
    let fixed = seen.arms.iter().filter(|arm| arm.is_static);
    let fixed: Vec<ArmName> = fixed.filter_map(|arm| arm.arm.parse().ok()).collect();
    let idle = seen.arms.iter().filter_map(idle);
    let lacks = hull_caution(&fixed, false);
    lacks.into_iter().chain(idle).collect()
}

/// A learner that learned nothing in a session, whatever its time there.
fn idle(arm: &SimulatedArm) -> Option<String> {
    let sessions = arm.outcome.sessions.iter().filter(|it| it.steps == 0);
    let names: Vec<&str> = sessions.map(|it| it.name.as_str()).collect();
    (arm.learns && !names.is_empty()).then(|| {
        format!(
            "{} took no step in session {}: its time there shows no learning.",
            arm.arm,
            names.join(", ")
        )
    })
}

/// Of results that one set of constants is fitted to: they were not all measured on one machine,
/// as far as they tell.
pub fn machines_caution(results: &[Results]) -> Option<String> {
    let measured = results.iter();
    let measured: Vec<(&str, &Machine)> = measured
        .map(|it| (it.parameters.workload.name.as_str(), &it.machine))
        .collect();
    of_machines(&measured)
}

fn of_machines(measured: &[(&str, &Machine)]) -> Option<String> {
    let told = |machine: &Machine| format!("{}, {} cores", machine.processor, machine.cores);
    let known = measured.iter().filter(|(_, it)| !it.processor.is_empty());
    let machines = distinct(known.clone().map(|(_, it)| told(it)));
    (machines.len() > 1).then(|| {
        let all: Vec<String> = known
            .map(|(workload, it)| format!("{workload} on {}", told(it)))
            .collect();
        format!(
            "The results were measured on different processors, {}: one set of constants cannot be \
             right for all of them.",
            all.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_one_machine_or_of_one_that_is_not_known_need_no_caution() {
        let machine = |processor: &str, cores: usize| Machine {
            processor: processor.into(),
            cores,
            ..Machine::default()
        };
        let (one, other) = (machine("A", 2), machine("B", 2));
        let (same, silent) = (
            Machine {
                memory_bytes: 5,
                system: "Linux 6.1".into(),
                ..one.clone()
            },
            machine("", 4),
        );
        assert_eq!(of_machines(&[("u", &one)]), None);
        assert_eq!(of_machines(&[("u", &one), ("f", &same)]), None);
        assert_eq!(of_machines(&[("u", &one), ("f", &silent)]), None);
        let said = of_machines(&[("u", &one), ("f", &other), ("m", &same)]).expect("a caution");
        let named = "different processors, u on A, 2 cores; f on B, 2 cores; m on A, 2 cores: one";
        assert!(said.contains(named), "{said}");
        assert!(of_machines(&[("u", &one), ("f", &machine("A", 4))]).is_some());
    }
}
