//! The options of a column family, read from a running database or from the
//! OPTIONS file of a directory.

use std::fmt;

use rust_rocksdb::Options;

use super::buffer::{Owned, Reader};
use super::{CfRef, Error, layout, raw};

/// How a column family is compacted by RocksDB itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionStyle {
    /// `kCompactionStyleLevel`.
    Level,
    /// `kCompactionStyleUniversal`.
    Universal,
    /// `kCompactionStyleFIFO`.
    Fifo,
    /// `kCompactionStyleNone`.
    None,
    /// A style that this version does not know.
    Other(u8),
}

impl From<u8> for CompactionStyle {
    fn from(code: u8) -> Self {
        match code {
            0 => Self::Level,
            1 => Self::Universal,
            2 => Self::Fifo,
            3 => Self::None,
            other => Self::Other(other),
        }
    }
}

impl fmt::Display for CompactionStyle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level => f.write_str("kCompactionStyleLevel"),
            Self::Universal => f.write_str("kCompactionStyleUniversal"),
            Self::Fifo => f.write_str("kCompactionStyleFIFO"),
            Self::None => f.write_str("kCompactionStyleNone"),
            Self::Other(code) => write!(f, "compaction style {code}"),
        }
    }
}

/// A compression type, as RocksDB numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compression(pub u8);

impl Compression {
    /// `kDisableCompressionOption`: no compression of its own.
    pub const DISABLED: Compression = Compression(0xff);
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            0x00 => "kNoCompression",
            0x01 => "kSnappyCompression",
            0x02 => "kZlibCompression",
            0x03 => "kBZip2Compression",
            0x04 => "kLZ4Compression",
            0x05 => "kLZ4HCCompression",
            0x06 => "kXpressCompression",
            0x07 => "kZSTD",
            0xff => "kDisableCompressionOption",
            code => return write!(f, "compression type {code}"),
        };
        f.write_str(name)
    }
}

/// Options of a whole database. Fields carry RocksDB's names and units.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // options.h describes each field
pub struct DbOptions {
    pub max_background_jobs: u32,
    pub max_subcompactions: u32,
    /// -1: no limit.
    pub max_open_files: i64,
    pub use_direct_reads: bool,
    pub use_direct_io_for_flush_and_compaction: bool,
    pub allow_ingest_behind: bool,
    pub atomic_flush: bool,
    /// Is there a rate limiter? (From a file: never; it does not say.)
    pub has_rate_limiter: bool,
    /// Are there statistics? (From a file: never; it does not say.)
    pub has_statistics: bool,
    /// Is there a compaction service? (From a file: never; it does not say.)
    pub has_compaction_service: bool,
    /// Entries of `db_paths`. (From a file: 0; it does not say.)
    pub db_paths: u64,
    /// Is the environment another than the default one?
    pub has_other_env: bool,
    /// Where the write-ahead log lies; empty: in the database's own directory.
    pub wal_dir: String,
}

/// Options of one column family. Fields carry RocksDB's names and units; an
/// object that is not set is `None`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // advanced_options.h and options.h describe each field
pub struct ColumnFamilyOptions {
    /// The column family's name.
    pub name: String,
    pub comparator: String,
    /// Bytes of a user timestamp at the end of each key; 0 without timestamps.
    pub timestamp_size: u64,
    pub merge_operator: Option<String>,
    pub compaction_filter: Option<String>,
    pub compaction_filter_factory: Option<String>,
    pub sst_partitioner_factory: Option<String>,
    pub prefix_extractor: Option<String>,
    pub table_factory: Option<String>,
    /// Its id, with its settings.
    pub filter_policy: Option<String>,
    pub compaction_style: CompactionStyle,
    pub num_levels: u32,
    pub level0_file_num_compaction_trigger: i64,
    pub level0_slowdown_writes_trigger: i64,
    pub level0_stop_writes_trigger: i64,
    pub write_buffer_size: u64,
    pub max_write_buffer_number: u32,
    pub target_file_size_base: u64,
    pub max_bytes_for_level_base: u64,
    pub max_bytes_for_level_multiplier: f64,
    pub level_compaction_dynamic_level_bytes: bool,
    pub max_compaction_bytes: u64,
    pub disable_auto_compactions: bool,
    /// Seconds; `u64::MAX - 1` lets RocksDB choose.
    pub ttl: u64,
    /// Seconds; `u64::MAX - 1` lets RocksDB choose.
    pub periodic_compaction_seconds: u64,
    pub preclude_last_level_data_seconds: u64,
    pub enable_blob_files: bool,
    /// The column family's own setting; the database's is in [`DbOptions`].
    pub cf_allow_ingest_behind: bool,
    /// RocksDB's number for it; 0 is `kUnknown`, the default.
    pub last_level_temperature: u8,
    /// Entries of `cf_paths`; in a running column family those of `db_paths`
    /// where it has none. (From a file: 0; it does not say.)
    pub cf_paths: u64,
    pub compression: Compression,
    pub bottommost_compression: Compression,
    /// By physical level; empty: `compression` everywhere.
    pub compression_per_level: Vec<Compression>,
}

/// What a running column family works with now, or what one is about to be
/// opened with.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveOptions {
    /// The database's options.
    pub db: DbOptions,
    /// The column family's.
    pub cf: ColumnFamilyOptions,
}

/// Reads the options of a running column family.
pub fn live_options(cf: CfRef<'_>) -> Result<LiveOptions, Error> {
    // SAFETY: the target is alive (see `CfRef`), `out` is valid for the call.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_live_options(cf.raw(), out)) }?;
    read_both(&buffer)
}

/// Reads options that are not in use yet. They carry no column family's name.
pub fn read_options(options: &mut Options) -> Result<LiveOptions, Error> {
    let pointer = layout::pointer(options)?;
    // SAFETY: `options` is alive and borrowed exclusively for the call, `out` is
    // valid for it.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_read_options(pointer, out)) }?;
    read_both(&buffer)
}

fn read_both(buffer: &Owned) -> Result<LiveOptions, Error> {
    let mut reader = buffer.reader();
    let options = LiveOptions {
        db: DbOptions::read(&mut reader)?,
        cf: ColumnFamilyOptions::read(&mut reader)?,
    };
    reader.finish()?;
    Ok(options)
}

/// Fails, with what to do, unless the column family is in level style.
pub fn assert_level_style(cf: CfRef<'_>) -> Result<(), Error> {
    let options = live_options(cf)?.cf;
    if options.compaction_style == CompactionStyle::Level {
        return Ok(());
    }
    Err(Error::new(format!(
        "the column family \"{}\" was opened with {}; open it with kCompactionStyleLevel",
        options.name, options.compaction_style
    )))
}

impl DbOptions {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            max_background_jobs: not_negative(reader)?,
            max_subcompactions: reader.u32()?,
            max_open_files: reader.i64()?,
            use_direct_reads: reader.bool()?,
            use_direct_io_for_flush_and_compaction: reader.bool()?,
            allow_ingest_behind: reader.bool()?,
            atomic_flush: reader.bool()?,
            has_rate_limiter: reader.bool()?,
            has_statistics: reader.bool()?,
            has_compaction_service: reader.bool()?,
            db_paths: reader.u64()?,
            has_other_env: reader.bool()?,
            wal_dir: reader.string()?,
        })
    }
}

impl ColumnFamilyOptions {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Error> {
        Ok(Self {
            name: reader.string()?,
            comparator: reader.string()?,
            timestamp_size: reader.u64()?,
            merge_operator: reader.name()?,
            compaction_filter: reader.name()?,
            compaction_filter_factory: reader.name()?,
            sst_partitioner_factory: reader.name()?,
            prefix_extractor: reader.name()?,
            table_factory: reader.name()?,
            filter_policy: reader.name()?,
            compaction_style: reader.u8()?.into(),
            num_levels: reader.u32()?,
            level0_file_num_compaction_trigger: reader.i64()?,
            level0_slowdown_writes_trigger: reader.i64()?,
            level0_stop_writes_trigger: reader.i64()?,
            write_buffer_size: reader.u64()?,
            max_write_buffer_number: not_negative(reader)?,
            target_file_size_base: reader.u64()?,
            max_bytes_for_level_base: reader.u64()?,
            max_bytes_for_level_multiplier: reader.f64()?,
            level_compaction_dynamic_level_bytes: reader.bool()?,
            max_compaction_bytes: reader.u64()?,
            disable_auto_compactions: reader.bool()?,
            ttl: reader.u64()?,
            periodic_compaction_seconds: reader.u64()?,
            preclude_last_level_data_seconds: reader.u64()?,
            enable_blob_files: reader.bool()?,
            cf_allow_ingest_behind: reader.bool()?,
            last_level_temperature: reader.u8()?,
            cf_paths: reader.u64()?,
            compression: Compression(reader.u8()?),
            bottommost_compression: Compression(reader.u8()?),
            compression_per_level: read_compressions(reader)?,
        })
    }
}

/// A C integer that RocksDB sets any value of, and takes what is below its least for
/// that.
fn not_negative(reader: &mut Reader<'_>) -> Result<u32, Error> {
    Ok(u32::try_from(reader.i64()?.max(0)).unwrap_or(u32::MAX))
}

fn read_compressions(reader: &mut Reader<'_>) -> Result<Vec<Compression>, Error> {
    let count = reader.count(8)?;
    (0..count).map(|_| Ok(Compression(reader.u8()?))).collect()
}
