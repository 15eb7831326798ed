//! All that a database consists of, in one number. Who opens it for writing changes it,
//! even if nothing is written; so does who restores it or makes it anew with the same
//! data. Who only reads leaves it as it is.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::digest::Digest;
use crate::error::{Error, Result};

/// Small files, which count by their content.
const CONTENTS: [&str; 2] = ["CURRENT", "IDENTITY"];

const ENDS: [&str; 4] = [".sst", ".ldb", ".blob", ".log"];

/// A hash of the files in a directory: the manifest that is in use, the database's own
/// identity, and of manifests, data and logs which file each is and when it was written. The device
/// does not count: its number may be another after each start of the machine. Nor does how many
/// names a file has: those of a checkpoint come and go.
///
/// # Errors
/// When the directory or a file cannot be read.
pub(super) fn identity(directory: &Path) -> Result<String> {
    let mut digest = Digest::default();
    for name in CONTENTS {
        digest = digest.with_text(&content(&directory.join(name))?);
    }
    for file in files(directory)? {
        digest = digest.with_text(file.as_bytes());
    }
    Ok(digest.to_string())
}

/// Empty of a file that is not there: a database may keep its identity elsewhere.
fn content(file: &Path) -> Result<Vec<u8>> {
    match fs::read(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        found => found.map_err(|error| Error::io("read", file, &error)),
    }
}

fn files(directory: &Path) -> Result<Vec<String>> {
    let cannot = |error| Error::io("read the directory", directory, &error);
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if counts(&name) {
            let found = entry.metadata().map_err(cannot)?;
            files.push(format!(
                "{name} {} {} {} {}",
                found.ino(),
                found.len(),
                found.mtime(),
                found.mtime_nsec()
            ));
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn counts(name: &str) -> bool {
    name.starts_with("MANIFEST-") || ENDS.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use rust_rocksdb::{DB, Options};

    use super::*;

    fn make(path: &Path) {
        let db = DB::open_default(path).expect("a new database");
        db.put("key", "value").expect("a put");
        db.flush().expect("a flush");
        db.put("in the log", "value").expect("a put");
    }

    #[test]
    fn it_changes_with_every_open_for_writing_and_with_no_other() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("data");
        make(&path);
        let first = identity(&path).expect("readable");
        let options = Options::default();
        let db = DB::open_for_read_only(&options, &path, false).expect("readable");
        assert_eq!(identity(&path).expect("readable"), first);
        drop(db);
        assert_eq!(identity(&path).expect("readable"), first);
        drop(DB::open_default(&path).expect("it opens"));
        assert_ne!(identity(&path).expect("readable"), first);
    }

    #[test]
    fn another_database_of_the_same_data_is_another() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("data");
        make(&path);
        let first = identity(&path).expect("readable");
        fs::remove_dir_all(&path).expect("removed");
        make(&path);
        assert_ne!(identity(&path).expect("readable"), first);
    }

    #[test]
    fn it_stays_while_checkpoints_come_and_go() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("data");
        make(&path);
        let table = files_that_end(&path, ".sst").remove(0);
        let name = directory.path().join("of a checkpoint");
        let first = identity(&path).expect("readable");
        fs::hard_link(table, &name).expect("linked");
        assert_eq!(identity(&path).expect("readable"), first);
        fs::remove_file(name).expect("removed");
        assert_eq!(identity(&path).expect("readable"), first);
    }

    fn files_that_end(path: &Path, end: &str) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(path).expect("readable");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .filter(|path| path.display().to_string().ends_with(end))
            .collect()
    }

    #[test]
    fn a_directory_that_is_moved_stays_what_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let (path, other) = (
            directory.path().join("data"),
            directory.path().join("moved"),
        );
        make(&path);
        let first = identity(&path).expect("readable");
        fs::rename(&path, &other).expect("renamed");
        assert_eq!(identity(&other).expect("readable"), first);
        assert!(identity(&path).is_err(), "it is gone");
    }
}
