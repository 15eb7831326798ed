//! Writing all data of a directory anew, with other options, into a directory beside
//! it, which then takes its place.
//!
//! The steps, each of which leaves the database as it is until the last one:
//!
//! 1. the directory is locked, opened read-only, and refused if not all of it can be
//!    copied;
//! 2. its entries are copied, in key order and bounded pieces; a piece is durable
//!    before the mark of the copy says so;
//! 3. both sides are read whole and compared;
//! 4. the directories are exchanged, in one step where the file system has one.
//!
//! A kill at any instant leaves the database or, from step 4 on, its copy; the same
//! call goes on. What was copied is copied again if the database changed meanwhile.
//!
//! Entries are read through iterators, so that deletions and merges are resolved, and
//! written by ordinary writes without the log, each piece closed by a flush. In key
//! order such files overlap nothing, and RocksDB moves them down without rewriting
//! them as far as its options let it. After a kill it goes on behind what is durable in
//! the copy, so that no key is there in two versions.

mod check;
mod compression;
mod copy;
mod digest;
mod disk;
mod end;
mod identity;
mod job;
mod making;
mod mark;
mod place;
mod space;
mod steps;
mod turn;

pub(super) use self::job::{Job, id_of, run};
pub(super) use self::place::{COPY_IS_IN_PLACE, Place, Settled};

pub use self::end::{Changes, Finished, Removed, Undone, finish, undo};

use serde::Serialize;

/// How far a rebuild has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Entries that are done, over all column families.
    pub entries: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
}

/// What a rebuild does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Entries are copied.
    Copying,
    /// Both sides are compared.
    Checking,
}

/// Told of progress after each piece.
pub type Watch<'a> = dyn FnMut(Progress) + 'a;
