//! The run limits of each arm that follows the workload over the sessions, as a picture: a
//! panel for each arm, a line for each level, all panels on the same scales.

mod frame;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lissom::core::LogicalLevel;
use lissom_sim::{HeldLimits, Outcome};

use self::frame::Frame;
use super::{ORACLE, SimulatedArm, Simulation};
use crate::error::{BenchError, Result};
use crate::report::escape;

/// Name of the picture in the output directory.
pub const LIMITS_FILE: &str = "limits.svg";

/// Colours of the levels, as on the page of a benchmark; deeper ones have the last.
const COLOURS: [&str; 6] = [
    "#e3a43c", "#8fb84e", "#3a9a83", "#3b78b8", "#6d58b0", "#55606e",
];

/// Pixels: the width of the deepest level's line, and what each shallower one has more, so
/// that of equal limits all lines are seen.
const LINE: f64 = 1.6;
const WIDER: f64 = 1.5;

/// Pixels: the text above the panels, and the place of a name in the legend.
const HEAD: f64 = 74.0;
const LEGEND: f64 = 84.0;

/// Writes `limits.svg` into a directory that is there: the run limits over the operations, of
/// each arm that follows the workload.
///
/// # Errors
/// When it cannot be written.
pub fn write_limits(seen: &Simulation, out: &Path) -> Result<PathBuf> {
    let path = out.join(LIMITS_FILE);
    fs::write(&path, limits_svg(seen)).map_err(|error| {
        BenchError::new(format!(
            "cannot write {}: {error}; check the path and the free space",
            path.display()
        ))
    })?;
    Ok(path)
}

/// The picture.
pub(super) fn limits_svg(seen: &Simulation) -> String {
    let follows = |arm: &&SimulatedArm| arm.chooses_limits && arm.arm != ORACLE;
    let arms: Vec<&SimulatedArm> = seen.arms.iter().filter(follows).collect();
    let sessions = arms.first().map_or(&[][..], |arm| &arm.outcome.sessions);
    let names: Vec<&str> = sessions.iter().map(|session| &*session.name).collect();
    let held = arms.iter().flat_map(|arm| &arm.outcome.held);
    let levels = arms.iter().map(|arm| levels(&arm.outcome)).max();
    let levels = levels.unwrap_or(1);
    let most = held.flat_map(|held| (1..=levels).map(|level| limit(held, level)));
    let frame = Frame::new(&names, most.max().unwrap_or(1));
    let (width, height) = (Frame::WIDTH, HEAD + arms.len() as f64 * frame.panel());
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" \
         fill=\"#1d2129\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    svg += &head(&seen.workload, &frame, levels);
    for (at, arm) in arms.iter().enumerate() {
        let top = HEAD + at as f64 * frame.panel();
        svg += &frame.draw(top, &arm.arm);
        for level in 1..=levels {
            svg += &line(arm, level, levels, &frame, top);
        }
    }
    svg + "</svg>\n"
}

/// Levels that held data at the end of a session, at least one.
fn levels(outcome: &Outcome) -> u16 {
    let deepest = outcome.sessions.iter().map(|session| session.levels);
    deepest.max().unwrap_or(0).max(1)
}

fn limit(held: &HeldLimits, level: u16) -> u16 {
    held.limits.get(LogicalLevel(level)).get()
}

/// The title and the legend.
fn head(workload: &str, frame: &Frame, levels: u16) -> String {
    let left = frame.left;
    let mut svg = format!(
        "<text x=\"{left}\" y=\"22\" font-size=\"15\">Run limits, {}, simulated</text>\n\
         <text x=\"{left}\" y=\"40\" fill=\"#626a78\">over the operations of each session; \
         all sessions are equally wide</text>\n",
        escape(workload)
    );
    for level in 1..=levels {
        let x = left + f64::from(level - 1) * LEGEND;
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} 58h22\" {}/><text x=\"{:.1}\" y=\"62\">level {level}</text>",
            stroke(level, levels),
            x + 28.0
        );
    }
    svg
}

fn stroke(level: u16, levels: u16) -> String {
    let colour = COLOURS[usize::from(level - 1).min(COLOURS.len() - 1)];
    let width = LINE + WIDER * f64::from(levels - level);
    format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.1}\"")
}

/// The steps of one level's limit, to the end of the last session.
fn line(arm: &SimulatedArm, level: u16, levels: u16, frame: &Frame, top: f64) -> String {
    let sessions = &arm.outcome.sessions;
    let mut path = String::new();
    for held in &arm.outcome.held {
        let of = sessions.get(held.session).map_or(0.0, |it| it.operations);
        let share = (held.operations / of.max(1.0)).clamp(0.0, 1.0);
        let x = frame.x(held.session as f64 + share);
        let y = frame.y(top, limit(held, level));
        let _ = if path.is_empty() {
            write!(path, "M{x:.1} {y:.1}")
        } else {
            write!(path, "H{x:.1}V{y:.1}")
        };
    }
    let _ = write!(path, "H{:.1}", frame.x(sessions.len() as f64));
    format!(
        "<path d=\"{path}\" {}><title>{}, level {level}</title></path>\n",
        stroke(level, levels),
        escape(&arm.arm)
    )
}
