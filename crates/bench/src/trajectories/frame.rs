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

/// Marks on a vertical axis, at most.
const MOST_MARKS: u16 = 6;

/// A vertical axis, from 0 on.
pub(super) struct Axis {
    /// What its end stands for.
    most: f64,
    marks: Vec<(f64, String)>,
}

impl Axis {
    /// Run limits, from 1 to the highest.
    pub(super) fn limits(most: u16) -> Axis {
        let most = most.max(2);
        let step = most.div_ceil(MOST_MARKS).max(1);
        let marks = (1..=most).filter(|limit| limit.is_multiple_of(step));
        Axis {
            most: f64::from(most) + 0.5,
            marks: marks.map(|it| (f64::from(it), it.to_string())).collect(),
        }
    }

    /// Quantities up to the highest, with round marks.
    pub(super) fn quantities(most: f64) -> Axis {
        let most = if most > 0.0 { most } else { 1.0 };
        let step = round_up(most / f64::from(MOST_MARKS));
        let digits = (-step.log10().floor()).max(0.0) as usize;
        let marks = (1..=MOST_MARKS).map(|number| f64::from(number) * step);
        let marks = marks.filter(|mark| *mark <= most);
        Axis {
            most: 1.05 * most,
            marks: marks.map(|it| (it, format!("{it:.digits$}"))).collect(),
        }
    }
}

/// The least of 1, 2, 5, 10, 20 and so on, and of their decimal parts, that is not under `least`.
fn round_up(least: f64) -> f64 {
    let unit = 10_f64.powf(least.log10().floor());
    let round = [1.0, 2.0, 5.0].map(|factor| factor * unit);
    let found = round.into_iter().find(|it| *it >= least);
    found.unwrap_or(10.0 * unit)
}

/// All panels have the same.
pub(super) struct Frame {
    /// Where the plots begin.
    pub(super) left: f64,
    names: Vec<String>,
    /// Names that do not fit beside each other are slanted.
    slanted: bool,
    /// Pixels of the names under a plot.
    foot: f64,
}

impl Frame {
    /// Pixels.
    pub(super) const WIDTH: f64 = 980.0;
    /// Where the plots end.
    pub(super) const END: f64 = Frame::WIDTH - RIGHT;

    /// A frame for these sessions.
    pub(super) fn new(names: &[String]) -> Frame {
        let names: Vec<String> = names.iter().map(|name| cut(name)).collect();
        let longest = names.iter().map(|name| name.chars().count()).max();
        let longest = LETTER * (longest.unwrap_or(0) + 1) as f64;
        let left = 40.0;
        let slanted = longest * names.len() as f64 > Frame::END - left;
        Frame {
            left: if slanted {
                left.max(SLANT.0 * longest)
            } else {
                left
            },
            names,
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
        self.left + (Frame::END - self.left) * place / sessions
    }

    /// A value on an axis.
    pub(super) fn y(&self, top: f64, axis: &Axis, value: f64) -> f64 {
        top + CAPTION + PLOT - PLOT * value / axis.most
    }

    /// The name of the panel, the sessions as bands, and the marks.
    pub(super) fn draw(&self, top: f64, caption: &str, axis: &Axis) -> String {
        let mut svg = format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"13\" font-weight=\"bold\">{}</text>\n",
            self.left,
            top + CAPTION - 8.0,
            escape(caption)
        );
        self.bands(&mut svg, top + CAPTION);
        for (value, mark) in &axis.marks {
            let y = self.y(top, axis, *value);
            let _ = writeln!(
                svg,
                "<path d=\"M{:.1} {y:.1}H{:.1}\" stroke=\"#e1dfd9\"/><text x=\"{:.1}\" \
                 y=\"{:.1}\" text-anchor=\"end\" fill=\"#626a78\">{mark}</text>",
                self.left,
                Frame::END,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        let marks = |axis: Axis| axis.marks.into_iter().map(|(_, mark)| mark);
        let limits = |most| marks(Axis::limits(most)).collect::<Vec<_>>();
        assert_eq!(limits(1), ["1", "2"]);
        assert_eq!(limits(10), ["2", "4", "6", "8", "10"]);
        let quantities = |most| marks(Axis::quantities(most)).collect::<Vec<_>>();
        assert_eq!(quantities(131.0), ["50", "100"]);
        assert_eq!(quantities(59.0), ["10", "20", "30", "40", "50"]);
        assert_eq!(quantities(1.0), ["0.2", "0.4", "0.6", "0.8", "1.0"]);
        for most in [0.0, 7e-9, 3e12] {
            let count = quantities(most).len();
            assert!((1..=usize::from(MOST_MARKS)).contains(&count), "{most}");
        }
    }

    #[test]
    fn an_axis_begins_at_the_foot_of_the_plot() {
        let frame = Frame::new(&["reads".to_owned(), "writes".to_owned()]);
        let axis = Axis::quantities(100.0);
        assert_eq!(frame.y(0.0, &axis, 0.0), CAPTION + PLOT);
        assert!(frame.y(0.0, &axis, 100.0) > CAPTION);
        assert_eq!(frame.x(2.0), Frame::END);
    }
}
