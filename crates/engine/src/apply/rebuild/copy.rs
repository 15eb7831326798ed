//! Copying entries and comparing them, piece by piece.

use super::mark::{FamilyProgress, Position};
use super::{Phase, Progress, Watch};
use crate::RocksDb;
use crate::error::{Error, ErrorKind, Result};
use crate::ffi::CfRef;
use crate::ffi::copy::{Piece, read_piece, write_piece};
use crate::inspect::read::handle;

/// Bytes of keys and values that are read at once.
const READ_BYTES: u64 = 4 << 20;

/// Bytes after which a comparison is put down as done.
const CHECKED_BYTES: u64 = 256 << 20;

/// The two sides.
pub(super) struct Sides<'a> {
    pub(super) source: &'a RocksDb,
    pub(super) copy: &'a RocksDb,
}

/// Called when something is done for good, with what.
pub(super) type Keep<'a> = dyn FnMut(&FamilyProgress) -> Result<()> + 'a;

/// Copies what is left of a column family. Every `flush_bytes` the copy is flushed,
/// and what it holds is put down.
///
/// # Errors
/// RocksDB's, as when the disk is full; what `keep` answers.
pub(super) fn copy(
    sides: &Sides<'_>,
    name: &str,
    flush_bytes: u64,
    progress: &mut FamilyProgress,
    keep: &mut Keep<'_>,
) -> Result<()> {
    let (from, to) = (handle(sides.source, name)?, handle(sides.copy, name)?);
    let (source, copy) = (CfRef::of(&from)?, CfRef::of(&to)?);
    if !progress.copied.done {
        progress.copied = durable(copy, progress.copied.clone())?;
    }
    while !progress.copied.done {
        let mut position = progress.copied.clone();
        let end = position.bytes + flush_bytes;
        while !position.done && position.bytes < end {
            let piece = read(source, &position, READ_BYTES.min(flush_bytes))?;
            write_piece(copy, &piece)?;
            advance(&mut position, &piece);
        }
        sides.copy.flush_cf(&to)?;
        progress.copied = position;
        keep(progress)?;
    }
    Ok(())
}

/// How far a copy has come, which a kill or an error may have left ahead of what was put down.
/// What is there is not written again: it would be two versions of each key, of which a
/// SingleDelete takes one away, and the other comes back. Memtables become durable in the order in
/// which they were written, so what is there is a beginning in key order.
fn durable(copy: CfRef<'_>, mut position: Position) -> Result<Position> {
    loop {
        let piece = read(copy, &position, READ_BYTES)?;
        advance(&mut position, &piece);
        position.done = false;
        if piece.end {
            return Ok(position);
        }
    }
}

/// Compares what is left of a column family. Returns the first difference, or damage of the copy,
/// for which it is not to be taken.
///
/// # Errors
/// RocksDB's; what `keep` answers.
pub(super) fn check(
    sides: &Sides<'_>,
    name: &str,
    progress: &mut FamilyProgress,
    keep: &mut Keep<'_>,
) -> Result<Option<Error>> {
    let (from, to) = (handle(sides.source, name)?, handle(sides.copy, name)?);
    let (source, copy) = (CfRef::of(&from)?, CfRef::of(&to)?);
    let mut kept = progress.checked.bytes;
    while !progress.checked.done {
        let position = &mut progress.checked;
        let ours = read(source, position, READ_BYTES)?;
        let theirs = match read(copy, position, READ_BYTES) {
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                return Ok(Some(damaged(name, &error)));
            }
            read => read?,
        };
        advance(position, &ours);
        position.digest = position.digest.with(ours.encoded());
        if ours.encoded() != theirs.encoded() || ours.end != theirs.end {
            return Ok(Some(differs(name, position)));
        }
        if position.done || position.bytes >= kept + CHECKED_BYTES {
            kept = position.bytes;
            keep(progress)?;
        }
    }
    Ok(None)
}

fn damaged(name: &str, error: &Error) -> Error {
    Error::corrupt(format!(
        "the copy of column family \"{name}\" cannot be read, so it was not taken; the next call \
         begins anew: {error}"
    ))
}

fn differs(name: &str, position: &Position) -> Error {
    let place = match &position.after {
        Some(key) => format!("at or before the key 0x{key}"),
        None => "from its first entry on".into(),
    };
    Error::bug(format!(
        "the copy of column family \"{name}\" differs from the original {place}, after {} \
         entries, so it was not taken; the next call begins anew",
        position.entries
    ))
}

fn read(cf: CfRef<'_>, position: &Position, bytes: u64) -> Result<Piece> {
    let after = position.after.as_deref().map(unhex).transpose()?;
    Ok(read_piece(cf, after.as_deref(), bytes)?)
}

fn advance(position: &mut Position, piece: &Piece) {
    if let Some(last) = &piece.last {
        position.after = Some(hex(last));
    }
    position.entries += piece.entries;
    position.bytes += piece.bytes;
    position.done = piece.end;
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| {
            let pair = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect::<Option<Vec<u8>>>()
        .ok_or_else(|| Error::bug(format!("{text} is no key of a copy's mark")))
}

/// How far all column families have come.
pub(super) fn tell<'a>(
    phase: Phase,
    positions: impl Iterator<Item = &'a Position>,
    watch: &mut Watch<'_>,
) {
    let mut progress = Progress {
        phase,
        entries: 0,
        bytes: 0,
    };
    for position in positions {
        progress.entries += position.entries;
        progress.bytes += position.bytes;
    }
    watch(progress);
}

#[cfg(test)]
mod tests {
    use rust_rocksdb::{ColumnFamilyDescriptor, Options};

    use super::*;

    fn opened(path: &std::path::Path) -> RocksDb {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_disable_auto_compactions(true);
        let family = ColumnFamilyDescriptor::new("default", options.clone());
        RocksDb::open_cf_descriptors(&options, path, [family]).expect("opened")
    }

    fn source() -> (tempfile::TempDir, RocksDb) {
        let place = tempfile::tempdir().expect("a directory");
        let source = opened(place.path());
        for number in 0..3_000_u32 {
            source.put(number.to_be_bytes(), [7; 100]).expect("a put");
        }
        (place, source)
    }

    /// A kill between a flush and what puts it down.
    #[test]
    fn what_is_durable_is_not_written_again() {
        let (_place, source) = source();
        let place = tempfile::tempdir().expect("a directory");
        let copy = opened(place.path());
        let sides = Sides {
            source: &source,
            copy: &copy,
        };
        let mut put_down = Vec::new();
        let copied = |progress: &mut FamilyProgress, keep: &mut Keep<'_>| {
            super::copy(&sides, "default", 100_000, progress, keep)
        };
        copied(&mut FamilyProgress::default(), &mut |progress| {
            put_down.push(progress.clone());
            Ok(())
        })
        .expect("copied");
        assert!(put_down.len() > 3);
        for behind in [FamilyProgress::default(), put_down[1].clone()] {
            let mut progress = behind;
            copied(&mut progress, &mut |_| Ok(())).expect("goes on");
            assert_eq!(progress.copied.entries, 3_000);
        }
        let files = copy.live_files().expect("files");
        let entries: u64 = files.iter().map(|file| file.num_entries).sum();
        assert_eq!(entries, 3_000);
    }

    /// Or each later call would meet the same damage.
    #[test]
    fn a_damaged_copy_is_not_taken() {
        let (_place, source) = source();
        let place = tempfile::tempdir().expect("a directory");
        let copy = opened(place.path());
        let progress = &mut FamilyProgress::default();
        let whole = Sides {
            source: &source,
            copy: &copy,
        };
        super::copy(&whole, "default", 1 << 30, progress, &mut |_| Ok(())).expect("copied");
        let file = copy.live_files().expect("files").remove(0).name;
        drop(copy);
        let path = place.path().join(file.trim_start_matches('/'));
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[1_000] ^= 1;
        std::fs::write(&path, bytes).expect("written");
        let damaged = Sides {
            source: &source,
            copy: &opened(place.path()),
        };
        let said = check(&damaged, "default", progress, &mut |_| Ok(()));
        let why = said.expect("the source is whole").expect("damage");
        assert_eq!(why.kind(), ErrorKind::Corrupt);
        assert!(why.to_string().contains("cannot be read"), "{why}");
    }

    #[test]
    fn keys_go_there_and_back() {
        for key in [&b""[..], b"\x00\xff", b"key"] {
            assert_eq!(unhex(&hex(key)).expect("digits"), key);
        }
        assert!(unhex("0g").is_err());
    }
}
