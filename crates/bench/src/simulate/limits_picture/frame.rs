//! The scales of the panels, and what lies behind the lines.

use std::fmt::Write as _;

use crate::report::escape;

/// Pixels of a panel: its name, the plot, what is left free under all.
const CAPTION: f64 = 24.0;
const PLOT: f64 = 132.0;
const GAP: f64 = 14.0;
const RIGHT: f64 = 16.0;

/// Pixels of a letter, about, and those of a name that lies slanted: to the left, and down.
const LETTER: f64 = 6.2;
const SLANT: (f64, f64) = (0.85, 0.53);

/// Names of sessions are cut behind so many letters.
const MOST_LETTERS: usize = 20;

/// The least pixels between two names that are slanted.
const LEAST_APART: f64 = 15.0;

/// Marks on the vertical axis, at most.
const MOST_MARKS: u16 = 6;

/// All panels have the same.
pub(super) struct Frame {
    /// Where the plots begin.
    pub(super) left: f64,
    names: Vec<String>,
    /// The highest limit of all.
    most: u16,
    /// Names that do not fit beside each other are slanted.
    slanted: bool,
    /// Pixels of the names under a plot.
    foot: f64,
}

impl Frame {
    /// Pixels.
    pub(super) const WIDTH: f64 = 980.0;

    /// A frame for these sessions, and for limits from 1 to the highest.
    pub(super) fn new(names: &[&str], most: u16) -> Frame {
        let names: Vec<String> = names.iter().map(|name| cut(name)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max();
        let longest = LETTER * (longest.unwrap_or(0) + 1) as f64;
        let left = 40.0;
        let slanted = longest * names.len() as f64 > Frame::WIDTH - left - RIGHT;
        Frame {
            left: if slanted {
                left.max(SLANT.0 * longest)
            } else {
                left
            },
            names,
            most: most.max(2),
            slanted,
            foot: if slanted {
                14.0 + SLANT.1 * longest
            } else {
                18.0
            },
        }
    }

    /// Pixels from the top of one panel to that of the next.
    pub(super) fn panel(&self) -> f64 {
        CAPTION + PLOT + self.foot + GAP
    }

    /// A place between 0 and the number of sessions.
    pub(super) fn x(&self, place: f64) -> f64 {
        let sessions = self.names.len().max(1) as f64;
        self.left + (Frame::WIDTH - self.left - RIGHT) * place / sessions
    }

    /// A run limit; the axis begins at 0.
    pub(super) fn y(&self, top: f64, limit: u16) -> f64 {
        let room = PLOT / (f64::from(self.most) + 0.5);
        top + CAPTION + PLOT - room * f64::from(limit)
    }

    /// The name of the panel, the sessions as bands, and the marks.
    pub(super) fn draw(&self, top: f64, arm: &str) -> String {
        let mut svg = format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
            self.left,
            top + CAPTION - 8.0,
            escape(arm)
        );
        self.bands(&mut svg, top + CAPTION);
        let step = self.most.div_ceil(MOST_MARKS).max(1);
        let marks = (1..=self.most).filter(|limit| limit.is_multiple_of(step));
        for limit in marks {
            let y = self.y(top, limit);
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"#e1dfd9\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\" fill=\"#626a78\">{limit}</text>",
                self.left,
                Frame::WIDTH - RIGHT,
                self.left - 8.0,
                y + 4.0
            );
        }
        svg
    }

    fn bands(&self, svg: &mut String, top: f64) {
        let width = self.x(1.0) - self.x(0.0);
        let every = (LEAST_APART / width).ceil().max(1.0) as usize;
        for (at, name) in self.names.iter().enumerate() {
            let x = self.x(at as f64);
            let fill = if at % 2 == 0 { "#fbfaf7" } else { "#f1eee7" };
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{PLOT}\" \
                 fill=\"{fill}\"/>"
            );
            if at % every == 0 {
                self.name(svg, name, (x + width / 2.0, top + PLOT + 14.0));
            }
        }
    }

    fn name(&self, svg: &mut String, name: &str, (x, y): (f64, f64)) {
        let placed = if self.slanted {
            format!("text-anchor=\"end\" transform=\"rotate(-32 {x:.1} {y:.1})\"")
        } else {
            "text-anchor=\"middle\"".to_owned()
        };
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" fill=\"#626a78\" {placed}>{}</text>",
            escape(name)
        );
    }
}

fn cut(name: &str) -> String {
    if name.chars().count() <= MOST_LETTERS {
        return name.to_owned();
    }
    let kept: String = name.chars().take(MOST_LETTERS - 1).collect();
    kept + "…"
}
