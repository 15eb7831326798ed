//! Units behind numbers.

const KIBI: f64 = 1024.0;

/// Units and what they are worth: bytes, seconds, shares.
const UNITS: [(&str, f64); 15] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", KIBI),
    ("MiB", KIBI * KIBI),
    ("GiB", KIBI * KIBI * KIBI),
    ("TiB", KIBI * KIBI * KIBI * KIBI),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("%", 0.01),
];

const TIMES: [&str; 5] = ["us", "ms", "s", "min", "h"];

/// Whether it is a unit of time.
pub(super) fn is_time(unit: &str) -> bool {
    TIMES.contains(&unit)
}

/// What a unit is worth.
///
/// # Errors
/// The units that exist.
pub(super) fn factor(unit: &str) -> Result<f64, String> {
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    known.map(|(_, factor)| *factor).ok_or_else(|| {
        let names: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
        format!(
            "{unit:?} is no unit: write one of {}, or none",
            names.join(" ")
        )
    })
}
