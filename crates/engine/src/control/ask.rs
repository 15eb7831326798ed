//! Asking a store that another process runs.

use std::path::Path;

use crate::error::Result;
use crate::files::request;
use crate::inspect::read;

/// Asks the process that has a database open to merge a column family, or all
/// of them, into one run. A running store takes the request up within a tenth
/// of a second, another one when it is next opened. Returns the column families.
///
/// # Errors
/// When there is no database, it has no such column family, or its directory
/// cannot be written.
pub fn ask_to_compact(directory: &Path, column_family: Option<&str>) -> Result<Vec<String>> {
    let record = read::open(directory)?.record;
    let chosen = record.choose(column_family)?;
    for name in &chosen {
        record.require_adopted(name)?;
    }
    request::leave(directory, &chosen)?;
    Ok(chosen)
}
