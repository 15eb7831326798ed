//! The log of searches on the disk: appended, never changed, and nobody else's
//! meanwhile.

#[cfg(test)]
mod tests;

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lissom_search::record::{Event, Log, encode};

use crate::error::{Result, TrialsError};
use crate::files::sync_name;
use crate::session::Book;

/// How every log begins.
const BEGINNING: &[u8] = b"{\"event\":\"begin\"";

/// Attempts to lock a log, and the time between two.
const LOCK_ATTEMPTS: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// An open log.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    /// Bytes up to the end of the last whole line.
    length: u64,
}

impl LogFile {
    /// Opens a log, or begins one, and reads what is in it. A line that was not
    /// written to its end when a program was killed is cut off.
    ///
    /// # Errors
    /// Another search has the log, it cannot be read or written, or it is no log of
    /// this version.
    pub fn open(path: &Path) -> Result<(LogFile, Log)> {
        let is_new = !path.exists();
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|error| TrialsError::io("open", path, &error))?;
        lock(&file, path)?;
        let mut opened = LogFile {
            path: path.to_owned(),
            file,
            length: 0,
        };
        let log = opened.read()?;
        opened.mend(&log)?;
        if is_new {
            opened.keep_name()?;
        }
        Ok((opened, log))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn read(&mut self) -> Result<Log> {
        let mut bytes = Vec::new();
        self.file
            .read_to_end(&mut bytes)
            .map_err(|error| self.cannot("read", &error))?;
        let wrong = |what: String| TrialsError::new(format!("{}: {what}", self.path.display()));
        let text = text(&bytes).map_err(|line| {
            wrong(format!(
                "line {line} of the search log is no text: it is damaged; give another --log"
            ))
        })?;
        let log = Log::parse(text).map_err(|error| wrong(error.to_string()))?;
        if log.whole_bytes == 0 && !is_beginning(&bytes) {
            // Or it would be taken for a line that was cut off, and removed.
            return Err(wrong("it is no search log: give another --log".to_owned()));
        }
        Ok(log)
    }

    /// Leaves nothing but whole lines.
    fn mend(&mut self, log: &Log) -> Result<()> {
        self.length = log.whole_bytes as u64;
        self.cut()?;
        if log.needs_break {
            self.write("\n", false)?;
        }
        Ok(())
    }

    /// A new file's name has to reach the disk, too.
    fn keep_name(&self) -> Result<()> {
        sync_name(&self.path).map_err(|error| self.cannot("write", &error))
    }

    /// Removes what stands behind the last whole line.
    fn cut(&self) -> Result<()> {
        let length = self.file.metadata().map_or(0, |about| about.len());
        if length <= self.length {
            return Ok(());
        }
        self.file
            .set_len(self.length)
            .map_err(|error| self.cannot("write", &error))
    }

    /// Appends a whole line or nothing.
    fn write(&mut self, line: &str, durably: bool) -> Result<()> {
        // What was left of a line that failed.
        self.cut()?;
        let written = self.file.write_all(line.as_bytes());
        let written = written.and_then(|()| {
            if durably {
                self.file.sync_data()
            } else {
                Ok(())
            }
        });
        if let Err(error) = written {
            // What cannot be cut off now is before the next line.
            let _ = self.file.set_len(self.length);
            return Err(self.cannot("write", &error));
        }
        self.length += line.len() as u64;
        Ok(())
    }

    fn cannot(&self, doing: &str, error: &io::Error) -> TrialsError {
        TrialsError::io(doing, &self.path, error)
    }
}

impl Book for LogFile {
    fn append(&mut self, event: &Event) -> Result<()> {
        let line = encode(event)?;
        // A decision is decided again if it is lost; anything else is not.
        let durably = !matches!(event, Event::Decision { .. });
        self.write(&line, durably)
    }
}

/// The lock ends with the process that holds it, however that ends.
/// Tries a few times: a child that is just being started has the lock too, until it
/// becomes another program.
fn lock(file: &File, path: &Path) -> Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(TrialsError::io("lock", path, &error)),
        }
    }
    Err(TrialsError::new(format!(
        "another search writes {}: wait for it, or give another --log",
        path.display()
    )))
}

/// Whether these are the first bytes of a log, however few were written.
fn is_beginning(bytes: &[u8]) -> bool {
    bytes.iter().zip(BEGINNING).all(|(one, other)| one == other)
}

/// The bytes as text, without a character that was cut off at the end; otherwise the
/// line that is none.
fn text(bytes: &[u8]) -> std::result::Result<&str, usize> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let (whole, _) = bytes.split_at(error.valid_up_to());
            match (error.error_len(), std::str::from_utf8(whole)) {
                (None, Ok(text)) => Ok(text),
                _ => Err(1 + whole.iter().filter(|byte| **byte == b'\n').count()),
            }
        }
    }
}
