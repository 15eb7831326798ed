//! RocksDB's own levels.

use super::bar::{bytes, filled, plural, rest};
use super::paint::{Colour, Style};
use crate::inspect::portrait::{Plain, PlainLevel};

pub(super) fn draw(tree: &Plain, total: u64, style: &Style) -> String {
    tree.levels
        .iter()
        .map(|level| level_line(level, total, style))
        .collect()
}

fn level_line(level: &PlainLevel, total: u64, style: &Style) -> String {
    let share = level.bytes as f64 / total.max(1) as f64;
    let bar = filled(share);
    let tombstones = match level.tombstone_share {
        Some(share) if share >= 0.005 => format!("  {:.0} % tombstones", share * 100.0),
        _ => String::new(),
    };
    let label = style.paint(Colour::Bold, &format!("{:<9}", format!("L{}", level.level)));
    let line = format!(
        "{label}{}{}  {:>8}  {:>11}  {:>3.0} %{tombstones}",
        style.paint(Colour::Blue, &bar),
        rest(&bar, ' '),
        bytes(level.bytes),
        plural(level.files as u64, "file"),
        share * 100.0,
    );
    line.trim_end().to_owned() + "\n"
}
