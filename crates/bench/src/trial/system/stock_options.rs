//! RocksDB's options for a trial: an OPTIONS file on top of what all trials share.

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{BlockBasedOptions, Cache, Options, RateLimiterMode};

use crate::arms::options_file::{self, cache_bytes, option_string};
use crate::error::{BenchError, Result};
use crate::trial::plan::Limits;

/// RocksDB's own defaults.
const REFILL_MICROS: i64 = 100_000;
const FAIRNESS: i32 = 10;

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
    options_file::check(file)?;
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
    let memory = limits.memory;
    if let Some(bytes) = memory.map_or(Ok(None), |bytes| cache_bytes(file, bytes))? {
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
