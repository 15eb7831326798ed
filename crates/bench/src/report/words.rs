//! Numbers as a reader wants them.

use crate::judge::Figure;

/// A median with half its range: `12.3 ±0.4`.
pub fn figure(figure: &Figure) -> String {
    let half = (figure.max - figure.min) / 2.0;
    let digits = digits(figure.median.abs().max(half));
    if figure.values.len() < 2 {
        return format!("{:.digits$}", figure.median);
    }
    format!("{:.digits$} ±{half:.digits$}", figure.median)
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

/// Microseconds in the unit that suits them.
pub fn micros(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{} s", plain(v / 1e6)),
        v if v >= 1e3 => format!("{} ms", plain(v / 1e3)),
        v => format!("{} µs", plain(v)),
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
