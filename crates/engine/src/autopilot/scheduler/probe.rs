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

/// Bytes a second that the device writes and reads, each byte once in each direction; what
/// it writes alone where the file system knows no direct I/O.
///
/// Direct I/O even where the store uses the operating system's cache: what is asked is
/// the device.
pub(crate) fn bytes_per_second(directory: &Path) -> io::Result<u64> {
    let path = probe::path(directory);
    let measured = measure(&path);
    let removed = fs::remove_file(&path);
    let rate = measured?;
    removed?;
    Ok(rate)
}

/// What is measured: a file, or what a test makes of one.
trait Device: Read + Write + Seek {
    /// Waits until all that was written has reached the device.
    fn sync(&mut self) -> io::Result<()>;
}

impl Device for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

fn measure(path: &Path) -> io::Result<u64> {
    let mut memory = vec![0x5a_u8; BLOCK + ALIGNMENT];
    let skip = memory.as_ptr().align_offset(ALIGNMENT);
    let block = &mut memory[skip..skip + BLOCK];
    let (mut file, is_direct) = open(path)?;
    if is_direct {
        past_the_cache(&mut file, block)
    } else {
        through_the_cache(&mut file, block)
    }
}

fn past_the_cache(device: &mut impl Device, block: &mut [u8]) -> io::Result<u64> {
    let begun = Instant::now();
    let written = blocks(BLOCKS, || device.write_all(block))?;
    device.sync()?;
    let wrote = begun.elapsed();
    device.seek(SeekFrom::Start(0))?;
    let begun = Instant::now();
    let read = blocks(written, || device.read_exact(block))?;
    Ok(rate(written + read, wrote + begun.elapsed()))
}

/// The cache takes any block at once, so each is waited for: else all of them would be
/// waited for in the end, without bound. Reads would not come to the device at all.
fn through_the_cache(device: &mut impl Device, block: &[u8]) -> io::Result<u64> {
    let begun = Instant::now();
    let written = blocks(BLOCKS, || {
        device.write_all(block)?;
        device.sync()
    })?;
    Ok(rate(written, begun.elapsed()))
}

/// Moves blocks until there are enough, or the time is up. Returns how many.
fn blocks(most: usize, mut one: impl FnMut() -> io::Result<()>) -> io::Result<usize> {
    let begun = Instant::now();
    let mut moved = 0;
    while moved < most && begun.elapsed() < LIMIT {
        one()?;
        moved += 1;
    }
    Ok(moved)
}

/// Bytes a second.
fn rate(blocks: usize, time: Duration) -> u64 {
    let seconds = time.max(Duration::from_micros(1)).as_secs_f64();
    ((blocks * BLOCK) as f64 / seconds) as u64
}

/// The file, and whether it is read and written past the operating system's cache.
fn open(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(true);
    match open_direct(&options, path) {
        Some(file) => Ok((file, true)),
        None => Ok((options.open(path)?, false)),
    }
}

#[cfg(target_os = "linux")]
fn open_direct(options: &OpenOptions, path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flag = i32::try_from(rustix::fs::OFlags::DIRECT.bits()).ok()?;
    options.clone().custom_flags(flag).open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &OpenOptions, _: &Path) -> Option<File> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a block takes on the device behind the cache.
    const SLOW: Duration = Duration::from_millis(20);

    /// A file whose blocks stay in the cache until they are waited for.
    #[derive(Default)]
    struct Cached {
        written: u32,
        waiting: u32,
        read: u32,
    }

    impl Write for Cached {
        fn write(&mut self, block: &[u8]) -> io::Result<usize> {
            self.written += 1;
            self.waiting += 1;
            Ok(block.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Read for Cached {
        fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
            self.read += 1;
            Ok(block.len())
        }
    }

    impl Seek for Cached {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(0)
        }
    }

    impl Device for Cached {
        fn sync(&mut self) -> io::Result<()> {
            std::thread::sleep(SLOW * std::mem::take(&mut self.waiting));
            Ok(())
        }
    }

    #[test]
    fn a_device_is_measured_and_left_clean() {
        let directory = tempfile::tempdir().expect("a directory");
        let rate = bytes_per_second(directory.path()).expect("measured");
        assert!(rate > 100_000, "{rate}");
        assert_eq!(fs::read_dir(directory.path()).expect("list").count(), 0);
        assert!(bytes_per_second(Path::new("/nowhere/at/all")).is_err());
    }

    #[test]
    fn a_slow_device_behind_a_cache_is_not_written_to_for_longer_than_the_limit() {
        let mut device = Cached::default();
        let rate = through_the_cache(&mut device, &[0; BLOCK]).expect("measured");
        // A block is begun within the limit, and takes its time.
        let most = LIMIT.as_millis() / SLOW.as_millis() + 1;
        assert!(device.written > 0 && u128::from(device.written) <= most);
        assert_eq!((device.waiting, device.read), (0, 0));
        let fastest = BLOCK as f64 / SLOW.as_secs_f64();
        assert!(rate as f64 <= fastest, "{rate} {fastest}");
    }
}
