//! A merge of everything, asked for from outside: a file that names column
//! families. The store that takes it up removes it first.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-COMPACT";

/// Where the request lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Leaves a request, beside what was asked for and not taken up yet.
pub(crate) fn leave(directory: &Path, families: &[String]) -> Result<()> {
    let path = path(directory);
    let mut names = read(&path).unwrap_or_default();
    names.extend(families.iter().cloned());
    let text = serde_json::to_string(&names).expect("names are JSON");
    // Renamed into place: nobody reads half a request.
    let draft = path.with_extension("tmp");
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, &path))
        .map_err(|error| Error::io("write", &path, &error))
}

/// Takes up what was asked for; nothing mostly.
pub(crate) fn take(directory: &Path) -> Result<BTreeSet<String>> {
    let path = path(directory);
    if !path.exists() {
        return Ok(BTreeSet::new());
    }
    let names = read(&path);
    match fs::remove_file(&path) {
        // A request that stays would be taken up for ever.
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Error::io("remove", &path, &error))
        }
        _ => names,
    }
}

fn read(path: &Path) -> Result<BTreeSet<String>> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        Error::fix(format!(
            "{} is no list of column families ({error}); it was removed: ask again with \
             `lissom compact --running`",
            path.display()
        ))
    })
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

    #[test]
    fn what_is_no_request_is_removed_with_a_sentence() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(path(directory.path()), "default").expect("written");
        let error = take(directory.path()).expect_err("no list");
        assert!(error.to_string().contains("is no list of column families"));
        assert!(take(directory.path()).expect("gone").is_empty());
    }
}
