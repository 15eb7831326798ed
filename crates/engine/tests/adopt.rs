//! Taking over plain RocksDB directories and giving them back.

#[path = "common/child.rs"]
mod child;
#[path = "common/contents.rs"]
mod contents;
#[path = "common/damaged_log.rs"]
mod damaged_log;
#[path = "common/instants.rs"]
mod instants;
#[path = "adopt/kill.rs"]
mod kill;
#[path = "adopt/on_record.rs"]
mod on_record;
#[path = "adopt/plain.rs"]
mod plain;
#[path = "adopt/refusals.rs"]
mod refusals;
#[path = "adopt/round_trip.rs"]
mod round_trip;
