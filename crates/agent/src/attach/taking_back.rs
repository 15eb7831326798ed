//! What is recorded of a server is taken back part by part: what it refuses of one column family
//! keeps no other from being restored, and taken out of the state files.

use std::path::PathBuf;

use super::act::{not_given_back, still_in_file};
use crate::decide::{Change, Lease};
use crate::error::{Error, ErrorKind, Result};
use crate::files::Ledger;
use crate::server::{Restoration, Server, restore};

/// What came of taking back a lease.
#[derive(Debug, Default)]
pub(super) struct TakenBack {
    /// What was set.
    pub(super) changes: Vec<Change>,
    /// What is gone from the server, and stays recorded.
    pub(super) gone: Option<Lease>,
    /// The files that still hold anything of it.
    pub(super) files: Vec<PathBuf>,
    /// What was not done, a sentence each.
    pub(super) failures: Vec<String>,
}

impl TakenBack {
    /// Whether all was done.
    ///
    /// # Errors
    /// [`ErrorKind::Refused`] with each failure.
    pub(super) fn check(&self) -> Result<()> {
        if self.failures.is_empty() {
            return Ok(());
        }
        Err(Error::refused(self.failures.join("; ")))
    }
}

/// Takes back a lease, and settles what is restored of it. What was done before an error is in
/// `taken_back` all the same.
///
/// # Errors
/// [`ErrorKind::Lost`] when the connection is: nothing after that was tried.
pub(super) fn take_back<S: Server>(
    ledger: &Ledger,
    server: &mut S,
    place: &str,
    lease: &Lease,
    taken_back: &mut TakenBack,
) -> Result<()> {
    for part in lease.parts() {
        match restore(server, &part) {
            Ok(Restoration { changes, left }) => {
                taken_back.changes.extend(changes);
                match ledger.settle(&part, left.as_ref()) {
                    Ok(files) => taken_back.files = files,
                    Err(error) => taken_back.failures.push(still_in_file(&part, &error)),
                }
                taken_back.gone = Lease::join(taken_back.gone.take(), left);
            }
            Err(error) if error.kind() == ErrorKind::Lost => return Err(error),
            Err(error) => {
                let sentence = not_given_back(place, &part, &error);
                taken_back.failures.push(sentence);
            }
        }
    }
    Ok(())
}
