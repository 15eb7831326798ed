//! Files that are on the device, not only in the kernel's pages.
//!
//! What the kernel wrote later, some 30 s after, it would write in the middle of a
//! measurement, and every direct read of such a page would wait for it.

use std::fs::{self, File};
use std::path::Path;

use crate::error::{Place, Result};

/// Copies a file, onto the device. The directory it is in has a sync of its own.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).place(from.display())?;
    sync(to)
}

/// Waits until a file or a directory's entries are on the device.
pub(crate) fn sync(path: &Path) -> Result<()> {
    let file = File::open(path).place(path.display())?;
    file.sync_all().place(path.display())
}
