//! How many table files RocksDB may hold open.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::error::{Error, Result};

/// Fewer leave no room for logs, manifests and the outputs of compactions.
const LEAST_LIMIT: u64 = 64;

/// RocksDB's word for all of them.
const ALL: i32 = -1;

/// Raises the limit on open files as far as this process may, for a program that works on
/// directories with as many tables as there may be: where nothing else is on record, RocksDB opens
/// all of them at once. A program that calls `select` must not.
pub fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it may not be raised, RocksDB says what it could not open.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// RocksDB's `max_open_files` for this process.
///
/// # Errors
/// The process may open so few files that no database works.
pub(crate) fn max_open_files() -> Result<i32> {
    within(getrlimit(Resource::Nofile).current)
}

/// Half of what the process may open: the other half is for logs, for compactions, and
/// for the application. A tree of more files works, and opens them again when it reads
/// them.
fn within(limit: Option<u64>) -> Result<i32> {
    match limit {
        None => Ok(ALL),
        Some(limit) if limit < LEAST_LIMIT => Err(Error::fix(format!(
            "this process may open {limit} files: raise the limit to {LEAST_LIMIT} at least, as \
             with `ulimit -n`"
        ))),
        Some(limit) => Ok(i32::try_from(limit / 2).unwrap_or(i32::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_the_process_may_open() {
        assert_eq!(within(Some(1024)).expect("enough"), 512);
        assert_eq!(within(Some(64)).expect("enough"), 32);
        assert_eq!(within(Some(1 << 40)).expect("enough"), i32::MAX);
        assert_eq!(within(None).expect("no limit"), ALL);
    }

    #[test]
    fn too_few_are_refused() {
        let error = within(Some(63)).expect_err("too few").to_string();
        assert_eq!(
            error,
            "this process may open 63 files: raise the limit to 64 at least, as with `ulimit -n`"
        );
    }
}
