//! With and without state from an earlier run, as a table.

use super::table::number;
use super::{REOPENED, SimulatedArm, Simulation};
use crate::report::Grid;

/// An arm that knew nothing at the load, and the same with what the first one kept.
type Passes<'a> = (&'a SimulatedArm, &'a SimulatedArm);

/// Sessions as rows; for each arm that was reopened its two passes and what the second one
/// took more. Empty where none was.
pub(super) fn reopened(seen: &Simulation) -> String {
    let passes = passes(seen);
    let Some((first, _)) = passes.first() else {
        return String::new();
    };
    let titles = passes.iter().flat_map(|(first, second)| {
        let names = [first, second].map(|pass| pass.arm.as_str());
        names.into_iter().chain(["change, %"])
    });
    let titles: Vec<&str> = ["session"].into_iter().chain(titles).collect();
    let mut grid = Grid::new(&titles);
    for (at, session) in first.outcome.sessions.iter().enumerate() {
        let took = |pass: &SimulatedArm| pass.outcome.sessions[at].seconds;
        grid.row(row(&session.name, &passes, took));
    }
    grid.row(row("total", &passes, |pass| pass.outcome.seconds()));
    format!(
        "\nWith what an earlier run has taught (reopened), and without: virtual time, s\n{grid}"
    )
}

/// Every arm with the one that is called the same, reopened.
fn passes(seen: &Simulation) -> Vec<Passes<'_>> {
    let second = |first: &SimulatedArm| {
        let name = format!("{}{REOPENED}", first.arm);
        seen.arms.iter().find(|arm| arm.arm == name)
    };
    let arms = seen.arms.iter();
    arms.filter_map(|first| Some((first, second(first)?)))
        .collect()
}

fn row(name: &str, passes: &[Passes<'_>], took: impl Fn(&SimulatedArm) -> f64) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    for &(first, second) in passes {
        let (first, second) = (took(first), took(second));
        let change = 100.0 * (second / first - 1.0);
        cells.extend([number(first), number(second), format!("{change:+.1}")]);
    }
    cells
}
