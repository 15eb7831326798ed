//! Small files of two lines: the first says the format and the checksum of the second,
//! which holds everything else. They are replaced atomically and durably.
//!
//! ```text
//! {"lissom_state":1,"checksum":"<16 hexadecimal digits>"}
//! {...}
//! ```

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::checksum::checksum;
use crate::error::{Error, Result};

/// A kind of file, of which a directory has one at most.
pub(crate) struct CheckedFile {
    /// The file's name.
    pub(crate) name: &'static str,
    /// The first line's word for the format.
    pub(crate) format: &'static str,
    /// The newest format that this version of Lissom writes and reads.
    pub(crate) version: u32,
}

/// What a directory has of a kind of file.
#[derive(PartialEq, Debug)]
pub(crate) enum Found<T> {
    /// No file.
    Nothing,
    /// What its second line holds.
    Whole(T),
    /// A file of this format, which is newer than all that are known.
    Newer(u32),
    /// A file that cannot be used, and why.
    Damaged(String),
}

impl CheckedFile {
    /// Where it lies.
    pub(crate) fn path(&self, directory: &Path) -> PathBuf {
        directory.join(self.name)
    }

    /// What a kill may leave beside it.
    pub(crate) fn draft(&self, directory: &Path) -> PathBuf {
        self.path(directory).with_extension("tmp")
    }

    /// Reads the file of a directory.
    ///
    /// # Errors
    /// When it is there and cannot be opened.
    pub(crate) fn load<T: DeserializeOwned>(&self, directory: &Path) -> Result<Found<T>> {
        let path = self.path(directory);
        match fs::read(&path) {
            Ok(bytes) => Ok(self.parse(&bytes).unwrap_or_else(Found::Damaged)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(Error::io("read", &path, &error)),
        }
    }

    /// What a file of these bytes holds, or why it cannot be used.
    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        bytes: &[u8],
    ) -> std::result::Result<Found<T>, String> {
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or("its first line does not end")?;
        let (first, rest) = bytes.split_at(end);
        let body = rest[1..].strip_suffix(b"\n").unwrap_or(&rest[1..]);
        let header: Map<String, Value> =
            serde_json::from_slice(first).map_err(|error| format!("its first line: {error}"))?;
        let version = self.version_of(&header)?;
        if version > self.version {
            return Ok(Found::Newer(version));
        }
        if version == 0 {
            return Err("there never was a format 0".into());
        }
        let stated = header.get("checksum").and_then(Value::as_str);
        if stated != Some(hex(checksum(body)).as_str()) {
            return Err("its checksum does not match".into());
        }
        serde_json::from_slice(body)
            .map(Found::Whole)
            .map_err(|error| format!("its second line: {error}"))
    }

    fn version_of(&self, header: &Map<String, Value>) -> std::result::Result<u32, String> {
        header
            .get(self.format)
            .and_then(Value::as_u64)
            .and_then(|version| u32::try_from(version).ok())
            .ok_or_else(|| format!("its first line has no number `{}`", self.format))
    }

    /// Replaces the file of a directory.
    ///
    /// # Errors
    /// When it cannot be written; the old file then stands.
    pub(crate) fn save(&self, directory: &Path, body: &impl Serialize) -> Result<()> {
        let bytes = self.encode(body)?;
        let (path, draft) = (self.path(directory), self.draft(directory));
        write_durably(&draft, &bytes)
            .and_then(|()| fs::rename(&draft, &path))
            .map_err(|error| Error::io("write", &path, &error))?;
        super::sync_directory(directory)
    }

    /// The bytes of a file that holds `body`.
    ///
    /// # Errors
    /// When it is no JSON.
    pub(super) fn encode(&self, body: &impl Serialize) -> Result<Vec<u8>> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Error::bug(format!("what {} holds is no JSON: {error}", self.name)))?;
        let header = format!(
            "{{\"{}\":{},\"checksum\":\"{}\"}}",
            self.format,
            self.version,
            hex(checksum(&body))
        );
        let mut bytes = header.into_bytes();
        bytes.push(b'\n');
        bytes.extend(body);
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn write_durably(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn hex(value: u64) -> String {
    format!("{value:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: CheckedFile = CheckedFile {
        name: "FILE",
        format: "lissom_file",
        version: 2,
    };

    fn found(bytes: &[u8]) -> Found<Vec<u32>> {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(FILE.path(directory.path()), bytes).expect("writable");
        FILE.load(directory.path()).expect("readable")
    }

    #[test]
    fn its_bytes() {
        let directory = tempfile::tempdir().expect("a directory");
        FILE.save(directory.path(), &"foobar").expect("writable");
        let body = b"\"foobar\"";
        let text = fs::read_to_string(FILE.path(directory.path())).expect("readable");
        assert_eq!(
            text,
            format!(
                "{{\"lissom_file\":2,\"checksum\":\"{:016x}\"}}\n\"foobar\"\n",
                checksum(body)
            )
        );
        assert!(!FILE.draft(directory.path()).exists());
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().expect("a directory");
        let load = || FILE.load::<Vec<u32>>(directory.path()).expect("readable");
        assert_eq!(load(), Found::Nothing);
        for body in [vec![1, 2], vec![3]] {
            FILE.save(directory.path(), &body).expect("writable");
            assert_eq!(load(), Found::Whole(body));
        }
    }

    /// What a newer format needs besides its number is not known.
    #[test]
    fn the_format_is_looked_at_first() {
        assert_eq!(found(b"{\"lissom_file\":3}\n"), Found::Newer(3));
        for (bytes, why) in [
            ("", "does not end"),
            ("no JSON\n[]\n", "its first line"),
            ("{}\n[]\n", "no number `lissom_file`"),
            ("{\"lissom_file\":\"1\"}\n[]\n", "no number `lissom_file`"),
            (
                "{\"lissom_file\":4294967296}\n[]\n",
                "no number `lissom_file`",
            ),
            ("{\"lissom_file\":0}\n[]\n", "never was a format 0"),
            ("{\"lissom_file\":2}\n[]\n", "checksum does not match"),
        ] {
            match found(bytes.as_bytes()) {
                Found::Damaged(said) => assert!(said.contains(why), "{said}"),
                other => panic!("{bytes}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_whole_file_of_something_else_is_damaged() {
        let directory = tempfile::tempdir().expect("a directory");
        FILE.save(directory.path(), &"foobar").expect("writable");
        match FILE.load::<Vec<u32>>(directory.path()).expect("readable") {
            Found::Damaged(why) => assert!(why.contains("its second line"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}
