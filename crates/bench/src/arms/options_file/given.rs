//! Stock RocksDB as a user has tuned it: an arm with an OPTIONS file.

use std::path::Path;

use lissom::block_cache;
use lissom_search::export::OptionsFile;
use lissom_search::space::Section;
use rust_rocksdb::{BlockBasedOptions, Options, WriteBufferManager};

use super::memory::{check_total, shared_buffer_bytes};
use super::{applied, check, option_string};
use crate::arms::resources::Resources;
use crate::arms::rocksdb::{TARGET_FILE_SIZE_BASE, compression_type, pace_deletions};
use crate::error::{BenchError, Place, Result};

/// A user's OPTIONS file. Memory, direct I/O and threads in the background are those of all
/// arms; everything else is the file's, or RocksDB's default.
pub(crate) struct GivenOptions {
    file: OptionsFile,
}

impl GivenOptions {
    /// The file that is called `name`.
    ///
    /// # Errors
    /// There is none; the line that is wrong; a setting that an arm cannot have.
    pub(crate) fn read(name: &str, resources: &Resources) -> Result<Self> {
        let text = resources.options_files.get(name).ok_or_else(|| {
            BenchError::new(format!(
                "there is no OPTIONS file: give --options {name}=PATH"
            ))
        })?;
        let file = OptionsFile::parse(text).map_err(|error| BenchError::new(error.to_string()))?;
        check(&file)?;
        if style(&file).contains("FIFO") {
            return Err(BenchError::new(
                "compaction_style=kCompactionStyleFIFO drops the oldest data, which answers are \
                 checked for: choose another style",
            ));
        }
        check_total(&file, resources.memory_budget_bytes())?;
        Ok(Self { file })
    }

    /// What RocksDB is opened with.
    ///
    /// # Errors
    /// RocksDB's words about a setting; too little memory.
    pub(crate) fn options(&self, resources: &Resources) -> Result<Options> {
        let mut shared = Options::default();
        shared.set_compression_type(compression_type(resources.compression));
        let memory = resources.memory_budget_bytes();
        let cache = block_cache(memory as usize, self.target_file_size_base());
        let buffers = shared_buffer_bytes(&self.file, memory)?;
        if buffers.is_some() {
            let mut table = BlockBasedOptions::default();
            table.set_block_cache(&cache);
            shared.set_block_based_table_factory(&table);
        }
        let mut options = shared.get_options_from_string(option_string(&self.file)?)?;
        // As in all arms, buffers take of the cache what they hold at the moment.
        if let Some(bytes) = buffers {
            options.set_write_buffer_manager(
                &WriteBufferManager::new_write_buffer_manager_with_cache(
                    bytes as usize,
                    false,
                    cache,
                ),
            );
        }
        options.create_if_missing(true);
        options.set_use_direct_reads(resources.direct_io);
        options.set_use_direct_io_for_flush_and_compaction(resources.direct_io);
        set_background_jobs(&mut options, resources.max_background_jobs());
        options.set_max_subcompactions(resources.max_subcompactions);
        pace_deletions(&mut options, resources);
        Ok(options)
    }

    fn target_file_size_base(&self) -> u64 {
        let text = self.file.get(Section::Cf, "target_file_size_base");
        let bytes = text.and_then(applied::number);
        bytes.map_or(TARGET_FILE_SIZE_BASE, |bytes| bytes as u64)
    }

    /// Whether RocksDB, which has opened `directory`, uses what the file says.
    ///
    /// # Errors
    /// A setting that it does not use at all.
    pub(crate) fn verify(&self, directory: &Path) -> Result<()> {
        let used = applied::used(directory)?;
        applied::compare(&self.file, &used)
            .place("its OPTIONS file")
            .map(drop)
    }

    /// Whether RocksDB estimates what compactions have to move: of levels alone.
    pub(crate) fn estimates_debt(&self) -> bool {
        style(&self.file) == LEVELED
    }
}

/// RocksDB leaves the number of jobs aside where either of the two older settings, which it replaced,
/// is set.
fn set_background_jobs(options: &mut Options, jobs: i32) {
    options.set_max_background_jobs(jobs);
    #[expect(deprecated, reason = "a user's file may set them")]
    {
        options.set_max_background_compactions(-1);
        options.set_max_background_flushes(-1);
    }
}

const LEVELED: &str = "kCompactionStyleLevel";

/// The compaction style, as RocksDB writes it.
fn style(file: &OptionsFile) -> &str {
    file.get(Section::Cf, "compaction_style").unwrap_or(LEVELED)
}
