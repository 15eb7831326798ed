//! Copying entries and comparing them, piece by piece.

use super::mark::{FamilyProgress, Position};
use super::{Phase, Progress, Watch};
use crate::RocksDb;
use crate::error::{Error, Result};
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

/// Compares what is left of a column family. Returns the first difference as a
/// sentence.
///
/// # Errors
/// RocksDB's; what `keep` answers.
pub(super) fn check(
    sides: &Sides<'_>,
    name: &str,
    progress: &mut FamilyProgress,
    keep: &mut Keep<'_>,
) -> Result<Option<String>> {
    let (from, to) = (handle(sides.source, name)?, handle(sides.copy, name)?);
    let (source, copy) = (CfRef::of(&from)?, CfRef::of(&to)?);
    let mut kept = progress.checked.bytes;
    while !progress.checked.done {
        let position = &mut progress.checked;
        let ours = read(source, position, READ_BYTES)?;
        let theirs = read(copy, position, READ_BYTES)?;
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

fn differs(name: &str, position: &Position) -> String {
    let place = match &position.after {
        Some(key) => format!("at or before the key 0x{key}"),
        None => "from its first entry on".into(),
    };
    format!(
        "the copy of column family \"{name}\" differs from the original {place}, after {} \
         entries, so it was not taken; the next call begins anew",
        position.entries
    )
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
    use super::*;

    #[test]
    fn keys_go_there_and_back() {
        for key in [&b""[..], b"\x00\xff", b"key"] {
            assert_eq!(unhex(&hex(key)).expect("digits"), key);
        }
        assert!(unhex("0g").is_err());
    }
}
