//! What each level cost, session by session.

use std::fmt::Write as _;

use lissom_sim::SessionOutcome;

use super::table::number;
use super::{SimulatedArm, Simulation};
use crate::report::Grid;

/// A table for each session, with a row for each level of each arm.
pub fn render_levels(seen: &Simulation) -> String {
    let sessions = seen.arms.first().map(|arm| &arm.outcome.sessions[..]);
    let mut text = String::new();
    for (at, session) in sessions.unwrap_or_default().iter().enumerate() {
        let _ = write!(
            text,
            "\nCost by level: {}; reads and filters for each 1,000 operations\n{}",
            session.name,
            levels(&seen.arms, at)
        );
    }
    text
}

fn levels(arms: &[SimulatedArm], at: usize) -> Grid {
    let mut grid = Grid::new(&[
        "arm",
        "level",
        "blocks read",
        "filters asked",
        "passed in vain",
        "merging, s",
        "merges read, MB",
        "written, MB",
    ]);
    for arm in arms {
        for row in rows(&arm.arm, &arm.outcome.sessions[at]) {
            grid.row(row);
        }
    }
    grid
}

fn rows<'a>(arm: &'a str, session: &'a SessionOutcome) -> impl Iterator<Item = [String; 8]> + 'a {
    let thousands = (session.operations / 1e3).max(f64::MIN_POSITIVE);
    let levels = session.by_level.iter().enumerate();
    levels.map(move |(at, cost)| {
        [
            arm.to_owned(),
            (at + 1).to_string(),
            number(cost.block_reads / thousands),
            number(cost.filter_probes / thousands),
            number(cost.false_positives.max(0.0) / thousands),
            number(cost.merge_seconds),
            number(cost.merge_read_bytes / 1e6),
            number(cost.merge_write_bytes / 1e6),
        ]
    })
}
