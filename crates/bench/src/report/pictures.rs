//! Sessions with an offered rate as pictures: one row for each arm, throughput, latency
//! and debt over time, all rows on the same scales.

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::*;

use super::labels::Labels;
use super::words::{micros, plain};
use crate::arms::ArmName;
use crate::drive::Sample;
use crate::error::{BenchError, Result};
use crate::run::{ArmRun, Results};
use crate::workload::Session;

/// Pixels of one panel.
const PANEL: (u32, u32) = (430, 150);
const FONT: &str = "sans-serif";

const LINE: RGBColor = RGBColor(0, 114, 178);
const OFFERED: RGBColor = RGBColor(170, 170, 170);
const MESH: RGBColor = RGBColor(225, 225, 225);

/// Latencies under this are drawn as this, in microseconds.
const LEAST_LATENCY: f64 = 10.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

/// Writes a picture of each session that offers a rate for a given time, of the first
/// round, into a directory: `offered-SESSION.svg`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_offered_pictures(results: &Results, directory: &Path) -> Result<Vec<PathBuf>> {
    let labels = Labels::of_plan(&results.parameters.arms);
    let sessions = results.parameters.workload.sessions.iter().enumerate();
    let mut written = Vec::new();
    for (number, session) in sessions {
        let Some(seconds) = session.seconds.filter(|_| session.is_open()) else {
            continue;
        };
        let rows = rows(results, number, &labels);
        if rows.is_empty() {
            continue;
        }
        let path = directory.join(format!("offered-{}.svg", file_name(&session.name)));
        draw(&path, session, seconds, &rows).map_err(|error| {
            BenchError::new(format!(
                "cannot write {}: {error}; check the path and the free space",
                path.display()
            ))
        })?;
        written.push(path);
    }
    Ok(written)
}

/// An arm's samples of one session, with the session's start.
struct Row<'a> {
    label: String,
    began: f64,
    samples: Vec<&'a Sample>,
}

fn rows<'a>(results: &'a Results, session: usize, labels: &Labels) -> Vec<Row<'a>> {
    let arms = results.parameters.arms.iter();
    let first = |arm: &ArmName| {
        results
            .runs
            .iter()
            .find(|run| run.round == 0 && run.arm == *arm)
    };
    arms.filter_map(first)
        .filter_map(|run| Row::of(run, session, labels))
        .collect()
}

impl<'a> Row<'a> {
    /// `None` where the session has no sample.
    fn of(run: &'a ArmRun, session: usize, labels: &Labels) -> Option<Self> {
        let own = run.samples.iter().filter(|it| it.session == session);
        let samples: Vec<&Sample> = own.collect();
        let first = samples.first()?;
        Some(Self {
            label: labels.of(&run.arm),
            began: first.at - first.seconds,
            samples,
        })
    }

    fn points(&self, of: fn(&Sample) -> f64) -> Vec<(f64, f64)> {
        let point = |it: &&Sample| (it.at - self.began, of(it));
        self.samples.iter().map(point).collect()
    }

    fn last(&self) -> f64 {
        self.samples.last().map_or(0.0, |it| it.at - self.began)
    }
}

/// One column of the picture.
struct Column {
    what: &'static str,
    of: fn(&Sample) -> f64,
    label: fn(&f64) -> String,
    /// Whether equal ratios are equally far apart.
    logarithmic: bool,
}

const COLUMNS: [Column; 3] = [
    Column {
        what: "operations a second",
        of: |it| it.operations_per_second,
        label: |value| plain(*value),
        logarithmic: false,
    },
    Column {
        what: "p99, from the moment due",
        of: |it| it.latency.p99.max(LEAST_LATENCY).log10(),
        label: |exponent| micros(10_f64.powf(*exponent)),
        logarithmic: true,
    },
    Column {
        what: "debt, MB",
        of: |it| it.debt_bytes as f64 / 1e6,
        label: |value| plain(*value),
        logarithmic: false,
    },
];

impl Column {
    /// From the least to the most of all rows.
    fn scale(&self, rows: &[Row<'_>], offered: f64) -> (f64, f64) {
        let all = rows.iter().flat_map(|row| row.samples.iter());
        let values = all.map(|it| (self.of)(it));
        let (low, high) = values.fold((f64::INFINITY, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if self.logarithmic {
            let low = low.floor();
            return (low, high.ceil().max(low + 1.0));
        }
        (0.0, high.max(offered) * 1.05)
    }
}

fn draw(path: &Path, session: &Session, seconds: f64, rows: &[Row<'_>]) -> Drawn {
    let columns = COLUMNS.len();
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows.len() as u32);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let until = rows.iter().map(Row::last).fold(seconds, f64::max);
    let rate: Vec<(f64, f64)> = offered(session, seconds);
    let highest = rate.iter().map(|point| point.1).fold(0.0, f64::max);
    let scales: Vec<(f64, f64)> = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, column)| column.scale(rows, if at == 0 { highest } else { 0.0 }))
        .collect();
    let areas = root.split_evenly((rows.len(), columns));
    for (at, area) in areas.iter().enumerate() {
        let (row, column) = (&rows[at / columns], at % columns);
        let behind = if column == 0 { &rate[..] } else { &[] };
        panel(area, row, &COLUMNS[column], (until, scales[column]), behind)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    row: &Row<'_>,
    column: &Column,
    (until, (low, high)): (f64, (f64, f64)),
    behind: &[(f64, f64)],
) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{}: {}", row.label, column.what), (FONT, 14))
        .margin(6)
        .x_label_area_size(18)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..until, low..high)?;
    chart
        .configure_mesh()
        .x_labels(8)
        .y_labels(5)
        .y_label_formatter(&column.label)
        .light_line_style(WHITE)
        .bold_line_style(MESH)
        .draw()?;
    if !behind.is_empty() {
        chart.draw_series(LineSeries::new(behind.iter().copied(), OFFERED))?;
    }
    chart.draw_series(LineSeries::new(row.points(column.of), LINE))?;
    Ok(())
}

/// The offered rate over time, four points a second.
fn offered(session: &Session, seconds: f64) -> Vec<(f64, f64)> {
    let points = (seconds * 4.0).ceil() as u32;
    (0..=points)
        .map(|point| (f64::from(point) / 4.0).min(seconds))
        .filter_map(|t| Some((t, session.rate.at(t)?)))
        .collect()
}

/// A session's name is free text.
fn file_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.chars().map(keep).collect()
}
