//! Follows a file into which a child writes lines.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

/// Bytes that are read at once.
const PIECE: u64 = 1 << 20;
/// A longer line is given up.
const LONGEST_LINE: usize = 1 << 16;

/// A file that grows.
#[derive(Debug)]
pub(super) struct Follow {
    path: PathBuf,
    offset: u64,
    /// What stands behind the last line break.
    rest: Vec<u8>,
}

impl Follow {
    /// Of a file that need not exist yet.
    pub fn new(path: PathBuf) -> Follow {
        Follow {
            path,
            offset: 0,
            rest: Vec::new(),
        }
    }

    /// The lines that were written to their end since this was last asked.
    pub fn lines(&mut self) -> Vec<String> {
        // A file that is not there yet, or cannot be read, has no lines.
        if self.read().is_err() {
            return Vec::new();
        }
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            if self.rest.len() > LONGEST_LINE {
                self.rest.clear();
            }
            return Vec::new();
        };
        let behind = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, behind);
        let whole = String::from_utf8_lossy(&whole);
        whole.lines().map(str::to_owned).collect()
    }

    fn read(&mut self) -> io::Result<()> {
        // Opening a pipe would wait for its other end.
        let about = std::fs::metadata(&self.path)?;
        if !about.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        if about.len() < self.offset {
            // It was begun anew.
            self.offset = 0;
            self.rest.clear();
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.offset))?;
        self.offset += file.take(PIECE).read_to_end(&mut self.rest)? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_whole_lines_are_given() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("metrics");
        let mut follow = Follow::new(path.clone());
        assert!(follow.lines().is_empty());
        fs::write(&path, "one\ntw").expect("writable");
        assert_eq!(follow.lines(), ["one"]);
        fs::write(&path, "one\ntwo\nthree\n").expect("writable");
        assert_eq!(follow.lines(), ["two", "three"]);
        assert!(follow.lines().is_empty());
        fs::write(&path, "anew\n").expect("writable");
        assert_eq!(follow.lines(), ["anew"]);
        fs::remove_file(&path).expect("there");
        fs::create_dir(&path).expect("new");
        assert!(follow.lines().is_empty());
    }
}
