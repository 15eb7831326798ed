//! Levels, runs and drains of a tree that the autopilot drives.

use super::bar::{bytes, filled, plural, rest};
use super::paint::{Colour, Style};
use super::wrap::hang;
use crate::inspect::portrait::{DrainPortrait, Flexible, Landing, Level, Level0, Run, RunState};

/// Columns of the first word of a line.
const LABEL: usize = 9;

/// The share of tombstones from which it is worth a word.
const NOTABLE: f64 = 0.005;

pub(super) fn draw(tree: &Flexible, style: &Style) -> String {
    let mut text = level0(&tree.level0, style);
    text.extend(
        tree.landing
            .as_ref()
            .map(|landing| landing_line(landing, style)),
    );
    for level in &tree.levels {
        text += &level_line(level, style);
        for run in &level.runs {
            text += &run_line(run, level.capacity, style);
        }
    }
    if tree.levels.is_empty() {
        text += &style.paint(Colour::Dim, "no runs below L0");
        text.push('\n');
    }
    if !tree.drains.is_empty() {
        text += &format!("{}\n", style.paint(Colour::Bold, "drains"));
        for drain in &tree.drains {
            text += &drain_lines(drain);
        }
    }
    text
}

fn level0(level0: &Level0, style: &Style) -> String {
    let share = level0.files as f64 / f64::from(level0.trigger.max(1));
    line(
        &style.paint(Colour::Bold, &label("L0")),
        &gauge(share, style),
        &format!(
            "{:>8}  {:>11}  trigger {}",
            bytes(level0.bytes),
            plural(level0.files as u64, "file"),
            level0.trigger
        ),
    )
}

fn landing_line(landing: &Landing, style: &Style) -> String {
    line(
        &style.paint(Colour::Bold, &label("landing")),
        &rest("", ' '),
        &format!(
            "{:>8}  {:>11}  left by RocksDB itself",
            bytes(landing.bytes),
            plural(landing.files as u64, "file"),
        ),
    )
}

fn level_line(level: &Level, style: &Style) -> String {
    let share = level.bytes as f64 / level.capacity.max(1) as f64;
    let runs = format!(
        "{}, limit {}",
        plural(level.runs.len() as u64, "run"),
        level.run_limit
    );
    line(
        &style.paint(Colour::Bold, &label(&format!("level {}", level.level))),
        &gauge(share, style),
        &format!(
            "{:>8} of {:>8}  {:>4.0} %  {runs}",
            bytes(level.bytes),
            bytes(level.capacity),
            (share * 100.0).min(9_999.0),
        ),
    )
}

fn run_line(run: &Run, capacity: u64, style: &Style) -> String {
    let (colour, word) = match run.state {
        RunState::Active => (Colour::Green, "active"),
        RunState::Sealed => (Colour::Blue, "sealed"),
        RunState::Draining => (Colour::Yellow, "draining"),
        RunState::Receiving => (Colour::Magenta, "receiving"),
    };
    let bar = filled(run.bytes as f64 / capacity.max(1) as f64);
    let tombstones = match run.tombstone_share {
        Some(share) if share >= NOTABLE => format!(", {:.0} % tombstones", share * 100.0),
        _ => String::new(),
    };
    line(
        &label(&format!(" slot {}", run.slot)),
        &(style.paint(colour, &bar) + &rest(&bar, ' ')),
        &format!(
            "{:>8}  {:>11}  {}{tombstones}",
            bytes(run.bytes),
            plural(run.files as u64, "file"),
            style.paint(colour, word),
        ),
    )
}

fn drain_lines(drain: &DrainPortrait) -> String {
    let sentence = format!(
        "{} into {}, {} left: {}",
        drain.from,
        drain.to,
        bytes(drain.bytes_left),
        drain.reason
    );
    hang(&format!("  #{:<5} ", drain.id), &sentence)
}

/// A bar against its full width; red when there is more than that.
fn gauge(share: f64, style: &Style) -> String {
    let bar = filled(share);
    let colour = if share > 1.0 {
        Colour::Red
    } else {
        Colour::Bold
    };
    style.paint(colour, &bar) + &style.paint(Colour::Dim, &rest(&bar, '░'))
}

fn label(text: &str) -> String {
    format!("{text:<LABEL$}")
}

fn line(label: &str, bar: &str, rest: &str) -> String {
    format!("{label}{bar}  {rest}").trim_end().to_owned() + "\n"
}
