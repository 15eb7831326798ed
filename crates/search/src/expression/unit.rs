//! Units behind numbers.

const KIBI: f64 = 1024.0;

/// What units are worth: bytes, seconds, a share.
const BYTES: [(&str, f64); 9] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", KIBI),
    ("MiB", KIBI * KIBI),
    ("GiB", KIBI * KIBI * KIBI),
    ("TiB", KIBI * KIBI * KIBI * KIBI),
];
const TIMES: [(&str, f64); 5] = [
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
];
const SHARE: [(&str, f64); 1] = [("%", 0.01)];

/// Whether it is a unit of time.
pub(super) fn is_time(unit: &str) -> bool {
    TIMES.iter().any(|(name, _)| *name == unit)
}

fn units() -> impl Iterator<Item = &'static (&'static str, f64)> {
    BYTES.iter().chain(&TIMES).chain(&SHARE)
}

/// What a unit is worth.
///
/// # Errors
/// The units that exist.
pub(super) fn factor(unit: &str) -> Result<f64, String> {
    let known = units().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| *factor).ok_or_else(|| {
        let names: Vec<&str> = units().map(|(name, _)| *name).collect();
        format!(
            "{unit:?} is no unit: write one of {}, or none",
            names.join(" ")
        )
    })
}
