//! Missions after which an arm that follows the workload is as good as the static arm that
//! was best in a session, and after which its run limits rest.

use serde::{Deserialize, Serialize};

use super::course::{Course, FIRST_MISSIONS};
use super::figure::Figure;
use super::headroom::BestInSession;
use crate::arms::ArmName;
use crate::drive::Sample;
use crate::run::ArmRun;

/// An arm in a closed session, against the static arm with the lowest median in it. Told
/// by the samples, so no finer than their interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// The arm.
    pub arm: ArmName,
    /// The session.
    pub session: String,
    /// The static arm.
    pub best: ArmName,
    /// Missions of the session.
    pub missions: Figure,
    /// Missions until it was [near](super::NEAR) the static arm in the same round, of the
    /// rounds in which it came near.
    pub near: Option<Figure>,
    /// Whether that [tells](Course::tells) of learning in any round.
    pub tells: bool,
    /// Missions until the run limits changed for the last time; 0 where they did not.
    pub rested: Figure,
}

/// Every arm that follows the workload in every session that has a best static arm. None
/// where runs came without samples or without the tuner's counts.
pub fn judge_convergence(
    arms: &[ArmName],
    rounds: &[Vec<&ArmRun>],
    best: &[BestInSession],
) -> Vec<Convergence> {
    let followers = arms.iter().filter(|arm| arm.follows_workload());
    followers
        .flat_map(move |arm| {
            let sessions = best.iter();
            sessions.filter_map(move |best| of_session(arm, rounds, best))
        })
        .collect()
}

fn of_session(arm: &ArmName, rounds: &[Vec<&ArmRun>], best: &BestInSession) -> Option<Convergence> {
    let in_round = |round: &Vec<&ArmRun>| Seen::of(arm, round, best);
    let seen: Vec<Seen> = rounds.iter().filter_map(in_round).collect();
    Some(Convergence {
        arm: arm.clone(),
        session: best.session.clone(),
        best: best.arm.clone(),
        missions: Figure::of(seen.iter().map(|it| it.missions))?,
        near: Figure::of(seen.iter().filter_map(|it| it.near)),
        tells: seen.iter().any(|it| it.tells),
        rested: Figure::of(seen.iter().map(|it| it.rested))?,
    })
}

/// One round, in missions.
struct Seen {
    missions: f64,
    near: Option<f64>,
    tells: bool,
    rested: f64,
}

impl Seen {
    fn of(arm: &ArmName, round: &[&ArmRun], best: &BestInSession) -> Option<Self> {
        let run = |arm: &ArmName| round.iter().find(|run| run.arm == *arm);
        let (own, other) = (run(arm)?, run(&best.arm)?);
        let number = |run: &ArmRun| run.sessions.iter().position(|it| it.name == best.session);
        let at = number(own)?;
        let missions = own.sessions[at].counters.tuner?.asked as f64;
        let (mine, theirs) = (course(own, at)?, course(other, number(other)?)?);
        // Missions of a session are of one length: of time, or of operations that are alike.
        let until = |seconds: f64| missions * seconds / mine.seconds();
        let whole = |seconds: f64| until(seconds).min(missions).ceil();
        let first = (FIRST_MISSIONS as f64 / missions.max(1.0)).min(1.0);
        let held = arm.held().and_then(|held| {
            let held = run(&held)?;
            course(held, number(held)?)
        });
        Some(Self {
            missions,
            near: mine.near(&theirs).map(whole),
            tells: mine.tells(&theirs, held.as_ref(), first),
            rested: whole(last_change(own, at)),
        })
    }
}

fn course(run: &ArmRun, session: usize) -> Option<Course> {
    let samples = run.samples.iter().filter(|it| it.session == session);
    Course::of(samples.scan((0.0, 0.0), |sum, sample| {
        sum.0 += sample.operations_per_second * sample.seconds;
        sum.1 += sample.seconds;
        Some(*sum)
    }))
}

/// Seconds of the session until the first sample that shows the last limits.
fn last_change(run: &ArmRun, session: usize) -> f64 {
    let begins = run.samples.iter().find(|it| it.session == session);
    let begun = begins.map_or(0.0, |first| first.at - first.seconds);
    let pairs = run.samples.windows(2);
    let mut changes = pairs.filter(|it| it[1].session == session && differ(&it[0], &it[1]));
    changes.next_back().map_or(0.0, |it| it[1].at - begun)
}

/// Whether a level that both show has another limit.
fn differ(before: &Sample, after: &Sample) -> bool {
    let limit = |sample: &Sample, level: u32| {
        let found = sample.levels.iter().find(|it| it.level == level);
        found.and_then(|it| it.run_limit)
    };
    let mut levels = after.levels.iter();
    levels.any(|it| {
        let old = limit(before, it.level);
        old.is_some() && it.run_limit.is_some() && old != it.run_limit
    })
}
