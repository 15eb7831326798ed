//! How the agent is to behave.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use lissom_core::schedule::PhaseLimits;
use serde::{Deserialize, Serialize};

use crate::decide::{Actuator, LoadModel};
use crate::error::{Error, Result};

/// DLC's limits for its device of 350 MB/s were 180 and 300 MB/s (its table 2).
const DLC_IO_LIMIT: u64 = 350;
const DLC_LOW: u64 = 180;
const DLC_HIGH: u64 = 300;

/// The longest leases: where RocksDB itself bounds level 0, and where it may not.
const LONGEST_BRAKED: Duration = Duration::from_secs(3600);
const LONGEST_UNBRAKED: Duration = Duration::from_secs(60);

/// How the agent is to behave. Fixed while it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Settings {
    /// Bytes per second that the server's device carries, reads and writes
    /// together (DLC's io_limit). Measured, since it has no default.
    pub io_limit_bytes_per_sec: u64,
    /// The load is low under so many bytes per second (DLC's io_low_limit).
    ///
    /// Default: 180/350 of the limit.
    pub io_low_limit_bytes_per_sec: u64,
    /// The load is high over so many bytes per second (DLC's io_high_limit).
    ///
    /// Default: 300/350 of the limit.
    pub io_high_limit_bytes_per_sec: u64,
    /// Intervals in a row under the low limit after which the load is low.
    ///
    /// Default: 3
    pub softness: u32,
    /// Time between two readings of the server.
    ///
    /// Default: 1 s
    pub interval: Duration,
    /// How the load of clients is estimated: any model but
    /// [`LoadModel::Scarcest`], since SQL does not tell how busy the processors are.
    ///
    /// Default: [`LoadModel::CacheAdditions`]
    pub load_model: LoadModel,
    /// Bytes in a file for each byte that it holds (DLC's γ), above 0, at most 1.
    ///
    /// Default: 1
    pub compression_ratio: f64,
    /// Files in level 0 of a column family at which it is compacted whatever
    /// the load is.
    ///
    /// Default: 20
    pub max_level0_files: u64,
    /// Bytes in level 0 of a column family at which it is compacted whatever
    /// the load is.
    ///
    /// Default: 2 GiB
    pub max_delayed_bytes: u64,
    /// How compaction is delayed; `None` chooses for each column family:
    /// [`Actuator::Level0Trigger`] where its levels are not dynamic, and
    /// [`Actuator::DisableAutoCompactions`] where they are, which then takes a
    /// [`server_lease`](Settings::server_lease).
    ///
    /// Default: `None`
    pub actuator: Option<Actuator>,
    /// The column families to look after; empty is all of them.
    ///
    /// Default: empty
    pub column_families: Vec<String>,
    /// Whether `rocksdb_rate_limiter_bytes_per_sec` is set to what clients leave
    /// of the device.
    ///
    /// Default: false
    pub rate_limiter: bool,
    /// After so long without a completed interval of the agent, the server gets
    /// its original settings back. At least four intervals and 4 s; at most a minute
    /// or four intervals, or 1 h with [`Actuator::Level0Trigger`].
    ///
    /// Default: 10 s
    pub lease: Duration,
    /// A schema in which the agent keeps an event that restores the settings
    /// from within the server.
    ///
    /// Default: none
    pub server_lease: Option<String>,
    /// Says what would be done, and changes nothing.
    ///
    /// Default: false
    pub dry_run: bool,
    /// Bytes after which the journal is rotated; two files are kept.
    ///
    /// Default: 16 MiB
    pub max_journal_bytes: u64,
}

impl Settings {
    /// The defaults for a device of so many bytes per second.
    pub fn new(io_limit_bytes_per_sec: u64) -> Settings {
        let share = |of: u64| dlc_share(io_limit_bytes_per_sec, of);
        Settings {
            io_limit_bytes_per_sec,
            io_low_limit_bytes_per_sec: share(DLC_LOW),
            io_high_limit_bytes_per_sec: share(DLC_HIGH),
            softness: 3,
            interval: Duration::from_secs(1),
            load_model: LoadModel::CacheAdditions,
            compression_ratio: 1.0,
            max_level0_files: 20,
            max_delayed_bytes: 2 << 30,
            actuator: None,
            column_families: Vec::new(),
            rate_limiter: false,
            lease: Duration::from_secs(10),
            server_lease: None,
            dry_run: false,
            max_journal_bytes: 16 << 20,
        }
    }

    /// Whether every setting is in its range.
    ///
    /// # Errors
    /// [`ErrorKind::Fix`](crate::ErrorKind::Fix) with the first one that is not,
    /// what it is, and what it may be.
    pub fn check(&self) -> Result<()> {
        self.check_load()?;
        self.check_debt()?;
        self.check_times()?;
        match &self.server_lease {
            Some(schema) if !is_plain_name(schema) => Err(illegal(
                "server_lease",
                schema,
                "a schema's name of letters, digits and underscores",
            )),
            _ => Ok(()),
        }
    }

    /// Where high and low load part, in shares of the device.
    pub(crate) fn phase_limits(&self) -> PhaseLimits {
        let share = |of: u64| of as f64 / self.io_limit_bytes_per_sec.max(1) as f64;
        PhaseLimits {
            high: share(self.io_high_limit_bytes_per_sec),
            low: share(self.io_low_limit_bytes_per_sec),
            softness: self.softness,
        }
    }

    fn check_load(&self) -> Result<()> {
        self.check_limits()?;
        if self.load_model == LoadModel::Scarcest {
            return Err(illegal("load_model", "scarcest", LOAD_MODELS));
        }
        if self.softness == 0 {
            return Err(illegal("softness", 0, "at least 1 interval"));
        }
        if !(self.compression_ratio > 0.0 && self.compression_ratio <= 1.0) {
            let ratio = self.compression_ratio;
            return Err(illegal("compression_ratio", ratio, "above 0 and at most 1"));
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<()> {
        let (low, high) = (
            self.io_low_limit_bytes_per_sec,
            self.io_high_limit_bytes_per_sec,
        );
        if self.io_limit_bytes_per_sec < 1_000 {
            let limit = self.io_limit_bytes_per_sec;
            return Err(illegal("io_limit", limit, "at least 1000 bytes per second"));
        }
        if low == 0 || low > high || high > self.io_limit_bytes_per_sec {
            return Err(Error::fix(format!(
                "io_low_limit {low} and io_high_limit {high} are out of order: give bytes per \
                 second with 0 < io_low_limit <= io_high_limit <= io_limit {}",
                self.io_limit_bytes_per_sec
            )));
        }
        Ok(())
    }

    fn check_debt(&self) -> Result<()> {
        if !(2..=10_000).contains(&self.max_level0_files) {
            let files = self.max_level0_files;
            return Err(illegal("max_level0_files", files, "2 to 10000 files"));
        }
        if !((1_u64 << 20)..=(1_u64 << 60)).contains(&self.max_delayed_bytes) {
            let bytes = self.max_delayed_bytes;
            return Err(illegal("max_delayed_bytes", bytes, "1 MiB to 2^60 bytes"));
        }
        if self.max_journal_bytes < 4_096 {
            let bytes = self.max_journal_bytes;
            return Err(illegal("max_journal_bytes", bytes, "at least 4 KiB"));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<()> {
        let interval = self.interval;
        if interval < Duration::from_millis(100) || interval > Duration::from_secs(60) {
            return Err(illegal(
                "interval",
                format!("{interval:?}"),
                "100 ms to 60 s",
            ));
        }
        self.check_lease()
    }

    /// While the agent hangs, its session holds its lock, and so an event in the server waits
    /// for the lease as the watchdog does. Where level 0 may have lost RocksDB's brakes,
    /// nobody bounds it meanwhile.
    fn check_lease(&self) -> Result<()> {
        let lease = self.lease;
        let least = (self.interval * 4).max(Duration::from_secs(4));
        let unbraked = LONGEST_UNBRAKED.max(least);
        let most = match self.actuator {
            Some(Actuator::Level0Trigger) => LONGEST_BRAKED,
            Some(Actuator::DisableAutoCompactions) | None => unbraked,
        };
        if lease < least || lease > most {
            return Err(illegal(
                "lease",
                format!("{lease:?}"),
                format!(
                    "at least four intervals and 4 s, here {least:?}, and at most {unbraked:?}, or \
                     1 h with the actuator level0-trigger, where RocksDB bounds level 0 itself"
                ),
            ));
        }
        Ok(())
    }
}

/// Of a device's limit the share that so much is of DLC's.
fn dlc_share(io_limit: u64, of: u64) -> u64 {
    // In whole numbers, exact for small limits as well; `of` is less than DLC's limit.
    let share = u128::from(io_limit) * u128::from(of) / u128::from(DLC_IO_LIMIT);
    u64::try_from(share).unwrap_or(io_limit)
}

fn illegal(what: &str, value: impl fmt::Display, legal: impl fmt::Display) -> Error {
    Error::fix(format!("{what} is {value}: it must be {legal}"))
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The load models that need nothing but counters.
const LOAD_MODELS: &str = "cache-additions, operations or weighted";

/// A load model by its name.
///
/// # Errors
/// A sentence with the names that there are.
pub fn load_model(name: &str) -> std::result::Result<LoadModel, String> {
    match name {
        "cache-additions" => Ok(LoadModel::CacheAdditions),
        "operations" => Ok(LoadModel::Operations),
        "weighted" => Ok(LoadModel::Weighted),
        _ => Err(format!("no load model {name:?}: choose {LOAD_MODELS}")),
    }
}

impl FromStr for Actuator {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Actuator, String> {
        match name {
            "level0-trigger" => Ok(Actuator::Level0Trigger),
            "disable-auto-compactions" => Ok(Actuator::DisableAutoCompactions),
            _ => Err(format!(
                "no actuator {name:?}: choose level0-trigger or disable-auto-compactions"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_keep_dlcs_proportions() {
        let settings = Settings::new(350_000_000);
        assert_eq!(settings.io_low_limit_bytes_per_sec, 180_000_000);
        assert_eq!(settings.io_high_limit_bytes_per_sec, 300_000_000);
        assert_eq!(settings.check(), Ok(()));
        assert_eq!(Settings::new(u64::MAX).check(), Ok(()));
        let small = Settings::new(1_000);
        assert_eq!(small.io_low_limit_bytes_per_sec, 514);
        assert_eq!(small.io_high_limit_bytes_per_sec, 857);
    }

    #[test]
    fn each_mistake_has_its_sentence() {
        type Spoil = fn(&mut Settings);
        let wrong: [(Spoil, &str); 13] = [
            (|it| it.io_limit_bytes_per_sec = 3, "io_limit is 3"),
            (|it| it.io_low_limit_bytes_per_sec = 0, "io_low_limit 0"),
            (|it| it.io_high_limit_bytes_per_sec = 1, "out of order"),
            (|it| it.softness = 0, "softness is 0"),
            (
                |it| it.load_model = LoadModel::Scarcest,
                "cache-additions, operations or weighted",
            ),
            (|it| it.compression_ratio = 1.5, "at most 1"),
            (|it| it.compression_ratio = f64::NAN, "at most 1"),
            (|it| it.max_level0_files = 1, "2 to 10000"),
            (|it| it.max_delayed_bytes = 7, "1 MiB"),
            (|it| it.interval = Duration::ZERO, "100 ms to 60 s"),
            (|it| it.lease = Duration::from_secs(1), "four intervals"),
            (|it| it.lease = Duration::from_secs(61), "at most 60s"),
            (|it| it.server_lease = Some("a`b".into()), "schema's name"),
        ];
        for (spoil, words) in wrong {
            let mut settings = Settings::new(100_000_000);
            spoil(&mut settings);
            let sentence = settings.check().expect_err(words).to_string();
            assert!(sentence.contains(words), "{words}: {sentence}");
        }
    }

    #[test]
    fn a_lease_is_long_only_where_rocksdb_bounds_level_0() {
        let mut settings = Settings::new(100_000_000);
        settings.actuator = Some(Actuator::Level0Trigger);
        settings.lease = LONGEST_BRAKED;
        assert_eq!(settings.check(), Ok(()));
        settings.actuator = Some(Actuator::DisableAutoCompactions);
        settings.check().expect_err("an hour without a bound");
        settings.interval = Duration::from_secs(60);
        settings.lease = Duration::from_secs(240);
        assert_eq!(settings.check(), Ok(()));
    }

    #[test]
    fn limits_are_shares_of_the_device() {
        assert_eq!(
            Settings::new(350_000_000).phase_limits(),
            PhaseLimits::default()
        );
        assert_eq!(load_model("weighted"), Ok(LoadModel::Weighted));
        let sentence = load_model("scarcest").expect_err("not by SQL");
        assert!(sentence.contains("choose cache-additions"), "{sentence}");
    }
}
