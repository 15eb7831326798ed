//! Files of results.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Result, TrialsError};

/// Writes a file under another name and renames it, so that a reader sees all or
/// nothing, also after a loss of power.
///
/// # Errors
/// It cannot be written there.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let part = part(path)?;
    let written = File::create(&part).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written
        .and_then(|()| fs::rename(&part, path))
        .map_err(|error| TrialsError::io("write", path, &error))
}

/// Whether [`replace`] could write there, so that nobody learns of it only after an
/// hour of measuring.
///
/// # Errors
/// It could not.
pub fn check_writable(path: &Path) -> Result<()> {
    let part = part(path)?;
    if path.is_dir() {
        return Err(TrialsError::new(format!(
            "{} is a directory: name a file",
            path.display()
        )));
    }
    File::create(&part)
        .and_then(|_| fs::remove_file(&part))
        .map_err(|error| TrialsError::io("write", path, &error))
}

/// The name under which a file is written.
fn part(path: &Path) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(TrialsError::new(format!(
            "{} names no file: name one",
            path.display()
        )));
    };
    let mut part = OsString::from(name);
    part.push(".part");
    Ok(path.with_file_name(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("OPTIONS");
        for text in ["one", "two"] {
            check_writable(&path).expect("writable");
            replace(&path, text).expect("writable");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        let files = fs::read_dir(directory.path()).expect("there").count();
        assert_eq!(files, 1, "nothing else is left");
    }

    #[test]
    fn where_nothing_can_be_written_is_a_sentence() {
        let directory = tempfile::tempdir().expect("a directory");
        let missing = directory.path().join("no/OPTIONS");
        for (path, says) in [
            (missing.as_path(), "check the path"),
            (directory.path(), "is a directory"),
            (Path::new("/"), "names no file"),
        ] {
            let error = check_writable(path).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
        assert!(replace(&missing, "x").is_err());
    }
}
