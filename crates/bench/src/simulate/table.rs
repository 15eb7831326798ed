//! Simulations as tables.

use std::fmt::Write as _;
use std::iter::once;

use lissom_sim::{Outcome, SessionOutcome};

use super::cautions::cautions;
use super::hull::hull;
use super::learning::{changes, nearing, steps};
use super::oracle::followed;
use super::reopened::reopened;
use super::{SimulatedArm, Simulation, seconds_before_closing};
use crate::judge::Figure;
use crate::report::{Grid, figure, figure_with};
use crate::workload::CLOSING_SESSION;

/// Times that differ by less, relative, are a tie: less than the model can tell.
pub(super) const TIE: f64 = 0.01;

/// Whether one time is better than another by more than a tie.
pub(super) fn is_ahead(time: &Figure, other: &Figure) -> bool {
    time.median * (1.0 + TIE) < other.median && time.is_ahead_of(other)
}

/// Sessions as rows, arms as columns; then what it cost, arms as rows.
pub fn render_simulation(seen: &Simulation) -> String {
    let mut text = head(seen);
    text += &times(seen);
    text += &ranks(seen);
    text += &reopened(seen);
    text += &hull(seen);
    text += &followed(seen);
    text += &changes(seen);
    text += &steps(seen);
    text += &nearing(seen);
    text += &offered(seen);
    text += &costs(seen);
    text + &evenness(seen)
}

/// What was simulated, the times, and who was ahead in total.
pub(crate) fn render_summary(seen: &Simulation) -> String {
    head(seen) + &times(seen) + &hull(seen)
}

/// What was simulated, by whom, and what its figures lack.
fn head(seen: &Simulation) -> String {
    let program = seen.program.as_ref().map(|it| format!("; {it}"));
    let mut text = format!(
        "{}, simulated: {} entries{}\n",
        seen.workload,
        seen.entries,
        program.unwrap_or_default()
    );
    let seeds = seen.arms.iter().map(|arm| 1 + arm.others.len()).max();
    if let Some(seeds) = seeds.filter(|seeds| *seeds > 1) {
        let _ = writeln!(
            text,
            "Learners with {seeds} seeds of the noise: times are medians, ± is half their \
             range; limits, steps and missions are those of the first seed"
        );
    }
    for caution in cautions(seen) {
        let _ = writeln!(text, "  ! {caution}");
    }
    text
}

/// A star marks the best of a session and who ties with it.
fn times(seen: &Simulation) -> String {
    let mut grid = grid_of(&seen.arms.iter().collect::<Vec<_>>());
    let sessions = seen.arms.first().map(|arm| &arm.outcome.sessions[..]);
    for (at, session) in sessions.unwrap_or_default().iter().enumerate() {
        let times: Vec<Figure> = seen.arms.iter().map(|it| it.session_seconds(at)).collect();
        let own = || seen.arms.iter().zip(&times);
        let rivals = own().filter(|(arm, _)| arm.is_rival());
        let best = rivals.min_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let cell = |(arm, time): (&SimulatedArm, &Figure)| {
            let is_best = best.is_some_and(|(_, best)| !is_ahead(best, time));
            let star = if is_best && arm.is_rival() { "*" } else { " " };
            figure(time) + star
        };
        grid.row(once(session.name.clone()).chain(own().map(cell)));
    }
    let mut total = |name: &str, of: fn(&Outcome) -> f64| {
        let cell = |arm: &SimulatedArm| figure(&arm.over_seeds(of)) + " ";
        grid.row(once(name.to_owned()).chain(seen.arms.iter().map(cell)));
    };
    total("total", Outcome::seconds);
    total("before closing", seconds_before_closing);
    format!("\nVirtual time, s\n{grid}")
}

/// A grid with sessions as rows and these arms as columns.
pub(super) fn grid_of(arms: &[&SimulatedArm]) -> Grid {
    let names = arms.iter().map(|arm| arm.arm.as_str());
    let titles: Vec<&str> = once("session").chain(names).collect();
    Grid::new(&titles)
}

/// Each arm's place in each session but the closing one, and the means of them: one more
/// than the arms that were better by more than a tie, so that ties share a rank; then by
/// medians alone. The oracle takes no part.
fn ranks(seen: &Simulation) -> String {
    let arms: Vec<&SimulatedArm> = seen.arms.iter().filter(|arm| arm.is_rival()).collect();
    let Some(first) = arms.first().filter(|_| arms.len() > 1) else {
        return String::new();
    };
    let mut grid = grid_of(&arms);
    let mut sums = vec![(0, 0); arms.len()];
    let mut sessions = 0_u32;
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        if session.name == CLOSING_SESSION {
            continue;
        }
        let times: Vec<Figure> = arms.iter().map(|it| it.session_seconds(at)).collect();
        let rank = |own: &Figure| 1 + times.iter().filter(|it| is_ahead(it, own)).count();
        for (sum, own) in sums.iter_mut().zip(&times) {
            sum.0 += rank(own);
            sum.1 += 1 + times.iter().filter(|it| it.median < own.median).count();
        }
        let cells = times.iter().map(|own| format!("{} ", rank(own)));
        grid.row(once(session.name.clone()).chain(cells));
        sessions += 1;
    }
    let mean = |sum: usize| format!("{:.1} ", sum as f64 / f64::from(sessions.max(1)));
    let means = sums.iter().map(|(ties, _)| mean(*ties));
    grid.row(once("mean".to_owned()).chain(means));
    let means = sums.iter().map(|(_, medians)| mean(*medians));
    grid.row(once("by medians".to_owned()).chain(means));
    format!(
        "\nRanks; times within {:.0} % are a tie, and medians within the range of the better one\n\
         {grid}",
        100.0 * TIE
    )
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
            figure_with(&arm.over_seeds(Outcome::write_amplification), 2),
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

/// Three digits that matter.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
