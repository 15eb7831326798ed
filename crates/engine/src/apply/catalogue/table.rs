//! Options of `[TableOptions/BlockBasedTable "..."]`.
//!
//! Source: RocksDB 11.12, table/block_based/block_based_table_factory.cc. None is
//! marked as mutable there; SetOptions changes a copy of the table factory instead
//! (options/cf_options.cc, `TableFactoryParseFn`), so that a change holds for what
//! is built from then on. What a reader takes up when it opens a file holds for all
//! files only from the next open on; such options count as read at open here.

use super::kind::Kind::{Boolean, Double, Filter, Int32, Object, Struct, Uint32, Uint64, Word};
use super::words::{
    CHECKSUM, COMMON_PREFIX, DATA_BLOCK_INDEX, INDEX, INDEX_MODE, INDEX_SEARCH, INDEX_SHORTENING,
    PINNING, PREPOPULATE_BLOCKS,
};
use super::{Known, gone, open, run, unkept};

/// All of them, in the order of the alphabet.
pub(super) const OPTIONS: &[Known] = &[
    run("block_align", Boolean).for_new_files(),
    unkept("block_cache"),
    gone("block_cache_compressed"),
    run("block_restart_interval", Int32).for_new_files(),
    run("block_size", Uint64).for_new_files(),
    run("block_size_deviation", Int32).for_new_files(),
    open("cache_index_and_filter_blocks", Boolean),
    open("cache_index_and_filter_blocks_with_high_priority", Boolean),
    run("checksum", Word(CHECKSUM)).for_new_files(),
    run("data_block_hash_table_util_ratio", Double).for_new_files(),
    run("data_block_index_type", Word(DATA_BLOCK_INDEX)).for_new_files(),
    run("decouple_partitioned_filters", Boolean).for_new_files(),
    run("detect_filter_construct_corruption", Boolean),
    run("enable_index_compression", Boolean).for_new_files(),
    open("fail_if_no_udi_on_open", Boolean),
    run("filter_policy", Filter).for_new_files(),
    open("flush_block_policy_factory", Object).for_new_files(),
    run("format_version", Uint32).for_new_files(),
    gone("hash_index_allow_collision"),
    run("index_block_restart_interval", Int32).for_new_files(),
    open("index_block_search_type", Word(INDEX_SEARCH)),
    run("index_mode", Word(INDEX_MODE)).for_new_files(),
    gone("index_per_partition"),
    run("index_shortening", Word(INDEX_SHORTENING)).for_new_files(),
    run("index_type", Word(INDEX)).for_new_files(),
    open("initial_auto_readahead_size", Uint64),
    open("max_auto_readahead_size", Uint64),
    run("metadata_block_size", Uint64).for_new_files(),
    open("metadata_cache_options", Struct(METADATA_CACHE)),
    open("no_block_cache", Boolean),
    open("num_file_reads_for_auto_readahead", Uint64),
    run("optimize_filters_for_memory", Boolean).for_new_files(),
    run("optimize_key_common_prefix", Word(COMMON_PREFIX)).for_new_files(),
    run("partition_filters", Boolean).for_new_files(),
    open("pin_l0_filter_and_index_blocks_in_cache", Boolean),
    open("pin_top_level_index_and_filter", Boolean),
    run("prepopulate_block_cache", Word(PREPOPULATE_BLOCKS)),
    open("read_amp_bytes_per_bit", Uint32),
    gone("reserve_table_builder_memory"),
    gone("reserve_table_reader_memory"),
    run("separate_key_value_in_data_block", Boolean).for_new_files(),
    gone("skip_table_builder_flush"),
    run("super_block_alignment_size", Uint64).for_new_files(),
    run("super_block_alignment_space_overhead_ratio", Uint64).for_new_files(),
    run("uniform_cv_threshold", Double).for_new_files(),
    run("use_delta_encoding", Boolean).for_new_files(),
    open("use_udi_as_primary_index", Boolean),
    open("user_defined_index_factory", Object).for_new_files(),
    run("verify_compression", Boolean),
    run("whole_key_filtering", Boolean).for_new_files(),
];

/// `metadata_cache_options`
const METADATA_CACHE: &[Known] = &[
    open("partition_pinning", Word(PINNING)),
    open("top_level_index_pinning", Word(PINNING)),
    open("unpartitioned_pinning", Word(PINNING)),
];
