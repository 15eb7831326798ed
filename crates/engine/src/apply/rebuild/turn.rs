//! One command at a time works on the directories around a database: what one finds
//! half done must not be another's work of this moment.

use std::fs::File;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::place::Place;
use crate::error::{Error, Result};

/// A lock on the directory around the database, for as long as it lives. The directory
/// keeps its name while those in it are exchanged; a process that is killed gives the
/// lock back.
pub(in crate::apply) struct Turn {
    around: File,
}

impl Place {
    /// Takes the turn.
    ///
    /// # Errors
    /// When a command is at work on this or another database in the same directory;
    /// when the directory cannot be opened or locked.
    pub(in crate::apply) fn turn(&self) -> Result<Turn> {
        let around = self.path.parent().unwrap_or(&self.path);
        let opened = File::open(around).map_err(|error| Error::io("open", around, &error))?;
        match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Turn { around: opened }),
            Err(Errno::WOULDBLOCK) => Err(Error::retry(format!(
                "another `lissom apply` is at work in {}: try again once it has ended",
                around.display()
            ))),
            Err(Errno::BADF | Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP) => {
                Err(Error::fix(format!(
                    "the file system of {} cannot lock directories, so that two commands could \
                     rename them at once: move the database to a local disk",
                    around.display()
                )))
            }
            Err(error) => Err(Error::io("lock", around, &error.into())),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // A child that another thread is just starting has the open file, too, until it
        // becomes another program: closing it here would not give the lock back yet.
        let _ = flock(&self.around, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_turn_at_a_time() {
        let parent = tempfile::tempdir().expect("a directory");
        let place = Place::of(&parent.path().join("data")).expect("a place");
        let turn = place.turn().expect("nobody else");
        let other = Place::of(&parent.path().join("other")).expect("a place");
        for place in [&place, &other] {
            let error = place.turn().err().expect("it is taken").to_string();
            assert!(error.contains("another `lissom apply`"), "{error}");
        }
        drop(turn);
        drop(other.turn().expect("it was given back"));
    }
}
