//! Entries of a column family, in pieces: read from one, written into another.

use super::buffer::Owned;
use super::{CfRef, Error, raw};

/// Entries in key order.
pub struct Piece {
    buffer: Owned,
    /// Bytes of the buffer that hold entries.
    entries_end: usize,
    /// Entries.
    pub entries: u64,
    /// Bytes of keys, column names and values.
    pub bytes: u64,
    /// The last key; `None` without entries.
    pub last: Option<Vec<u8>>,
    /// Whether the column family ends here.
    pub end: bool,
}

impl Piece {
    /// The entries in one form: equal for equal entries, different for different
    /// ones.
    pub fn encoded(&self) -> &[u8] {
        self.buffer
            .bytes()
            .get(..self.entries_end)
            .unwrap_or_default()
    }
}

/// Reads the entries behind a key, or from the first one, until they have
/// `max_bytes` or the column family ends; at least one where there is one. Merge
/// operands are merged; deleted entries are not among them. Blocks that are read
/// are not put into the cache.
pub fn read_piece(cf: CfRef<'_>, after: Option<&[u8]>, max_bytes: u64) -> Result<Piece, Error> {
    let key = after.unwrap_or_default();
    // SAFETY: the target is alive (see `CfRef`), the key is read during the call
    // only, within its length, and `out` is valid for the call.
    let buffer = unsafe {
        Owned::fill(|out| {
            raw::lissom_read_piece(
                cf.raw(),
                key.as_ptr().cast(),
                key.len(),
                i32::from(after.is_some()),
                max_bytes,
                out,
            )
        })
    }?;
    decode(buffer)
}

fn decode(buffer: Owned) -> Result<Piece, Error> {
    let size = buffer.bytes().len();
    let mut reader = buffer.reader();
    let mut entries_end = 0;
    let (mut entries, mut bytes) = (0, 0);
    let mut last: Option<&[u8]> = None;
    while reader.bool()? {
        let key = reader.bytes()?;
        bytes += key.len();
        for _ in 0..reader.u64()? {
            bytes += reader.bytes()?.len();
            bytes += reader.bytes()?.len();
        }
        entries += 1;
        last = Some(key);
        entries_end = size - reader.left();
    }
    let end = reader.bool()?;
    let last = last.map(<[u8]>::to_vec);
    reader.finish()?;
    Ok(Piece {
        entries_end,
        entries,
        bytes: bytes as u64,
        last,
        end,
        buffer,
    })
}

/// Writes the entries of a piece, without the write-ahead log: they are durable
/// once the column family is flushed.
pub fn write_piece(cf: CfRef<'_>, piece: &Piece) -> Result<(), Error> {
    write_entries(cf, piece.buffer.bytes())
}

/// As [`write_piece`], of entries in the form that `plugin/src/copy.cc` describes.
/// What does not have it is refused before anything is written.
pub fn write_entries(cf: CfRef<'_>, entries: &[u8]) -> Result<(), Error> {
    // SAFETY: the target is alive (see `CfRef`); the entries are read during the
    // call only, within their length.
    unsafe {
        Error::check(raw::lissom_write_piece(
            cf.raw(),
            entries.as_ptr(),
            entries.len(),
        ))
    }
}
