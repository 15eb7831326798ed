//! What the columns of a picture show of a sample, and on which scale.

use super::rows::Row;
use crate::drive::Sample;
use crate::report::words::{micros, plain};

/// Latencies under this are drawn as this, in microseconds.
const LEAST_LATENCY: f64 = 10.0;

/// One column of the picture.
pub(super) struct Column {
    /// In rows of Lissom's arms, and in those of stock ones. Where they differ these are two
    /// quantities, and each has a scale of its own.
    titles: (&'static str, &'static str),
    /// `None` where there is nothing to draw.
    pub of: fn(&Sample) -> Option<f64>,
    pub label: fn(&f64) -> String,
    /// Whether it shows latencies: equal ratios are then equally far apart, and intervals in
    /// which nothing ended are marked.
    pub is_latency: bool,
}

pub(super) static COLUMNS: [Column; 3] = [
    Column {
        titles: ("operations a second", "operations a second"),
        of: |it| Some(it.operations_per_second),
        label: |value| plain(*value),
        is_latency: false,
    },
    Column {
        titles: ("p99, from the moment due", "p99, from the moment due"),
        of: |it| (!it.latency.is_empty()).then(|| it.latency.p99.max(LEAST_LATENCY).log10()),
        label: |exponent| micros(10_f64.powf(*exponent)),
        is_latency: true,
    },
    Column {
        titles: ("debt of begun work, MB", "debt by RocksDB's estimate, MB"),
        of: |it| Some(it.debt_bytes? as f64 / 1e6),
        label: |value| plain(*value),
        is_latency: false,
    },
];

impl Column {
    pub fn title(&self, is_stock: bool) -> &'static str {
        if is_stock {
            self.titles.1
        } else {
            self.titles.0
        }
    }

    /// From the least to the most of all rows that show the same quantity, and to `least` at
    /// least.
    pub fn scale(&self, rows: &[Row<'_>], is_stock: bool, least: f64) -> (f64, f64) {
        let alike = |row: &&Row<'_>| self.title(row.is_stock) == self.title(is_stock);
        let samples = rows.iter().filter(alike).flat_map(|row| &row.samples);
        let values = samples.filter_map(|it| (self.of)(it));
        let (low, high) = values.fold((f64::INFINITY, 1.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if self.is_latency {
            let low = low.min(high).floor();
            return (low, high.ceil().max(low + 1.0));
        }
        (0.0, high.max(least) * 1.05)
    }
}
