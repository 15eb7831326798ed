//! The journal file: lines of JSON, rotated at a bound.
//!
//! A line that cannot be written is dropped and counted, since the agent must go
//! on without a journal.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::decide::{Entry, Event};
use crate::error::{Error, Result};

/// Writes the journal of one agent.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    bytes: u64,
    max_bytes: u64,
    next: u64,
    dropped: u64,
    /// The last line may have been written in part.
    is_torn: bool,
}

/// Where the journal before this one lies.
fn old(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".old");
    PathBuf::from(name)
}

impl Journal {
    /// Goes on with a journal, or begins one.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(crate) fn open(path: PathBuf, max_bytes: u64) -> Result<Journal> {
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|error| Error::io("create", directory, &error))?;
        let cannot = |error: std::io::Error| Error::io("open", &path, &error);
        let next = last_number(&path).map_err(cannot)? + 1;
        let (file, bytes) = append(&path).map_err(cannot)?;
        Ok(Journal {
            path,
            file,
            bytes,
            max_bytes,
            next,
            dropped: 0,
            is_torn: false,
        })
    }

    /// Appends a line, and returns it.
    pub(crate) fn write(&mut self, at: Duration, event: Event) -> Entry {
        let entry = Entry {
            number: self.next,
            at,
            event,
        };
        self.next += 1;
        if self.append(&entry).is_err() {
            self.dropped += 1;
        }
        entry
    }

    /// Lines that could not be written.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn append(&mut self, entry: &Entry) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.max_bytes {
            self.rotate()?;
        }
        if self.is_torn {
            line.insert(0, b'\n');
        }
        self.is_torn = true;
        self.file.write_all(&line)?;
        self.is_torn = false;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn rotate(&mut self) -> std::io::Result<()> {
        match fs::rename(&self.path, old(&self.path)) {
            // Somebody has removed it, or it could not be begun anew after the last rename.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            renamed => renamed?,
        }
        (self.file, self.bytes) = append(&self.path)?;
        self.is_torn = false;
        Ok(())
    }
}

/// The number of the last line that can be read; 0 when there is none. A crash
/// leaves at most one torn line, at the end, which is closed.
fn last_number(path: &Path) -> std::io::Result<u64> {
    const TAIL: u64 = 1 << 20;
    let mut file = match OpenOptions::new().read(true).append(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    if tail.last().is_some_and(|byte| *byte != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok(tail
        .rsplit(|byte| *byte == b'\n')
        .find_map(|line| serde_json::from_slice::<Entry>(line).ok())
        .map_or(0, |entry| entry.number))
}

fn append(path: &Path) -> std::io::Result<(File, u64)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let bytes = file.metadata()?.len();
    Ok((file, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Event {
        Event::Note { text: text.into() }
    }

    #[test]
    fn numbers_go_on_after_a_torn_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.journal");
        let mut journal = Journal::open(path.clone(), 1 << 20).expect("writable");
        journal.write(Duration::ZERO, note("one"));
        journal.write(Duration::ZERO, note("two"));
        drop(journal);
        let whole = fs::read(&path).expect("a journal");
        fs::write(&path, &whole[..whole.len() - 9]).expect("writable");
        let mut journal = Journal::open(path, 1 << 20).expect("writable");
        assert_eq!(journal.write(Duration::ZERO, note("again")).number, 2);
    }

    /// As on a disk that was full for a while.
    #[test]
    fn after_a_write_that_stopped_half_way_a_line_is_one_by_itself() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.journal");
        let mut journal = Journal::open(path.clone(), 1 << 20).expect("writable");
        journal.write(Duration::ZERO, note("one"));
        let read_only = File::open(&path).expect("readable");
        let mut file = std::mem::replace(&mut journal.file, read_only);
        journal.write(Duration::ZERO, note("two"));
        assert_eq!(journal.dropped(), 1);
        file.write_all(b"{\"number\":2,").expect("writable");
        journal.file = file;
        for text in ["three", "four"] {
            journal.write(Duration::ZERO, note(text));
        }
        let text = fs::read_to_string(&path).expect("a journal");
        let entries = text.lines().map(serde_json::from_str::<Entry>);
        let numbers: Vec<Option<u64>> = entries.map(|it| it.ok().map(|it| it.number)).collect();
        assert_eq!(numbers, [Some(1), None, Some(3), Some(4)]);
    }

    #[test]
    fn a_journal_that_somebody_removes_is_begun_anew_at_its_bound() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.journal");
        let mut journal = Journal::open(path.clone(), 1_000).expect("writable");
        journal.write(Duration::ZERO, note("gone"));
        fs::remove_file(&path).expect("removed");
        for _ in 0..30 {
            journal.write(Duration::ZERO, note("a note"));
        }
        assert_eq!(journal.dropped(), 0);
        assert!(path.exists());
    }

    #[test]
    fn lines_read_back_and_the_bound_holds() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a.journal");
        let mut journal = Journal::open(path.clone(), 1_000).expect("writable");
        for count in 0..30 {
            journal.write(Duration::from_millis(count), note("a note"));
        }
        assert_eq!(journal.dropped(), 0);
        let new = fs::read_to_string(&path).expect("a journal");
        assert!(new.len() <= 1_000);
        assert!(fs::read(old(&path)).expect("a journal").len() <= 1_000);
        let last = new.lines().last().expect("a line");
        let last: Entry = serde_json::from_str(last).expect("JSON");
        assert_eq!((last.number, last.event), (30, note("a note")));
    }
}
