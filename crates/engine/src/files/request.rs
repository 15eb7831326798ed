//! A merge of everything, asked for from outside: a file that names column
//! families. The store moves it aside before it reads it, so that what is asked for
//! meanwhile is a request of its own.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-COMPACT";

/// Others that ask at the same time stand in the way at most this often, a moment each.
const MOST_TRIES: u32 = 10_000;
const MOMENT: Duration = Duration::from_millis(1);

/// Where the request lies.
fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// The directory, locked by whoever handles what waits in it; none while another one does.
/// The lock ends with its process. Where there are none, as on some network file systems,
/// two that ask in the same instant may lose one.
fn alone(directory: &Path) -> Result<Option<File>> {
    let opened = File::open(directory).map_err(|error| Error::io("open", directory, &error))?;
    let is_held = matches!(opened.try_lock(), Err(TryLockError::WouldBlock));
    Ok((!is_held).then_some(opened))
}

/// Leaves a request, beside what was asked for and not taken up yet.
pub(crate) fn leave(directory: &Path, families: &[String]) -> Result<()> {
    for _ in 0..MOST_TRIES {
        if let Some(_alone) = alone(directory)? {
            return add(&path(directory), families);
        }
        thread::sleep(MOMENT);
    }
    Err(Error::retry(format!(
        "others ask for merges in {} all the time: try again",
        directory.display()
    )))
}

/// What waits is replaced by all in one step: a kill or a full disk leaves it as it was.
fn add(path: &Path, families: &[String]) -> Result<()> {
    let mut names = waiting(path)?;
    names.extend(families.iter().cloned());
    let text = serde_json::to_string(&names).expect("names are JSON");
    let draft = own_draft(path);
    let left = fs::write(&draft, text)
        .and_then(|()| super::let_all_read(&draft))
        .and_then(|()| fs::rename(&draft, path));
    left.map_err(|error| {
        let _ = fs::remove_file(&draft);
        Error::io("write", path, &error)
    })
}

/// The column families that wait. What is no request is nobody's.
fn waiting(path: &Path) -> Result<BTreeSet<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(serde_json::from_str(&text).unwrap_or_default()),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => {
            Ok(BTreeSet::new())
        }
        Err(error) => Err(Error::io("read", path, &error)),
    }
}

/// A file that no other process and no other thread of this one uses.
fn own_draft(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    path.with_extension(format!("{}-{number}.tmp", std::process::id()))
}

/// Takes up what was asked for; nothing mostly.
pub(crate) fn take(directory: &Path) -> Result<BTreeSet<String>> {
    let path = path(directory);
    let taken = path.with_extension("taken");
    // After a crash one may lie there that nobody has read.
    if !taken.exists() {
        if !path.exists() {
            return Ok(BTreeSet::new());
        }
        // Whoever asks for more has it; the next look finds both.
        let Some(_alone) = alone(directory)? else {
            return Ok(BTreeSet::new());
        };
        match fs::rename(&path, &taken) {
            // It was taken up or removed in between.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
            Err(error) => return Err(Error::io("rename", &path, &error)),
            Ok(()) => {}
        }
    }
    let names = read(&taken, &path);
    // A request that stays would be taken up for ever.
    fs::remove_file(&taken).map_err(|error| Error::io("remove", &taken, &error))?;
    names
}

/// The column families that a file names; `path` is where it was left.
fn read(file: &Path, path: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(file).map_err(|error| Error::io("read", file, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Error::fix(format!(
            "{} is no list of column families ({error}); it was removed: ask again with \
             `lissom compact --running`",
            path.display()
        ))
    })
}

/// Every file of these that lies in a directory.
pub(crate) fn left_over(directory: &Path) -> Vec<PathBuf> {
    super::beginning_with(directory, &[NAME])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_request_is_taken_once() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(take(directory.path()).expect("no request").is_empty());
        leave(directory.path(), &["a".into()]).expect("left");
        leave(directory.path(), &["b\n".into()]).expect("left");
        assert_eq!(take(directory.path()).expect("taken"), names(&["a", "b\n"]));
        assert!(take(directory.path()).expect("gone").is_empty());
    }

    /// Each of them was told that its column family will be merged.
    #[test]
    fn no_request_is_lost_while_the_store_takes_others() {
        const ASKING: usize = 4;
        const REQUESTS: usize = 100;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let asking = AtomicU64::new(ASKING as u64);
        let ask = |who: usize| {
            for number in 0..REQUESTS {
                leave(path, &[format!("{who}-{number}")]).expect("left");
            }
            asking.fetch_sub(1, Relaxed);
        };
        let mut taken = BTreeSet::new();
        std::thread::scope(|scope| {
            for who in 0..ASKING {
                let ask = &ask;
                scope.spawn(move || ask(who));
            }
            while asking.load(Relaxed) > 0 {
                taken.extend(take(path).expect("whole requests"));
            }
        });
        taken.extend(take(path).expect("the last one"));
        assert_eq!(taken.len(), ASKING * REQUESTS);
        assert!(left_over(path).is_empty(), "{:?}", left_over(path));
    }

    /// Whoever asks for more may be killed at any instant.
    #[test]
    fn what_waits_lies_there_while_others_ask() {
        let directory = tempfile::tempdir().expect("a directory");
        leave(directory.path(), &["first".into()]).expect("left");
        let request = path(directory.path());
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| {
                for _ in 0..1_000 {
                    leave(directory.path(), &["more".into()]).expect("left");
                }
            });
            while !asking.is_finished() {
                let there = read(&request, &request).expect("it lies there");
                assert!(there.contains("first"), "{there:?}");
            }
        });
        let both = take(directory.path()).expect("taken");
        assert_eq!(both, names(&["first", "more"]));
    }

    #[test]
    fn a_request_is_not_taken_from_whoever_adds_to_it() {
        let directory = tempfile::tempdir().expect("a directory");
        leave(directory.path(), &["a".into()]).expect("left");
        let adding = alone(directory.path()).expect("a directory");
        assert!(adding.is_some());
        assert!(take(directory.path()).expect("not yet").is_empty());
        drop(adding);
        assert_eq!(take(directory.path()).expect("taken"), names(&["a"]));
    }

    #[test]
    fn what_a_crash_left_half_taken_is_taken_up() {
        let directory = tempfile::tempdir().expect("a directory");
        leave(directory.path(), &["a".into()]).expect("left");
        let taken = path(directory.path()).with_extension("taken");
        fs::rename(path(directory.path()), &taken).expect("moved aside");
        leave(directory.path(), &["b".into()]).expect("left");
        assert_eq!(take(directory.path()).expect("taken"), names(&["a"]));
        assert_eq!(take(directory.path()).expect("taken"), names(&["b"]));
    }

    #[test]
    fn what_is_no_request_is_removed_with_a_sentence() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(path(directory.path()), "default").expect("written");
        let error = take(directory.path()).expect_err("no list");
        assert!(error.to_string().contains("is no list of column families"));
        assert!(take(directory.path()).expect("gone").is_empty());
    }
}
