//! What holds for every manifest, every limit and every order of events.

mod apart;
mod durable;
mod elsewhere;
mod excess;
mod gives_way;
mod histories;
mod ranges;
mod requests;
mod rewrites;
mod steady;
mod steps;
mod unreadable;
mod urgency;
mod wishes;
mod workers;

use crate::shape::{RunLimit, RunLimits};
use crate::testing::{Model, small_shape};

/// Entries that fill one memtable of the small shape.
const FLUSH: u32 = 10;

/// An empty tree of the small shape, with one run limit for all levels.
fn model(limit: u16) -> Model {
    Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)))
}

/// Flushes a memtable of keys that lie scattered among the first `keys`; others for each
/// `at`.
fn flush_scattered(model: &mut Model, at: u32, keys: u32) {
    model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % keys, false)));
}
