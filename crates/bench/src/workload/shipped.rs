//! The workload files that come with the program.

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../workloads/", $name, ".toml")))),*]
    };
}

/// Name and text of every shipped workload.
pub const SHIPPED: &[(&str, &str)] = shipped![
    "five-sessions",
    "update-only",
    "mixed-sessions",
    "ycsb-a",
    "ycsb-b",
    "ycsb-c",
    "ycsb-d",
    "ycsb-e",
    "ycsb-f",
    "mixgraph",
];

/// The frozen hashes: lines of `SHA-256  NAME.toml`. A shipped file may not change
/// once results were published with it; a new variant gets a new name.
pub fn shipped_hashes() -> &'static str {
    include_str!("../../../../workloads/HASHES")
}
