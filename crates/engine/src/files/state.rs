//! The state file: what the planner and the tuners must remember.
//!
//! ```text
//! {"lissom_state":1,"checksum":"<16 hexadecimal digits>"}   of the second line
//! {"families":{"default":{...}}}
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use lissom_core::{Layout, Shape, TreeState};
use serde::{Deserialize, Serialize};

use super::checksum::checksum;
use crate::error::{Error, Result};
use crate::settings::Settings;

const NAME: &str = "LISSOM";

/// The newest format that this version writes and reads.
pub(crate) const VERSION: u32 = 1;

/// Everything in the file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// By column family.
    pub(crate) families: BTreeMap<String, StoredFamily>,
    /// What is known of the load and the device.
    #[serde(default, skip_serializing_if = "StoredSchedule::is_empty")]
    pub(crate) schedule: StoredSchedule,
}

/// What is kept of the schedule.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredSchedule {
    /// The schedule that wrote `state`.
    pub(crate) name: String,
    /// What it learned; null when nothing.
    pub(crate) state: serde_json::Value,
    /// What the directory's device was measured to read and write.
    pub(crate) device_bytes_per_second: Option<u64>,
}

impl StoredSchedule {
    fn is_empty(&self) -> bool {
        *self == StoredSchedule::default()
    }
}

/// What is kept of one column family.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFamily {
    /// RocksDB's number for the column family, which no other of the database ever has;
    /// absent before it was first driven.
    #[serde(default)]
    pub(crate) id: Option<u32>,
    /// Where its runs lie.
    pub(crate) layout: Layout,
    /// The dimensions that it was last driven with, for whoever looks at the
    /// directory; an open goes by its own settings.
    #[serde(default)]
    pub(crate) shape: Option<Shape>,
    /// The planner's memory.
    pub(crate) tree: TreeState,
    /// The policy whose tuner wrote `tuner`.
    pub(crate) policy: String,
    /// What the tuner learned; null when nothing.
    pub(crate) tuner: serde_json::Value,
    /// Files that are damaged.
    #[serde(default)]
    pub(crate) unreadable: BTreeSet<u64>,
}

impl StoredFamily {
    /// What there is to keep of a column family that was never driven.
    pub(crate) fn of(settings: &Settings) -> StoredFamily {
        StoredFamily {
            id: None,
            layout: Layout::V1,
            shape: Some(settings.shape()),
            tree: TreeState::new(settings.policy.first_limits()),
            policy: settings.policy.to_string(),
            tuner: serde_json::Value::Null,
            unreadable: BTreeSet::new(),
        }
    }
}

impl StoredFamily {
    /// Whether it is not of a column family that had the same name and was dropped, as
    /// where a crash came before it was forgotten.
    pub(crate) fn is_of(&self, id: Option<u32>) -> bool {
        self.id.is_none() || self.id == id
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    lissom_state: u32,
    #[serde(default)]
    checksum: String,
}

/// What was found in a directory.
pub(crate) struct Loaded {
    pub(crate) stored: Stored,
    /// A sentence when the file was there and could not be used.
    pub(crate) remark: Option<String>,
}

/// Reads the state file. A missing or damaged one gives an empty state.
///
/// # Errors
/// When the file was written by a newer version of Lissom or for another layout,
/// or cannot be opened.
pub(crate) fn load(directory: &Path) -> Result<Loaded> {
    let path = path(directory);
    let nothing = |remark| {
        Ok(Loaded {
            stored: Stored::default(),
            remark,
        })
    };
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return nothing(None),
        Err(error) => return Err(Error::io("read", &path, &error)),
    };
    match parse(&bytes) {
        Ok(stored) => Ok(Loaded {
            stored,
            remark: None,
        }),
        Err(Unusable::Newer(version)) => Err(Error::fix(format!(
            "{} has format {version}, this version of Lissom knows formats up to {VERSION}: \
             open it with a newer version, or remove the file, which costs what was learned \
             and no data",
            path.display()
        ))),
        Err(Unusable::Layout(layout)) => Err(Error::fix(format!(
            "{} describes a tree of {} levels with {} slots each, which this version of Lissom \
             does not have: open it with the version that wrote it",
            path.display(),
            layout.levels,
            layout.slots
        ))),
        Err(Unusable::Damaged(why)) => nothing(Some(format!(
            "{} is damaged ({why}): the autopilot begins without what it had learned",
            path.display()
        ))),
    }
}

enum Unusable {
    Newer(u32),
    Layout(Layout),
    Damaged(String),
}

fn parse(bytes: &[u8]) -> std::result::Result<Stored, Unusable> {
    let damaged = |why: &str| Unusable::Damaged(why.to_owned());
    let end = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .ok_or_else(|| damaged("its first line does not end"))?;
    let (first, rest) = bytes.split_at(end);
    let body = rest[1..].strip_suffix(b"\n").unwrap_or(&rest[1..]);
    let header: Header = serde_json::from_slice(first)
        .map_err(|error| Unusable::Damaged(format!("its first line: {error}")))?;
    if header.lissom_state > VERSION {
        return Err(Unusable::Newer(header.lissom_state));
    }
    if header.lissom_state == 0 {
        return Err(damaged("there never was a format 0"));
    }
    if header.checksum != hex(checksum(body)) {
        return Err(damaged("its checksum does not match"));
    }
    let stored: Stored = serde_json::from_slice(body)
        .map_err(|error| Unusable::Damaged(format!("its second line: {error}")))?;
    match stored
        .families
        .values()
        .find(|family| family.layout != Layout::V1)
    {
        Some(family) => Err(Unusable::Layout(family.layout)),
        None => Ok(stored),
    }
}

/// Replaces the state file atomically and durably.
///
/// # Errors
/// When the directory cannot be written; the old file then stands.
pub(crate) fn save(directory: &Path, stored: &Stored) -> Result<()> {
    let path = path(directory);
    let body = serde_json::to_vec(stored)
        .map_err(|error| Error::bug(format!("the state does not serialize: {error}")))?;
    let header = serde_json::to_vec(&Header {
        lissom_state: VERSION,
        checksum: hex(checksum(&body)),
    })
    .map_err(|error| Error::bug(format!("the state's header does not serialize: {error}")))?;
    let temporary = path.with_extension("tmp");
    write_durably(&temporary, &[&header, b"\n", &body, b"\n"])
        .and_then(|()| fs::rename(&temporary, &path))
        .and_then(|()| File::open(directory)?.sync_all())
        .map_err(|error| Error::io("write", &path, &error))
}

fn write_durably(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    for part in parts {
        file.write_all(part)?;
    }
    file.sync_all()
}

/// Where the state of a database lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    directory.join(NAME)
}

fn hex(value: u64) -> String {
    format!("{value:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_core::{RunLimit, RunLimits};

    fn stored() -> Stored {
        let family = StoredFamily {
            id: Some(3),
            layout: Layout::V1,
            shape: Some(crate::settings::Settings::default().shape()),
            tree: TreeState::new(RunLimits::uniform(RunLimit::clamped(4))),
            policy: "fixed-4".into(),
            tuner: serde_json::Value::Null,
            unreadable: BTreeSet::from([7]),
        };
        Stored {
            families: BTreeMap::from([("default".into(), family)]),
            schedule: StoredSchedule {
                name: "look-ahead".into(),
                device_bytes_per_second: Some(1 << 30),
                ..StoredSchedule::default()
            },
        }
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let directory = tempfile::tempdir().expect("a directory");
        save(directory.path(), &stored()).expect("writable");
        let loaded = load(directory.path()).expect("readable");
        assert_eq!(loaded.stored, stored());
        assert_eq!(loaded.remark, None);
    }

    #[test]
    fn any_damage_is_noticed_and_costs_only_the_state() {
        let directory = tempfile::tempdir().expect("a directory");
        save(directory.path(), &stored()).expect("writable");
        let whole = fs::read(path(directory.path())).expect("readable");
        for at in (0..whole.len() - 1).step_by(7) {
            let mut torn = whole.clone();
            torn[at] ^= 0x01;
            fs::write(path(directory.path()), &torn).expect("writable");
            match load(directory.path()) {
                Ok(loaded) => {
                    assert_eq!(loaded.stored, Stored::default(), "byte {at}");
                    assert!(loaded.remark.expect("a remark").contains("damaged"));
                }
                Err(error) => assert!(error.to_string().contains("has format"), "byte {at}"),
            }
            fs::write(path(directory.path()), &whole[..at]).expect("writable");
            let cut = load(directory.path()).expect("only damaged");
            assert_eq!(cut.stored, Stored::default(), "cut at {at}");
        }
    }

    #[test]
    fn a_newer_format_is_refused_with_what_to_do() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(path(directory.path()), "{\"lissom_state\":99}\n{}\n").expect("writable");
        let error = load(directory.path()).err().expect("newer").to_string();
        assert!(error.contains("has format 99"), "{error}");
        assert!(error.contains("newer version"), "{error}");
    }

    #[test]
    fn another_layout_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut other = stored();
        for family in other.families.values_mut() {
            family.layout.slots = 12;
        }
        save(directory.path(), &other).expect("writable");
        let error = load(directory.path()).err().expect("other").to_string();
        assert!(error.contains("12 levels with 12 slots"), "{error}");
    }

    #[test]
    fn no_file_is_an_empty_state() {
        let directory = tempfile::tempdir().expect("a directory");
        let loaded = load(directory.path()).expect("nothing to read");
        assert_eq!(loaded.stored, Stored::default());
        assert_eq!(loaded.remark, None);
    }
}
