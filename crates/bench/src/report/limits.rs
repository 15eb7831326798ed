//! The run limits of arms that follow the workload over the sessions, as a picture: as the
//! samples of the first round show them.

use std::path::{Path, PathBuf};

use super::labels::Labels;
use crate::error::Result;
use crate::run::{ArmRun, Results};
use crate::trajectories::{Steps, Times, Trajectories, Trajectory};

/// Writes `limits.svg` into a directory; `None` where no arm follows the workload, or no
/// sample shows its limits.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write_limits_picture(results: &Results, directory: &Path) -> Result<Option<PathBuf>> {
    let picture = trajectories(results);
    picture.map(|it| it.write(directory)).transpose()
}

fn trajectories(results: &Results) -> Option<Trajectories> {
    let parameters = &results.parameters;
    let labels = Labels::of_plan(&parameters.arms);
    let followers = parameters.arms.iter().filter(|arm| arm.follows_workload());
    let runs = followers.filter_map(|arm| {
        let mut first = results.runs.iter().filter(|run| run.round == 0);
        first.find(|run| run.arm == *arm)
    });
    let arms: Vec<Trajectory> = runs
        .map(|run| Trajectory {
            arm: labels.of(&run.arm),
            limits: limits(run),
            times: Times::new(),
        })
        .filter(|arm| !arm.limits.is_empty())
        .collect();
    let sessions = parameters.workload.measured_sessions().into_iter();
    (!arms.is_empty()).then(|| Trajectories {
        title: format!("{}, first round", parameters.workload.name),
        sessions: sessions.map(|session| session.name).collect(),
        arms,
        beside: None,
    })
}

/// The limits of each level, level 1 first. Only a level that holds a run shows its limit; it
/// is taken to keep the last one meanwhile.
fn limits(run: &ArmRun) -> Vec<Steps> {
    let mut levels: Vec<Steps> = Vec::new();
    let (mut session, mut done) = (0, 0.0);
    for sample in &run.samples {
        if sample.session != session {
            (session, done) = (sample.session, 0.0);
        }
        let of = run.sessions.get(session).map_or(0, |it| it.operations);
        let place = |done: f64| session as f64 + (done / of.max(1) as f64).clamp(0.0, 1.0);
        let began = place(done);
        done += sample.operations_per_second * sample.seconds;
        let ended = place(done);
        for level in &sample.levels {
            let limit = level.run_limit.and_then(|limit| u16::try_from(limit).ok());
            let (Some(limit), Some(at)) = (limit, level.level.checked_sub(1)) else {
                continue;
            };
            note(&mut levels, at as usize, limit, (began, ended));
        }
    }
    levels
}

/// A sample that began and ended at these places shows a limit.
fn note(levels: &mut Vec<Steps>, at: usize, limit: u16, (began, ended): (f64, f64)) {
    if levels.len() <= at {
        levels.resize_with(at + 1, Steps::new);
    }
    let steps = &mut levels[at];
    match steps.last().map(|(_, held)| *held) {
        None => steps.push((began, limit)),
        Some(held) if held != limit => steps.push((ended, limit)),
        Some(_) => (),
    }
}
