//! The run limits of each arm that follows the workload over the sessions, and what an
//! operation took it beside the best static arm, as a picture.

use std::path::{Path, PathBuf};

use lissom::core::LogicalLevel;
use lissom_sim::{Outcome, SessionOutcome};

use super::{ORACLE, SimulatedArm, Simulation};
use crate::error::Result;
use crate::trajectories::{Steps, Times, Trajectories, Trajectory};

/// Times of all sessions together, about: more cannot be told apart.
const MOST_TIMES: usize = 360;

/// Times of a session, at least, however many there are.
const LEAST_TIMES: usize = 12;

/// Writes `limits.svg` into a directory that is there: the run limits and the time of an
/// operation over the sessions, of each arm that follows the workload; with the first seed.
///
/// # Errors
/// When it cannot be written.
pub fn write_limits(seen: &Simulation, out: &Path) -> Result<PathBuf> {
    trajectories(seen).write(out)
}

/// The same picture, not written.
pub(crate) fn limits_svg(seen: &Simulation) -> String {
    trajectories(seen).svg()
}

fn trajectories(seen: &Simulation) -> Trajectories {
    let follows = |arm: &&SimulatedArm| arm.chooses_limits && arm.arm != ORACLE;
    let arms: Vec<&SimulatedArm> = seen.arms.iter().filter(follows).collect();
    let sessions = arms.first().map_or(&[][..], |arm| &arm.outcome.sessions);
    let levels = arms.iter().map(|arm| levels(&arm.outcome)).max();
    let levels = levels.unwrap_or(1);
    let fixed = seen.arms.iter().filter(|arm| arm.is_static);
    let best = fixed.min_by(|a, b| a.outcome.seconds().total_cmp(&b.outcome.seconds()));
    Trajectories {
        title: format!("{}, simulated", seen.workload),
        sessions: sessions.iter().map(|it| it.name.clone()).collect(),
        arms: arms.iter().map(|arm| trajectory(arm, levels)).collect(),
        beside: best.map(|arm| (arm.arm.clone(), times(&arm.outcome))),
    }
}

fn trajectory(arm: &SimulatedArm, levels: u16) -> Trajectory {
    Trajectory {
        arm: arm.arm.clone(),
        limits: (1..=levels)
            .map(|level| steps(&arm.outcome, level))
            .collect(),
        times: times(&arm.outcome),
    }
}

/// Levels that held data at the end of a session, at least one.
fn levels(outcome: &Outcome) -> u16 {
    let deepest = outcome.sessions.iter().map(|session| session.levels);
    deepest.max().unwrap_or(0).max(1)
}

fn steps(outcome: &Outcome, level: u16) -> Steps {
    let held = outcome.held.iter().map(|held| {
        let of = outcome.sessions.get(held.session);
        let of = of.map_or(0.0, |session| session.operations);
        let share = (held.operations / of.max(1.0)).clamp(0.0, 1.0);
        let limit = held.limits.get(LogicalLevel(level)).get();
        (held.session as f64 + share, limit)
    });
    held.collect()
}

/// Microseconds of an operation, in parts of one or several missions.
fn times(outcome: &Outcome) -> Times {
    let parts = (MOST_TIMES / outcome.sessions.len().max(1)).max(LEAST_TIMES);
    let sessions = outcome.sessions.iter().enumerate();
    let times = sessions.flat_map(|(number, session)| session_times(session, number, parts));
    times.collect()
}

/// The same of one session. What follows the last mission may be too little to tell.
fn session_times(session: &SessionOutcome, number: usize, parts: usize) -> Times {
    let missions = session.course.len().div_ceil(parts).max(1);
    let least = session.operations / (2 * parts) as f64;
    let ends = session.course.chunks(missions);
    let mut before = (0.0, 0.0);
    let mut times = Times::new();
    for (operations, seconds) in ends.filter_map(|part| part.last().copied()) {
        let own = operations - before.0;
        if own > 0.0 && own >= least {
            let middle = (before.0 + own / 2.0) / session.operations;
            times.push((number as f64 + middle, 1e6 * (seconds - before.1) / own));
        }
        before = (operations, seconds);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_means_of_parts_and_leave_out_what_is_too_little() {
        let session = |course: &[(f64, f64)]| SessionOutcome {
            operations: 100.0,
            course: course.to_vec(),
            ..SessionOutcome::default()
        };
        let course = [(20.0, 2e-5), (50.0, 8e-5), (99.0, 1e-3), (100.0, 1.0)];
        let rounded = |times: Times| -> Vec<(f64, f64)> {
            let all = times.into_iter();
            all.map(|(place, micros)| (place, (1e6 * micros).round() / 1e6))
                .collect()
        };
        let all = rounded(session_times(&session(&course), 3, 4));
        let expected = [(3.1, 1.0), (3.35, 2.0), (3.745, 18.77551)];
        assert_eq!(all, expected);
        // Two missions a part; the last part holds the rest.
        let halves = rounded(session_times(&session(&course), 0, 2));
        assert_eq!(halves, [(0.25, 1.6), (0.75, 19_998.4)]);
        assert!(session_times(&session(&[]), 0, 4).is_empty());
    }
}
