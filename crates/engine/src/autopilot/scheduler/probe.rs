//! What the device of a directory can do, measured in a fraction of a second.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::files::probe;

/// Bytes of one write.
const BLOCK: usize = 1 << 20;

/// Blocks at most.
const BLOCKS: usize = 64;

/// Time at most for each direction, but for the last block.
const LIMIT: Duration = Duration::from_millis(250);

/// Direct I/O wants memory aligned to a page.
const ALIGNMENT: usize = 4096;

/// Bytes a second that the device writes and reads, each byte once in each direction.
///
/// Direct I/O even where the store uses the operating system's cache: what is asked is
/// the device.
pub(super) fn bytes_per_second(directory: &Path) -> io::Result<u64> {
    let path = probe::path(directory);
    let measured = measure(&path);
    let removed = fs::remove_file(&path);
    let rate = measured?;
    removed?;
    Ok(rate)
}

fn measure(path: &Path) -> io::Result<u64> {
    let mut memory = vec![0x5a_u8; BLOCK + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let block = &mut memory[skip..skip + BLOCK];
    // A file system that knows no direct I/O is measured through its cache.
    let mut file = open(path, true).or_else(|_| open(path, false))?;
    let begun = Instant::now();
    let mut written = 0;
    while written < BLOCKS && begun.elapsed() < LIMIT {
        file.write_all(block)?;
        written += 1;
    }
    file.sync_data()?;
    let wrote = begun.elapsed();
    file.seek(SeekFrom::Start(0))?;
    let begun = Instant::now();
    let mut read = 0;
    while read < written && begun.elapsed() < LIMIT {
        file.read_exact(block)?;
        read += 1;
    }
    let seconds = wrote.max(Duration::from_micros(1)) + begun.elapsed();
    let bytes = (written + read) * BLOCK;
    Ok((bytes as f64 / seconds.as_secs_f64()) as u64)
}

fn open(path: &Path, direct: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    #[cfg(target_os = "linux")]
    if direct {
        use std::os::unix::fs::OpenOptionsExt;
        let flag = rustix::fs::OFlags::DIRECT.bits();
        options.custom_flags(i32::try_from(flag).unwrap_or(0));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = direct;
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_measured_and_left_clean() {
        let directory = tempfile::tempdir().expect("a directory");
        let rate = bytes_per_second(directory.path()).expect("measured");
        assert!(rate > 100_000, "{rate}");
        assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 0);
        assert!(bytes_per_second(Path::new("/nowhere/at/all")).is_err());
    }
}
