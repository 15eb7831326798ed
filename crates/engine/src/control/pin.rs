//! Holding the limits of a database, whether it is open or not.

use std::path::Path;

use crate::error::Result;
use crate::files::pin as file;
use crate::inspect::read::check_directory;

/// Holds the run limits of a database: a running store notices within a tenth
/// of a second, another one when it is opened. Returns whether that is new.
///
/// # Errors
/// When there is no database, or its directory cannot be written.
pub fn pin(directory: &Path) -> Result<bool> {
    check_directory(directory)?;
    let new = !file::is_set(directory);
    file::set(directory)?;
    Ok(new)
}

/// Lets tuners change the run limits again. Returns whether they were held.
///
/// # Errors
/// When there is no database, or its directory cannot be written.
pub fn unpin(directory: &Path) -> Result<bool> {
    check_directory(directory)?;
    let held = file::is_set(directory);
    file::clear(directory)?;
    Ok(held)
}
