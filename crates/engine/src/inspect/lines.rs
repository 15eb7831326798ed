//! The lines of a directory's journals.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lissom_core::journal::Entry;

use crate::error::{Error, Result};
use crate::files::journal;

/// All lines, oldest first, or those of so many bytes at the end, without a hole: of the
/// older journal as much as the present one leaves over.
pub(super) fn read(directory: &Path, tail: Option<u64>) -> Result<Vec<Entry>> {
    let path = journal::path(directory);
    let mut present = Part::open(&path)?;
    let old = Part::open(&journal::old_path(directory))?;
    if present.is_some() && identity(&present) == identity(&old) {
        // It was rotated in between, and what is there now goes on after it.
        present = Part::open(&path)?.filter(|part| identity(&old) != Some(part.identity));
    }
    let left = tail.unwrap_or(u64::MAX);
    let in_present = present.as_ref().map_or(0, |part| part.bytes);
    let left_for_old = left.saturating_sub(in_present);
    let mut entries = Vec::new();
    for (part, tail) in [(old, left_for_old), (present, left)] {
        if let Some(part) = part {
            part.read(tail, &mut entries)?;
        }
    }
    Ok(entries)
}

/// One of the files, as it was opened.
struct Part {
    path: PathBuf,
    file: File,
    bytes: u64,
    /// Device and inode, which stay when it is renamed.
    identity: (u64, u64),
}

fn identity(part: &Option<Part>) -> Option<(u64, u64)> {
    part.as_ref().map(|part| part.identity)
}

impl Part {
    fn open(path: &Path) -> Result<Option<Part>> {
        let cannot = |error| Error::io("read", path, &error);
        let file = match File::open(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(cannot)?,
        };
        let seen = file.metadata().map_err(cannot)?;
        Ok(Some(Part {
            path: path.to_owned(),
            file,
            bytes: seen.len(),
            identity: (seen.dev(), seen.ino()),
        }))
    }

    /// The lines in so many bytes at the end; those that are torn or of a form that this
    /// version does not know are passed over.
    fn read(mut self, tail: u64, entries: &mut Vec<Entry>) -> Result<()> {
        let cannot = |error| Error::io("read", &self.path, &error);
        let from = self.bytes.saturating_sub(tail);
        self.file.seek(SeekFrom::Start(from)).map_err(cannot)?;
        let (mut lines, mut line) = (BufReader::new(self.file), Vec::new());
        while lines.read_until(b'\n', &mut line).map_err(cannot)? > 0 {
            entries.extend(serde_json::from_slice::<Entry>(&line).ok());
            line.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lissom_core::journal::Event;
    use lissom_core::testing::journals::entry;

    use super::*;

    fn line(number: u64) -> String {
        let note = Event::Note {
            text: "a line".into(),
        };
        serde_json::to_string(&entry(number, note)).expect("an entry is data") + "\n"
    }

    /// Lines 10 to 29 in the older journal and 30 to 49 in the present one, all as long.
    fn written() -> (tempfile::TempDir, u64) {
        let directory = tempfile::tempdir().expect("a directory");
        let lines = |numbers: std::ops::Range<u64>| numbers.map(line).collect::<String>();
        let old = journal::old_path(directory.path());
        fs::write(old, lines(10..30)).expect("writable");
        let present = journal::path(directory.path());
        fs::write(present, lines(30..50)).expect("writable");
        (directory, line(10).len() as u64)
    }

    fn numbers(directory: &Path, tail: Option<u64>) -> Vec<u64> {
        let entries = read(directory, tail).expect("readable");
        entries.iter().map(|entry| entry.number).collect()
    }

    #[test]
    fn the_end_is_read_without_a_hole() {
        let (directory, one) = written();
        let seen = |tail| numbers(directory.path(), tail);
        let till_end = |from| (from..50).collect::<Vec<u64>>();
        assert_eq!(seen(None), till_end(10));
        assert_eq!(seen(Some(u64::MAX)), till_end(10));
        // Less than the present journal, all of it, and some lines more.
        assert_eq!(seen(Some(5 * one)), till_end(45));
        assert_eq!(seen(Some(20 * one)), till_end(30));
        assert_eq!(seen(Some(27 * one)), till_end(23));
        // The line in which the end begins is torn.
        assert_eq!(seen(Some(27 * one + 9)), till_end(23));
    }

    #[test]
    fn where_a_journal_is_missing_the_other_is_read() {
        let (directory, one) = written();
        fs::remove_file(journal::path(directory.path())).expect("removed");
        let last: Vec<u64> = (27..30).collect();
        assert_eq!(numbers(directory.path(), Some(3 * one)), last);
        fs::remove_file(journal::old_path(directory.path())).expect("removed");
        assert!(numbers(directory.path(), None).is_empty());
    }

    /// As where it is renamed after it was opened by its first name.
    #[test]
    fn one_file_under_both_names_is_read_once() {
        let (directory, _) = written();
        let old = journal::old_path(directory.path());
        fs::remove_file(&old).expect("removed");
        fs::hard_link(journal::path(directory.path()), &old).expect("linked");
        let all: Vec<u64> = (30..50).collect();
        assert_eq!(numbers(directory.path(), None), all);
    }
}
