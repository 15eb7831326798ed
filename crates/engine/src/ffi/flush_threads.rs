//! The pool of threads that flushes run in.

use rust_rocksdb::Options;

use super::{Error, layout, raw};

/// Sees to so many threads more than databases that are opened with `options` run flushes at a
/// time. RocksDB deletes in this pool, too, what readers held to the last, and a flush would wait for
/// it. The pool is that of the process; more threads than are asked for stay.
pub fn spare(options: &mut Options, threads: u32) -> Result<(), Error> {
    let options = layout::pointer(options)?;
    // SAFETY: the options are borrowed exclusively, and read during the call only.
    unsafe { Error::check(raw::lissom_spare_flush_threads(options, threads)) }
}
