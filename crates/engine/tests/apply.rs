//! Applying configurations to closed directories and running stores.

#[path = "common/child.rs"]
mod child;
#[path = "apply/closed.rs"]
mod closed;
mod common;
#[path = "common/contents.rs"]
mod contents;
#[path = "common/damaged_log.rs"]
mod damaged_log;
#[path = "apply/data.rs"]
mod data;
#[path = "apply/disk.rs"]
mod disk;
#[path = "common/instants.rs"]
mod instants;
#[path = "apply/interrupted.rs"]
mod interrupted;
#[path = "apply/kill.rs"]
mod kill;
#[path = "apply/rebuild.rs"]
mod rebuild;
#[path = "apply/refused.rs"]
mod refused;
#[path = "apply/reshaped.rs"]
mod reshaped;
#[path = "apply/running.rs"]
mod running;
#[path = "common/small_disk.rs"]
mod small_disk;
#[path = "apply/stored.rs"]
mod stored;
#[path = "apply/taken_back.rs"]
mod taken_back;
