//! Measuring a device, and having that of a database measured again, whether it is open or
//! not.

use std::path::Path;

use crate::autopilot::device_rate;
use crate::error::{Error, Result};
use crate::files::probe;
use crate::inspect::read::is_adopted;

/// What the device of a directory reads and writes together, bytes a second, as an open with a
/// schedule measures it: now, in half a second with 64 MiB. For
/// [`Settings::device_bytes_per_second`](crate::Settings::device_bytes_per_second) of several
/// stores that are to go by the same figure.
///
/// # Errors
/// When no file can be written there.
pub fn device_bytes_per_second(directory: &Path) -> Result<u64> {
    device_rate(directory).map_err(|error| Error::io("measure", directory, &error))
}

/// Has the device of a database measured again at its next open with a schedule that goes by
/// it; where [`Settings::device_bytes_per_second`](crate::Settings::device_bytes_per_second)
/// is given, that goes before. Another device than the measured one is noticed without this:
/// it is for one that has become faster or slower.
///
/// # Errors
/// When there is no database, when it is not adopted, or when its directory cannot be
/// written.
pub fn measure_device(directory: &Path) -> Result<()> {
    if !is_adopted(directory)? {
        return Err(Error::fix(format!(
            "{} is not adopted: RocksDB drives it, which measures no device; adopt it first, \
             with `lissom adopt`",
            directory.display()
        )));
    }
    probe::leave(directory)
}
