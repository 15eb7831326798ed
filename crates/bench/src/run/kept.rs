//! A load that is kept, so that later rounds copy it.

use std::fs;
use std::path::{Path, PathBuf};

use super::job::remove_directory;
use super::program::Program;
use crate::durable;
use crate::error::{Place, Result};
use crate::workload::sha256_hex;

/// A loaded directory of one program: another one may build another tree of the same data.
pub(super) struct KeptLoad {
    /// Where any program's begins: its name is that of the arm and of the way to load.
    place: PathBuf,
    own: PathBuf,
}

impl KeptLoad {
    /// That of `program` at `place`.
    pub(super) fn new(place: &Path, program: Option<&Program>) -> Result<Self> {
        let text = serde_json::to_vec(&program).place("program")?;
        Ok(Self {
            place: place.to_path_buf(),
            own: longer(place, &format!("-{}", &sha256_hex(&text)[..12])),
        })
    }

    /// Whether there is one.
    pub(super) fn exists(&self) -> bool {
        self.own.exists()
    }

    /// Copies it to `directory`.
    pub(super) fn copy_to(&self, directory: &Path) -> Result<()> {
        copy_directory(&self.own, directory)
    }

    /// Keeps a copy of `directory`, and removes what other programs kept of the same arm,
    /// which would only fill the disk.
    pub(super) fn keep(&self, directory: &Path) -> Result<()> {
        self.remove_all()?;
        // Copied under another name first: a copy that was cut short is never taken for whole.
        let part = longer(&self.own, ".part");
        copy_directory(directory, &part)?;
        fs::rename(&part, &self.own).place(self.own.display())
    }

    fn remove_all(&self) -> Result<()> {
        let (Some(loads), Some(begins)) = (self.place.parent(), self.place.file_name()) else {
            return Ok(());
        };
        let begins = begins.as_encoded_bytes();
        for entry in fs::read_dir(loads).place(loads.display())? {
            let entry = entry.place(loads.display())?;
            let same = entry.file_name().as_encoded_bytes().starts_with(begins);
            if same && entry.path().is_dir() {
                remove_directory(&entry.path())?;
            }
        }
        Ok(())
    }
}

/// A path whose name goes on with `more`.
fn longer(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// On the device when it returns.
fn copy_directory(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).place(to.display())?;
    for entry in fs::read_dir(from).place(from.display())? {
        let entry = entry.place(from.display())?;
        let target = to.join(entry.file_name());
        if entry.file_type().place(entry.path().display())?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            durable::copy(&entry.path(), &target)?;
        }
    }
    durable::sync(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_programs_load_is_not_taken_and_gives_way() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for directory in ["loads", "data"] {
            fs::create_dir(at(directory)).unwrap();
        }
        fs::write(at("data/file"), "loaded").unwrap();
        let of = |name: &str, commit: &str| {
            let program = Program {
                version: "0.1.0".into(),
                commit: Some(commit.into()),
                dirty: false,
                sources: None,
            };
            KeptLoad::new(&at("loads").join(name), Some(&program)).unwrap()
        };
        for name in ["fixed-1-0123", "fixed-1-4567", "fixed-10-0123"] {
            of(name, "old").keep(&at("data")).unwrap();
        }
        fs::create_dir(at("loads/fixed-1-0123-cut-short.part")).unwrap();
        let new = of("fixed-1-0123", "new");
        assert!(of("fixed-1-0123", "old").exists() && !new.exists());

        new.keep(&at("data")).unwrap();
        new.copy_to(&at("copy")).unwrap();
        assert_eq!(fs::read_to_string(at("copy/file")).unwrap(), "loaded");
        assert!(!of("fixed-1-0123", "old").exists());
        for other in ["fixed-1-4567", "fixed-10-0123"] {
            assert!(of(other, "old").exists(), "{other} is another load");
        }
        assert_eq!(fs::read_dir(at("loads")).unwrap().count(), 3);
    }

    #[test]
    fn builds_of_one_commit_whose_sources_differ_share_no_load() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for directory in ["loads", "data"] {
            fs::create_dir(at(directory)).unwrap();
        }
        let of = |sources: Option<&str>| {
            let program = Program {
                version: "0.1.0".into(),
                commit: Some("0123".into()),
                dirty: sources.is_some(),
                sources: sources.map(str::to_owned),
            };
            KeptLoad::new(&at("loads/fixed-1"), Some(&program)).unwrap()
        };
        of(Some("a")).keep(&at("data")).unwrap();
        assert!(of(Some("a")).exists());
        assert!(!of(Some("b")).exists() && !of(None).exists());
    }
}
