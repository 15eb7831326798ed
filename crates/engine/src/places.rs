//! Where the files of a database lie, and whether whoever opens it looks for them there.
//!
//! RocksDB reads the log of one directory. Where it was last written in another one, a database is
//! opened without what only the log holds, and lacks that from its next flush on for ever. Where
//! another database writes its log, that is read as this one's, and removed once it is flushed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rust_rocksdb::Options;

use crate::error::{Error, Result};
use crate::ffi::options::{LiveOptions, read_options};

/// Where whoever opens a database looks for its files, by the options that he brings along.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Places {
    /// The option `wal_dir`; empty for the database's own directory.
    wal_dir: String,
    /// Whether there are `db_paths` or `cf_paths`.
    has_paths: bool,
}

impl Places {
    /// By what is brought along for the column families of these names.
    ///
    /// # Errors
    /// When the options cannot be read.
    pub(crate) fn brought(
        names: &[String],
        customise: &dyn Fn(&str, &mut Options),
    ) -> Result<Places> {
        let mut places = Places::default();
        for name in names {
            let mut options = Options::default();
            customise(name, &mut options);
            places.add(name, &read_options(&mut options)?);
        }
        Ok(places)
    }

    /// Adds what the options of a column family say; those of `default` are the database's.
    pub(crate) fn add(&mut self, name: &str, found: &LiveOptions) {
        if name == "default" {
            self.wal_dir.clone_from(&found.db.wal_dir);
            self.has_paths |= found.db.db_paths > 0;
        }
        self.has_paths |= found.cf.cf_paths > 0;
    }

    /// Refuses a directory whose files would not be found, or those of another database for them.
    /// `recorded` is the `wal_dir` of its OPTIONS file, as far as that can be read; `how` what a
    /// program sets options by.
    ///
    /// # Errors
    /// When it is so, or a directory cannot be read.
    pub(crate) fn check(&self, directory: &Path, recorded: Option<&str>, how: &str) -> Result<()> {
        let recorded = recorded.unwrap_or(&self.wal_dir);
        match is_copy(directory) {
            true => self.check_copy(directory, recorded, how),
            false => self.check_log(directory, recorded, how),
        }
    }

    /// The directory in which the log of a database is looked for.
    pub(crate) fn log<'a>(&'a self, directory: &'a Path) -> &'a Path {
        log_directory(directory, &self.wal_dir).map_or(directory, Path::new)
    }

    /// The log that was written last is the one that will be read, and no other is.
    fn check_log(&self, directory: &Path, recorded: &str, how: &str) -> Result<()> {
        let written = log_directory(directory, recorded).map_or(directory, Path::new);
        let read = self.log(directory);
        if is_same(written, read) {
            return Ok(());
        }
        let (there, here) = (logs(written)?, logs(read)?);
        let why = if there.newest > here.newest {
            "which may hold entries that would not be read".to_owned()
        } else if there.is_empty && here.is_empty {
            // A database leaves a log, be it without entries.
            "where no log is now".to_owned()
        } else if here.newest > there.newest && !there.is_empty {
            format!("and {} holds entries of another database", read.display())
        } else {
            return Ok(());
        };
        Err(Error::fix(format!(
            "{}: its write-ahead log was last written in {}, {why}: if this is a copy of a \
             database that goes on, it has all its logs, so set no wal_dir, and empty wal_dir in \
             its newest OPTIONS file; otherwise set wal_dir to that directory by {how}, or open it \
             once with the program that writes it, flush all column families, and open it once more \
             without wal_dir",
            directory.display(),
            written.display()
        )))
    }

    /// All of a checkpoint lies in its own directory, and so does all of a restored backup but
    /// perhaps its log. A checkpoint has one, be it without entries.
    fn check_copy(&self, directory: &Path, recorded: &str, how: &str) -> Result<()> {
        let own = logs(directory)?;
        let brought = log_directory(directory, &self.wal_dir);
        let (why, what) = match (brought, log_directory(directory, recorded)) {
            _ if self.has_paths => (
                "db_paths or cf_paths may lead to the files of the database that it was made of, \
                 and RocksDB would remove some of these"
                    .to_owned(),
                "open it without them",
            ),
            (Some(_), _) if own.newest.is_some() => (
                "the log that lies in it would not be read with a wal_dir".to_owned(),
                "open it without one",
            ),
            (Some(log), _) if has_log(Path::new(log))? => (
                format!("the log in {log} may be that of the database that it was made of"),
                "open it without wal_dir",
            ),
            (None, Some(log)) if own.is_empty && has_log(Path::new(log))? => (
                format!("no log lies in it, and the one in {log} may be its own"),
                "if it is not, empty wal_dir in its newest OPTIONS file",
            ),
            _ => return Ok(()),
        };
        Err(Error::fix(format!(
            "{} has no file LOCK, as a checkpoint or a restored backup, and {why}: {what}; if what \
             lies there is its own, make an empty file LOCK in it, and set these options by {how}",
            directory.display()
        )))
    }
}

/// Whether nobody has opened a directory for writing where it lies. The OPTIONS file of a copy
/// tells where the files lie of the database that it was made of.
pub(crate) fn is_copy(directory: &Path) -> bool {
    let is_absent = |name: &str| matches!(directory.join(name).try_exists(), Ok(false));
    // Who removes one of them, as a lock that nobody seems to have, makes no copy.
    ["LOCK", "LOG", "LISSOM"].into_iter().all(is_absent)
}

/// The directory in which a database's write-ahead log was last written, by the `wal_dir` of its
/// OPTIONS file, if it is not the database's own.
pub(crate) fn recorded_log<'a>(directory: &Path, recorded: &'a str) -> Option<&'a str> {
    log_directory(directory, recorded).filter(|_| !is_copy(directory))
}

/// The directory of a database's write-ahead log by its option `wal_dir`, if it is not the
/// database's own.
fn log_directory<'a>(directory: &Path, wal_dir: &'a str) -> Option<&'a str> {
    let is_own = wal_dir.is_empty() || is_same(Path::new(wal_dir), directory);
    (!is_own).then_some(wal_dir)
}

/// Whether two names are of one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real(one) == real(other)
}

/// Whether a directory holds a log with entries.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn has_log(directory: &Path) -> Result<bool> {
    Ok(logs(directory)?.newest.is_some())
}

/// The logs in a directory.
struct Logs {
    /// None is there, not even one without entries.
    is_empty: bool,
    /// The highest number of one with entries.
    newest: Option<u64>,
}

/// Bytes of a log without entries: a header and what tells its compression. The least entry has
/// a header of 7 bytes, 12 bytes of its batch's, and its own. (What RocksDB writes behind a torn
/// log, or to verify logs, is longer, and counts as entries until the next opening.)
const NO_ENTRIES: u64 = 16;

/// A directory that is not there has none.
fn logs(directory: &Path) -> Result<Logs> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let mut found = Logs {
        is_empty: true,
        newest: None,
    };
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(cannot)?,
    };
    for entry in entries {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".log"));
        // Programs have logs of their own.
        let Some(number) = number.and_then(|digits| digits.parse().ok()) else {
            continue;
        };
        found.is_empty = false;
        if entry.metadata().map_err(cannot)?.len() > NO_ENTRIES {
            found.newest = found.newest.max(Some(number));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRIES: &str = "a header and entries";

    fn directory(logs: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        for log in logs {
            fs::write(directory.path().join(log), ENTRIES).expect("written");
        }
        directory
    }

    fn places(wal_dir: Option<&Path>) -> Places {
        Places {
            wal_dir: wal_dir.map_or(String::new(), |log| log.display().to_string()),
            has_paths: false,
        }
    }

    /// What is said where it is refused.
    fn said(found: Result<()>) -> Option<String> {
        found.err().map(|error| error.to_string())
    }

    #[test]
    fn a_copy_has_its_log_inside_whatever_its_options_file_says() {
        let (copy, live) = (directory(&["000007.log"]), directory(&["000009.log"]));
        let recorded = live.path().display().to_string();
        let check = |places: &Places| said(places.check(copy.path(), Some(&recorded), "it"));
        assert_eq!(check(&places(None)), None);
        assert_eq!(check(&places(Some(copy.path()))), None);
        let error = check(&places(Some(live.path()))).expect("its own log");
        assert!(error.contains("lies in it would not be read"), "{error}");
        let elsewhere = Places {
            has_paths: true,
            ..places(None)
        };
        let error = check(&elsewhere).expect("tables of another one");
        assert!(error.contains("db_paths"), "{error}");
    }

    #[test]
    fn a_copy_without_a_log_takes_none_that_is_there_already() {
        let (copy, live, new) = (directory(&[]), directory(&["000009.log"]), directory(&[]));
        let check = |log: &Path| said(places(Some(log)).check(copy.path(), None, "it"));
        assert_eq!(check(new.path()), None);
        assert_eq!(check(&new.path().join("to come")), None);
        let error = check(live.path()).expect("another one's");
        assert!(error.contains("may be that of the database"), "{error}");
        fs::write(copy.path().join("LOCK"), "").expect("written");
        assert_eq!(check(live.path()), None, "it is its own");
    }

    #[test]
    fn the_log_that_was_written_last_is_read_or_nothing_is() {
        let (own, other) = (directory(&["LOCK", "000007.log"]), directory(&[]));
        let log = other.path().display().to_string();
        let check = |places: &Places, recorded: &str| {
            said(places.check(own.path(), Some(recorded), "it")).is_some()
        };
        assert!(!check(&places(None), &log), "its own has entries");
        assert!(!check(&places(None), ""));
        assert!(check(&places(Some(other.path())), ""), "its own is left");
        fs::write(other.path().join("000009.log"), ENTRIES).expect("written");
        assert!(check(&places(None), &log), "the other one is newer");
        assert!(!check(&places(Some(other.path())), &log));
        assert!(check(&places(Some(other.path())), ""), "another one's");
        fs::remove_file(own.path().join("000007.log")).expect("removed");
        fs::write(own.path().join("program.log"), ENTRIES).expect("written");
        assert!(!check(&places(Some(other.path())), ""), "moved by hand");
    }

    /// A checkpoint has a log inside, be it without entries.
    #[test]
    fn a_backup_whose_log_was_restored_elsewhere_is_not_opened_without_it() {
        let (copy, other) = (directory(&[]), directory(&["000009.log"]));
        let recorded = other.path().display().to_string();
        let check = || said(places(None).check(copy.path(), Some(&recorded), "it"));
        let error = check().expect("its log");
        assert!(error.contains("may be its own"), "{error}");
        fs::write(copy.path().join("000008.log"), "").expect("written");
        assert_eq!(check(), None, "a checkpoint's");
    }

    #[test]
    fn a_log_that_is_nowhere_is_not_taken_for_none() {
        let (own, other) = (directory(&["LOCK"]), directory(&[]));
        for log in [other.path().to_owned(), other.path().join("not mounted")] {
            let recorded = log.display().to_string();
            let check = || said(places(None).check(own.path(), Some(&recorded), "it"));
            let error = check().expect("it may come back");
            assert!(error.contains("where no log is now"), "{error}");
            fs::create_dir_all(&log).expect("made");
            fs::write(log.join("000009.log"), "").expect("written");
            assert_eq!(check(), None, "nothing is in it");
            fs::remove_file(log.join("000009.log")).expect("removed");
            fs::write(own.path().join("000009.log"), "").expect("written");
            assert_eq!(check(), None, "moved with the rest");
            fs::remove_file(own.path().join("000009.log")).expect("removed");
        }
    }

    #[test]
    fn a_lock_that_somebody_has_removed_makes_no_copy() {
        let (own, other) = (directory(&["LOG"]), directory(&["000009.log"]));
        let recorded = other.path().display().to_string();
        let error = said(places(None).check(own.path(), Some(&recorded), "it")).expect("its log");
        assert!(error.contains("was last written in"), "{error}");
    }
}
