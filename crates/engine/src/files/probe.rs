//! The file that is written and read to measure the device: there for half a second,
//! unless the process was killed meanwhile.

use std::path::{Path, PathBuf};

use crate::error::Result;

const NAME: &str = "LISSOM-PROBE";

/// Where it lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Removes one that a killed process left.
pub(crate) fn clear(directory: &Path) -> Result<()> {
    super::remove_file(&path(directory))
}
