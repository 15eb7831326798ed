//! Material for tests: drawn trees, journals by hand, and contracts that every policy keeps.

mod cuts;
mod damaged;
pub mod drawing;
pub mod journals;
mod model;
mod schedules;
mod tuners;

pub use cuts::level_guards;
pub use model::{ENTRY_BYTES, Model, Version, name};
pub use schedules::schedule_contract;
pub use tuners::tuner_contract;

use crate::key::Key;
use crate::layout::Layout;
use crate::shape::{Shape, Transition};
use crate::tree::File;

/// A shape whose L0 merges bring 400 bytes: levels of 4,000, 40,000, ... bytes,
/// files of 100 bytes.
pub fn small_shape() -> Shape {
    Shape {
        layout: Layout::V1,
        size_ratio: 10,
        level_compaction_dynamic_level_bytes: false,
        level0_file_num_compaction_trigger: 4,
        level0_slowdown_writes_trigger: 20,
        write_buffer_size: 100,
        target_file_size_base: 100,
        max_files: 1_000_000,
        max_space_amplification: 1e9,
        tombstone_share: 0.5,
        transition: Transition::Flexible,
        largest_size_ratio: 0,
        compression_classes: Vec::new(),
    }
}

/// `count` files of 100 bytes with the keys 00000 to 00009, 00010 to 00019, ...
pub fn numbered_files(count: u64) -> Vec<File> {
    (0..count)
        .map(|at| File {
            number: at + 1,
            size: 100,
            smallest: Key::from(format!("{:05}", at * 10)),
            largest: Key::from(format!("{:05}", at * 10 + 9)),
            entries: 10,
            deletions: 0,
        })
        .collect()
}
