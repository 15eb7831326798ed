//! High or low load: the state of DLC's analyser (its section 3.2.2).

use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// The load's phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// There is room for compaction.
    Low,
    /// Clients need the device.
    High,
}

/// High as soon as the load is over the high limit; low only after `softness`
/// intervals in a row under the low limit; in between it holds.
#[derive(Clone, PartialEq, Debug)]
pub struct LoadPhase {
    low_limit: f64,
    high_limit: f64,
    softness: u32,
    phase: Phase,
    low_in_a_row: u32,
}

impl LoadPhase {
    /// Low, until a high load is seen.
    pub fn new(settings: &Settings) -> LoadPhase {
        LoadPhase {
            low_limit: settings.io_low_limit_bytes_per_sec as f64,
            high_limit: settings.io_high_limit_bytes_per_sec as f64,
            softness: settings.softness,
            phase: Phase::Low,
            low_in_a_row: 0,
        }
    }

    /// The phase after an interval; `None` is an interval of which nothing is
    /// known, which is neither high nor low.
    pub fn after(&mut self, client_bytes_per_sec: Option<f64>) -> Phase {
        match client_bytes_per_sec {
            Some(load) if load > self.high_limit => {
                self.phase = Phase::High;
                self.low_in_a_row = 0;
            }
            Some(load) if load < self.low_limit => {
                self.low_in_a_row = self.low_in_a_row.saturating_add(1);
                if self.low_in_a_row >= self.softness {
                    self.phase = Phase::Low;
                }
            }
            _ => self.low_in_a_row = 0,
        }
        self.phase
    }

    /// The phase now.
    pub fn now(&self) -> Phase {
        self.phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits 180 and 300: each line is a load and the phase after it.
    #[test]
    fn the_table() {
        let mut settings = Settings::new(350_000);
        settings.io_low_limit_bytes_per_sec = 180;
        settings.io_high_limit_bytes_per_sec = 300;
        let mut phase = LoadPhase::new(&settings);
        assert_eq!(phase.now(), Phase::Low);
        for (turn, (load, after)) in [
            (Some(0.0), Phase::Low),
            (Some(250.0), Phase::Low),
            (Some(300.0), Phase::Low),
            (Some(300.5), Phase::High),
            (Some(179.0), Phase::High),
            (Some(179.0), Phase::High),
            (Some(180.0), Phase::High),
            (Some(179.0), Phase::High),
            (None, Phase::High),
            (Some(10.0), Phase::High),
            (Some(10.0), Phase::High),
            (Some(10.0), Phase::Low),
            (Some(299.0), Phase::Low),
            (Some(1e9), Phase::High),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(phase.after(load), after, "turn {turn}");
        }
    }
}
