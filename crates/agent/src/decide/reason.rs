//! Why: the same value in the journal, on the terminal and in tests.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::actuator::Unmanaged;

/// Why a decision was taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "because")]
pub enum Reason {
    /// The load is high, or was and has not been low for long enough.
    HighLoad {
        /// What clients use, if it is known.
        client_bytes_per_sec: Option<f64>,
        /// Over this it becomes high.
        io_high_limit: u64,
    },
    /// The load is low.
    LowLoad {
        /// What clients use.
        client_bytes_per_sec: f64,
        /// Under this it becomes low.
        io_low_limit: u64,
    },
    /// Nothing is known of the load: the server is new, or was away.
    LoadUnknown,
    /// Level 0 is at its bound on files.
    Level0Files {
        /// What it holds.
        files: u64,
        /// What the next interval may add, where RocksDB holds no bound.
        growth: u64,
        /// The bound.
        max_level0_files: u64,
    },
    /// Level 0 is at its bound on bytes.
    DelayedBytes {
        /// What it holds.
        bytes: u64,
        /// What the next interval may add, where RocksDB holds no bound.
        growth: u64,
        /// The bound.
        max_delayed_bytes: u64,
    },
    /// Level 0 has not yet caught up.
    Draining {
        /// What it holds.
        files: u64,
        /// `level0_file_num_compaction_trigger`
        trigger: i64,
    },
    /// Level 0 has caught up.
    Drained {
        /// What it holds.
        files: u64,
        /// `level0_file_num_compaction_trigger`
        trigger: i64,
    },
    /// Nobody would restore the settings if the agent ended now, or the watchdog restores them
    /// already.
    Unguarded {
        /// What is in the way.
        why: String,
    },
    /// The column family has become one that the agent leaves alone.
    HandsOff {
        /// What changed.
        why: Unmanaged,
    },
    /// The server did not take the delay several times in a row.
    GivenUp {
        /// How often.
        times: u32,
    },
    /// Clients leave so much of the device.
    Bandwidth {
        /// What they use, if it is known.
        client_bytes_per_sec: Option<f64>,
        /// What the device carries.
        io_limit: u64,
    },
    /// Level 0 has come to its bound: nothing holds back what it needs to catch up.
    CatchingUp {
        /// Of which column family.
        column_family: String,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::HighLoad { .. } | Reason::LowLoad { .. } | Reason::LoadUnknown => {
                self.fmt_load(f)
            }
            Reason::Level0Files { .. }
            | Reason::DelayedBytes { .. }
            | Reason::Draining { .. }
            | Reason::Drained { .. } => self.fmt_level0(f),
            Reason::Unguarded { why } => write!(f, "nothing may be delayed: {why}"),
            Reason::HandsOff { why } => write!(f, "it is left alone from now on: {why}"),
            Reason::GivenUp { times } => {
                write!(f, "the server did not take the delay {times} times")
            }
            Reason::Bandwidth {
                client_bytes_per_sec,
                io_limit,
            } => write!(
                f,
                "clients use {} of {}",
                Rate(*client_bytes_per_sec),
                Rate(Some(*io_limit as f64))
            ),
            Reason::CatchingUp { column_family } => write!(
                f,
                "level 0 of column family {column_family} came to its bound and has not caught up \
                 yet"
            ),
        }
    }
}

impl Reason {
    fn fmt_load(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::HighLoad {
                client_bytes_per_sec,
                io_high_limit,
            } => write!(
                f,
                "clients use {}, io_high_limit is {}",
                Rate(*client_bytes_per_sec),
                Rate(Some(*io_high_limit as f64))
            ),
            Reason::LowLoad {
                client_bytes_per_sec,
                io_low_limit,
            } => write!(
                f,
                "clients use {}, io_low_limit is {}",
                Rate(Some(*client_bytes_per_sec)),
                Rate(Some(*io_low_limit as f64))
            ),
            _ => f.write_str("the load is not known yet"),
        }
    }

    fn fmt_level0(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Level0Files {
                files,
                growth,
                max_level0_files,
            } => write!(
                f,
                "level 0 holds {files} files{}, max_level0_files is {max_level0_files}",
                Growing(*growth)
            ),
            Reason::DelayedBytes {
                bytes,
                growth,
                max_delayed_bytes,
            } => write!(
                f,
                "level 0 holds {bytes} bytes{}, max_delayed_bytes is {max_delayed_bytes}",
                Growing(*growth)
            ),
            Reason::Draining { files, trigger } => {
                write!(
                    f,
                    "level 0 still holds {files} files, its trigger is {trigger}"
                )
            }
            Reason::Drained { files, trigger } => {
                write!(
                    f,
                    "level 0 is down to {files} files, its trigger is {trigger}"
                )
            }
            _ => Ok(()),
        }
    }
}

/// What an interval adds, unless it is nothing.
struct Growing(u64);

impl fmt::Display for Growing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            growth => write!(f, " and gains {growth} in an interval"),
        }
    }
}

/// Bytes per second in decimal units.
struct Rate(Option<f64>);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => f.write_str("an unknown share"),
            Some(rate) if rate < 1e3 => write!(f, "{rate:.0} B/s"),
            Some(rate) if rate < 1e6 => write!(f, "{:.1} kB/s", rate / 1e3),
            Some(rate) => write!(f, "{:.1} MB/s", rate / 1e6),
        }
    }
}
