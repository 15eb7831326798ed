//! Options that Lissom sets itself in a store of its own (`options.rs`), each with
//! the setting that does the job.

use crate::apply::text::Section;

const TREE: &str = "policy and size_ratio shape the tree";
const LEVEL0: &str = "level0_file_num_compaction_trigger, level0_slowdown_writes_trigger and \
                      level0_stop_writes_trigger say when L0 is merged and writes are held back";
const FILES: &str = "target_file_size_base is the least size of a file, and files grow with the \
                     data";
const CACHE: &str = "memory_budget_bytes is the memory for blocks, indexes, filters and write \
                     buffers together";
const FILTERS: &str = "bloom_bits_per_key and filters are what its filters take";
const COMPRESSION: &str = "compression has an entry for each of its levels";
const AGES: &str = "RocksDB would compact files for their age behind the planner's back";
const LAST_LEVEL: &str = "its oldest run lies above RocksDB's last level";
const BLOBS: &str = "the planner does not see the bytes of blob files";
const PREFIXES: &str = "scans that cross prefixes would pass over stored keys";

const DATABASE: &[(&str, &str)] = &[
    (
        "max_open_files",
        "it is half of the files that the process may open: raise `ulimit -n`",
    ),
    (
        "max_subcompactions",
        "max_subcompactions is a setting of the same name",
    ),
    (
        "compaction_readahead_size",
        "compaction_readahead_size is a setting of the same name",
    ),
    (
        "writable_file_max_buffer_size",
        "writable_file_max_buffer_size is a setting of the same name",
    ),
    ("db_write_buffer_size", CACHE),
    (
        "rate_limiter_bytes_per_sec",
        "rate_limit_bytes_per_second and Db::set_rate_limit bound flushes and compactions",
    ),
    (
        "use_direct_reads",
        "use_direct_reads is a setting of the same name",
    ),
    (
        "use_direct_io_for_flush_and_compaction",
        "use_direct_io_for_flush_and_compaction is a setting of the same name",
    ),
    (
        "create_if_missing",
        "create_if_missing is a setting of the same name",
    ),
    ("statistics", "statistics is a setting of the same name"),
    ("allow_ingest_behind", LAST_LEVEL),
];

const FAMILY: &[(&str, &str)] = &[
    ("compaction_style", TREE),
    ("compaction_pri", TREE),
    ("num_levels", TREE),
    ("level_compaction_dynamic_level_bytes", TREE),
    ("max_bytes_for_level_base", TREE),
    ("max_bytes_for_level_multiplier", TREE),
    ("max_bytes_for_level_multiplier_additional", TREE),
    ("max_compaction_bytes", TREE),
    ("compaction_options_universal", TREE),
    ("compaction_options_fifo", TREE),
    ("level0_file_num_compaction_trigger", LEVEL0),
    ("level0_slowdown_writes_trigger", LEVEL0),
    ("level0_stop_writes_trigger", LEVEL0),
    ("soft_pending_compaction_bytes_limit", LEVEL0),
    ("hard_pending_compaction_bytes_limit", LEVEL0),
    (
        "disable_auto_compactions",
        "Autopilot::pause and Autopilot::unpause stop its compactions and let them go on",
    ),
    ("target_file_size_base", FILES),
    ("target_file_size_multiplier", FILES),
    ("target_file_size_is_upper_bound", FILES),
    (
        "write_buffer_size",
        "write_buffer_size is a setting of the same name, for the size of its levels follows it",
    ),
    (
        "max_write_buffer_number",
        "max_write_buffer_number is a setting of the same name, within memory_budget_bytes",
    ),
    ("compression", COMPRESSION),
    ("compression_per_level", COMPRESSION),
    ("bottommost_compression", COMPRESSION),
    ("optimize_filters_for_hits", FILTERS),
    ("ttl", AGES),
    ("periodic_compaction_seconds", AGES),
    ("read_triggered_compaction_threshold", AGES),
    ("preclude_last_level_data_seconds", LAST_LEVEL),
    ("last_level_temperature", LAST_LEVEL),
    ("cf_allow_ingest_behind", LAST_LEVEL),
    ("enable_blob_files", BLOBS),
    ("enable_blob_direct_write", BLOBS),
    ("prefix_extractor", PREFIXES),
    (
        "sst_partitioner_factory",
        "its own partitioner cuts files at guard keys",
    ),
];

const TABLE: &[(&str, &str)] = &[
    ("block_cache", CACHE),
    ("no_block_cache", CACHE),
    ("cache_index_and_filter_blocks", CACHE),
    ("cache_index_and_filter_blocks_with_high_priority", CACHE),
    ("pin_l0_filter_and_index_blocks_in_cache", CACHE),
    ("filter_policy", FILTERS),
    ("block_size", "block_size is a setting of the same name"),
];

/// Why Lissom keeps an option to itself, and what to use instead; `None` where it
/// does not care.
pub(super) fn owner(section: &Section, name: &str) -> Option<String> {
    let name = name.split('.').next().unwrap_or(name);
    let of = |table: &'static [(&'static str, &'static str)]| {
        table
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, instead)| *instead)
    };
    let instead = match section {
        Section::Database => of(DATABASE)?,
        Section::Family(_) => of(FAMILY)?,
        Section::Table(_) => of(TABLE).unwrap_or("there is no setting for this one"),
        Section::Settings => return None,
    };
    Some(format!("Lissom sets it itself: {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::catalogue::find;

    #[test]
    fn every_name_is_an_option() {
        for (section, table) in [
            (Section::Database, DATABASE),
            (Section::Family("default".into()), FAMILY),
            (Section::Table("default".into()), TABLE),
        ] {
            for (name, _) in table {
                assert!(find(&section, name).is_some(), "{section} {name}");
            }
        }
    }
}
