//! Lissom's own files in a database directory. RocksDB leaves them alone; losing
//! them costs learning, never data.
//!
//! | file | holds |
//! |---|---|
//! | `LISSOM` | run limits, drains, guard keys, what tuners learned |
//! | `LISSOM-JOURNAL`, `LISSOM-JOURNAL.old` | every decision, a line of JSON each |
//! | `LISSOM-PIN` | its presence holds the limits |
//! | `LISSOM-COMPACT` | column families that someone wants merged into one run |
//! | `LISSOM-APPLY`, `LISSOM-APPLIED` | options and settings that someone wants, and what came of them |

pub(crate) mod application;
pub(crate) mod checksum;
pub(crate) mod journal;
pub(crate) mod pin;
pub(crate) mod request;
pub(crate) mod state;
