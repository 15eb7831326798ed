//! Lissom: a key-value store that shapes itself.
//!
//! The data path is RocksDB, untouched. Beside it runs an autopilot that owns
//! compaction: how many sorted runs each level may hold, what to merge, and
//! when.
//!
//! ```
//! use lissom::{Db, Settings};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let directory = tempfile::tempdir()?;
//!     let settings = Settings {
//!         policy: "thresholds-20-80".parse()?,
//!         ..Settings::default()
//!     };
//!     let db = Db::open(directory.path(), settings)?;
//!     db.put("lissom", "supple")?;
//!     assert_eq!(db.get("lissom")?.as_deref(), Some(&b"supple"[..]));
//!     println!("{:?}", db.statistics()?.families["default"].limits);
//!     Ok(())
//! }
//! ```
//!
//! | to | see |
//! |---|---|
//! | open, read, write | [`Db`], [`Settings`], [`Family`] |
//! | watch and steer the autopilot | [`Autopilot`], [`Statistics`](statistics::Statistics), [`Health`] |
//! | keep one's own RocksDB handle | [`Preparation`], [`Autopilot::attach`] |
//! | take over a RocksDB directory, and give it back | [`adopt`] |
//! | look at a directory | [`inspect`], [`observe`] |
//! | change options and settings | [`apply`], [`Db::apply`] |
//! | steer a store from outside | [`control`] |
//! | begin with what one expects of the workload | [`Settings::expecting`] |
//! | tune stock RocksDB | [`stock`] |
//!
//! Everything that decides is in [`core`]; this crate observes and acts. The
//! modules of the action: `options` and `requirements` (what RocksDB is opened
//! with), `places` (where its files lie), `entrance` (where it is let in), `events` (what it tells), [`observe`] (its
//! manifest), [`autopilot`] (the loop), `execute` (one plan), `files` (the state file,
//! the journal, the pin and requests), and `ffi`, which alone holds unsafe code.

pub mod adopt;
pub mod apply;
pub mod autopilot;
mod block_cache;
pub mod control;
pub mod db;
mod entrance;
pub mod error;
mod events;
mod execute;
#[doc(hidden)]
#[allow(missing_docs)] // hidden: public for the tests alone
pub mod ffi;
mod file_names;
mod files;
pub mod inspect;
pub mod observe;
mod open_error;
pub mod open_files;
mod options;
mod places;
mod rate_limit;
mod requirements;
pub mod settings;
pub mod statistics;
pub mod stock;

pub use autopilot::{Autopilot, Health};
pub use block_cache::block_cache;
pub use db::{Db, Family, Scan};
pub use error::{Error, ErrorKind, Result};
pub use events::BackgroundError;
pub use lissom_core as core;
pub use options::Preparation;
pub use settings::{Compression, Settings};

/// RocksDB's own handle, under [`Db`].
pub type RocksDb = rust_rocksdb::DBWithThreadMode<rust_rocksdb::MultiThreaded>;

/// The README's program compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
