//! The settings that a directory was last opened with, as far as its files say.

use std::path::Path;

use lissom_core::tuner::Policy;
use lissom_core::{Layout, TreeState};

use super::read::{column_families, find};
use crate::error::Result;
use crate::ffi::options::{ColumnFamilyOptions, Compression as Code};
use crate::ffi::options_file::{LoadedOptions, load_latest_options};
use crate::files::state::{self, Stored};
use crate::settings::{Compression, Settings};

/// The settings of a column family, from the directory's OPTIONS and state
/// files; what they do not say is the default.
///
/// # Errors
/// When a file cannot be read, or was written by a newer version.
pub fn recorded_settings(directory: &Path, column_family: &str) -> Result<Settings> {
    let options = load_latest_options(directory)?;
    let stored = state::load(directory)?.stored;
    family_settings(&options, &stored, column_family)
}

/// The policy of each column family, by the state file: absent where it does
/// not say.
///
/// # Errors
/// When a file cannot be read, or was written by a newer version.
pub fn recorded_policy(directory: &Path) -> Result<Vec<(String, Option<Policy>)>> {
    let stored = state::load(directory)?.stored;
    let policy = |name: &str| stored.families.get(name)?.policy.parse().ok();
    Ok(column_families(directory)?
        .into_iter()
        .map(|name| (name.clone(), policy(&name)))
        .collect())
}

pub(crate) fn family_settings(
    options: &LoadedOptions,
    stored: &Stored,
    name: &str,
) -> Result<Settings> {
    let mut settings = Settings::default();
    if let Some(family) = find(options, name) {
        take_over(&mut settings, family);
    }
    if let Some(family) = stored.families.get(name) {
        match family.policy.parse() {
            Ok(policy) => settings.policy = policy,
            Err(_) => settings.policy = Policy::Fixed(family.tree.limits.clone()),
        }
        settings.filters = settings.policy.filters().unwrap_or_default();
        if let Some(shape) = &family.shape {
            settings = settings.with_shape(shape);
        }
    }
    settings.use_direct_reads = options.db.use_direct_reads;
    settings.use_direct_io_for_flush_and_compaction =
        options.db.use_direct_io_for_flush_and_compaction;
    settings.memory_budget_bytes = settings
        .memory_budget_bytes
        .max(settings.write_buffer_bytes() * 2);
    settings.check()?;
    Ok(settings)
}

/// The planner's memory of a column family; a new one where none is recorded.
pub(crate) fn family_state(stored: &Stored, name: &str, settings: &Settings) -> TreeState {
    stored.families.get(name).map_or_else(
        || TreeState::new(settings.policy.first_limits()),
        |family| family.tree.clone(),
    )
}

/// Takes over what has the same meaning under the autopilot. A value that the
/// settings do not admit is passed over.
fn take_over(settings: &mut Settings, family: &ColumnFamilyOptions) {
    let legal = |change: &dyn Fn(&mut Settings), settings: &mut Settings| {
        let mut next = settings.clone();
        change(&mut next);
        next.memory_budget_bytes = next.memory_budget_bytes.max(next.write_buffer_bytes() * 2);
        if next.check().is_ok() {
            *settings = next;
        }
    };
    legal(
        &|next| next.write_buffer_size = family.write_buffer_size,
        settings,
    );
    legal(
        &|next| next.max_write_buffer_number = family.max_write_buffer_number.max(2),
        settings,
    );
    legal(
        &|next| next.target_file_size_base = family.target_file_size_base,
        settings,
    );
    legal(
        &|next| {
            let slowdown = family.level0_slowdown_writes_trigger;
            let stop = family.level0_stop_writes_trigger;
            next.level0_slowdown_writes_trigger = u32::try_from(slowdown).unwrap_or(0);
            next.level0_stop_writes_trigger = u32::try_from(stop).unwrap_or(0);
        },
        settings,
    );
    if let Some(bits) = family.filter_policy.as_deref().and_then(filter_bits) {
        legal(&|next| next.bloom_bits_per_key = bits, settings);
    }
    settings.compression = compression(family);
}

/// The compression of new files: by logical level where Lissom's levels are on
/// record, else RocksDB's own type for the deepest level, where most of the bytes lie; LZ4 for
/// those that Lissom does not have. One type, so that files go down by moves.
fn compression(family: &ColumnFamilyOptions) -> Vec<Compression> {
    let of = |code: &Code| match code {
        Code(0x00) => Compression::None,
        Code(0x07) => Compression::Zstd,
        _ => Compression::Lz4,
    };
    let recorded = &family.compression_per_level;
    if recorded.len() != usize::from(Layout::V1.num_levels()) {
        let deepest = match family.bottommost_compression {
            Code::DISABLED => recorded.last().unwrap_or(&family.compression),
            ref own => own,
        };
        return vec![of(deepest)];
    }
    let mut levels: Vec<Compression> = Layout::V1
        .logical_levels()
        .map(|level| of(&recorded[usize::from(Layout::V1.span(level).1.0)]))
        .collect();
    // The last entry holds for all deeper levels.
    while levels.len() > 1 && levels[levels.len() - 1] == levels[levels.len() - 2] {
        levels.pop();
    }
    levels
}

/// The bits in `lissom.LevelBloom:10x194`, `bloomfilter:10:false` and the like.
fn filter_bits(id: &str) -> Option<f64> {
    let (_, settings) = id.split_once(':')?;
    let number: String = settings
        .chars()
        .take_while(|digit| digit.is_ascii_digit() || *digit == '.')
        .collect();
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_bits_are_read_from_ids() {
        assert_eq!(filter_bits("lissom.LevelBloom:9.5x18/4"), Some(9.5));
        assert_eq!(filter_bits("bloomfilter:10:false"), Some(10.0));
        assert_eq!(filter_bits("mine"), None);
    }

    #[test]
    fn what_rocksdb_compresses_by_the_type_of_its_deepest_level_stays_so() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut options = rust_rocksdb::Options::default();
        options.create_if_missing(true);
        options.set_compression_type(rust_rocksdb::DBCompressionType::None);
        options.set_bottommost_compression_type(rust_rocksdb::DBCompressionType::Zstd);
        drop(rust_rocksdb::DB::open(&options, directory.path()).expect("a new database"));
        let recorded = recorded_settings(directory.path(), "default").expect("on record");
        assert_eq!(recorded.compression, [Compression::Zstd]);
    }

    #[test]
    fn compression_by_level_survives_a_reopening() {
        let directory = tempfile::tempdir().expect("a directory");
        let compression = vec![Compression::None, Compression::Lz4, Compression::Zstd];
        let settings = Settings {
            compression: compression.clone(),
            ..Settings::default()
        };
        drop(crate::Db::open(directory.path(), settings).expect("a new database"));
        let recorded = recorded_settings(directory.path(), "default").expect("on record");
        assert_eq!(recorded.compression, compression);
    }
}
