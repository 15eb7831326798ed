//! The settings that can be named, and where a directory keeps them.

/// Where a setting is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Keeper {
    /// In the state file or in RocksDB's OPTIONS file, from where
    /// [`recorded_settings`](crate::inspect::recorded_settings) and the commands on
    /// closed directories take it.
    Directory,
    /// Only in the program that opens the store.
    Program,
}

/// What `inspect::recorded` finds again is kept by the directory.
const SETTINGS: &[(&str, Keeper)] = &[
    ("block_size", Keeper::Program),
    ("bloom_bits_per_key", Keeper::Directory),
    ("compaction_readahead_size", Keeper::Program),
    ("compression", Keeper::Directory),
    ("exploration", Keeper::Program),
    ("filters", Keeper::Program),
    ("idle_cpu_priority", Keeper::Program),
    ("idle_io_priority", Keeper::Program),
    ("level0_file_num_compaction_trigger", Keeper::Directory),
    ("level0_slowdown_writes_trigger", Keeper::Directory),
    ("level0_stop_writes_trigger", Keeper::Directory),
    ("level_compaction_dynamic_level_bytes", Keeper::Directory),
    ("max_files", Keeper::Directory),
    ("max_space_amplification", Keeper::Directory),
    ("max_subcompactions", Keeper::Program),
    ("max_write_amplification", Keeper::Program),
    ("max_write_buffer_number", Keeper::Directory),
    ("memory_budget_bytes", Keeper::Program),
    ("policy", Keeper::Directory),
    ("rate_limit_bytes_per_second", Keeper::Program),
    ("schedule", Keeper::Program),
    ("size_ratio", Keeper::Directory),
    ("target_file_size_base", Keeper::Directory),
    ("tombstone_share", Keeper::Directory),
    ("use_direct_io_for_flush_and_compaction", Keeper::Directory),
    ("use_direct_reads", Keeper::Directory),
    ("workers", Keeper::Program),
    ("writable_file_max_buffer_size", Keeper::Program),
    ("write_buffer_size", Keeper::Directory),
];

/// Where a setting is kept; `None` where there is none of that name.
pub(crate) fn keeper(name: &str) -> Option<Keeper> {
    SETTINGS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, keeper)| *keeper)
}

/// All names.
pub(super) fn names() -> String {
    let names: Vec<&str> = SETTINGS.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::SETTINGS;
    use crate::apply::settings::{set, show};
    use crate::settings::Settings;

    #[test]
    fn every_setting_can_be_set_to_what_is_shown_of_it() {
        for (name, _) in SETTINGS {
            let mut settings = Settings::default();
            let shown = show(&settings, name);
            assert!(!shown.is_empty(), "{name}");
            let value = match *name {
                // The word for no limit is none that can be given.
                "rate_limit_bytes_per_second" => Value::Null,
                _ => serde_json::from_str(&shown).unwrap_or_else(|_| shown.clone().into()),
            };
            assert_eq!(set(&mut settings, name, &value), Ok(()), "{name}");
            assert_eq!(show(&settings, name), shown, "{name}");
        }
    }
}
