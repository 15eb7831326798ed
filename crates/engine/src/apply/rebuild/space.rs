//! Room for a copy.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::job::Job;
use super::{compression, disk, making};
use crate::RocksDb;
use crate::adopt::space::free_bytes;
use crate::apply::plan::Space;
use crate::apply::text::{OptionsText, Section};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::snapshot::table_properties;
use crate::inspect::read::handle;

/// What a database's data lie in.
const DATA: &[&str] = &[".sst", ".log", ".blob", ".ldb"];

/// What RocksDB writes before it removes what it replaces, on top of a tenth.
const SLACK: u64 = 16 << 20;

/// What may leave bytes uncompressed that are compressed now.
const COMPRESSIONS: [&str; 3] = [
    "compression",
    "compression_per_level",
    "bottommost_compression",
];

/// The same for values: blob files are not compressed by default.
const BLOBS: [&str; 2] = ["blob_compression_type", "enable_blob_files"];

/// What a copy needs, more than there is of it. Where the compression changes, of the
/// options or against that of the files, the bytes of keys and values themselves bound it.
/// Universal compaction may merge all of it at once, and holds both sides of a merge.
///
/// # Errors
/// When the directories or the files' properties cannot be read.
pub(super) fn space(job: &Job, source: &RocksDb) -> Result<Space> {
    let path = &job.place.path;
    let bytes = disk::bytes(path, DATA)?;
    let tables = tables(job, source)?;
    let recompresses = changes(job, &COMPRESSIONS) || changes(job, &BLOBS);
    let bound = match recompresses || !tables.stay_compressed {
        true => bytes.max(tables.raw_bytes),
        false => bytes,
    };
    let there = match job.place.rebuild.is_dir() {
        true => disk::bytes(&job.place.rebuild, DATA)?,
        false => 0,
    };
    let merged = match is_universal(job) {
        true => bound,
        false => 0,
    };
    let pieces = job.names.iter().map(|name| job.flush_bytes(name));
    let piece = pieces.max().unwrap_or_default();
    let slack = (bound / 10 + SLACK).max(beside(piece));
    Ok(Space {
        bytes,
        needed_bytes: (bound + merged + slack).saturating_sub(there),
        free_bytes: free_bytes(parent(path))?,
    })
}

/// What is not in that, in a sentence: of a blob file RocksDB tells no size but its own.
///
/// # Errors
/// When the directory cannot be read.
pub(super) fn unreckoned(job: &Job) -> Result<Option<String>> {
    let bytes = compressed_blobs(&job.place.path)?;
    let is_on = |options: &OptionsText, name: &String| {
        options.get(&Section::Family(name.clone()), BLOBS[1]) == Some("true")
    };
    let stay = |name: &String| {
        let kind = job.target.get(&Section::Family(name.clone()), BLOBS[0]);
        kind.is_some_and(|kind| kind != "kNoCompression") && is_on(&job.target, name)
    };
    // Where none has them now, they are left from other options.
    let mut theirs = job
        .names
        .iter()
        .filter(|name| is_on(&job.present, name))
        .peekable();
    let all_stay = theirs.peek().is_some() && theirs.all(stay) && !changes(job, &BLOBS);
    if bytes == 0 || all_stay {
        return Ok(None);
    }
    Ok(Some(format!(
        "{bytes} bytes of blob files are compressed, and how large their values are is not known \
         beforehand: the copy may need more space than it is said to need, and stops before the \
         disk is full"
    )))
}

/// Where the header of a blob file tells its compression, 0 for none
/// (db/blob/blob_log_format.h).
const BLOB_COMPRESSION: u64 = 13;

/// Bytes of the blob files in a directory that are compressed.
fn compressed_blobs(directory: &Path) -> Result<u64> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let mut bytes = 0;
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.extension().is_none_or(|end| end != "blob") {
            continue;
        }
        let cannot = |error| Error::io("read", &path, &error);
        let file = File::open(&path).map_err(cannot)?;
        let mut kind = [0];
        // One that was just begun has no header yet.
        let read = file.read_at(&mut kind, BLOB_COMPRESSION).map_err(cannot)?;
        if read > 0 && kind != [0] {
            bytes += file.metadata().map_err(cannot)?.len();
        }
    }
    Ok(bytes)
}

/// Refuses to begin what a full disk would interrupt.
///
/// # Errors
/// When there is too little room.
pub(super) fn check(path: &Path, space: Space) -> Result<()> {
    if space.needed_bytes <= space.free_bytes {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the disk of {} has {} bytes free, and a copy may need {} more: free some space, and try \
         again",
        path.display(),
        space.free_bytes,
        space.needed_bytes
    )))
}

/// What must be free beside a piece and what a compaction writes meanwhile.
const MARGIN: u64 = 4 << 20;

/// Stops before a disk is full: RocksDB may then hold a writer for ever.
///
/// # Errors
/// When there is too little room for another piece.
pub(super) fn leaves_room(job: &Job, piece_bytes: u64) -> Result<()> {
    let path = &job.place.path;
    holds(path, free_bytes(parent(path))?, piece_bytes)
}

/// What must be free after a piece.
fn beside(piece_bytes: u64) -> u64 {
    2 * piece_bytes + MARGIN
}

fn holds(path: &Path, free: u64, piece_bytes: u64) -> Result<()> {
    if free >= beside(piece_bytes) {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the disk of {} has no more than {free} bytes free: free some space",
        path.display()
    )))
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn changes(job: &Job, options: &[&str]) -> bool {
    job.names.iter().any(|name| {
        let section = Section::Family(name.clone());
        options
            .iter()
            .any(|option| job.present.get(&section, option) != job.target.get(&section, option))
    })
}

fn is_universal(job: &Job) -> bool {
    job.names.iter().any(|name| {
        let section = Section::Family(name.clone());
        making::is_universal(&job.target, &section)
    })
}

/// What the files say of themselves.
struct Tables {
    /// Bytes of keys and values.
    raw_bytes: u64,
    /// Whether the copy compresses all of them as they are.
    stay_compressed: bool,
}

/// Options that were recorded after the files had been written are not theirs.
fn tables(job: &Job, source: &RocksDb) -> Result<Tables> {
    let mut all = Tables {
        raw_bytes: 0,
        stay_compressed: true,
    };
    for name in &job.names {
        let handle = handle(source, name)?;
        let tables = table_properties(CfRef::of(&handle)?)?;
        let kinds = compression::wanted(&job.target, name);
        for table in tables.values() {
            all.raw_bytes += table.raw_key_size + table.raw_value_size;
            all.stay_compressed &= compression::stays(&table.compression, &kinds);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_begun_where_it_fits() {
        let space = |needed_bytes, free_bytes| Space {
            bytes: 1,
            needed_bytes,
            free_bytes,
        };
        let path = Path::new("/data");
        check(path, space(10, 10)).expect("it fits");
        let error = check(path, space(10, 9)).expect_err("it does not fit");
        let words = "/data has 9 bytes free, and a copy may need 10 more";
        assert!(error.to_string().contains(words), "{error}");
    }

    #[test]
    fn a_copy_goes_on_while_two_pieces_fit() {
        let path = Path::new("/data");
        holds(path, MARGIN + 20, 10).expect("they fit");
        let error = holds(path, MARGIN + 19, 10).expect_err("they do not");
        assert!(error.to_string().contains("free some space"), "{error}");
    }
}
