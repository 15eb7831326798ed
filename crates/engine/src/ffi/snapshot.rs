//! The files of a column family.

use std::collections::BTreeMap;

use super::buffer::{Owned, Reader, joined};
use super::{CfRef, Error, raw};

/// One table file, as RocksDB's metadata gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRow {
    /// Physical level.
    pub level: u32,
    /// File number; the file is `{number:06}.sst`.
    pub number: u64,
    /// Bytes.
    pub size: u64,
    /// Entries, tombstones included. 0 where RocksDB has not read the file's
    /// properties, as after a reopening; [`table_properties_at`] reads them.
    pub entries: u64,
    /// Tombstones, of points and of ranges; 0 under the same condition.
    pub deletions: u64,
    /// Is the file an input of a compaction that runs or waits?
    pub being_compacted: bool,
    /// Smallest sequence number.
    pub smallest_seqno: u64,
    /// Largest sequence number.
    pub largest_seqno: u64,
    /// Order of arrival: in level 0 the larger is the newer. 0 if unknown.
    pub epoch: u64,
    /// Reads of this file, sampled by RocksDB.
    pub reads_sampled: u64,
    /// Seconds since 1970; 0 if unknown.
    pub created: u64,
    /// Smallest user key.
    pub smallest: Vec<u8>,
    /// Largest user key; it may belong to the next file too where a range
    /// tombstone was cut.
    pub largest: Vec<u8>,
}

/// The files of one column family, all of the same instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The number of physical levels, empty ones included.
    pub levels: u32,
    /// The files: by level, level 0 from newest to oldest, deeper levels in key
    /// order.
    pub files: Vec<FileRow>,
}

/// Reads all file metadata in one call. RocksDB holds its mutex while it copies
/// the list: milliseconds for thousands of files.
pub fn tree_snapshot(cf: CfRef<'_>) -> Result<Snapshot, Error> {
    // SAFETY: the target is alive (see `CfRef`), `out` is valid for the call.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_tree_snapshot(cf.raw(), out)) }?;
    let mut reader = buffer.reader();
    let levels = reader.u32()?;
    let count = reader.count(13 * 8)?;
    let mut files = Vec::with_capacity(count);
    for _ in 0..count {
        files.push(read_file(&mut reader)?);
    }
    reader.finish()?;
    Ok(Snapshot { levels, files })
}

fn read_file(reader: &mut Reader<'_>) -> Result<FileRow, Error> {
    Ok(FileRow {
        level: reader.u32()?,
        number: reader.u64()?,
        size: reader.u64()?,
        entries: reader.u64()?,
        deletions: reader.u64()?,
        being_compacted: reader.bool()?,
        smallest_seqno: reader.u64()?,
        largest_seqno: reader.u64()?,
        epoch: reader.u64()?,
        reads_sampled: reader.u64()?,
        created: reader.u64()?,
        smallest: reader.bytes()?.to_vec(),
        largest: reader.bytes()?.to_vec(),
    })
}

/// What a table file says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Entries, tombstones included.
    pub entries: u64,
    /// Tombstones, of points and of ranges.
    pub deletions: u64,
    /// Range tombstones among them.
    pub range_deletions: u64,
    /// Keys in the filter; 0 without a filter.
    pub filter_entries: u64,
    /// Bytes of the filter.
    pub filter_size: u64,
    /// Bytes of the index.
    pub index_size: u64,
    /// Bytes of the data blocks, compressed.
    pub data_size: u64,
    /// Bytes of all keys, uncompressed.
    pub raw_key_size: u64,
    /// Bytes of all values, uncompressed.
    pub raw_value_size: u64,
    /// The family of filters that can read this file's; empty without a filter.
    pub filter_policy: String,
    /// Compression, as the file records it: since format version 7 not a name but
    /// `manager;types;`, the types in hexadecimal, none without compression.
    pub compression: String,
}

impl TableRow {
    /// Entries and tombstones as [`FileRow`] has them: range tombstones are no fewer.
    pub fn counts(&self) -> (u64, u64) {
        let deletions = self.deletions.max(self.range_deletions);
        (self.entries.max(deletions), deletions)
    }
}

/// The properties of all table files, by file number. A file that RocksDB does
/// not hold open is opened for it: one or more reads each.
pub fn table_properties(cf: CfRef<'_>) -> Result<BTreeMap<u64, TableRow>, Error> {
    // SAFETY: the target is alive (see `CfRef`), `out` is valid for the call.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_table_properties(cf.raw(), out)) }?;
    read_tables(&buffer)
}

/// The same of those files alone whose ranges hold one of `keys`. One that cannot be read
/// fails them all.
pub fn table_properties_at<K: AsRef<[u8]>>(
    cf: CfRef<'_>,
    keys: &[K],
) -> Result<BTreeMap<u64, TableRow>, Error> {
    let (bytes, ends) = joined(keys);
    // SAFETY: the target is alive, `out` is valid for the call; `ends` holds as many
    // ascending offsets into `bytes` as there are keys, and both are read during the call
    // only.
    let buffer = unsafe {
        Owned::fill(|out| {
            raw::lissom_table_properties_at(
                cf.raw(),
                bytes.as_ptr(),
                ends.as_ptr(),
                ends.len(),
                out,
            )
        })
    }?;
    read_tables(&buffer)
}

fn read_tables(buffer: &Owned) -> Result<BTreeMap<u64, TableRow>, Error> {
    let mut reader = buffer.reader();
    let count = reader.count(12 * 8)?;
    let mut tables = BTreeMap::new();
    for _ in 0..count {
        tables.insert(reader.u64()?, read_table(&mut reader)?);
    }
    reader.finish()?;
    Ok(tables)
}

fn read_table(reader: &mut Reader<'_>) -> Result<TableRow, Error> {
    Ok(TableRow {
        entries: reader.u64()?,
        deletions: reader.u64()?,
        range_deletions: reader.u64()?,
        filter_entries: reader.u64()?,
        filter_size: reader.u64()?,
        index_size: reader.u64()?,
        data_size: reader.u64()?,
        raw_key_size: reader.u64()?,
        raw_value_size: reader.u64()?,
        filter_policy: reader.string()?,
        compression: reader.string()?,
    })
}
