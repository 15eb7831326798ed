//! The options of a column family that the agent changes. It changes no other.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of one of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionName {
    /// `disable_auto_compactions`
    DisableAutoCompactions,
    /// `level0_file_num_compaction_trigger`
    Level0FileNumCompactionTrigger,
    /// `level0_slowdown_writes_trigger`
    Level0SlowdownWritesTrigger,
    /// `level0_stop_writes_trigger`
    Level0StopWritesTrigger,
    /// `max_bytes_for_level_base`
    MaxBytesForLevelBase,
}

impl OptionName {
    /// All of them.
    pub const ALL: [OptionName; 5] = [
        OptionName::DisableAutoCompactions,
        OptionName::Level0FileNumCompactionTrigger,
        OptionName::Level0SlowdownWritesTrigger,
        OptionName::Level0StopWritesTrigger,
        OptionName::MaxBytesForLevelBase,
    ];

    /// RocksDB's name; `ROCKSDB_CF_OPTIONS` has it in capitals.
    pub fn name(self) -> &'static str {
        match self {
            OptionName::DisableAutoCompactions => "disable_auto_compactions",
            OptionName::Level0FileNumCompactionTrigger => "level0_file_num_compaction_trigger",
            OptionName::Level0SlowdownWritesTrigger => "level0_slowdown_writes_trigger",
            OptionName::Level0StopWritesTrigger => "level0_stop_writes_trigger",
            OptionName::MaxBytesForLevelBase => "max_bytes_for_level_base",
        }
    }
}

impl fmt::Display for OptionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The options of column families by name.
pub type OptionsByFamily = BTreeMap<String, FamilyOptions>;

/// Their values in one column family.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct FamilyOptions {
    /// Whether RocksDB picks no compactions by itself. It then holds no writer
    /// back for level 0 either.
    pub disable_auto_compactions: bool,
    /// Files in level 0 at which it is compacted.
    pub level0_file_num_compaction_trigger: i64,
    /// Files in level 0 at which writers are slowed down; negative: never.
    pub level0_slowdown_writes_trigger: i64,
    /// Files in level 0 at which writers are stopped.
    pub level0_stop_writes_trigger: i64,
    /// Bytes of level 1; level 0 is compacted as well when it holds that many.
    pub max_bytes_for_level_base: i64,
}

impl FamilyOptions {
    /// One value; 0 or 1 for a switch.
    pub fn get(&self, option: OptionName) -> i64 {
        match option {
            OptionName::DisableAutoCompactions => i64::from(self.disable_auto_compactions),
            OptionName::Level0FileNumCompactionTrigger => self.level0_file_num_compaction_trigger,
            OptionName::Level0SlowdownWritesTrigger => self.level0_slowdown_writes_trigger,
            OptionName::Level0StopWritesTrigger => self.level0_stop_writes_trigger,
            OptionName::MaxBytesForLevelBase => self.max_bytes_for_level_base,
        }
    }

    /// Replaces one value.
    pub fn set(&mut self, option: OptionName, value: i64) {
        match option {
            OptionName::DisableAutoCompactions => self.disable_auto_compactions = value != 0,
            OptionName::Level0FileNumCompactionTrigger => {
                self.level0_file_num_compaction_trigger = value;
            }
            OptionName::Level0SlowdownWritesTrigger => self.level0_slowdown_writes_trigger = value,
            OptionName::Level0StopWritesTrigger => self.level0_stop_writes_trigger = value,
            OptionName::MaxBytesForLevelBase => self.max_bytes_for_level_base = value,
        }
    }

    /// What must be set so that these become `wanted`.
    pub fn changes_to(&self, wanted: &FamilyOptions) -> Vec<Assignment> {
        OptionName::ALL
            .into_iter()
            .filter(|option| self.get(*option) != wanted.get(*option))
            .map(|option| Assignment {
                option,
                value: wanted.get(option),
            })
            .collect()
    }
}

/// An option and the value that it is given.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// The option.
    pub option: OptionName,
    /// The value; 0 or 1 for a switch.
    pub value: i64,
}

/// `name=value`, as RocksDB reads it.
impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.option {
            OptionName::DisableAutoCompactions => {
                write!(f, "{}={}", self.option, self.value != 0)
            }
            _ => write!(f, "{}={}", self.option, self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::usual_options;

    #[test]
    fn what_differs_is_set_and_nothing_else() {
        let before = usual_options();
        let mut after = before;
        assert!(before.changes_to(&after).is_empty());
        after.disable_auto_compactions = true;
        after.max_bytes_for_level_base = 1 << 30;
        let changes = before.changes_to(&after);
        let texts: Vec<String> = changes.iter().map(Assignment::to_string).collect();
        assert_eq!(
            texts,
            [
                "disable_auto_compactions=true",
                "max_bytes_for_level_base=1073741824"
            ]
        );
        let mut made = before;
        for change in changes {
            made.set(change.option, change.value);
        }
        assert_eq!(made, after);
    }
}
