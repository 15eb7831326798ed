//! RocksDB's options for a trial: an OPTIONS file on top of what all trials share.

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{BlockBasedOptions, Cache, Options, RateLimiterMode};

use super::option_string;
use crate::error::{BenchError, Result};
use crate::trial::plan::Limits;

/// RocksDB's own defaults.
const WRITE_BUFFER_SIZE: u64 = 64 << 20;
const MAX_WRITE_BUFFER_NUMBER: u64 = 2;
const REFILL_MICROS: i64 = 100_000;
const FAIRNESS: i32 = 10;

/// A cache of fewer bytes serves nobody.
const LEAST_CACHE: u64 = 1 << 20;

/// A configuration together with what all trials share; it has the last word.
pub(super) fn on_top_of(base: Option<&OptionsFile>, own: &OptionsFile) -> OptionsFile {
    let mut file = base.cloned().unwrap_or_default();
    for it in own.settings() {
        file.set(it.section, &it.name, it.value.as_str());
    }
    file
}

/// Refuses what a trial cannot grant.
///
/// # Errors
/// A directory besides the trial's own; tables of another kind; two rate limits.
pub(super) fn check(file: &OptionsFile, limits: &Limits) -> Result<()> {
    for name in ["wal_dir", "db_log_dir"] {
        if let Some(directory) = file.get(Section::Db, name).filter(|it| !it.is_empty()) {
            return Err(BenchError::new(format!(
                "{name}={directory} is a directory besides the trial's own: remove the setting"
            )));
        }
    }
    if let Some(factory) = file.get(Section::Cf, "table_factory")
        && factory != "BlockBasedTable"
    {
        return Err(BenchError::new(format!(
            "table_factory={factory} is not block-based, as the trial's files are: remove the \
             setting"
        )));
    }
    if limits.rate_limit.is_some()
        && file
            .get(Section::Db, "rate_limiter_bytes_per_sec")
            .is_some()
    {
        return Err(BenchError::new(
            "rate_limiter_bytes_per_sec is in the OPTIONS file and --rate-limit is given: use one \
             of them",
        ));
    }
    Ok(())
}

/// The options. The file has the last word, but for `create_if_missing`: a trial
/// begins in an empty directory.
///
/// # Errors
/// RocksDB's words about a setting; too little memory.
pub(super) fn options(file: &OptionsFile, limits: &Limits) -> Result<Options> {
    let mut shared = Options::default();
    shared.set_use_direct_reads(limits.direct_io);
    shared.set_use_direct_io_for_flush_and_compaction(limits.direct_io);
    if let Some(bytes) = cache_bytes(file, limits)? {
        let mut table = BlockBasedOptions::default();
        table.set_block_cache(&Cache::new_lru_cache(bytes as usize));
        shared.set_block_based_table_factory(&table);
    }
    let mut options = shared.get_options_from_string(option_string(file)?)?;
    options.create_if_missing(true);
    if let Some(rate) = limits.rate_limit {
        let rate = i64::try_from(rate).unwrap_or(i64::MAX);
        let mode = RateLimiterMode::KAllIo;
        options.set_ratelimiter_with_mode(rate, REFILL_MICROS, FAIRNESS, mode, false);
    }
    Ok(options)
}

/// What the write buffers leave of the memory, where the file does not say.
fn cache_bytes(file: &OptionsFile, limits: &Limits) -> Result<Option<u64>> {
    let Some(memory) = limits.memory else {
        return Ok(None);
    };
    if file.get(Section::Table, "block_cache").is_some() {
        return Ok(None);
    }
    let size = whole(file, "write_buffer_size", WRITE_BUFFER_SIZE)?;
    let number = whole(file, "max_write_buffer_number", MAX_WRITE_BUFFER_NUMBER)?;
    let buffers = size.saturating_mul(number);
    match memory.checked_sub(buffers) {
        Some(left) if left >= LEAST_CACHE => Ok(Some(left)),
        _ => Err(BenchError::new(format!(
            "--memory {memory} leaves no cache beside {number} write buffers of {size} bytes: give \
             more, or set block_cache in the OPTIONS file"
        ))),
    }
}

fn whole(file: &OptionsFile, name: &str, default: u64) -> Result<u64> {
    let Some(text) = file.get(Section::Cf, name) else {
        return Ok(default);
    };
    text.parse().map_err(|_| {
        BenchError::new(format!(
            "{name}={text} is no whole number of bytes or buffers, which --memory needs: write one"
        ))
    })
}

/// Whether an option decides what files look like inside.
fn shapes_files(section: Section, name: &str) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match section {
        Section::Db => false,
        Section::Cf => {
            begins(&["compression", "bottommost_compression", "target_file_size"])
                || name == "optimize_filters_for_hits"
        }
        // Everything but what is done with the blocks of files that are there.
        Section::Table => {
            !begins(&[
                "block_cache",
                "cache_index",
                "pin_",
                "no_block_cache",
                "metadata_cache",
            ]) && !name.contains("readahead")
        }
    }
}

/// The options that decide what files look like inside, sorted by name.
pub(super) fn shape(file: &OptionsFile) -> OptionsFile {
    let mut chosen: Vec<_> = file
        .settings()
        .iter()
        .filter(|it| shapes_files(it.section, &it.name))
        .collect();
    chosen.sort_by(|a, b| (a.section, &a.name).cmp(&(b.section, &b.name)));
    let mut shape = OptionsFile::default();
    for it in chosen {
        shape.set(it.section, &it.name, it.value.as_str());
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(lines: &str) -> OptionsFile {
        let text = format!("[DBOptions]\n[CFOptions \"default\"]\n{lines}");
        OptionsFile::parse(&text).unwrap()
    }

    fn limits(memory: Option<u64>) -> Limits {
        Limits {
            direct_io: false,
            rate_limit: None,
            memory,
            base: None,
        }
    }

    #[test]
    fn the_configuration_stands_above_what_all_share() {
        let base = file("num_levels=4\nlevel_compaction_dynamic_level_bytes=false");
        let own = file("num_levels=7");
        let both = on_top_of(Some(&base), &own);
        assert_eq!(both.get(Section::Cf, "num_levels"), Some("7"));
        let shared = both.get(Section::Cf, "level_compaction_dynamic_level_bytes");
        assert_eq!(shared, Some("false"));
        assert_eq!(on_top_of(None, &own), own);
    }

    #[test]
    fn the_cache_gets_what_write_buffers_leave() {
        let buffers = file("write_buffer_size=8388608\nmax_write_buffer_number=3");
        let given = |memory| cache_bytes(&buffers, &limits(memory)).unwrap();
        assert_eq!(given(None), None);
        assert_eq!(given(Some(64 << 20)), Some(40 << 20));
        let little = cache_bytes(&buffers, &limits(Some(24 << 20))).unwrap_err();
        assert!(little.to_string().contains("3 write buffers"), "{little}");
        let cached = file("[TableOptions/BlockBasedTable \"default\"]\nblock_cache=1048576");
        assert_eq!(cache_bytes(&cached, &limits(Some(1))).unwrap(), None);
    }

    #[test]
    fn foreign_directories_and_tables_are_refused() {
        check(&file("table_factory=BlockBasedTable"), &limits(None)).unwrap();
        let plain = check(&file("table_factory=PlainTable"), &limits(None));
        let error = plain.unwrap_err().to_string();
        assert!(error.contains("not block-based"), "{error}");
        let mut elsewhere = file("");
        elsewhere.set(Section::Db, "wal_dir", "/data");
        let error = check(&elsewhere, &limits(None)).unwrap_err().to_string();
        assert!(error.starts_with("wal_dir=/data"), "{error}");
    }

    #[test]
    fn the_shape_is_what_files_carry() {
        let mut options = file(
            "num_levels=4\ncompression=kZSTD\ntarget_file_size_base=1048576\n\
             [TableOptions/BlockBasedTable \"default\"]\nblock_size=8192\nblock_cache=1\n\
             pin_l0_filter_and_index_blocks_in_cache=true\nfilter_policy=bloomfilter:9:false",
        );
        options.set(Section::Db, "max_background_jobs", "4");
        let chosen = shape(&options);
        let names: Vec<&str> = chosen
            .settings()
            .iter()
            .map(|it| it.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "compression",
                "target_file_size_base",
                "block_size",
                "filter_policy"
            ]
        );
    }
}
