//! Holding the limits of a database, whether it is open or not.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::pin as file;
use crate::inspect::read::{check_directory, is_adopted};

/// Holds the run limits of a database: a running store notices within a tenth
/// of a second, another one when it is opened. Returns whether that is new.
///
/// # Errors
/// When there is no database, when it is not adopted, or when its directory cannot be
/// written.
pub fn pin(directory: &Path) -> Result<bool> {
    if !is_adopted(directory)? {
        return Err(Error::fix(format!(
            "{} is not adopted: RocksDB drives it, which has no run limits to hold; adopt it \
             first, with `lissom adopt`",
            directory.display()
        )));
    }
    let new = !file::is_set(directory);
    file::set(directory)?;
    Ok(new)
}

/// Lets tuners change the run limits again. Returns whether they were held. Also in a
/// directory that is not adopted: a pin that was left there would hold the limits once it
/// is.
///
/// # Errors
/// When there is no database, or its directory cannot be written.
pub fn unpin(directory: &Path) -> Result<bool> {
    check_directory(directory)?;
    let held = file::is_set(directory);
    file::clear(directory)?;
    Ok(held)
}
