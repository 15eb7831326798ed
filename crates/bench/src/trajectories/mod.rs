//! Run limits over the sessions as a picture: for each arm a panel with a line for each level,
//! and below it, where that is told, one with the time of an operation. All panels of a kind
//! are on the same scales.

mod frame;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use self::frame::{Axis, Frame};
use crate::error::{BenchError, Result};
use crate::report::escape;

/// Name of the picture in a directory.
pub const LIMITS_FILE: &str = "limits.svg";

/// Colours of the levels, as on the page of a benchmark; deeper ones have the last.
const COLOURS: [&str; 6] = [
    "#e3a43c", "#8fb84e", "#3a9a83", "#3b78b8", "#6d58b0", "#55606e",
];

/// Colours of times: an arm's own, and those beside it.
const OWN: &str = "#0072b2";
const BESIDE: &str = "#aaaaaa";

/// Pixels: the width of the deepest level's line, and what each shallower one has more, so
/// that of equal limits all lines are seen.
const LINE: f64 = 1.6;
const WIDER: f64 = 1.5;

/// Pixels: the text above the panels, and the place of a name in the legend.
const HEAD: f64 = 74.0;
const LEGEND: f64 = 84.0;

/// Limits of a level, each with the place from which on it held. A place is counted in
/// sessions: the number of those before, and the share of this one's operations.
pub(crate) type Steps = Vec<(f64, u16)>;

/// Microseconds of an operation, each with its place.
pub(crate) type Times = Vec<(f64, f64)>;

/// What is drawn.
pub(crate) struct Trajectories {
    /// Behind "Run limits, ".
    pub(crate) title: String,
    /// The sessions' names.
    pub(crate) sessions: Vec<String>,
    /// In order from the top.
    pub(crate) arms: Vec<Trajectory>,
    /// Whose times stand beside all others', with its name.
    pub(crate) beside: Option<(String, Times)>,
}

/// One arm.
pub(crate) struct Trajectory {
    /// Its name.
    pub(crate) arm: String,
    /// Of each level, level 1 first; empty where nothing is known of one.
    pub(crate) limits: Vec<Steps>,
    /// Empty where they are not told.
    pub(crate) times: Times,
}

impl Trajectories {
    /// Writes `limits.svg` into a directory that is there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn write(&self, directory: &Path) -> Result<PathBuf> {
        let path = directory.join(LIMITS_FILE);
        fs::write(&path, self.svg()).map_err(|error| {
            BenchError::new(format!(
                "cannot write {}: {error}; check the path and the free space",
                path.display()
            ))
        })?;
        Ok(path)
    }

    /// The picture.
    pub(crate) fn svg(&self) -> String {
        let frame = Frame::new(&self.sessions);
        let levels = self.levels();
        let limits = Axis::limits(self.highest_limit());
        let times = Axis::quantities(self.longest_time());
        let mut panels = String::new();
        let mut top = HEAD;
        for arm in &self.arms {
            panels += &frame.draw(top, &arm.arm, &limits);
            for (at, steps) in arm.limits.iter().enumerate() {
                let line = Level(at + 1, levels);
                panels += &line.draw(&arm.arm, steps, &frame, &|limit| {
                    frame.y(top, &limits, limit)
                });
            }
            top += frame.panel();
            if !arm.times.is_empty() {
                panels += &self.times_panel(arm, &frame, &times, top);
                top += frame.panel();
            }
        }
        let (width, height) = (Frame::WIDTH, top);
        let head = self.head(&frame, levels);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" \
             fill=\"#1d2129\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
             {head}{panels}</svg>\n"
        )
    }

    fn levels(&self) -> usize {
        let levels = self.arms.iter().map(|arm| arm.limits.len());
        levels.max().unwrap_or(0)
    }

    fn highest_limit(&self) -> u16 {
        let steps = self.arms.iter().flat_map(|arm| arm.limits.iter().flatten());
        steps.map(|(_, limit)| *limit).max().unwrap_or(1)
    }

    fn longest_time(&self) -> f64 {
        let own = self.arms.iter().flat_map(|arm| &arm.times);
        let beside = self.beside.iter().flat_map(|(_, times)| times);
        let all = own.chain(beside).map(|(_, micros)| *micros);
        all.fold(0.0, f64::max)
    }

    /// The title and the legend.
    fn head(&self, frame: &Frame, levels: usize) -> String {
        let left = frame.left;
        let mut svg = format!(
            "<text x=\"{left}\" y=\"22\" font-size=\"15\">Run limits, {}</text>\n\
             <text x=\"{left}\" y=\"40\" fill=\"#626a78\">over the operations of each session; \
             all sessions are equally wide</text>\n",
            escape(&self.title)
        );
        for level in 1..=levels {
            let x = left + (level - 1) as f64 * LEGEND;
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} 58h22\" {}/><text x=\"{:.1}\" y=\"62\">level {level}</text>",
                Level(level, levels).stroke(),
                x + 28.0
            );
        }
        svg
    }

    fn times_panel(&self, arm: &Trajectory, frame: &Frame, axis: &Axis, top: f64) -> String {
        let what = format!("{}: time of an operation, µs", arm.arm);
        let caption = match &self.beside {
            Some((name, _)) => format!("{what}; grey: {name}, the best static arm"),
            None => what,
        };
        let mut svg = frame.draw(top, &caption, axis);
        let beside = self.beside.as_ref().map(|(_, times)| (times, BESIDE));
        for (times, colour) in beside.into_iter().chain([(&arm.times, OWN)]) {
            let points = times.iter().map(|(place, micros)| {
                format!("{:.1} {:.1}", frame.x(*place), frame.y(top, axis, *micros))
            });
            let points: Vec<String> = points.collect();
            let _ = writeln!(
                svg,
                "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.4\"/>",
                points.join("L")
            );
        }
        svg
    }
}

/// A level, and how many there are.
struct Level(usize, usize);

impl Level {
    fn stroke(&self) -> String {
        let Level(level, levels) = self;
        let colour = COLOURS[(level - 1).min(COLOURS.len() - 1)];
        let width = LINE + WIDER * (levels - level) as f64;
        format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width:.1}\"")
    }

    /// The steps of its limit, to the end of the last session; nothing without any.
    fn draw(
        &self,
        arm: &str,
        steps: &[(f64, u16)],
        frame: &Frame,
        y: &dyn Fn(f64) -> f64,
    ) -> String {
        let Some((first, rest)) = steps.split_first() else {
            return String::new();
        };
        let at = |(place, limit): &(f64, u16)| (frame.x(*place), y(f64::from(*limit)));
        let (x, height) = at(first);
        let mut path = format!("M{x:.1} {height:.1}");
        for (x, height) in rest.iter().map(at) {
            let _ = write!(path, "H{x:.1}V{height:.1}");
        }
        let _ = write!(path, "H{:.1}", Frame::END);
        format!(
            "<path d=\"{path}\" {}><title>{}, level {}</title></path>\n",
            self.stroke(),
            escape(arm),
            self.0
        )
    }
}
