//! The evaluation as pictures.

use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::prelude::*;

use super::{CATEGORIES, MAP_STEP, MapCell, Uncertainty, UncertaintySummary};
use crate::error::{BenchError, Result};

const SIZE: (u32, u32) = (760, 420);
const FONT: &str = "sans-serif";

/// Where no line goes, from the plot's upper left corner.
const LEGEND: (i32, i32) = (560, 195);

/// One colour for each category (Okabe and Ito's palette, which the colour-blind
/// tell apart).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Writes `gain.svg`, `range.svg` and `map.svg` into a directory.
///
/// # Errors
/// When a file cannot be written.
pub fn write_pictures(seen: &Uncertainty, directory: &Path) -> Result<Vec<PathBuf>> {
    let gain = |area: &Area<'_>| {
        let title = "Mean gain of the robust tuning, %";
        lines(seen, area, title, |it| 100.0 * it.mean_gain)
    };
    let range = |area: &Area<'_>| {
        let title = "Range of throughput, % of the nominal tuning's";
        lines(seen, area, title, |it| 100.0 * it.range_ratio)
    };
    let map = |area: &Area<'_>| heat_map(seen, area);
    let pictures: [Picture<'_>; 3] = [
        ("gain.svg", &gain),
        ("range.svg", &range),
        ("map.svg", &map),
    ];
    let mut written = Vec::new();
    for (name, draw) in pictures {
        let path = directory.join(name);
        let place = |error| BenchError::new(format!("cannot write {}: {error}", path.display()));
        {
            let area = SVGBackend::new(&path, SIZE).into_drawing_area();
            area.fill(&WHITE)
                .map_err(|error| place(error.to_string()))?;
            draw(&area).map_err(|error| place(error.to_string()))?;
            area.present().map_err(|error| place(error.to_string()))?;
        }
        written.push(path);
    }
    Ok(written)
}

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

/// A file's name, and what draws it.
type Picture<'a> = (&'a str, &'a dyn Fn(&Area<'_>) -> Drawn);

fn lines(
    seen: &Uncertainty,
    area: &Area<'_>,
    title: &str,
    figure: fn(&UncertaintySummary) -> f64,
) -> Drawn {
    let (least, most) = bounds(seen.summaries.iter().map(figure));
    let last = seen.plan.divergences.iter().copied().fold(0.1, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 18))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..last, least..most)?;
    chart
        .configure_mesh()
        .x_desc("rho: the divergence that the tuning allows for")
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;
    for (category, colour) in CATEGORIES.into_iter().zip(COLOURS) {
        let of = seen.summaries.iter().filter(|it| it.category == category);
        let points: Vec<(f64, f64)> = of.map(|it| (it.rho, figure(it))).collect();
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(category)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::Coordinate(LEGEND.0, LEGEND.1))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    Ok(())
}

/// Gains by rho and the divergence that came, from red (lost) over white to blue.
fn heat_map(seen: &Uncertainty, area: &Area<'_>) -> Drawn {
    let step = seen
        .plan
        .divergences
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(MAP_STEP, f64::min);
    let last = |of: fn(&MapCell) -> f64| seen.map.iter().map(of).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption("Mean gain by rho and by what came, %", (FONT, 18))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(52)
        .build_cartesian_2d(
            0.0..last(|cell| cell.rho) + step,
            0.0..last(|cell| cell.divergence) + MAP_STEP,
        )?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("rho: the divergence that the tuning allows for")
        .y_desc("divergence of the workload that came")
        .draw()?;
    chart.draw_series(seen.map.iter().map(|cell| {
        let corners = [
            (cell.rho, cell.divergence),
            (cell.rho + step, cell.divergence + MAP_STEP),
        ];
        Rectangle::new(corners, colour(cell.mean_gain).filled())
    }))?;
    chart.draw_series(seen.map.iter().map(|cell| {
        let ink = if cell.mean_gain > 0.6 * DARKEST {
            WHITE
        } else {
            BLACK
        };
        let label = (FONT, 11).into_font().color(&ink);
        let at = (cell.rho + 0.15 * step, cell.divergence + 0.7 * MAP_STEP);
        Text::new(format!("{:.0}", 100.0 * cell.mean_gain), at, label)
    }))?;
    Ok(())
}

/// The gain from which the map is darkest.
const DARKEST: f64 = 1.5;

/// White at 0; full at a loss of a half, and at [`DARKEST`].
fn colour(gain: f64) -> RGBColor {
    let (strength, full) = if gain < 0.0 {
        (-gain / 0.5, RGBColor(213, 94, 0))
    } else {
        (gain / DARKEST, RGBColor(0, 114, 178))
    };
    let strength = strength.clamp(0.0, 1.0);
    let mix = |full: u8| (255.0 + (f64::from(full) - 255.0) * strength) as u8;
    RGBColor(mix(full.0), mix(full.1), mix(full.2))
}

/// The least and the largest number, with some room.
fn bounds(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), it| {
        (least.min(it), most.max(it))
    });
    let room = 0.05 * (most - least).max(1.0);
    (least - room, most + room)
}
