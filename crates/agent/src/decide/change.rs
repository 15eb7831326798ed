//! What is set on the server, and whether it took effect.
//!
//! `SET GLOBAL rocksdb_update_cf_options` answers OK, without a warning, when
//! RocksDB refuses an option. So nothing counts until it is read back.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::options::{Assignment, OptionsByFamily};

/// A change of the server's settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "change")]
pub enum Change {
    /// Options of a column family.
    Family {
        /// Which.
        column_family: String,
        /// Its options and their new values.
        set: Vec<Assignment>,
    },
    /// `rocksdb_rate_limiter_bytes_per_sec`
    RateLimiter {
        /// The new value.
        bytes_per_sec: u64,
    },
}

/// What came of a change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// The server reports the new values.
    Applied,
    /// The server said OK and reports other values.
    NotApplied {
        /// Those that are not as they were set.
        differences: Vec<Difference>,
    },
    /// The column family is gone.
    Vanished,
    /// The server said no.
    Refused {
        /// Its reason.
        why: String,
    },
    /// The connection was lost before it could be read back.
    Unknown {
        /// How.
        why: String,
    },
    /// Nothing was sent.
    DryRun,
}

/// A value that is not what was set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// The option or variable.
    pub name: String,
    /// What was set.
    pub wanted: i64,
    /// What the server reports.
    pub seen: i64,
}

impl Change {
    /// The column family that it is about.
    pub fn column_family(&self) -> Option<&str> {
        match self {
            Change::Family { column_family, .. } => Some(column_family),
            Change::RateLimiter { .. } => None,
        }
    }

    /// Compares with what the server reports afterwards.
    pub fn verify(&self, options: &OptionsByFamily, rate_limiter: u64) -> Outcome {
        let differences: Vec<Difference> = match self {
            Change::Family { column_family, set } => match options.get(column_family) {
                None => return Outcome::Vanished,
                Some(options) => set
                    .iter()
                    .map(|it| Difference {
                        name: it.option.to_string(),
                        wanted: it.value,
                        seen: options.get(it.option),
                    })
                    .filter(|it| it.wanted != it.seen)
                    .collect(),
            },
            Change::RateLimiter { bytes_per_sec } if *bytes_per_sec != rate_limiter => {
                vec![Difference {
                    name: "rocksdb_rate_limiter_bytes_per_sec".into(),
                    wanted: i64::try_from(*bytes_per_sec).unwrap_or(i64::MAX),
                    seen: i64::try_from(rate_limiter).unwrap_or(i64::MAX),
                }]
            }
            Change::RateLimiter { .. } => Vec::new(),
        };
        if differences.is_empty() {
            Outcome::Applied
        } else {
            Outcome::NotApplied { differences }
        }
    }
}

impl Outcome {
    /// The value that an option of the change was read back with, if it was.
    pub fn read_back(&self, set: &Assignment) -> Option<i64> {
        match self {
            Outcome::Applied => Some(set.value),
            Outcome::NotApplied { differences } => {
                let differs = differences.iter().find(|it| it.name == set.option.name());
                Some(differs.map_or(set.value, |it| it.seen))
            }
            Outcome::Vanished
            | Outcome::Refused { .. }
            | Outcome::Unknown { .. }
            | Outcome::DryRun => None,
        }
    }
}

/// `default: a=1; b=2`
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Family { column_family, set } => {
                let texts: Vec<String> = set.iter().map(Assignment::to_string).collect();
                write!(f, "{column_family}: {}", texts.join("; "))
            }
            Change::RateLimiter { bytes_per_sec } => {
                write!(f, "rocksdb_rate_limiter_bytes_per_sec={bytes_per_sec}")
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Applied => f.write_str("done"),
            Outcome::NotApplied { differences } => {
                let texts: Vec<String> = differences
                    .iter()
                    .map(|it| format!("{} is {} and not {}", it.name, it.seen, it.wanted))
                    .collect();
                write!(f, "the server said OK, but {}", texts.join(", "))
            }
            Outcome::Vanished => f.write_str("the column family is gone"),
            Outcome::Refused { why } => write!(f, "refused: {why}"),
            Outcome::Unknown { why } => write!(f, "not known: {why}"),
            Outcome::DryRun => f.write_str("not sent (dry run)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::OptionName;
    use crate::testing::usual_options;

    fn delay() -> Change {
        Change::Family {
            column_family: "default".into(),
            set: vec![Assignment {
                option: OptionName::DisableAutoCompactions,
                value: 1,
            }],
        }
    }

    #[test]
    fn only_what_is_read_back_counts() {
        let mut options = OptionsByFamily::from([("default".into(), usual_options())]);
        let lied = delay().verify(&options, 0);
        assert_eq!(
            lied.to_string(),
            "the server said OK, but disable_auto_compactions is 0 and not 1"
        );
        let Change::Family { set, .. } = delay() else {
            panic!("it is of a family");
        };
        assert_eq!(lied.read_back(&set[0]), Some(0));
        assert_eq!(Outcome::Applied.read_back(&set[0]), Some(1));
        assert_eq!(Outcome::Vanished.read_back(&set[0]), None);
        let family = options.get_mut("default").expect("it is there");
        family.disable_auto_compactions = true;
        assert_eq!(delay().verify(&options, 0), Outcome::Applied);
        assert_eq!(
            delay().verify(&OptionsByFamily::new(), 0),
            Outcome::Vanished
        );
    }

    #[test]
    fn the_limiter_is_read_back_too() {
        let change = Change::RateLimiter { bytes_per_sec: 9 };
        let none = OptionsByFamily::new();
        assert_eq!(change.verify(&none, 9), Outcome::Applied);
        let Outcome::NotApplied { differences } = change.verify(&none, 0) else {
            panic!("it is 0");
        };
        assert_eq!((differences[0].wanted, differences[0].seen), (9, 0));
    }
}
