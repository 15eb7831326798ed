//! Simulations and calibrations as tables.

use std::fmt::Write as _;

use lissom_sim::SessionOutcome;

use super::reopened::reopened;
use super::{Calibration, Compared, ORACLE, SimulatedArm, Simulation};
use crate::judge::Course;
use crate::report::{Grid, near_title};
use crate::workload::CLOSING_SESSION;

/// Times that differ by less, relative, are a tie: less than the model can tell.
const TIE: f64 = 0.01;

/// Sessions as rows, arms as columns; then what it cost, arms as rows.
pub fn render_simulation(seen: &Simulation) -> String {
    let mut text = format!(
        "{}, simulated: {} entries\n\nVirtual time, s\n",
        seen.workload, seen.entries
    );
    let names: Vec<&str> = seen.arms.iter().map(|arm| &*arm.arm).collect();
    let mut times = Grid::new(&[&["session"], &names[..]].concat());
    let sessions = seen
        .arms
        .first()
        .map_or(0, |arm| arm.outcome.sessions.len());
    for at in 0..sessions {
        let of = |arm: &SimulatedArm| arm.outcome.sessions[at].seconds;
        let least = seen.arms.iter().map(of).fold(f64::INFINITY, f64::min);
        let cell = |arm: &SimulatedArm| {
            let star = if of(arm) <= least { "*" } else { " " };
            format!("{}{star}", number(of(arm)))
        };
        let name = seen.arms[0].outcome.sessions[at].name.clone();
        times.row([name].into_iter().chain(seen.arms.iter().map(cell)));
    }
    let total = |arm: &SimulatedArm| format!("{} ", number(arm.outcome.seconds()));
    times.row(
        ["total".to_owned()]
            .into_iter()
            .chain(seen.arms.iter().map(total)),
    );
    let _ = write!(text, "{times}");
    text += &ranks(seen);
    text += &reopened(seen);
    text += &hull(seen);
    text += &learning(seen);
    text += &nearing(seen);
    text += &offered(seen);
    text += &costs(seen);
    text + &evenness(seen)
}

/// Each arm's place in each session but the closing one, and the mean of them: one more
/// than the arms that were better by more than a tie, so that ties share a rank. The
/// oracle takes no part.
fn ranks(seen: &Simulation) -> String {
    let arms: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.arm != ORACLE).collect();
    let Some(first) = arms.first().filter(|_| arms.len() > 1) else {
        return String::new();
    };
    let names: Vec<&str> = arms.iter().map(|arm| &*arm.arm).collect();
    let mut grid = Grid::new(&[&["session"], &names[..]].concat());
    let mut all: Vec<Vec<usize>> = Vec::new();
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        if session.name == CLOSING_SESSION {
            continue;
        }
        let times: Vec<f64> = arms
            .iter()
            .map(|arm| arm.outcome.sessions[at].seconds)
            .collect();
        let rank = |own: &f64| 1 + times.iter().filter(|it| **it * (1.0 + TIE) < *own).count();
        let ranks: Vec<usize> = times.iter().map(rank).collect();
        let cells = ranks.iter().map(|rank| format!("{rank} "));
        grid.row([session.name.clone()].into_iter().chain(cells));
        all.push(ranks);
    }
    let means = (0..arms.len()).map(|arm| {
        let sum: usize = all.iter().map(|ranks| ranks[arm]).sum();
        format!("{:.1} ", sum as f64 / all.len().max(1) as f64)
    });
    grid.row(["mean".to_owned()].into_iter().chain(means));
    format!(
        "\nRanks; times within {:.0} % are a tie\n{grid}",
        100.0 * TIE
    )
}

/// The best static arm, and the bound that no switching between arms passes.
fn hull(seen: &Simulation) -> String {
    let fixed: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.is_static).collect();
    let Some(best) = fixed
        .iter()
        .min_by(|a, b| a.outcome.seconds().total_cmp(&b.outcome.seconds()))
    else {
        return String::new();
    };
    let bound: f64 = (0..best.outcome.sessions.len())
        .map(|at| {
            let times = fixed.iter().map(|arm| arm.outcome.sessions[at].seconds);
            times.fold(f64::INFINITY, f64::min)
        })
        .sum();
    let mut text = format!(
        "\nBest static arm: {}, {} s; the best of each session: {} s\n",
        best.arm,
        number(best.outcome.seconds()),
        number(bound)
    );
    let oracle = seen.arms.iter().find(|arm| arm.arm == ORACLE);
    let oracle = oracle.map(|arm| arm.outcome.seconds());
    for arm in seen.arms.iter().filter(|arm| !arm.is_static) {
        let (own, best) = (arm.outcome.seconds(), best.outcome.seconds());
        let over = |seconds: f64| 100.0 * (own / seconds - 1.0);
        let (against, bounded) = (over(best), over(bound));
        let _ = write!(
            text,
            "  {}: {against:+.1} % against it, {bounded:+.1} % over the best of each session",
            arm.arm
        );
        let yardsticks = [("that headroom", Some(bound)), ("the oracle's", oracle)];
        for (whose, seconds) in yardsticks {
            let to_win = seconds.filter(|it| arm.arm != ORACLE && best > it * (1.0 + TIE));
            if let Some(seconds) = to_win {
                let won = 100.0 * (best - own) / (best - seconds);
                let _ = write!(text, ", won {won:.0} % of {whose}");
            }
        }
        text.push('\n');
    }
    text
}

/// The arms that choose their limits by what they have seen.
fn learners(seen: &Simulation) -> Vec<&SimulatedArm> {
    let arms = seen.arms.iter();
    arms.filter(|arm| arm.chooses_limits && arm.arm != ORACLE)
        .collect()
}

/// How long the limits went on changing in each session.
fn learning(seen: &Simulation) -> String {
    let learners = learners(seen);
    let Some(first) = learners.first() else {
        return String::new();
    };
    let names = learners.iter().map(|arm| arm.arm.clone());
    let columns: Vec<String> = ["session".into()].into_iter().chain(names).collect();
    let mut grid = Grid::new(&columns.iter().map(String::as_str).collect::<Vec<_>>());
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        let cells = learners.iter().map(|arm| {
            let (changes, last) = arm.outcome.changes(at);
            let missions = arm.outcome.sessions[at].missions;
            format!("{changes}, last after {last} of {missions}")
        });
        grid.row([session.name.clone()].into_iter().chain(cells));
    }
    format!(
        "\nChanges of the run limits, and the missions of the session until the last one\n{grid}"
    )
}

/// Missions until each learner was as good as the best static arm of each session.
fn nearing(seen: &Simulation) -> String {
    let learners = learners(seen);
    let fixed: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.is_static).collect();
    let (Some(first), false) = (learners.first(), fixed.is_empty()) else {
        return String::new();
    };
    let names = learners.iter().map(|arm| arm.arm.as_str());
    let titles: Vec<&str> = ["session", "best static"]
        .into_iter()
        .chain(names)
        .collect();
    let mut grid = Grid::new(&titles);
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        let took = |arm: &SimulatedArm| arm.outcome.sessions[at].seconds;
        let best = fixed.iter().min_by(|a, b| took(a).total_cmp(&took(b)));
        let Some(best) = best.filter(|_| session.offered.is_none()) else {
            continue;
        };
        let cells = learners
            .iter()
            .map(|arm| missions_until_near(arm, best, at));
        grid.row(
            [session.name.clone(), best.arm.clone()]
                .into_iter()
                .chain(cells),
        );
    }
    format!("\n{}\n{grid}", near_title())
}

fn missions_until_near(arm: &SimulatedArm, best: &SimulatedArm, session: usize) -> String {
    let course = |arm: &SimulatedArm| {
        let session = arm.outcome.sessions.get(session)?;
        Course::of(session.course.iter().copied())
    };
    let Some((own, best)) = course(arm).zip(course(best)) else {
        return "-".into();
    };
    let points = &arm.outcome.sessions[session].course;
    let missions = arm.outcome.sessions[session].missions;
    match own.near(&best) {
        Some(seconds) => {
            let until = points.iter().filter(|(_, at)| *at <= seconds).count();
            format!("{until} of {missions}")
        }
        None => format!("not in {missions}"),
    }
}

/// How steadily the sessions with an offered rate were carried.
fn offered(seen: &Simulation) -> String {
    let sessions = seen.arms.first().map(|arm| &arm.outcome.sessions[..]);
    let mut text = String::new();
    for (at, session) in sessions.unwrap_or_default().iter().enumerate() {
        if session.offered.is_none() {
            continue;
        }
        let mut grid = Grid::new(&[
            "arm",
            "seconds",
            "under 95 % of the offer",
            "slowest second, %",
            "longest held back, s",
        ]);
        for arm in &seen.arms {
            let session = &arm.outcome.sessions[at];
            if let Some(offered) = &session.offered {
                grid.row([
                    arm.arm.clone(),
                    offered.seconds.to_string(),
                    offered.dips.to_string(),
                    number(100.0 * offered.slowest),
                    number(session.longest_held_back),
                ]);
            }
        }
        let _ = write!(text, "\nAgainst the offered load: {}\n{grid}", session.name);
    }
    text
}

/// The worst moments of all sessions: what schedules are to avoid.
fn evenness(seen: &Simulation) -> String {
    let mut grid = Grid::new(&[
        "arm",
        "longest held back, s",
        "most files in L0",
        "most in L0, MB",
        "busiest second, MB",
        "orders",
    ]);
    for arm in &seen.arms {
        let sessions = &arm.outcome.sessions;
        let most = |of: fn(&SessionOutcome) -> f64| sessions.iter().map(of).fold(0.0, f64::max);
        grid.row([
            arm.arm.clone(),
            number(most(|it| it.longest_held_back)),
            format!("{:.0}", most(|it| it.peak_level0_files as f64)),
            number(most(|it| it.peak_level0_bytes) / 1e6),
            number(most(|it| it.busiest_second) / 1e6),
            arm.outcome.orders.len().to_string(),
        ]);
    }
    format!("\nWorst moments (busiest: what flushes and compactions moved)\n{grid}")
}

fn costs(seen: &Simulation) -> String {
    let mut grid = Grid::new(&[
        "arm",
        "write amp",
        "peak space",
        "end space",
        "stalled, s",
        "largest merge, MB",
        "missions",
        "decisions",
    ]);
    for arm in &seen.arms {
        let outcome = &arm.outcome;
        let stalled: f64 = outcome.sessions.iter().map(|it| it.stall).sum();
        grid.row([
            arm.arm.clone(),
            format!("{:.2}", outcome.write_amplification()),
            format!("{:.2}", outcome.peak_space),
            format!("{:.2}", outcome.sessions.last().map_or(1.0, |it| it.space)),
            number(stalled),
            number(outcome.largest_merge / 1e6),
            outcome.missions.to_string(),
            outcome.decisions.len().to_string(),
        ]);
    }
    format!("\nWhat it cost\n{grid}")
}

/// Every session measured and simulated, then the order of the arms.
pub fn render_calibration(seen: &Calibration) -> String {
    let mut text = format!(
        "{}: error {:.3} before, {:.3} now (root mean square of log ratios)\n\n",
        seen.workload, seen.error_before, seen.error
    );
    let mut grid = Grid::new(&["session", "arm", "measured, s", "simulated, s", "ratio"]);
    let mut sorted: Vec<_> = seen.compared.iter().collect();
    sorted.sort_by_key(|it| {
        seen.compared
            .iter()
            .position(|other| other.session == it.session)
    });
    for it in sorted {
        grid.row([
            it.session.clone(),
            it.arm.clone(),
            number(it.measured),
            number(it.simulated),
            format!("{:.2}", it.simulated / it.measured),
        ]);
    }
    let _ = write!(text, "{grid}\nArms by measured total\n");
    let mut grid = Grid::new(&["arm", "measured, s", "simulated, s", "ratio"]);
    for (arm, measured, simulated) in &seen.totals {
        grid.row([
            arm.clone(),
            number(*measured),
            number(*simulated),
            format!("{:.2}", simulated / measured),
        ]);
    }
    text + &grid.to_string() + &winners(seen)
}

/// Which arm wins, and by how much, measured and simulated; nothing of a single arm.
fn winners(seen: &Calibration) -> String {
    if seen.totals.len() < 2 {
        return String::new();
    }
    let of = |total: fn(&(String, f64, f64)) -> f64| {
        let mut arms: Vec<_> = seen.totals.iter().collect();
        arms.sort_by(|a, b| total(a).total_cmp(&total(b)));
        let ahead = 100.0 * (total(arms[1]) / total(arms[0]) - 1.0);
        format!("{} by {ahead:.1} %", arms[0].0)
    };
    let (measured, simulated) = (of(|it| it.1), of(|it| it.2));
    let mut sessions: Vec<&str> = seen.compared.iter().map(|it| &*it.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    let fastest = |session: &str, seconds: fn(&Compared) -> f64| {
        let own = seen.compared.iter().filter(|it| it.session == session);
        own.min_by(|a, b| seconds(a).total_cmp(&seconds(b)))
            .map(|it| it.arm.clone())
    };
    let agree =
        |session: &&&str| fastest(session, |it| it.measured) == fastest(session, |it| it.simulated);
    format!(
        "\nFastest in total: measured {measured}, simulated {simulated}; in sessions the same \
         arm in {} of {}\n",
        sessions.iter().filter(agree).count(),
        sessions.len()
    )
}

/// Three digits that matter.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
