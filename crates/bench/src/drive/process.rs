//! What the process and the disk hold, as Linux tells it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Numbers of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// Bytes of memory in use (resident set).
    pub resident_bytes: u64,
    /// Bytes that came from the device since the process started.
    pub device_read_bytes: u64,
    /// Bytes that went to the device since the process started.
    pub device_written_bytes: u64,
    /// Microseconds of processors that the process took since it started, in user mode and in
    /// the kernel; 0 where it was not told.
    #[serde(default)]
    pub cpu_micros: u64,
    /// What of them threads took that work in the background.
    #[serde(default)]
    pub background_cpu_micros: u64,
}

/// Names of threads that work in the background: those of the autopilot and of RocksDB.
const BACKGROUND: [&str; 2] = ["lissom-", "rocksdb:"];

/// Microseconds of a tick, of which Linux tells a hundred a second to whoever asks.
const TICK_MICROS: u64 = 10_000;

impl ProcessUse {
    /// Reads `/proc/self`; what the system does not tell is 0.
    pub fn now() -> Self {
        let (status, io) = (read("/proc/self/status"), read("/proc/self/io"));
        Self {
            resident_bytes: field(&status, "VmRSS:") * 1024,
            device_read_bytes: field(&io, "read_bytes:"),
            device_written_bytes: field(&io, "write_bytes:"),
            cpu_micros: task(&read("/proc/self/stat")).map_or(0, |(_, micros)| micros),
            background_cpu_micros: background_cpu_micros(),
        }
    }

    /// Microseconds of processors that went to users of the store.
    pub fn user_cpu_micros(&self) -> u64 {
        self.cpu_micros.saturating_sub(self.background_cpu_micros)
    }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Of the threads that there are; those that have ended are not told of.
fn background_cpu_micros() -> u64 {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten();
    let texts = threads.flatten().map(|it| read(it.path().join("stat")));
    texts.filter_map(|text| background(&text)).sum()
}

/// What a thread took that works in the background, from its `stat`; `None` for others.
fn background(text: &str) -> Option<u64> {
    let (name, micros) = task(text)?;
    let works = BACKGROUND.iter().any(|prefix| name.starts_with(prefix));
    works.then_some(micros)
}

/// The name of a process or thread, and what it took, from its `stat`.
fn task(text: &str) -> Option<(&str, u64)> {
    let (head, tail) = text.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    // The tail begins with field 3; in user mode and in the kernel are 14 and 15.
    let mut fields = tail.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some((name, (ticks()? + ticks()?) * TICK_MICROS))
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Bytes of all table files in `directory`, and of values that lie apart from them in blob files;
/// those being written or not yet removed included: what the disk must hold.
pub fn table_file_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    let is = |path: &Path, kind: &str| path.extension().is_some_and(|it| it == kind);
    let holds_data = |path: PathBuf| {
        // What waits to be removed is called so besides.
        let name = if is(&path, "trash") {
            path.with_extension("")
        } else {
            path
        };
        is(&name, "sst") || is(&name, "blob")
    };
    let tables = entries.flatten().filter(|it| holds_data(it.path()));
    // A file may vanish between listing and asking; then it holds nothing.
    tables
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_in_the_background_are_told_by_their_names() {
        let thread = "7 (rocksdb:low) S 1 7 7 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 5 0";
        assert_eq!(background(thread), Some(420_000));
        let user = thread.replace("rocksdb:low", "a) b (c");
        assert_eq!(task(&user), Some(("a) b (c", 420_000)));
        assert_eq!((background(&user), task("")), (None, None));
    }

    #[test]
    fn values_apart_from_their_tables_take_space_too() {
        let place = tempfile::tempdir().unwrap();
        let files = [
            ("000004.sst", 5),
            ("000005.blob", 70),
            ("000006.log", 900),
            ("000007.sst.trash", 6_000),
            ("000008.log.trash", 50_000),
        ];
        for (name, bytes) in files {
            fs::write(place.path().join(name), vec![0; bytes]).unwrap();
        }
        assert_eq!(table_file_bytes(place.path()), 6_075);
    }

    #[test]
    fn time_of_the_processors_only_grows() {
        let before = ProcessUse::now();
        // Some ticks; how many depends on who else is there.
        let begun = std::time::Instant::now();
        let least = before.user_cpu_micros() + 5 * TICK_MICROS;
        while ProcessUse::now().user_cpu_micros() < least {
            assert!(begun.elapsed().as_secs() < 30, "it never grows");
        }
    }
}
