//! Bars of Unicode blocks, and numbers with units.

/// Columns of a bar.
pub(crate) const BAR: usize = 20;

const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The filled part of a bar: anything above nothing shows at least an eighth of
/// a column, anything above 1 fills it.
pub(crate) fn filled(share: f64) -> String {
    if share.is_nan() || share <= 0.0 {
        return String::new();
    }
    let eighths = (share.min(1.0) * (BAR * 8) as f64).round().max(1.0) as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// The unfilled part that belongs to a filled one.
pub(crate) fn rest(filled: &str, with: char) -> String {
    let left = BAR.saturating_sub(filled.chars().count());
    std::iter::repeat_n(with, left).collect()
}

/// Bytes in decimal units, at most eight characters.
pub fn bytes(count: u64) -> String {
    let value = count as f64;
    match count {
        0..1_000 => format!("{count} B"),
        1_000..999_950 => format!("{:.1} kB", value / 1e3),
        999_950..999_950_000 => format!("{:.1} MB", value / 1e6),
        999_950_000..999_950_000_000 => format!("{:.1} GB", value / 1e9),
        999_950_000_000..999_950_000_000_000 => format!("{:.1} TB", value / 1e12),
        _ => format!("{:.0} PB", value / 1e15),
    }
}

/// A count with commas between groups of three digits.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2 files`.
pub fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_and_its_rest_are_always_as_wide_as_a_bar() {
        for share in [-1.0, 0.0, 1e-9, 0.123, 0.5, 0.999, 1.0, 7.0, f64::NAN] {
            let bar = filled(share);
            let whole = rest(&bar, ' ') + &bar;
            assert_eq!(whole.chars().count(), BAR, "{share}");
        }
        assert_eq!(filled(1e-9), "▏");
        assert_eq!(filled(0.5), "█".repeat(BAR / 2));
    }

    #[test]
    fn sizes_fit_their_column() {
        for power in 0..64 {
            let text = bytes(1 << power);
            assert!(text.chars().count() <= 8, "{text}");
        }
        assert_eq!(bytes(999_999), "1.0 MB");
        assert_eq!(bytes(u64::MAX), "18447 PB");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(plural(1, "file"), "1 file");
        assert_eq!(plural(1_000, "file"), "1,000 files");
    }
}
