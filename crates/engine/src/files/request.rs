//! A merge of everything, asked for from outside: a file that names column
//! families. The store moves it aside before it reads it, so that what is asked for
//! meanwhile is a request of its own.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-COMPACT";

/// Others that ask at the same time stand in the way at most this often.
const MOST_TRIES: u32 = 100;

/// Where the request lies.
fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Leaves a request, beside what was asked for and not taken up yet.
pub(crate) fn leave(directory: &Path, families: &[String]) -> Result<()> {
    let path = path(directory);
    let draft = own_name(&path, "tmp");
    let mut names: BTreeSet<String> = families.iter().cloned().collect();
    for _ in 0..MOST_TRIES {
        let text = serde_json::to_string(&names).expect("names are JSON");
        fs::write(&draft, text).map_err(|error| Error::io("write", &draft, &error))?;
        // Nobody reads half a request; and unlike a rename, a link replaces none.
        let linked = fs::hard_link(&draft, &path);
        fs::remove_file(&draft).map_err(|error| Error::io("remove", &draft, &error))?;
        match linked {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                names.extend(take_back(&path)?);
            }
            Err(error) => return Err(Error::io("write", &path, &error)),
        }
    }
    Err(Error::retry(format!(
        "others ask for merges in {} all the time: try again",
        directory.display()
    )))
}

/// What waits, to be left again with more: either the store takes it or who moved it.
fn take_back(path: &Path) -> Result<BTreeSet<String>> {
    let back = own_name(path, "back");
    match fs::rename(path, &back) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(Error::io("rename", path, &error)),
        Ok(()) => {}
    }
    // What is no request is nobody's.
    let names = read(&back, path).unwrap_or_default();
    fs::remove_file(&back).map_err(|error| Error::io("remove", &back, &error))?;
    Ok(names)
}

/// A file that no other process and no other thread of this one uses.
fn own_name(path: &Path, end: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    path.with_extension(format!("{}-{number}.{end}", std::process::id()))
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
        match fs::rename(&path, &taken) {
            // Whoever asks for more has it.
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
