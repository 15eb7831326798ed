//! What the process and the disk hold, as Linux tells it.

use std::fs;
use std::path::Path;

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
}

impl ProcessUse {
    /// Reads `/proc/self`; what the system does not tell is 0.
    pub fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        Self {
            resident_bytes: field(&status, "VmRSS:") * 1024,
            device_read_bytes: field(&io, "read_bytes:"),
            device_written_bytes: field(&io, "write_bytes:"),
        }
    }
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Bytes of all table files in `directory`, those being written or not yet removed
/// included: what the disk must hold.
pub fn table_file_bytes(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else {
        return 0;
    };
    let tables = entries
        .flatten()
        .filter(|e| e.path().extension().is_some_and(|x| x == "sst"));
    // A file may vanish between listing and asking; then it holds nothing.
    tables
        .filter_map(|entry| entry.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}
