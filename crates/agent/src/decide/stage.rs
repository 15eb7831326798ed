//! Delay, resume, restore: DLC for one column family, with a hard bound on what
//! is delayed.
//!
//! ```text
//! Original --high load--> Delayed --low load, or the bound--> Draining
//!    ^                       ^                                    |
//!    |                       +-------- level 0 drained, high -----+
//!    +-------------------------------- level 0 drained, low ------+
//! ```

use lissom_core::schedule::Phase;
use serde::{Deserialize, Serialize};

use super::actuator::{Actuator, Unmanaged};
use super::lease::LeasedFamily;
use super::observation::Family;
use super::reason::Reason;
use crate::settings::Settings;

/// Where a column family stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// It has its original options.
    #[default]
    Original,
    /// Its level 0 is not compacted (DLC's full delay).
    Delayed,
    /// Its level 0 is compacted as ever, and writers are not yet held back for
    /// what had been delayed.
    Draining,
}

/// What level 0 of a column family gained in the last interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Growth {
    /// Files.
    pub files: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Everything that the next stage depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// How the agent is to behave.
    pub settings: &'a Settings,
    /// The stage so far.
    pub stage: Stage,
    /// The column family.
    pub family: &'a Family,
    /// What its level 0 has just gained.
    pub growth: Growth,
    /// Its original options.
    pub leased: &'a LeasedFamily,
    /// The load's phase.
    pub phase: Phase,
    /// What clients use, if it is known.
    pub client_bytes_per_sec: Option<f64>,
    /// Why nothing may be delayed now, on any column family.
    pub forbidden: Option<&'a str>,
    /// Why this column family may not be delayed any more.
    pub hands_off: Option<&'a Unmanaged>,
    /// How often the server did not take the delay, once that is too often.
    pub given_up: Option<u32>,
}

impl Situation<'_> {
    /// The next stage, and why.
    pub fn next(&self) -> (Stage, Reason) {
        if let Some(reason) = self.must_be_original() {
            return (Stage::Original, reason);
        }
        if let Some(reason) = self.over_the_bound() {
            // Whatever the load is.
            return match self.stage {
                Stage::Original => (Stage::Original, reason),
                Stage::Delayed | Stage::Draining => (Stage::Draining, reason),
            };
        }
        match (self.stage, self.phase, self.drained()) {
            (Stage::Original | Stage::Delayed, Phase::High, _)
            | (Stage::Draining, Phase::High, true) => (Stage::Delayed, self.high_load()),
            (Stage::Original, Phase::Low, _) | (Stage::Delayed, Phase::Low, true) => {
                (Stage::Original, self.low_load())
            }
            (Stage::Delayed, Phase::Low, false) => (Stage::Draining, self.low_load()),
            (Stage::Draining, Phase::Low, true) => {
                let (files, trigger) = (self.family.level0_files, self.trigger());
                (Stage::Original, Reason::Drained { files, trigger })
            }
            (Stage::Draining, _, false) => {
                let (files, trigger) = (self.family.level0_files, self.trigger());
                (Stage::Draining, Reason::Draining { files, trigger })
            }
        }
    }

    /// Whether level 0 of a column family that is not left alone has come to its bound.
    pub fn is_at_bound(&self) -> bool {
        self.hands_off.is_none() && self.over_the_bound().is_some()
    }

    fn must_be_original(&self) -> Option<Reason> {
        if let Some(why) = self.forbidden {
            let why = why.to_owned();
            return Some(Reason::Unguarded { why });
        }
        if let Some(why) = self.hands_off {
            let why = why.clone();
            return Some(Reason::HandsOff { why });
        }
        self.given_up.map(|times| Reason::GivenUp { times })
    }

    fn over_the_bound(&self) -> Option<Reason> {
        let (files, bytes) = (self.family.level0_files, self.family.level0_bytes);
        let Settings {
            max_level0_files,
            max_delayed_bytes,
            ..
        } = *self.settings;
        let growth = self.unbounded_growth();
        if files.saturating_add(growth.files) >= max_level0_files {
            return Some(Reason::Level0Files {
                files,
                growth: growth.files,
                max_level0_files,
            });
        }
        (bytes.saturating_add(growth.bytes) >= max_delayed_bytes).then_some(Reason::DelayedBytes {
            bytes,
            growth: growth.bytes,
            max_delayed_bytes,
        })
    }

    /// What the next interval may add, where nobody but the agent holds the bounds.
    fn unbounded_growth(&self) -> Growth {
        match self.leased.actuator {
            Actuator::Level0Trigger => Growth::default(),
            Actuator::DisableAutoCompactions => self.growth,
        }
    }

    /// Whether level 0 has no more files than its trigger was.
    pub fn drained(&self) -> bool {
        i64::try_from(self.family.level0_files).is_ok_and(|files| files <= self.trigger())
    }

    fn trigger(&self) -> i64 {
        self.leased.original.level0_file_num_compaction_trigger
    }

    fn high_load(&self) -> Reason {
        Reason::HighLoad {
            client_bytes_per_sec: self.client_bytes_per_sec,
            io_high_limit: self.settings.io_high_limit_bytes_per_sec,
        }
    }

    fn low_load(&self) -> Reason {
        match self.client_bytes_per_sec {
            None => Reason::LoadUnknown,
            Some(client_bytes_per_sec) => Reason::LowLoad {
                client_bytes_per_sec,
                io_low_limit: self.settings.io_low_limit_bytes_per_sec,
            },
        }
    }
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;
