//! The journal file: lines of JSON, rotated at a bound.
//!
//! A line that cannot be written is dropped and counted, since decisions must go
//! on without a journal; nothing here waits for the disk to be in step.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use lissom_core::journal::{Entry, Event, Moment};
use parking_lot::Mutex;

use crate::error::{Error, Result};

const NAME: &str = "LISSOM-JOURNAL";

/// Writes the journal of one database.
#[derive(Debug)]
pub(crate) struct Journal {
    begun: Instant,
    opening: u64,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    max_bytes: u64,
    next: u64,
    dropped: u64,
    /// The last line may have been written in part: one that is longer than the buffer.
    is_torn: bool,
    /// The last flush left lines in the buffer.
    holds_back: bool,
}

/// Where the journal of a database lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

/// Where the journal before it lies.
pub(crate) fn old_path(directory: &Path) -> PathBuf {
    directory.join(format!("{NAME}.old"))
}

impl Journal {
    /// Goes on with the journal in a directory, or begins one, as where a command that another
    /// user gave has left his. The store was opened so often before, or oftener, if the journal
    /// tells of more.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub(crate) fn open(directory: &Path, max_bytes: u64, openings: u64) -> Result<Journal> {
        let path = path(directory);
        let cannot = |error| Error::io("open", &path, &error);
        let (last, (file, bytes)) = match go_on(&path, &old_path(directory)) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                begin_beside(&path, directory).map_err(cannot)?
            }
            opened => opened.map_err(cannot)?,
        };
        Ok(Journal {
            begun: Instant::now(),
            opening: last.opening.max(openings).saturating_add(1),
            inner: Mutex::new(Inner {
                next: last.number + 1,
                path,
                file,
                bytes,
                max_bytes,
                dropped: 0,
                is_torn: false,
                holds_back: false,
            }),
        })
    }

    /// Which opening of the store this is.
    pub(crate) fn opening(&self) -> u64 {
        self.opening
    }

    /// Now, on the clock of the lines.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            opening: self.opening,
            at: self.begun.elapsed(),
        }
    }

    /// Appends a line.
    pub(crate) fn write(&self, column_family: &str, event: Event) {
        self.write_numbered(column_family, |_| event);
    }

    /// Appends a line that knows its own number, which is returned: a name that
    /// is never used twice in a journal.
    pub(crate) fn write_numbered(
        &self,
        column_family: &str,
        event: impl FnOnce(u64) -> Event,
    ) -> u64 {
        let mut inner = self.inner.lock();
        let number = inner.next;
        let entry = Entry {
            number,
            opening: self.opening,
            at: self.begun.elapsed(),
            column_family: column_family.to_owned(),
            event: event(number),
        };
        inner.next += 1;
        if inner.append(&entry).is_err() {
            inner.dropped += 1;
        }
        number
    }

    /// Appends a sentence.
    pub(crate) fn note(&self, column_family: &str, text: impl Into<String>) {
        let text = text.into();
        self.write(column_family, Event::Note { text });
    }

    /// Hands buffered lines to the operating system.
    pub(crate) fn flush(&self) {
        let mut inner = self.inner.lock();
        let failed = inner.file.flush().is_err();
        // What is still in the buffer is written later: one that stays full is one.
        if failed && !inner.holds_back {
            inner.dropped += 1;
        }
        inner.holds_back = failed;
    }

    /// Lines, or buffers of lines, that could not be written.
    pub(crate) fn dropped(&self) -> u64 {
        self.inner.lock().dropped
    }
}

impl Inner {
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
        self.file.flush()?;
        let directory = self.path.parent().unwrap_or(Path::new("."));
        match fs::rename(&self.path, old_path(directory)) {
            // Somebody has removed it, or it could not be begun anew after the last rename.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            renamed => renamed?,
        }
        (self.file, self.bytes) = append(&self.path)?;
        self.is_torn = false;
        Ok(())
    }
}

type Opened = (Last, (BufWriter<File>, u64));

/// Where nothing can be read, as after a kill just behind a rotation, the old journal's numbers go
/// on.
fn go_on(path: &Path, old: &Path) -> std::io::Result<Opened> {
    let mut last = last(path)?;
    if last.number == 0 {
        last = told_by(old);
    }
    Ok((last, append(path)?))
}

/// A file of another user's becomes the old journal. What it tells is read if it may be.
fn begin_beside(path: &Path, directory: &Path) -> std::io::Result<Opened> {
    let told = told_by(path);
    fs::rename(path, old_path(directory))?;
    Ok((told, append(path)?))
}

/// As far as it may be read.
fn told_by(path: &Path) -> Last {
    fs::read(path).map_or_else(|_| Last::default(), |text| last_of(&text))
}

/// What a line tells of itself.
#[derive(Default)]
struct Last {
    number: u64,
    opening: u64,
}

/// The last line that can be read; all is 0 when there is none. A crash
/// leaves at most one torn line, at the end, which is closed.
fn last(path: &Path) -> std::io::Result<Last> {
    const TAIL: u64 = 1 << 20;
    let mut file = match OpenOptions::new().read(true).append(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Last::default()),
        other => other?,
    };
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    if tail.last().is_some_and(|byte| *byte != b'\n') {
        file.write_all(b"\n")?;
    }
    Ok(last_of(&tail))
}

fn last_of(text: &[u8]) -> Last {
    let last = text
        .rsplit(|byte| *byte == b'\n')
        .find_map(|line| serde_json::from_slice::<Entry>(line).ok());
    last.map_or_else(Last::default, |entry| Last {
        number: entry.number,
        opening: entry.opening,
    })
}

fn append(path: &Path) -> std::io::Result<(BufWriter<File>, u64)> {
    let file = OpenOptions::new().create(true).append(true).open(path)?;
    let bytes = file.metadata()?.len();
    Ok((BufWriter::new(file), bytes))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn numbers_go_on_after_a_torn_line() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        journal.note("default", "one");
        journal.note("default", "two");
        drop(journal);
        let whole = fs::read(path(directory.path())).expect("a journal");
        fs::write(path(directory.path()), &whole[..whole.len() - 9]).expect("writable");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        let number = journal.write_numbered("default", |number| Event::Note {
            text: number.to_string(),
        });
        assert_eq!(number, 2);
        drop(journal);
        let text = fs::read_to_string(path(directory.path())).expect("a journal");
        let last: Entry = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last.number, 2);
    }

    /// As by a command that root gave.
    #[test]
    fn after_another_users_journal_a_new_one_goes_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        journal.note("default", "theirs");
        drop(journal);
        let own = path(directory.path());
        let (last, (mut file, bytes)) = begin_beside(&own, directory.path()).expect("begun");
        assert_eq!((last.number, last.opening, bytes), (1, 1, 0));
        file.write_all(b"ours").expect("writable");
        drop(file);
        let theirs = fs::read_to_string(old_path(directory.path())).expect("a journal");
        assert!(theirs.contains("theirs"), "{theirs}");
        assert_eq!(fs::read(own).expect("a journal"), b"ours");
    }

    #[test]
    fn numbers_go_on_behind_a_journal_that_was_just_rotated() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        journal.note("default", "one");
        journal.note("default", "two");
        drop(journal);
        fs::rename(path(directory.path()), old_path(directory.path())).expect("renamed");
        File::create(path(directory.path())).expect("empty");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        let number = journal.write_numbered("default", |number| Event::Note {
            text: number.to_string(),
        });
        assert_eq!((number, journal.opening()), (3, 2));
    }

    /// The planner flushes some times a second.
    #[test]
    fn lines_that_wait_for_a_full_disk_count_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        let read_only = File::open(path(directory.path())).expect("readable");
        let file = std::mem::replace(&mut journal.inner.lock().file, BufWriter::new(read_only));
        journal.note("default", "waits");
        for _ in 0..100 {
            journal.flush();
        }
        assert_eq!(journal.dropped(), 1);
        journal.inner.lock().file = file;
        journal.flush();
        assert_eq!(journal.dropped(), 1);
    }

    /// As on a disk that was full for a while.
    #[test]
    fn after_a_write_that_stopped_half_way_a_line_is_one_by_itself() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1 << 20, 0).expect("writable");
        journal.note("default", "one");
        let read_only = File::open(path(directory.path())).expect("readable");
        let unbuffered = BufWriter::with_capacity(0, read_only);
        let mut file = std::mem::replace(&mut journal.inner.lock().file, unbuffered);
        journal.note("default", "two");
        assert_eq!(journal.dropped(), 1);
        file.write_all(b"{\"number\":2,").expect("writable");
        journal.inner.lock().file = file;
        for text in ["three", "four"] {
            journal.note("default", text);
        }
        journal.flush();
        let text = fs::read_to_string(path(directory.path())).expect("a journal");
        let entries = text.lines().map(serde_json::from_str::<Entry>);
        let numbers: Vec<Option<u64>> = entries.map(|it| it.ok().map(|it| it.number)).collect();
        assert_eq!(numbers, [Some(1), None, Some(3), Some(4)]);
    }

    #[test]
    fn lines_read_back_and_the_bound_holds() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1_000, 0).expect("writable");
        for count in 0..30 {
            journal.note("default", format!("note {count}"));
        }
        journal.flush();
        assert_eq!(journal.dropped(), 0);
        let read = |path: PathBuf| fs::read_to_string(path).expect("a journal");
        let old = read(old_path(directory.path()));
        let new = read(path(directory.path()));
        assert!(old.len() <= 1_000 && new.len() <= 1_000);
        let last: Entry = serde_json::from_str(new.lines().last().expect("a line")).expect("JSON");
        assert_eq!(last.number, 30);
        assert_eq!(
            last.event,
            Event::Note {
                text: "note 29".into()
            }
        );
    }

    #[test]
    fn openings_are_counted_by_the_journal_and_by_the_state() {
        let directory = tempfile::tempdir().expect("a directory");
        let opened = |openings| {
            let journal = Journal::open(directory.path(), 1 << 20, openings).expect("writable");
            journal.note("", "opened");
            assert!(journal.moment().at < Duration::from_secs(60));
            assert_eq!(journal.moment().opening, journal.opening());
            journal.opening()
        };
        assert_eq!([opened(0), opened(0), opened(7)], [1, 2, 8]);
        fs::remove_file(path(directory.path())).expect("removed");
        assert_eq!(opened(8), 9);
        let text = fs::read_to_string(path(directory.path())).expect("a journal");
        let line: Entry = serde_json::from_str(text.trim()).expect("one line");
        assert_eq!((line.number, line.opening), (1, 9));
    }

    #[test]
    fn a_journal_that_somebody_removes_is_begun_anew_at_its_bound() {
        let directory = tempfile::tempdir().expect("a directory");
        let journal = Journal::open(directory.path(), 1_000, 0).expect("writable");
        journal.note("default", "gone");
        journal.flush();
        fs::remove_file(path(directory.path())).expect("removed");
        for count in 0..30 {
            journal.note("default", format!("note {count}"));
        }
        journal.flush();
        assert_eq!(journal.dropped(), 0);
        let text = fs::read_to_string(path(directory.path())).expect("a journal");
        assert!(text.contains("note 29"), "{text}");
    }
}
