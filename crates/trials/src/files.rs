//! Files of results.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
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
        .and_then(|()| sync_name(path))
        .map_err(|error| TrialsError::io("write", path, &error))
}

/// Has the name of a file reach the disk, where its directory may be read and its file system can.
pub(crate) fn sync_name(path: &Path) -> io::Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match File::open(parent).and_then(|directory| directory.sync_all()) {
        Err(error) if !is_out_of_reach(error.kind()) => Err(error),
        _ => Ok(()),
    }
}

fn is_out_of_reach(kind: ErrorKind) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(kind, InvalidInput | PermissionDenied | Unsupported)
}

/// Whether [`replace`] could write there, so that nobody learns of it only after an
/// hour of measuring. What another program is just writing there stays as it is.
///
/// # Errors
/// It could not.
pub fn check_writable(path: &Path) -> Result<()> {
    let cannot = |error| TrialsError::io("write", path, &error);
    let part = part(path)?;
    if path.is_dir() {
        return Err(TrialsError::new(format!(
            "{} is a directory: name a file",
            path.display()
        )));
    }
    if part.exists() {
        File::options().write(true).open(&part).map_err(cannot)?;
    }
    let probe = beside(path, &format!(".probe-{}", std::process::id()))?;
    File::create(&probe)
        .and_then(|_| fs::remove_file(&probe))
        .map_err(cannot)
}

/// The name under which a file is written.
fn part(path: &Path) -> Result<PathBuf> {
    beside(path, ".part")
}

/// The path with something behind its name.
fn beside(path: &Path, ending: &str) -> Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(TrialsError::new(format!(
            "{} names no file: name one",
            path.display()
        )));
    };
    let mut name = OsString::from(name);
    name.push(ending);
    Ok(path.with_file_name(name))
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
    fn what_another_program_is_writing_stays_as_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("OPTIONS");
        let part = part(&path).expect("a name");
        fs::write(&part, "half of it").expect("writable");
        check_writable(&path).expect("writable");
        assert_eq!(fs::read_to_string(&part).expect("there"), "half of it");
        let files = fs::read_dir(directory.path()).expect("there").count();
        assert_eq!(files, 1, "nothing else is left");
        fs::remove_file(&part).expect("there");
        fs::create_dir(&part).expect("free");
        assert!(check_writable(&path).is_err(), "nothing can replace that");
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
