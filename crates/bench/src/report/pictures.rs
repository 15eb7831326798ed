//! Sessions with an offered rate as pictures: one row for each arm, throughput, latency
//! and debt over time, all rows on the same scales. Of a long session its first and its last
//! periods have pictures of their own.

mod columns;
mod rows;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::*;

use self::columns::{COLUMNS, Column};
use self::rows::{Row, rows};
use super::labels::Labels;
use crate::error::{BenchError, Result};
use crate::judge::LONG_SECONDS;
use crate::run::Results;
use crate::workload::Session;

/// Pixels of one panel.
const PANEL: (u32, u32) = (430, 150);
const FONT: &str = "sans-serif";

const LINE: RGBColor = RGBColor(0, 114, 178);
const OFFERED: RGBColor = RGBColor(170, 170, 170);
const MESH: RGBColor = RGBColor(225, 225, 225);
const NOTHING_ENDED: RGBColor = RGBColor(213, 94, 0);

/// Periods of a long session that are drawn by themselves, at its beginning and its end: in
/// a panel of all of it a period is a few pixels.
const PERIODS: f64 = 10.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

/// Writes pictures of each session that offers a rate for a given time, of the first
/// round, into a directory: `offered-SESSION.svg`, and of a long session with periods
/// `offered-SESSION-first.svg` and `offered-SESSION-last.svg`.
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
        let until = rows.iter().map(Row::last).fold(seconds, f64::max);
        for view in views(session, seconds, until) {
            let name = format!("offered-{}{}.svg", file_name(&session.name), view.ending);
            let path = directory.join(name);
            draw(&path, session, &view, &rows).map_err(|error| {
                BenchError::new(format!(
                    "cannot write {}: {error}; check the path and the free space",
                    path.display()
                ))
            })?;
            written.push(path);
        }
    }
    Ok(written)
}

/// What a picture shows of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
struct View {
    /// Seconds from the session's start.
    from: f64,
    to: f64,
    /// When the offer ends.
    offered: f64,
    /// What the file's name ends in.
    ending: &'static str,
}

/// All of the session, until the last arm has done what was offered; of a long one its first
/// periods and its last ones too.
fn views(session: &Session, offered: f64, until: f64) -> Vec<View> {
    let view = |from, to, ending| View {
        from,
        to,
        offered,
        ending,
    };
    let mut views = vec![view(0.0, until, "")];
    let part = session.rate.period().map(|period| PERIODS * period);
    if let Some(part) = part.filter(|part| offered >= LONG_SECONDS && 2.0 * part < offered) {
        views.push(view(0.0, part, "-first"));
        views.push(view(offered - part, offered, "-last"));
    }
    views
}

fn draw(path: &Path, session: &Session, view: &View, rows: &[Row<'_>]) -> Drawn {
    let columns = COLUMNS.len();
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows.len() as u32);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let rate = offered(session, view);
    let highest = rate.iter().map(|point| point.1).fold(0.0, f64::max);
    let areas = root.split_evenly((rows.len(), columns));
    for (at, area) in areas.iter().enumerate() {
        let (row, number) = (&rows[at / columns], at % columns);
        let (column, is_rate) = (&COLUMNS[number], number == 0);
        let scale = column.scale(rows, row.is_stock, if is_rate { highest } else { 0.0 });
        let behind = if is_rate { &rate[..] } else { &[] };
        panel(area, row, column, (view, scale), behind)?;
    }
    root.present()?;
    Ok(())
}

fn panel(
    area: &Area<'_>,
    row: &Row<'_>,
    column: &Column,
    (view, (low, high)): (&View, (f64, f64)),
    behind: &[(f64, f64)],
) -> Drawn {
    let title = format!("{}: {}", row.label, column.title(row.is_stock));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 14))
        .margin(6)
        .x_label_area_size(18)
        .y_label_area_size(52)
        .build_cartesian_2d(view.from..view.to, low..high)?;
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
    for line in row.lines(column.of, view) {
        if line.len() == 1 {
            let alone = line.into_iter();
            chart.draw_series(alone.map(|at| Circle::new(at, 1, LINE.filled())))?;
        } else {
            chart.draw_series(LineSeries::new(line, LINE))?;
        }
    }
    if column.is_latency {
        let edge = |(from, to)| vec![(from, high), (to, high)];
        let spans = row.without_operations(view).into_iter().map(edge);
        let style = NOTHING_ENDED.stroke_width(4);
        chart.draw_series(spans.map(|points| PathElement::new(points, style)))?;
    }
    Ok(())
}

/// The offered rate over time, four points a second.
fn offered(session: &Session, view: &View) -> Vec<(f64, f64)> {
    let points = (view.offered * 4.0).ceil() as u32;
    (0..=points)
        .map(|point| (f64::from(point) / 4.0).min(view.offered))
        .filter(|t| (view.from..=view.to).contains(t))
        .filter_map(|t| Some((t, session.rate.at(t)?)))
        .collect()
}

/// A session's name is free text.
fn file_name(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    name.chars().map(keep).collect()
}
