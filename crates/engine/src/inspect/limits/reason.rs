//! The reason of a run limit, in numbers and in a sentence.

use lissom_core::journal::Moment;
use lissom_core::{LogicalLevel, RunLimit};
use serde::Serialize;

use super::Asked;
use super::came::{Followed, Source};

/// Why a level has its run limit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LimitReason {
    /// The column family.
    pub column_family: String,
    /// The level, from 1.
    pub level: u16,
    /// Its limit, by the last decision.
    pub limit: u16,
    /// Its limit before; absent where it is the first, or nobody tells.
    pub before: Option<u16>,
    /// Seconds since the autopilot began when it was decided; absent where nobody tells.
    pub at_seconds: Option<f64>,
    /// How often the store was opened since then; absent where nobody tells.
    pub openings_since: Option<u64>,
    /// Why, and what was expected, as the tuner said.
    pub why: String,
    /// Missions since that were read, under the workload that it was decided for.
    pub missions_since: usize,
    /// Missions since that were read, under others.
    pub missions_elsewhere: usize,
    /// Whether all missions since were read; else those are the last of them.
    pub all_read: bool,
    /// Seconds that an operation took on average in the missions before under the same
    /// workload, where there were any.
    pub took_before: Option<f64>,
    /// The same in the missions since that were read.
    pub took_since: Option<f64>,
}

impl LimitReason {
    /// Of a decision and what came of it, by journals from a moment on, in a store that was
    /// opened so often.
    pub(super) fn of(
        asked: &Asked<'_>,
        followed: Followed,
        read_from: Option<Moment>,
        opening: u64,
    ) -> LimitReason {
        let all_read = followed.is_whole(read_from);
        let Followed {
            decided,
            source,
            since,
            elsewhere,
        } = followed;
        let at = Some(decided.at).filter(|_| source != Source::Gone);
        let counted = at.filter(|at| at.opening > 0);
        LimitReason {
            column_family: asked.name.clone(),
            level: decided.level.0,
            limit: decided.limit.get(),
            before: decided.before.map(RunLimit::get),
            at_seconds: at.map(|at| at.at.as_secs_f64()),
            openings_since: counted.map(|at| opening.saturating_sub(at.opening)),
            why: decided.why,
            missions_since: since.missions,
            missions_elsewhere: elsewhere,
            all_read,
            took_before: at.and(decided.took_before),
            took_since: since.mean(),
        }
    }

    /// Of a limit whose decision nobody knows.
    pub(super) fn unknown(
        asked: &Asked<'_>,
        level: LogicalLevel,
        limit: RunLimit,
        why: &str,
    ) -> LimitReason {
        LimitReason {
            column_family: asked.name.clone(),
            level: level.0,
            limit: limit.get(),
            before: None,
            at_seconds: None,
            openings_since: None,
            why: why.into(),
            missions_since: 0,
            missions_elsewhere: 0,
            all_read: false,
            took_before: None,
            took_since: None,
        }
    }

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
            (_, None) if self.all_read => "; nothing was measured since".into(),
            (_, None) => "; nothing that was measured since was read".into(),
        };
        let elsewhere = match self.missions_elsewhere {
            0 => String::new(),
            missions => format!(" (not counting {missions} under another workload)"),
        };
        format!(
            "level {} has {limit}{}: {}{came}{elsewhere}",
            self.level,
            self.age(),
            self.why
        )
    }

    fn age(&self) -> String {
        match self.openings_since {
            None | Some(0) => String::new(),
            Some(1) => ", decided one opening ago".into(),
            Some(openings) => format!(", decided {openings} openings ago"),
        }
    }

    fn since(&self) -> String {
        match (self.missions_since, self.all_read) {
            (1, true) => "the mission since".into(),
            (missions, true) => format!("the {missions} missions since"),
            (1, false) => "the last mission that was read".into(),
            (missions, false) => format!("the last {missions} missions that were read"),
        }
    }
}
