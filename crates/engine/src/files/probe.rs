//! The file that is written and read to measure the device: there for half a second,
//! unless the process was killed meanwhile.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-PROBE";

/// Where it lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Removes one that a killed process left.
pub(crate) fn clear(directory: &Path) -> Result<()> {
    let path = path(directory);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove", &path, &error))
        }
        _ => Ok(()),
    }
}
