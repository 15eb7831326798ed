//! Numbers as a reader wants them.

use crate::judge::Figure;

/// What a unit is worth, and its name.
type Unit = (f64, &'static str);

/// A median with half its range: `12.3 ±0.4`.
pub fn figure(figure: &Figure) -> String {
    in_unit(figure, (1.0, ""))
}

/// The same of microseconds, in the unit that suits them: `2.33 ±0.41 ms`.
pub fn micros_figure(figure: &Figure) -> String {
    in_unit(figure, micros_unit(size(figure)))
}

/// The same of bytes, as KiB or MiB.
pub fn bytes_figure(figure: &Figure) -> String {
    in_unit(figure, bytes_unit(size(figure)))
}

/// The same with so many digits behind the point; nothing else tells small shares apart.
pub fn figure_with(figure: &Figure, digits: usize) -> String {
    let median = figure.median;
    match half_range(figure) {
        Some(half) => format!("{median:.digits$} ±{half:.digits$}"),
        None => format!("{median:.digits$}"),
    }
}

fn in_unit(figure: &Figure, (worth, name): Unit) -> String {
    let scaled = Figure {
        median: figure.median / worth,
        min: figure.min / worth,
        max: figure.max / worth,
        ..figure.clone()
    };
    figure_with(&scaled, digits(size(&scaled))) + name
}

/// Half of what lies between the least and the most; a single value has no range.
fn half_range(figure: &Figure) -> Option<f64> {
    (figure.values.len() > 1).then_some((figure.max - figure.min) / 2.0)
}

fn size(figure: &Figure) -> f64 {
    figure
        .median
        .abs()
        .max(half_range(figure).unwrap_or_default())
}

/// A number with three digits or so.
pub fn plain(value: f64) -> String {
    format!("{value:.*}", digits(value.abs()))
}

fn digits(value: f64) -> usize {
    match value {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    }
}

/// A figure that is no ground for a claim stands in brackets.
pub fn bracketed(text: String, no_claim: bool) -> String {
    if no_claim { format!("({text})") } else { text }
}

/// Microseconds in the unit that suits them.
pub fn micros(value: f64) -> String {
    let (worth, name) = micros_unit(value);
    plain(value / worth) + name
}

fn micros_unit(value: f64) -> Unit {
    match value {
        v if v >= 1e6 => (1e6, " s"),
        v if v >= 1e3 => (1e3, " ms"),
        _ => (1.0, " µs"),
    }
}

fn bytes_unit(value: f64) -> Unit {
    let mebi = f64::from(1 << 20);
    if value > 0.0 && value < mebi {
        (1024.0, " KiB")
    } else {
        (mebi, " MiB")
    }
}

/// Bytes as KiB or MiB.
pub fn mebibytes(bytes: f64) -> String {
    let mebi = bytes / f64::from(1 << 20);
    if mebi > 0.0 && mebi < 1.0 {
        return format!("{:.0} KiB", bytes / 1024.0);
    }
    format!(
        "{} MiB",
        if mebi.fract() == 0.0 {
            format!("{mebi:.0}")
        } else {
            plain(mebi)
        }
    )
}

/// A whole number with commas.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
