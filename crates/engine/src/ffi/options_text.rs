//! Options as the lines of an OPTIONS file, and options from such lines.

use rust_rocksdb::Options;

use super::buffer::Owned;
use super::{CfRef, Error, layout, raw};

/// Lines of `name=value`, by section of an OPTIONS file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lines {
    /// `[DBOptions]`
    pub db: String,
    /// `[CFOptions "..."]`
    pub cf: String,
    /// `[TableOptions/... "..."]`
    pub table: String,
    /// The table factory's name; `None` without one. Not read by
    /// [`change_options`], which knows `BlockBasedTable` only.
    pub table_factory: Option<String>,
}

/// Changes options by lines, as RocksDB reads an OPTIONS file. An object that this
/// program cannot make is passed over in silence: read the lines back.
///
/// # Errors
/// An unknown option, or a value that RocksDB cannot read; the options are then as
/// they were.
pub fn change_options(options: &mut Options, lines: &Lines) -> Result<(), Error> {
    let pointer = layout::pointer(options)?;
    // SAFETY: `options` is alive and borrowed exclusively for the call; the texts
    // are read during it only, within their lengths.
    unsafe {
        Error::check(raw::lissom_change_options(
            pointer,
            lines.db.as_ptr().cast(),
            lines.db.len(),
            lines.cf.as_ptr().cast(),
            lines.cf.len(),
            lines.table.as_ptr().cast(),
            lines.table.len(),
        ))
    }
}

/// Options that are not in use yet, as lines.
pub fn options_text(options: &mut Options) -> Result<Lines, Error> {
    let pointer = layout::pointer(options)?;
    // SAFETY: `options` is alive and borrowed exclusively for the call, `out` is
    // valid for it.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_options_text(pointer, out)) }?;
    read(&buffer)
}

/// What a running column family and its database work with now, as lines.
pub fn live_options_text(cf: CfRef<'_>) -> Result<Lines, Error> {
    // SAFETY: the target is alive (see `CfRef`), `out` is valid for the call.
    let buffer = unsafe { Owned::fill(|out| raw::lissom_live_options_text(cf.raw(), out)) }?;
    read(&buffer)
}

fn read(buffer: &Owned) -> Result<Lines, Error> {
    let mut reader = buffer.reader();
    let lines = Lines {
        db: reader.string()?,
        cf: reader.string()?,
        table_factory: reader.name()?,
        table: reader.string()?,
    };
    reader.finish()?;
    Ok(lines)
}
