//! Do the plug-in and the binding mean the same memory?

use std::sync::OnceLock;

use rust_rocksdb::{AsRawPtr, Options};

use super::{Error, raw};

/// Compares, once per process, the RocksDB version that the plug-in was
/// compiled for with the one it is linked with, and reads through C++ an option
/// that was set through the binding.
pub(super) fn verify() -> Result<(), Error> {
    static VERDICT: OnceLock<Result<(), Error>> = OnceLock::new();
    VERDICT.get_or_init(probe).clone()
}

fn probe() -> Result<(), Error> {
    const UNLIKELY: usize = 0x5eed_1155;
    let mut options = Options::default();
    options.set_write_buffer_size(UNLIKELY);
    // SAFETY: the pointer is that of a live Options object. The layout that the
    // plug-in assumes is the definition in db/c.cc of the pinned version,
    // `struct rocksdb_options_t { Options rep; }`.
    unsafe {
        Error::check(raw::lissom_check_layout(
            options.as_raw_ptr(),
            UNLIKELY as u64,
        ))
    }
}

/// The C pointer of `options`, for one call that changes them.
pub(super) fn pointer(
    options: &mut Options,
) -> Result<*mut rust_rocksdb::ffi_raw::rocksdb_options_t, Error> {
    verify()?;
    // SAFETY: the pointer is used only while the caller holds the exclusive
    // reference.
    Ok(unsafe { options.as_raw_ptr() })
}
