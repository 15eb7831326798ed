//! How an OPTIONS file's write buffers and its cache share the memory of a run.

use lissom_search::export::OptionsFile;
use lissom_search::space::Section;

use super::applied::truth;
use crate::error::{BenchError, Result};

/// RocksDB's own defaults.
const WRITE_BUFFER_SIZE: u64 = 64 << 20;
const MAX_WRITE_BUFFER_NUMBER: u64 = 2;

/// A cache of fewer bytes serves nobody.
const LEAST_CACHE: u64 = 1 << 20;

/// What the write buffers leave of so many bytes when all are full; absent where the file sets a
/// `block_cache` itself.
///
/// # Errors
/// There is no room for a cache; a size that is no number.
pub(crate) fn cache_bytes(file: &OptionsFile, memory: u64) -> Result<Option<u64>> {
    if file.get(Section::Table, "block_cache").is_some() {
        return Ok(None);
    }
    let (number, size) = write_buffers(file)?;
    match memory.checked_sub(size.saturating_mul(number)) {
        Some(left) if left >= LEAST_CACHE => Ok(Some(left)),
        _ => Err(BenchError::new(format!(
            "{memory} bytes of memory leave no cache beside {number} write buffers of {size} bytes: \
             give more, or set block_cache in the OPTIONS file"
        ))),
    }
}

/// Most bytes of all write buffers where they share a cache of so many bytes with blocks: those
/// of the file's `db_write_buffer_size`, if it has one. Absent where the file sets a `block_cache`
/// itself.
///
/// # Errors
/// As [`cache_bytes`].
pub(super) fn shared_buffer_bytes(file: &OptionsFile, memory: u64) -> Result<Option<u64>> {
    let Some(left) = cache_bytes(file, memory)? else {
        return Ok(None);
    };
    match whole(file, Section::Db, "db_write_buffer_size", 0)? {
        0 => Ok(Some(memory - left)),
        bytes => Ok(Some(bytes)),
    }
}

/// Whether an OPTIONS file has indexes and filters in the cache, where they are counted. They are
/// not by RocksDB's default.
pub(crate) fn counts_indexes(text: &str) -> bool {
    let file = OptionsFile::parse(text).ok();
    let file = file.as_ref();
    let told = file.and_then(|file| file.get(Section::Table, "cache_index_and_filter_blocks"));
    told.and_then(truth) == Some(true)
}

/// Refuses a file that sets a `block_cache` with which it would have more than so many bytes.
///
/// # Errors
/// It would; a size that is no number.
pub(super) fn check_total(file: &OptionsFile, memory: u64) -> Result<()> {
    if file.get(Section::Table, "block_cache").is_none() {
        return Ok(());
    }
    let cache = whole(file, Section::Table, "block_cache", 0)?;
    let (number, size) = write_buffers(file)?;
    let total = size.saturating_mul(number).saturating_add(cache);
    if total <= memory {
        return Ok(());
    }
    Err(BenchError::new(format!(
        "its block_cache and its {number} write buffers of {size} bytes are {total} bytes, and all \
         arms have {memory}: give a larger --block-cache-size, or a smaller block_cache"
    )))
}

/// How many write buffers the file allows, and the bytes of each.
fn write_buffers(file: &OptionsFile) -> Result<(u64, u64)> {
    let number = whole(
        file,
        Section::Cf,
        "max_write_buffer_number",
        MAX_WRITE_BUFFER_NUMBER,
    )?;
    let size = whole(file, Section::Cf, "write_buffer_size", WRITE_BUFFER_SIZE)?;
    Ok((number, size))
}

fn whole(file: &OptionsFile, section: Section, name: &str, default: u64) -> Result<u64> {
    let Some(text) = file.get(section, name) else {
        return Ok(default);
    };
    text.parse().map_err(|_| {
        BenchError::new(format!(
            "{name}={text} is no whole number of bytes or buffers, by which memory is shared out: \
             write one"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers() -> OptionsFile {
        let mut file = OptionsFile::default();
        file.set(Section::Cf, "write_buffer_size", "8388608");
        file.set(Section::Cf, "max_write_buffer_number", "3");
        file
    }

    #[test]
    fn the_cache_gets_what_write_buffers_leave() {
        assert_eq!(cache_bytes(&buffers(), 64 << 20).unwrap(), Some(40 << 20));
        let little = cache_bytes(&buffers(), 24 << 20).unwrap_err().to_string();
        assert!(little.contains("3 write buffers"), "{little}");
        let mut cached = buffers();
        cached.set(Section::Table, "block_cache", "1048576");
        assert_eq!(cache_bytes(&cached, 1).unwrap(), None);
    }

    #[test]
    fn buffers_share_the_cache_and_a_bound_of_the_file_holds() {
        let mut file = buffers();
        assert_eq!(
            shared_buffer_bytes(&file, 64 << 20).unwrap(),
            Some(24 << 20)
        );
        file.set(Section::Db, "db_write_buffer_size", "16777216");
        assert_eq!(
            shared_buffer_bytes(&file, 64 << 20).unwrap(),
            Some(16 << 20)
        );
        file.set(Section::Table, "block_cache", "1048576");
        assert_eq!(shared_buffer_bytes(&file, 64 << 20).unwrap(), None);
    }

    #[test]
    fn indexes_count_where_the_file_says_so() {
        let file = |setting: &str| {
            format!(
                "[DBOptions]\n[CFOptions \"default\"]\n\
                 [TableOptions/BlockBasedTable \"default\"]\n{setting}\n"
            )
        };
        assert!(counts_indexes(&file("cache_index_and_filter_blocks=true")));
        assert!(!counts_indexes(&file(
            "cache_index_and_filter_blocks=false"
        )));
        assert!(
            !counts_indexes(&file("block_size=4096")),
            "RocksDB's default"
        );
    }

    #[test]
    fn a_cache_of_its_own_stays_within_the_memory_of_all() {
        let mut file = buffers();
        check_total(&file, 1).unwrap();
        file.set(Section::Table, "block_cache", (8 << 20).to_string());
        check_total(&file, 32 << 20).unwrap();
        let error = check_total(&file, (32 << 20) - 1).unwrap_err().to_string();
        assert!(error.contains("33554432 bytes"), "{error}");
        file.set(Section::Table, "block_cache", "{capacity=8M}");
        let error = check_total(&file, 32 << 20).unwrap_err().to_string();
        assert!(
            error.starts_with("block_cache={capacity=8M} is no"),
            "{error}"
        );
    }
}
