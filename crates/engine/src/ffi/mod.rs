//! Everything that needs C++ or unsafe code: what RocksDB can do and its Rust
//! binding cannot say, and the priority of a thread.
//!
//! The plug-in in `crates/engine/plugin` is a small C++ library with a C
//! interface; each file here wraps one concern of it in a safe type. Nothing in
//! this module decides anything.
//!
//! Safety rests on three facts:
//!
//! 1. The plug-in is compiled against the headers of the very RocksDB that the
//!    binding is linked with (the crate that brings both is pinned to one
//!    version), and `layout::verify` compares the two once per process.
//! 2. A pointer that comes from the binding is borrowed, never kept: every
//!    wrapper holds a reference to the binding's object while it uses it. What
//!    RocksDB keeps beyond a call, it keeps through shared pointers.
//! 3. No exception leaves the plug-in, and every buffer that it hands over is
//!    read within its length and released once.

#![allow(
    unsafe_code,
    reason = "calls of the plug-in and of the kernel are unsafe, and no other module makes any"
)]

mod buffer;
pub mod commit_gate;
pub mod copy;
pub mod deletions;
pub mod directory_lock;
mod error;
pub mod filter;
pub mod flush_threads;
pub mod guards;
mod handle;
pub mod ingestion;
mod layout;
pub mod options;
pub mod options_file;
pub mod options_text;
pub mod perf;
pub mod rate_limit;
mod raw;
pub mod snapshot;
pub mod statistics;
mod target;
pub(crate) mod thread;

pub use error::Error;
pub use target::{AbortGuard, CfRef};
