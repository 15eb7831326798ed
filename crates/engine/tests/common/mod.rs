//! A small database for tests: buffers and files of 256 KiB.
#![allow(dead_code)] // each test file uses its part

use std::path::Path;
use std::time::Duration;

use lissom::core::LogicalLevel;
use lissom::core::journal::{Entry, TreeSummary};
use lissom::{Compression, Db, Settings};

pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn small(policy: &str) -> Settings {
    Settings {
        policy: policy.parse().expect("a policy"),
        write_buffer_size: 256 << 10,
        max_write_buffer_number: 2,
        target_file_size_base: 256 << 10,
        memory_budget_bytes: 32 << 20,
        size_ratio: 4,
        level_compaction_dynamic_level_bytes: false,
        compression: vec![Compression::None],
        mission_operations: 2_000,
        mission_time: Duration::from_millis(50),
        max_space_amplification: 100.0,
        ..Settings::default()
    }
}

pub fn key(number: u64) -> Vec<u8> {
    // Bit-reversed, so that consecutive numbers lie far apart.
    format!("{:016x}", number.reverse_bits()).into_bytes()
}

pub fn value(number: u64, version: u64) -> Vec<u8> {
    let mut value = format!("{number}-{version}-").into_bytes();
    value.resize(200, b'.');
    value
}

pub fn load(db: &Db, numbers: std::ops::Range<u64>, version: u64) {
    for number in numbers {
        db.put(key(number), value(number, version)).expect("a put");
    }
}

pub fn settle(db: &Db) {
    db.flush().expect("a flush");
    assert!(
        db.autopilot().wait_until_idle(PATIENCE),
        "not idle in time: {:#?} {:#?}",
        db.health(),
        db.statistics()
    );
}

pub fn tree(db: &Db) -> TreeSummary {
    let statistics = db.statistics().expect("statistics");
    statistics.families["default"].tree.clone()
}

pub fn runs_of(tree: &TreeSummary, level: u16) -> usize {
    tree.runs
        .iter()
        .filter(|run| run.level == Some(LogicalLevel(level)))
        .count()
}

/// All that a store has written into its journal; close it first.
pub fn journal(directory: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(directory.join("LISSOM-JOURNAL")).expect("a journal");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}
