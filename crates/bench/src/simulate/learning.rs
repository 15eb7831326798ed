//! How long limits went on changing, whether anything was learned, and how soon arms were
//! as good as the best static one.

use std::iter::once;

use lissom_sim::SessionOutcome;

use super::table::grid_of;
use super::{REOPENED, SimulatedArm, Simulation};
use crate::arms::FROZEN;
use crate::judge::{Course, FIRST_MISSIONS};
use crate::report::{Grid, LEAST_MISSIONS, NEAR_NOTE, TOO_SHORT, near_title};

/// The arms that choose their limits by what they have seen.
fn followers(seen: &Simulation) -> Vec<&SimulatedArm> {
    let arms = seen.arms.iter();
    arms.filter(|arm| arm.chooses_limits && arm.is_rival())
        .collect()
}

/// How long the limits went on changing in each session.
pub(super) fn changes(seen: &Simulation) -> String {
    let table = by_session(&followers(seen), |arm, at| {
        let (changes, last) = arm.outcome.changes(at);
        let missions = arm.outcome.sessions[at].missions;
        format!("{changes}, last after {last} of {missions}")
    });
    titled(
        "Changes of the run limits, and the missions of the session until the last one",
        table,
    )
}

/// What was learned in each session.
pub(super) fn steps(seen: &Simulation) -> String {
    let learners: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.learns).collect();
    let table = by_session(&learners, |arm, at| {
        let session = &arm.outcome.sessions[at];
        format!("{} in {}", session.steps, session.missions)
    });
    titled(
        "Steps of learning, and the missions after which the tuner was asked: gradient steps of \
         lerp, missions\nthat the model of learned took up",
        table,
    )
}

/// Sessions as rows, these arms as columns; `None` without arms.
fn by_session(
    arms: &[&SimulatedArm],
    cell: impl Fn(&SimulatedArm, usize) -> String,
) -> Option<Grid> {
    let first = arms.first()?;
    let mut grid = grid_of(arms);
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        let cells = arms.iter().map(|arm| cell(arm, at));
        grid.row(once(session.name.clone()).chain(cells));
    }
    Some(grid)
}

fn titled(title: &str, table: Option<Grid>) -> String {
    table.map_or(String::new(), |grid| format!("\n{title}\n{grid}"))
}

/// Missions until each of them was as good as the best static arm of each session; a sentence
/// where all sessions were too short to tell.
pub(super) fn nearing(seen: &Simulation) -> String {
    let followers = followers(seen);
    let fixed: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.is_static).collect();
    let (Some(first), false) = (followers.first(), fixed.is_empty()) else {
        return String::new();
    };
    let names = followers.iter().map(|arm| arm.arm.as_str());
    let titles: Vec<&str> = ["session", "best static"]
        .into_iter()
        .chain(names)
        .collect();
    let mut grid = Grid::new(&titles);
    let mut any = false;
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        let took = |arm: &SimulatedArm| arm.outcome.sessions[at].seconds;
        let best = fixed.iter().min_by(|a, b| took(a).total_cmp(&took(b)));
        let tells = session.offered.is_none() && followers.iter().any(|arm| is_long(arm, at));
        let Some(best) = best.filter(|_| tells) else {
            continue;
        };
        any = true;
        let cell = |arm: &&SimulatedArm| {
            let held = held(seen, arm);
            missions_until_near(arm, best, held, at).unwrap_or("-".into())
        };
        let names = [session.name.clone(), best.arm.clone()];
        grid.row(names.into_iter().chain(followers.iter().map(cell)));
    }
    if any {
        format!("\n{}\n{grid}{NEAR_NOTE}", near_title())
    } else {
        format!("\n{TOO_SHORT}\n")
    }
}

/// Whether a session had enough missions to tell how soon an arm follows it.
fn is_long(arm: &SimulatedArm, at: usize) -> bool {
    arm.outcome.sessions[at].missions >= LEAST_MISSIONS
}

/// The same learner, held from the first session on, where it runs beside.
fn held<'a>(seen: &'a Simulation, arm: &SimulatedArm) -> Option<&'a SimulatedArm> {
    let (name, reopened) = match arm.arm.strip_suffix(REOPENED) {
        Some(name) => (name, REOPENED),
        None => (arm.arm.as_str(), ""),
    };
    let held = format!("{name}{FROZEN}{reopened}");
    seen.arms.iter().find(|it| it.arm == held)
}

/// `None` where that tells nothing of learning.
fn missions_until_near(
    arm: &SimulatedArm,
    best: &SimulatedArm,
    held: Option<&SimulatedArm>,
    at: usize,
) -> Option<String> {
    if !is_long(arm, at) {
        return None;
    }
    let of = |arm: &SimulatedArm| course(arm.outcome.sessions.get(at)?);
    let (own, other) = (of(arm)?, of(best)?);
    let session = &arm.outcome.sessions[at];
    let first = session.course.get(FIRST_MISSIONS - 1);
    let first = first.map_or(1.0, |(operations, _)| operations / session.operations);
    if !own.tells(&other, held.and_then(of).as_ref(), first) {
        return None;
    }
    let missions = session.missions;
    Some(match missions_until(session, &best.outcome.sessions[at]) {
        Some(until) => format!("{until} of {missions}"),
        None => format!("not in {missions}"),
    })
}

fn course(session: &SessionOutcome) -> Option<Course> {
    Course::of(session.course.iter().copied())
}

/// Missions of a session that had ended when it was near the same session of another arm;
/// `None` where it did not come near, as far as the rest can tell.
pub(super) fn missions_until(own: &SessionOutcome, other: &SessionOutcome) -> Option<usize> {
    let seconds = course(own)?.near(&course(other)?)?;
    let until = own.course.iter().filter(|(_, at)| *at <= seconds);
    Some(until.count())
}
