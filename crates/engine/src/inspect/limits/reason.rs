//! The reason of a run limit, in numbers and in a sentence.

use serde::Serialize;

/// Why a level has its run limit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LimitReason {
    /// The column family.
    pub column_family: String,
    /// The level, from 1.
    pub level: u16,
    /// Its limit, by the journal.
    pub limit: u16,
    /// Its limit before; absent where the journal does not tell.
    pub before: Option<u16>,
    /// Seconds since the autopilot began when it was decided.
    pub at_seconds: f64,
    /// Why, and what was expected, as the tuner said.
    pub why: String,
    /// Missions since under the workload that it was decided for.
    pub missions_since: usize,
    /// Missions since under others.
    pub missions_elsewhere: usize,
    /// Seconds that an operation took on average in the missions before under the same
    /// workload, where there were any.
    pub took_before: Option<f64>,
    /// The same since.
    pub took_since: Option<f64>,
}

impl LimitReason {
    /// All of it in a sentence.
    pub fn sentence(&self) -> String {
        let limit = match self.before {
            Some(before) if before != self.limit => format!("{}, {before} before", self.limit),
            _ => self.limit.to_string(),
        };
        let micros = |seconds: f64| format!("{:.1} µs", seconds * 1e6);
        let came = match (self.took_before, self.took_since) {
            (Some(before), Some(since)) => format!(
                "; an operation took {} before and {} in {}",
                micros(before),
                micros(since),
                self.since()
            ),
            (None, Some(since)) => {
                format!("; an operation took {} in {}", micros(since), self.since())
            }
            (_, None) => "; nothing was measured since".into(),
        };
        let elsewhere = match self.missions_elsewhere {
            0 => String::new(),
            missions => format!(" (not counting {missions} under another workload)"),
        };
        format!(
            "level {} has {limit}: {}{came}{elsewhere}",
            self.level, self.why
        )
    }

    fn since(&self) -> String {
        match self.missions_since {
            1 => "the mission since".into(),
            missions => format!("the {missions} missions since"),
        }
    }
}
