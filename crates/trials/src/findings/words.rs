//! Numbers as a reader wants them.

/// A value of a metric or an expression, with its unit where the name tells it.
pub(crate) fn value(name: &str, value: f64) -> String {
    if name == "throughput" {
        return format!("{} /s", grouped(value));
    }
    let is_metric = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match name {
        expression if !expression.chars().all(is_metric) => plain(value),
        metric if metric.ends_with("_micros") => micros(value),
        metric if metric.ends_with("_bytes") => bytes(value),
        _ => plain(value),
    }
}

/// A number with three digits or so.
pub(crate) fn plain(value: f64) -> String {
    let size = value.abs();
    if size >= 1e4 {
        return grouped(value);
    }
    let digits = match size {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 || size == 0.0 => 2,
        _ => 4,
    };
    format!("{value:.digits$}")
}

/// A share as signed percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

/// Seconds as `1 h 02 min`, `3 min 05 s` or `7 s`.
pub(crate) fn time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match (whole / 3600, whole / 60) {
        (0, 0) => format!("{whole} s"),
        (0, minutes) => format!("{minutes} min {:02} s", whole % 60),
        (hours, minutes) => format!("{hours} h {:02} min", minutes % 60),
    }
}

fn micros(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{} s", plain(value / 1e6)),
        size if size >= 1e3 => format!("{} ms", plain(value / 1e3)),
        _ => format!("{} µs", plain(value)),
    }
}

fn bytes(value: f64) -> String {
    let mib = value / f64::from(1 << 20);
    if mib.abs() >= 1024.0 {
        format!("{} GiB", plain(mib / 1024.0))
    } else {
        format!("{} MiB", plain(mib))
    }
}

/// A whole number with commas.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 {
        format!("-{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(value("throughput", 51_234.4), "51,234 /s");
        assert_eq!(value("throughput", 999.6), "1,000 /s");
        assert_eq!(value("get_p99_micros", 310.0), "310 µs");
        assert_eq!(value("p99_micros", 1_500.0), "1.50 ms");
        assert_eq!(value("p99_micros", 2.5e6), "2.50 s");
        assert_eq!(value("memory_bytes", f64::from(3 << 20)), "3.00 MiB");
        assert_eq!(value("memory_bytes", 3.0 * f64::from(1 << 30)), "3.00 GiB");
        assert_eq!(value("throughput / memory_bytes", 0.012_34), "0.0123");
        assert_eq!(plain(-12_345.0), "-12,345");
        assert_eq!(
            (percent(0.125).as_str(), percent(-0.01).as_str()),
            ("+12.5 %", "-1.0 %")
        );
        assert_eq!(
            (time(7.4), time(185.0), time(3_720.0)),
            (
                "7 s".to_owned(),
                "3 min 05 s".to_owned(),
                "1 h 02 min".to_owned(),
            )
        );
    }
}
