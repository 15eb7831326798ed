//! What a column family must be like to be driven: one sentence for each
//! feature of RocksDB that does not go with the autopilot.

use lissom_core::Layout;
use rust_rocksdb::Options;

use crate::error::{Error, Result};
use crate::ffi::options::{
    ColumnFamilyOptions, CompactionStyle, Compression, LiveOptions, read_options,
};
use crate::options::NEVER_FULL;

/// RocksDB's name for the order that keys must have.
pub(crate) const BYTEWISE: &str = "leveldb.BytewiseComparator";

/// What `ttl` and `periodic_compaction_seconds` are while nobody has set them.
const ROCKSDB_CHOOSES: u64 = u64::MAX - 1;

/// Refuses a column family whose options are not those of
/// [`Preparation::options`](crate::Preparation::options).
///
/// # Errors
/// The first option that is not, and what to do.
pub(crate) fn check(live: &LiveOptions) -> Result<()> {
    answer(
        &live.cf.name,
        foreign_feature(live)
            .or_else(|| foreign_tree(&live.cf))
            .or_else(|| foreign_age(&live.cf))
            .or_else(|| foreign_plugin(&live.cf)),
    )
}

/// Refuses what an application has set before Lissom puts its own options on
/// top, so that none of it is dropped in silence.
///
/// # Errors
/// The first option that does not go with the autopilot, and what to do.
pub(crate) fn check_customised(family: &str, options: &mut Options) -> Result<()> {
    let mut wanted = read_options(options)?;
    for age in [
        &mut wanted.cf.ttl,
        &mut wanted.cf.periodic_compaction_seconds,
    ] {
        if *age == ROCKSDB_CHOOSES {
            *age = 0;
        }
    }
    answer(
        family,
        foreign_feature(&wanted)
            .or_else(|| foreign_age(&wanted.cf))
            .or_else(|| foreign_style(&wanted.cf))
            .or_else(|| replaced(&wanted.cf)),
    )
}

fn answer(family: &str, refusal: Option<String>) -> Result<()> {
    match refusal {
        Some(why) => Err(Error::fix(format!(
            "the column family \"{family}\" cannot be driven: {why}"
        ))),
        None => Ok(()),
    }
}

/// Features that would change the tree behind the planner's back, or that lean
/// on levels as RocksDB itself would fill them.
fn foreign_feature(live: &LiveOptions) -> Option<String> {
    let cf = &live.cf;
    if cf.timestamp_size > 0 {
        return Some(
            "its keys carry user timestamps, which order versions of one key; \
             store the time in the key or open it with RocksDB alone"
                .into(),
        );
    }
    if cf.comparator != BYTEWISE {
        return Some(format!(
            "its comparator is {}; guard keys and ranges need RocksDB's bytewise order, \
             so store keys in a form that sorts bytewise",
            cf.comparator
        ));
    }
    if cf.preclude_last_level_data_seconds > 0 {
        return Some(
            "preclude_last_level_data_seconds is set, which knows RocksDB's last level only; \
             set it to 0"
                .into(),
        );
    }
    if live.db.allow_ingest_behind || cf.cf_allow_ingest_behind {
        return Some(
            "ingest-behind keeps RocksDB's last level free for older data, \
             which Lissom uses; turn it off"
                .into(),
        );
    }
    if cf.last_level_temperature != 0 {
        return Some(
            "last_level_temperature is set, which is for RocksDB's last level only; \
             Lissom's oldest run lies above it, so leave it kUnknown"
                .into(),
        );
    }
    if cf.cf_paths.max(live.db.db_paths) > 1 {
        return Some(format!(
            "it has {} paths, and CompactFiles cannot choose among them; give it one",
            cf.cf_paths.max(live.db.db_paths)
        ));
    }
    if cf.bottommost_compression != Compression::DISABLED {
        return Some(format!(
            "its bottommost_compression is {}, for which every move would be a rewrite; \
             use the setting compression, whose last entry holds for all deeper levels",
            cf.bottommost_compression
        ));
    }
    if live.db.has_other_env {
        return Some(
            "its env is not the default one, and Lissom keeps its own files in the directory \
             on disk; open it without one"
                .into(),
        );
    }
    if live.db.has_compaction_service {
        return Some(
            "a compaction service is set, whose workers know neither the guard keys \
             nor the filters of a level; open it without one"
                .into(),
        );
    }
    None
}

/// Files that RocksDB would compact because they are old.
fn foreign_age(cf: &ColumnFamilyOptions) -> Option<String> {
    if cf.ttl > 0 {
        return Some(format!("its ttl is {} s; set it to 0", cf.ttl));
    }
    if cf.periodic_compaction_seconds > 0 {
        return Some(format!(
            "periodic_compaction_seconds is {}; set it to 0",
            cf.periodic_compaction_seconds
        ));
    }
    None
}

fn foreign_style(cf: &ColumnFamilyOptions) -> Option<String> {
    if cf.compaction_style != CompactionStyle::Level {
        return Some(format!(
            "it was opened with {}; open it with kCompactionStyleLevel",
            cf.compaction_style
        ));
    }
    let table = cf.table_factory.as_deref().unwrap_or("not set");
    (table != "BlockBasedTable")
        .then(|| format!("its table factory is {table}; per-level filters need a BlockBasedTable"))
}

/// What Lissom would replace by its own.
fn replaced(cf: &ColumnFamilyOptions) -> Option<String> {
    if let Some(partitioner) = &cf.sst_partitioner_factory {
        return Some(format!(
            "its sst_partitioner_factory is {partitioner}; Lissom cuts files at guard keys \
             with its own, so set none"
        ));
    }
    if !cf.compression_per_level.is_empty() {
        return Some(
            "its compression_per_level is set, which counts RocksDB's levels; \
             use the setting compression, which counts Lissom's"
                .into(),
        );
    }
    cf.filter_policy.as_ref().map(|filter| {
        format!(
            "its filter policy is {filter}; Lissom has its own, \
             so set none and use the setting bloom_bits_per_key"
        )
    })
}

fn foreign_tree(cf: &ColumnFamilyOptions) -> Option<String> {
    let levels = u32::from(Layout::V1.num_levels());
    if let Some(why) = foreign_style(cf) {
        return Some(why);
    }
    if cf.num_levels != levels {
        return Some(format!(
            "it has {} levels, Lissom's layout has {levels}; adopt the directory first",
            cf.num_levels
        ));
    }
    if cf.level_compaction_dynamic_level_bytes {
        return Some("level_compaction_dynamic_level_bytes is on; turn it off".into());
    }
    if cf.max_bytes_for_level_base < NEVER_FULL || cf.max_compaction_bytes < NEVER_FULL {
        return Some(format!(
            "max_bytes_for_level_base is {} and max_compaction_bytes {}, \
             so that RocksDB would compact levels too; take the options from Preparation",
            cf.max_bytes_for_level_base, cf.max_compaction_bytes
        ));
    }
    if cf.level0_file_num_compaction_trigger < cf.level0_slowdown_writes_trigger {
        return Some(format!(
            "its level0_file_num_compaction_trigger is {}, below the slowdown trigger {}, \
             so that RocksDB would take L0 before the autopilot; make them equal",
            cf.level0_file_num_compaction_trigger, cf.level0_slowdown_writes_trigger
        ));
    }
    None
}

fn foreign_plugin(cf: &ColumnFamilyOptions) -> Option<String> {
    let partitioner = cf.sst_partitioner_factory.as_deref();
    if partitioner != Some("lissom.GuardPartitioner") {
        return Some(format!(
            "its sst_partitioner_factory is {}, not Lissom's; take the options from Preparation",
            partitioner.unwrap_or("not set")
        ));
    }
    let filter = cf.filter_policy.as_deref().unwrap_or("not set");
    if !filter.starts_with("lissom.LevelBloom") {
        return Some(format!(
            "its filter policy is {filter}, not Lissom's; set block-based table options \
             through Lissom's settings only"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::options::DbOptions;

    fn ours() -> LiveOptions {
        LiveOptions {
            db: DbOptions {
                max_background_jobs: 4,
                max_subcompactions: 1,
                max_open_files: -1,
                use_direct_reads: false,
                use_direct_io_for_flush_and_compaction: false,
                allow_ingest_behind: false,
                atomic_flush: false,
                has_rate_limiter: false,
                has_statistics: true,
                has_compaction_service: false,
                db_paths: 1,
                has_other_env: false,
                wal_dir: String::new(),
            },
            cf: ColumnFamilyOptions {
                name: "default".into(),
                comparator: BYTEWISE.into(),
                timestamp_size: 0,
                merge_operator: None,
                compaction_filter: None,
                compaction_filter_factory: None,
                sst_partitioner_factory: Some("lissom.GuardPartitioner".into()),
                prefix_extractor: None,
                table_factory: Some("BlockBasedTable".into()),
                filter_policy: Some("lissom.LevelBloom:10x194".into()),
                compaction_style: CompactionStyle::Level,
                num_levels: u32::from(Layout::V1.num_levels()),
                level0_file_num_compaction_trigger: 20,
                level0_slowdown_writes_trigger: 20,
                level0_stop_writes_trigger: 36,
                write_buffer_size: 1 << 26,
                max_write_buffer_number: 2,
                target_file_size_base: 1 << 26,
                max_bytes_for_level_base: NEVER_FULL,
                max_bytes_for_level_multiplier: 1.0,
                level_compaction_dynamic_level_bytes: false,
                max_compaction_bytes: NEVER_FULL,
                disable_auto_compactions: false,
                ttl: 0,
                periodic_compaction_seconds: 0,
                preclude_last_level_data_seconds: 0,
                enable_blob_files: false,
                cf_allow_ingest_behind: false,
                last_level_temperature: 0,
                cf_paths: 1,
                compression: Compression(4),
                bottommost_compression: Compression(0xff),
                compression_per_level: Vec::new(),
            },
        }
    }

    fn says(change: impl FnOnce(&mut LiveOptions), words: &str) {
        let mut live = ours();
        change(&mut live);
        let error = check(&live).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
        assert!(error.contains("\"default\""), "{error}");
    }

    #[test]
    fn our_own_options_pass() {
        check(&ours()).expect("ours");
    }

    #[test]
    fn each_foreign_option_is_refused_by_name() {
        says(
            |live| live.cf.comparator = "mine".into(),
            "comparator is mine",
        );
        says(|live| live.cf.timestamp_size = 8, "user timestamps");
        says(|live| live.db.allow_ingest_behind = true, "ingest-behind");
        says(|live| live.cf.ttl = 60, "ttl is 60 s");
        says(
            |live| live.cf.compaction_style = CompactionStyle::Universal,
            "kCompactionStyleUniversal",
        );
        says(|live| live.cf.num_levels = 7, "it has 7 levels");
        says(
            |live| live.cf.level0_file_num_compaction_trigger = 4,
            "make them equal",
        );
        says(
            |live| live.cf.filter_policy = None,
            "filter policy is not set",
        );
        says(
            |live| live.cf.preclude_last_level_data_seconds = 1,
            "preclude_last_level_data_seconds",
        );
        says(
            |live| live.cf.last_level_temperature = 4,
            "last_level_temperature",
        );
        says(
            |live| live.cf.bottommost_compression = Compression(7),
            "its bottommost_compression is kZSTD",
        );
        says(|live| live.cf.cf_paths = 2, "it has 2 paths");
        says(|live| live.db.has_other_env = true, "its env is not");
        says(
            |live| live.db.has_compaction_service = true,
            "compaction service",
        );
        says(
            |live| live.cf.periodic_compaction_seconds = 9,
            "periodic_compaction_seconds is 9",
        );
        says(
            |live| live.cf.table_factory = Some("PlainTable".into()),
            "table factory is PlainTable",
        );
    }
}
