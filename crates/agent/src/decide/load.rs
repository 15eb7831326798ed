//! How loaded the server is: DLC's analyser (its section 3.2.2), made of the
//! core's load models and phases.

use std::time::Duration;

use lissom_core::schedule::{Conditions, Load, LoadModel, Phase, Phases};

use super::observation::Counters;
use crate::settings::Settings;

/// Estimates what clients use, and tells high load from low.
#[derive(Clone, Debug)]
pub struct Analyser {
    model: LoadModel,
    conditions: Conditions,
    phases: Phases,
    phase: Phase,
    client_bytes_per_sec: Option<f64>,
    logged_bytes_per_sec: Option<f64>,
}

impl Analyser {
    /// Low, until a high load is seen.
    pub fn new(settings: &Settings) -> Analyser {
        Analyser {
            model: settings.load_model,
            conditions: Conditions {
                device_bytes_per_second: settings.io_limit_bytes_per_sec as f64,
                compressed_share: settings.compression_ratio,
                ..Conditions::default()
            },
            phases: Phases::new(settings.phase_limits()),
            phase: Phase::Low,
            client_bytes_per_sec: None,
            logged_bytes_per_sec: None,
        }
    }

    /// Takes up an interval: what was counted since the server's start, and in the
    /// interval. An interval of which nothing is known is neither high nor low.
    pub fn learn(&mut self, total: &Counters, counted: Option<(Counters, Duration)>) {
        if let Some(bytes) = entry_bytes(total) {
            self.conditions.entry_bytes = bytes;
        }
        let load = counted.map(|(counted, interval)| load(&counted, interval));
        let client = load.map(|load| self.model.client(&load, &self.conditions));
        let pressure = load.map(|load| self.model.pressure(&load, &self.conditions));
        self.client_bytes_per_sec = client;
        // An interval that is counted is not empty.
        self.logged_bytes_per_sec =
            load.map(|load| load.logged_bytes as f64 / load.interval.as_secs_f64());
        self.phase = self.phases.after(pressure.unwrap_or(f64::NAN));
    }

    /// The load's phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What clients use, if it is known.
    pub fn client_bytes_per_sec(&self) -> Option<f64> {
        self.client_bytes_per_sec
    }

    /// What clients write to the log, if it is known.
    pub fn logged_bytes_per_sec(&self) -> Option<f64> {
        self.logged_bytes_per_sec
    }
}

/// Mean bytes of an entry that was written since the server's start.
fn entry_bytes(total: &Counters) -> Option<f64> {
    let entries = total.keys_written;
    (entries > 0).then(|| total.bytes_written as f64 / entries as f64)
}

fn load(counted: &Counters, interval: Duration) -> Load {
    Load {
        interval,
        gets: counted.keys_read,
        scans: counted.seeks,
        writes: counted.keys_written,
        cached_bytes: counted.block_cache_bytes_insert,
        logged_bytes: counted.wal_bytes,
        ..Load::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: Duration = Duration::from_secs(2);

    fn settings() -> Settings {
        let mut settings = Settings::new(350_000);
        settings.io_low_limit_bytes_per_sec = 180;
        settings.io_high_limit_bytes_per_sec = 300;
        settings
    }

    /// Limits 180 and 300: each line is what was logged in two seconds, and the
    /// phase after it.
    #[test]
    fn the_table() {
        let (low, high) = (Phase::Low, Phase::High);
        let mut analyser = Analyser::new(&settings());
        for (turn, (logged, after)) in [
            (Some(0), low),
            (Some(500), low),
            (Some(600), low),
            (Some(601), high),
            (Some(358), high),
            (Some(358), high),
            (Some(360), high),
            (Some(358), high),
            (None, high),
            (Some(20), high),
            (Some(20), high),
            (Some(20), low),
            (Some(598), low),
            (Some(2_000_000), high),
        ]
        .into_iter()
        .enumerate()
        {
            let counted = logged.map(|wal_bytes| {
                let counted = Counters {
                    wal_bytes,
                    ..Counters::default()
                };
                (counted, TWO)
            });
            analyser.learn(&Counters::default(), counted);
            assert_eq!(analyser.phase(), after, "turn {turn}");
            assert_eq!(analyser.client_bytes_per_sec().is_some(), logged.is_some());
        }
    }

    #[test]
    fn each_model_reads_its_counters() {
        let counted = Counters {
            block_cache_bytes_insert: 4_000,
            wal_bytes: 1_200,
            keys_read: 7,
            seeks: 1,
            keys_written: 3,
            ..Counters::default()
        };
        let total = Counters {
            bytes_written: 1_000,
            keys_written: 10,
            ..Counters::default()
        };
        for (model, client) in [
            (LoadModel::CacheAdditions, 1_600.0),
            (LoadModel::Operations, 550.0),
            (LoadModel::Weighted, 64_000.0),
        ] {
            let mut settings = settings();
            settings.load_model = model;
            settings.compression_ratio = 0.5;
            let mut analyser = Analyser::new(&settings);
            analyser.learn(&total, Some((counted, TWO)));
            assert_eq!(analyser.client_bytes_per_sec(), Some(client), "{model:?}");
        }
    }

    #[test]
    fn a_counter_that_goes_back_counts_nothing() {
        let later = Counters {
            wal_bytes: 5,
            ..Counters::default()
        };
        let earlier = Counters::default();
        assert_eq!(later.since(&earlier), Some(later));
        assert_eq!(earlier.since(&later), None);
    }
}
