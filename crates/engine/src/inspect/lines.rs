//! The lines of a directory's journals.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use lissom_core::journal::Entry;

use super::plural;
use crate::error::{Error, Result};
use crate::files::journal;

/// What stands in them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// All that can be read, oldest first.
    pub(super) entries: Vec<Entry>,
    /// Lines that cannot: torn, or of a form that this version does not know.
    pub(super) unreadable: u64,
}

impl Lines {
    /// That some were passed over, as a sentence without a full stop.
    pub(super) fn remark(&self) -> Option<String> {
        (self.unreadable > 0).then(|| {
            format!(
                "{} of the journal cannot be read: cut off by a crash or a full disk, or written \
                 by a newer version",
                plural(self.unreadable, "line")
            )
        })
    }
}

/// All lines, oldest first, or those of so many bytes at the end, without a hole: of the
/// older journal as much as the present one leaves over.
pub(super) fn read(directory: &Path, tail: Option<u64>) -> Result<Lines> {
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
    let mut lines = Lines::default();
    for (part, tail) in [(old, left_for_old), (present, left)] {
        if let Some(part) = part {
            part.read(tail, &mut lines)?;
        }
    }
    Ok(lines)
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

    /// The lines in so many bytes at the end; those that cannot be read are passed over.
    fn read(mut self, tail: u64, lines: &mut Lines) -> Result<()> {
        let cannot = |error| Error::io("read", &self.path, &error);
        let from = self.bytes.saturating_sub(tail);
        self.file.seek(SeekFrom::Start(from)).map_err(cannot)?;
        let (mut text, mut line) = (BufReader::new(self.file), Vec::new());
        // The end may begin within a line.
        let mut is_whole = from == 0;
        while text.read_until(b'\n', &mut line).map_err(cannot)? > 0 {
            match serde_json::from_slice(&line) {
                Ok(entry) => lines.entries.push(entry),
                Err(_) if is_whole && is_ended(&line) => lines.unreadable += 1,
                Err(_) => {}
            }
            is_whole = true;
            line.clear();
        }
        Ok(())
    }
}

/// Whether it tells anything, to its end: the last one may not be written as far yet.
fn is_ended(line: &[u8]) -> bool {
    line.ends_with(b"\n") && !line.trim_ascii().is_empty()
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

    /// Those of the lines that can be read; there are no others.
    fn numbers(directory: &Path, tail: Option<u64>) -> Vec<u64> {
        let lines = read(directory, tail).expect("readable");
        assert_eq!((lines.unreadable, lines.remark()), (0, None));
        lines.entries.iter().map(|entry| entry.number).collect()
    }

    #[test]
    fn a_line_that_is_cut_off_is_told_and_those_after_it_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let (first, second, third) = (line(1), line(2), line(3));
        let torn = &second[..20];
        // The last one is being written.
        let text = format!("{first}{torn}\n\n{third}{torn}");
        fs::write(journal::path(directory.path()), text).expect("writable");
        let lines = read(directory.path(), None).expect("readable");
        let numbers: Vec<u64> = lines.entries.iter().map(|entry| entry.number).collect();
        assert_eq!((numbers, lines.unreadable), (vec![1, 3], 1));
        let remark = lines.remark().expect("one is told");
        assert!(remark.starts_with("1 line of the journal"), "{remark}");
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
