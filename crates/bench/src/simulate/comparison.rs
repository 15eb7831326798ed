//! What a calibration found, as tables.

use std::fmt::Write as _;

use super::calibrate::{Calibration, joint_error};
use super::measured::Compared;
use super::table::{is_ahead, number};
use crate::distinct::distinct;
use crate::judge::{Figure, Standing};
use crate::report::{Grid, figure};
use crate::run::LEAST_ROUNDS;

/// What was fitted, one table for each of the results, and after it what the constants are held
/// against. Of several that were fitted together the error of all comes first, with the
/// `caution`.
pub fn render_calibrations(
    fitted: &[Calibration],
    compared: &[Calibration],
    caution: Option<&str>,
) -> String {
    let mut text = match fitted {
        [] | [_] => String::new(),
        several => together(several, caution),
    };
    text += &tables(fitted);
    if !fitted.is_empty() && !compared.is_empty() {
        text += "\nThe fitted constants against other results\n\n";
    }
    text + &tables(compared)
}

fn together(fitted: &[Calibration], caution: Option<&str>) -> String {
    let all = |of: fn(&Calibration) -> f64| {
        let errors: Vec<f64> = fitted.iter().map(of).collect();
        joint_error(&errors)
    };
    let names: Vec<&str> = fitted.iter().map(|it| it.workload.as_str()).collect();
    let mut text = format!(
        "{}, fitted together: error {:.3} before, {:.3} now (root mean square of log ratios, each \
         of the results weighing the same)\n",
        names.join(", "),
        all(|it| it.error_before),
        all(|it| it.error)
    );
    text.extend(caution.map(|it| format!("  ! {it}\n")));
    text + "\n"
}

fn tables(seen: &[Calibration]) -> String {
    let tables: Vec<String> = seen.iter().map(render_calibration).collect();
    tables.join("\n")
}

/// Every session measured and simulated, then the order of the arms.
pub fn render_calibration(seen: &Calibration) -> String {
    let mut text = format!(
        "{}: error {:.3} before, {:.3} now (root mean square of log ratios)\n",
        seen.workload, seen.error_before, seen.error
    );
    let measured = seen.measured_by.iter().map(|it| ("measured", it));
    let simulated = seen.program.iter().map(|it| ("simulated", it));
    for (what, program) in measured.chain(simulated) {
        let _ = writeln!(text, "{what} by {program}");
    }
    let _ = write!(text, "\n{}\nArms by measured total\n", sessions(seen));
    let mut grid = Grid::new(&["arm", "measured, s", "simulated, s", "ratio"]);
    for it in &seen.totals {
        grid.row([
            it.arm.clone(),
            figure(&it.measured),
            number(it.simulated),
            format!("{:.2}", it.simulated / it.measured.median),
        ]);
    }
    text + &grid.to_string() + &winners(seen)
}

/// Sessions in their order, each with its arms.
fn sessions(seen: &Calibration) -> Grid {
    let mut grid = Grid::new(&["session", "arm", "measured, s", "simulated, s", "ratio"]);
    for session in distinct(seen.compared.iter().map(|it| &it.session)) {
        for it in seen.compared.iter().filter(|it| it.session == *session) {
            grid.row([
                it.session.clone(),
                it.arm.clone(),
                figure(&it.measured),
                number(it.simulated),
                format!("{:.2}", it.simulated / it.measured.median),
            ]);
        }
    }
    grid
}

/// An arm with its time.
type Timed<'a> = (&'a str, Figure);

/// Which arm wins, and by how much, measured and simulated; nothing of a single arm. Inside
/// the spread nobody wins, nor where too few rounds were measured.
fn winners(seen: &Calibration) -> String {
    if seen.totals.len() < 2 {
        return String::new();
    }
    let totals = seen.totals.iter();
    let simulated: Vec<Timed<'_>> = totals
        .clone()
        .map(|it| (it.arm.as_str(), alone(it.simulated)))
        .collect();
    let simulated = fastest(&simulated, is_ahead);
    let rounds = totals.clone().map(|it| it.measured.values.len()).min();
    if rounds < Some(LEAST_ROUNDS as usize) {
        return format!(
            "\nFastest in total: simulated {simulated}; what was measured is no comparison, for \
             it has under {LEAST_ROUNDS} rounds\n"
        );
    }
    let measured: Vec<Timed<'_>> = totals
        .map(|it| (it.arm.as_str(), it.measured.clone()))
        .collect();
    let measured = fastest(&measured, is_faster);
    let (agree, apart) = agreeing(seen);
    format!(
        "\nFastest in total: measured {measured}, simulated {simulated}; of {apart} sessions that \
         were measured apart, who is simulated the fastest is among the fastest in {agree}\n"
    )
}

/// In how many sessions the arm that is simulated the fastest is among those that were
/// measured the fastest, and how many there are in which not all are.
fn agreeing(seen: &Calibration) -> (usize, usize) {
    let (mut agree, mut apart) = (0, 0);
    for session in distinct(seen.compared.iter().map(|it| &it.session)) {
        let own = seen.compared.iter().filter(|it| it.session == *session);
        let own: Vec<&Compared> = own.collect();
        let measured: Vec<Timed<'_>> = own
            .iter()
            .map(|it| (it.arm.as_str(), it.measured.clone()))
            .collect();
        let simulated = own
            .iter()
            .min_by(|a, b| a.simulated.total_cmp(&b.simulated));
        let leaders = leaders(&measured, is_faster);
        if leaders.len() < own.len() {
            apart += 1;
            agree += usize::from(simulated.is_some_and(|it| leaders.contains(&it.arm.as_str())));
        }
    }
    (agree, apart)
}

/// A time without a spread.
fn alone(seconds: f64) -> Figure {
    Figure::of([seconds]).unwrap_or_default()
}

/// Whether a time is better than another one outside the spread.
fn is_faster(time: &Figure, other: &Figure) -> bool {
    time.against(other) == Standing::Win
}

/// The fastest arm and by how much, or those that tie.
fn fastest(timed: &[Timed<'_>], is_ahead: fn(&Figure, &Figure) -> bool) -> String {
    let leaders = leaders(timed, is_ahead);
    let mut medians: Vec<f64> = timed.iter().map(|(_, time)| time.median).collect();
    medians.sort_by(f64::total_cmp);
    match (&leaders[..], &medians[..]) {
        ([leader], [least, next, ..]) => {
            format!("{leader} by {:.1} %", 100.0 * (next / least - 1.0))
        }
        _ => format!("a tie of {}", leaders.join(", ")),
    }
}

/// The arm with the lowest median, and those that it is not ahead of.
fn leaders<'a>(timed: &[Timed<'a>], is_ahead: fn(&Figure, &Figure) -> bool) -> Vec<&'a str> {
    let mut sorted: Vec<&Timed<'a>> = timed.iter().collect();
    sorted.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    let Some((_, best)) = sorted.first() else {
        return Vec::new();
    };
    let level = sorted.iter().filter(|(_, time)| !is_ahead(best, time));
    level.map(|(arm, _)| *arm).collect()
}
