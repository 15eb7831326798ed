//! The pin: while its file is there, limits hold. Anyone may make or remove the
//! file, also while the store runs.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-PIN";

/// Where the pin of a database lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Whether the limits are pinned.
pub(crate) fn is_set(directory: &Path) -> bool {
    path(directory).exists()
}

pub(crate) fn set(directory: &Path) -> Result<()> {
    let path = path(directory);
    File::create(&path)
        .and_then(|file| file.sync_all())
        .map_err(|error| Error::io("write", &path, &error))?;
    super::sync_directory(directory)
}

pub(crate) fn clear(directory: &Path) -> Result<()> {
    super::remove_file(&path(directory))
}
