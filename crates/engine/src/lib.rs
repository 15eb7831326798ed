//! Lissom: RocksDB that shapes itself.
#![deny(missing_docs)]

pub mod adopt;
pub mod control;
pub mod error;
pub mod events;
mod execute;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod ffi;
mod files;
pub mod autopilot;
pub mod db;
pub mod inspect;
pub mod observe;
mod options;
mod requirements;
pub mod settings;
pub mod statistics;

pub use autopilot::{Autopilot, Health};
pub use db::{Db, Family, Scan};
pub use error::{Error, ErrorKind, Result};
pub use events::BackgroundError;
pub use lissom_core as core;
pub use options::Preparation;
pub use settings::{Compression, Settings};

/// RocksDB's own handle, under [`Db`].
pub type RocksDb = rust_rocksdb::DBWithThreadMode<rust_rocksdb::MultiThreaded>;
