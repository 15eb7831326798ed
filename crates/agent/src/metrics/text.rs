//! Prometheus' text format, version 0.0.4.

use std::collections::BTreeMap;
use std::fmt;

use crate::decide::Stage;

/// Everything that is shown.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Readings {
    /// Whether the last interval was completed.
    pub up: bool,
    /// Intervals that were completed.
    pub intervals: u64,
    /// Changes of that interval that the server did not take.
    pub outstanding: u64,
    /// Whether the load is high.
    pub high_load: bool,
    /// What clients use, if it is known.
    pub client_bytes_per_sec: Option<f64>,
    /// `rocksdb_rate_limiter_bytes_per_sec`
    pub rate_limiter_bytes_per_sec: u64,
    /// Microseconds in which the server held writers back.
    pub stall_micros: u64,
    /// Changes that took effect.
    pub applied: u64,
    /// Changes that did not.
    pub not_applied: u64,
    /// How often the server was lost, or could not be read.
    pub lost: u64,
    /// Restarts and failovers of the server that were noticed.
    pub restarts: u64,
    /// Lines of the journal that could not be written.
    pub journal_dropped: u64,
    /// The column families.
    pub families: BTreeMap<String, FamilyReadings>,
}

/// One column family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FamilyReadings {
    /// Where it stands, by what the server was last read to have.
    pub stage: Stage,
    /// Files in level 0.
    pub level0_files: u64,
    /// Bytes in level 0.
    pub level0_bytes: u64,
}

/// Name, help and value of a line.
type Line = (&'static str, &'static str, f64);

impl fmt::Display for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, help, value) in self.gauges() {
            single(f, name, "gauge", help, value)?;
        }
        for (name, help, value) in self.counters() {
            single(f, name, "counter", help, value)?;
        }
        self.write_families(f)
    }
}

impl Readings {
    fn gauges(&self) -> [Line; 5] {
        let client = self.client_bytes_per_sec.unwrap_or(f64::NAN);
        let limiter = self.rate_limiter_bytes_per_sec as f64;
        [
            (
                "up",
                "1 when the last interval was completed",
                flag(self.up),
            ),
            (
                "changes_outstanding",
                "Changes of the last interval that the server did not take",
                self.outstanding as f64,
            ),
            (
                "high_load",
                "1 while the load is high",
                flag(self.high_load),
            ),
            (
                "client_bytes_per_second",
                "Estimated load of clients",
                client,
            ),
            (
                "rate_limiter_bytes_per_second",
                "rocksdb_rate_limiter_bytes_per_sec",
                limiter,
            ),
        ]
    }

    fn counters(&self) -> [Line; 7] {
        let stalled = self.stall_micros as f64 / 1e6;
        [
            (
                "intervals_total",
                "Intervals that were completed",
                self.intervals as f64,
            ),
            (
                "stall_seconds_total",
                "Time in which the server held writers back",
                stalled,
            ),
            (
                "changes_applied_total",
                "Changes that took effect",
                self.applied as f64,
            ),
            (
                "changes_not_applied_total",
                "Changes that the server did not take",
                self.not_applied as f64,
            ),
            (
                "connections_lost_total",
                "Times that the server was lost, or could not be read",
                self.lost as f64,
            ),
            (
                "restarts_total",
                "Restarts and failovers of the server",
                self.restarts as f64,
            ),
            (
                "journal_dropped_total",
                "Lines of the journal that could not be written",
                self.journal_dropped as f64,
            ),
        ]
    }

    fn write_families(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_each(f, "level0_files", "Files in level 0", |it| it.level0_files)?;
        self.write_each(f, "level0_bytes", "Bytes in level 0", |it| it.level0_bytes)?;
        self.write_each(
            f,
            "delayed",
            "1 while its options delay, as read back",
            |it| u64::from(it.stage == Stage::Delayed),
        )?;
        self.write_each(f, "draining", "1 while level 0 catches up", |it| {
            u64::from(it.stage == Stage::Draining)
        })
    }

    fn write_each(
        &self,
        f: &mut fmt::Formatter<'_>,
        name: &str,
        help: &str,
        of: fn(&FamilyReadings) -> u64,
    ) -> fmt::Result {
        head(f, name, "gauge", help)?;
        for (family, readings) in &self.families {
            let label = escape(family);
            let value = of(readings);
            writeln!(
                f,
                "lissom_attach_{name}{{column_family=\"{label}\"}} {value}"
            )?;
        }
        Ok(())
    }
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn head(f: &mut fmt::Formatter<'_>, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(f, "# HELP lissom_attach_{name} {help}")?;
    writeln!(f, "# TYPE lissom_attach_{name} {kind}")
}

fn single(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    kind: &str,
    help: &str,
    value: f64,
) -> fmt::Result {
    head(f, name, kind, help)?;
    writeln!(f, "lissom_attach_{name} {value}")
}

fn escape(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_prometheus_own() {
        let readings = Readings {
            up: true,
            intervals: 4,
            outstanding: 3,
            stall_micros: 2_500_000,
            families: BTreeMap::from([(
                "a\"b".into(),
                FamilyReadings {
                    stage: Stage::Delayed,
                    level0_files: 7,
                    level0_bytes: 9,
                },
            )]),
            ..Readings::default()
        };
        let text = readings.to_string();
        for line in [
            "# TYPE lissom_attach_up gauge",
            "lissom_attach_up 1",
            "# TYPE lissom_attach_intervals_total counter",
            "lissom_attach_intervals_total 4",
            "# TYPE lissom_attach_changes_outstanding gauge",
            "lissom_attach_changes_outstanding 3",
            "lissom_attach_client_bytes_per_second NaN",
            "lissom_attach_stall_seconds_total 2.5",
            "lissom_attach_level0_files{column_family=\"a\\\"b\"} 7",
            "lissom_attach_delayed{column_family=\"a\\\"b\"} 1",
            "lissom_attach_draining{column_family=\"a\\\"b\"} 0",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
        assert!(text.ends_with('\n'));
    }
}
