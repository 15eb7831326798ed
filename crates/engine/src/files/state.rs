//! The state file: what the planner and the tuners must remember.
//!
//! ```text
//! {"lissom_state":1,"checksum":"<16 hexadecimal digits>"}   of the second line
//! {"families":{"default":{...}}}
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use lissom_core::reasons::Decided;
use lissom_core::{Layout, Shape, TreeState};
use serde::{Deserialize, Serialize};

use super::checked::{CheckedFile, Found};
pub(crate) use super::stored_schedule::StoredSchedule;
use crate::error::{Error, Result};
use crate::settings::Settings;

const FILE: CheckedFile = CheckedFile {
    name: "LISSOM",
    format: "lissom_state",
    version: 1,
};

/// Everything in the file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// By column family.
    pub(crate) families: BTreeMap<String, StoredFamily>,
    /// What is known of the load and the device.
    #[serde(default, skip_serializing_if = "StoredSchedule::is_empty")]
    pub(crate) schedule: StoredSchedule,
    /// Openings of the store so far, from which moments of the journal's clock are told
    /// apart. A journal may know of later ones.
    #[serde(default)]
    pub(crate) openings: u64,
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
    /// What tuners of other names had learned, and what they could not take up.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) others: BTreeMap<String, serde_json::Value>,
    /// Files that are damaged.
    #[serde(default)]
    pub(crate) unreadable: BTreeSet<u64>,
    /// Why each level has its run limit; levels whose limit is older than this field in
    /// state files are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) reasons: Vec<Decided>,
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
            others: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            reasons: Vec::new(),
        }
    }

    /// Another policy decides from the next open on. What the tuner of the one before has
    /// learned waits for it, and the new one has what one of its name left.
    pub(crate) fn change_policy(&mut self, policy: &str) {
        if self.policy == policy {
            return;
        }
        let waiting = self.others.remove(policy).unwrap_or_default();
        let before = std::mem::replace(&mut self.policy, policy.to_owned());
        let learned = std::mem::replace(&mut self.tuner, waiting);
        if !learned.is_null() {
            self.others.insert(before, learned);
        }
    }

    /// Whether it is not of a column family that had the same name and was dropped, as
    /// where a crash came before it was forgotten.
    pub(crate) fn is_of(&self, id: Option<u32>) -> bool {
        self.id.is_none() || self.id == id
    }
}

/// What was found in a directory.
pub(crate) struct Loaded {
    pub(crate) stored: Stored,
    /// A sentence when the file was there and could not be used.
    pub(crate) remark: Option<String>,
    /// Where the file is to be kept when it could not be used.
    aside: Option<PathBuf>,
}

/// Reads the state file. A missing or damaged one, and one of a newer version of Lissom,
/// give an empty state.
///
/// # Errors
/// When the file was written for another layout, or cannot be opened.
pub(crate) fn load(directory: &Path) -> Result<Loaded> {
    let path = path(directory);
    let usable = |stored| Loaded {
        stored,
        remark: None,
        aside: None,
    };
    match FILE.load::<Stored>(directory)? {
        Found::Nothing => Ok(usable(Stored::default())),
        Found::Whole(stored) => check_layouts(&path, &stored).map(|()| usable(stored)),
        Found::Newer(version) => {
            let what = format!("has format {version}, which only a newer version of Lissom reads");
            Ok(unusable(&path, &what, &format!("format-{version}")))
        }
        Found::Damaged(why) => Ok(unusable(&path, &format!("is damaged ({why})"), "damaged")),
    }
}

/// Nothing, where there is a file for some reason that cannot be used. It is kept: what is
/// damaged to this version may be whole to another.
fn unusable(path: &Path, why: &str, extension: &str) -> Loaded {
    let aside = path.with_extension(extension);
    Loaded {
        stored: Stored::default(),
        remark: Some(format!(
            "{} {why}: the autopilot begins without what it had learned, and keeps the file as {}",
            path.display(),
            aside.display()
        )),
        aside: Some(aside),
    }
}

/// Reads the state file to write it anew. One that cannot be used is kept under another name.
///
/// # Errors
/// See [`load`]; also when the file cannot be renamed.
pub(crate) fn load_to_write(directory: &Path) -> Result<Loaded> {
    let loaded = load(directory)?;
    if let Some(aside) = &loaded.aside {
        let path = path(directory);
        fs::rename(&path, aside).map_err(|error| Error::io("rename", &path, &error))?;
        super::sync_directory(directory)?;
    }
    Ok(loaded)
}

fn check_layouts(path: &Path, stored: &Stored) -> Result<()> {
    let mut layouts = stored.families.values().map(|family| family.layout);
    match layouts.find(|layout| *layout != Layout::V1) {
        None => Ok(()),
        Some(layout) => Err(Error::fix(format!(
            "{} describes a tree of {} levels with {} slots each, which this version of Lissom \
             does not have: open it with the version that wrote it",
            path.display(),
            layout.levels,
            layout.slots
        ))),
    }
}

/// Replaces the state file atomically and durably.
///
/// # Errors
/// When the directory cannot be written; the old file then stands.
pub(crate) fn save(directory: &Path, stored: &Stored) -> Result<()> {
    FILE.save(directory, stored)
}

/// Where the state of a database lies.
pub(crate) fn path(directory: &Path) -> PathBuf {
    FILE.path(directory)
}

/// Removes what was known of a database that is gone, where another one is about to be made.
pub(crate) fn forget(directory: &Path) -> Result<()> {
    super::remove_file(&path(directory))
}

/// What may lie beside it: what a kill left, and files that could not be used.
pub(crate) fn left_over(directory: &Path) -> Vec<PathBuf> {
    let names = ["LISSOM.tmp", "LISSOM.damaged", "LISSOM.format-"];
    super::beginning_with(directory, &names)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lissom_core::cost_model::AccessPattern;
    use lissom_core::journal::Moment;
    use lissom_core::{LogicalLevel, RunLimit, RunLimits};

    use super::*;

    fn reason() -> Decided {
        Decided {
            level: LogicalLevel(1),
            limit: RunLimit::clamped(4),
            before: Some(RunLimit::ONE),
            at: Moment {
                opening: 2,
                at: Duration::from_secs(9),
            },
            why: "fixed-4 was set as the policy".into(),
            workload: Some(AccessPattern::new([0.0, 0.5, 0.0, 0.5, 0.0], 0.0)),
            took_before: Some(0.25),
        }
    }

    fn stored() -> Stored {
        let family = StoredFamily {
            id: Some(3),
            layout: Layout::V1,
            shape: Some(crate::settings::Settings::default().shape()),
            tree: TreeState::new(RunLimits::uniform(RunLimit::clamped(4))),
            policy: "fixed-4".into(),
            tuner: serde_json::Value::Null,
            others: BTreeMap::from([("learned".into(), 7.into())]),
            unreadable: BTreeSet::from([7]),
            reasons: vec![reason()],
        };
        Stored {
            families: BTreeMap::from([("default".into(), family)]),
            schedule: StoredSchedule {
                name: "look-ahead".into(),
                device_bytes_per_second: Some(1 << 30),
                ..StoredSchedule::default()
            },
            openings: 3,
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
    fn what_was_learned_goes_and_comes_back_with_its_policy() {
        let mut family = stored().families.remove("default").expect("it is there");
        let knows = |family: &StoredFamily| (family.tuner.clone(), family.others.clone());
        let fixed = knows(&family);
        family.change_policy("fixed-4");
        assert_eq!(knows(&family), fixed, "it was its policy already");
        family.change_policy("learned");
        assert_eq!(knows(&family), (7.into(), BTreeMap::new()));
        family.change_policy("lerp");
        let learned = BTreeMap::from([("learned".to_owned(), 7.into())]);
        assert_eq!(knows(&family), (serde_json::Value::Null, learned));
        family.change_policy("fixed-4");
        assert_eq!((knows(&family), family.policy.as_str()), (fixed, "fixed-4"));
    }

    #[test]
    fn an_older_file_knows_no_reasons() {
        let mut older = serde_json::to_value(stored()).expect("data");
        let fields = older.as_object_mut().expect("fields");
        fields.remove("openings");
        let family = fields["families"]["default"].as_object_mut();
        family.expect("fields").remove("reasons");
        let older: Stored = serde_json::from_value(older).expect("readable");
        assert_eq!(older.openings, 0);
        assert!(older.families["default"].reasons.is_empty());
        assert_eq!(older.schedule, stored().schedule);
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
            let loaded = load(directory.path()).expect("only damaged");
            assert_eq!(loaded.stored, Stored::default(), "byte {at}");
            assert!(loaded.aside.is_some(), "byte {at}");
            let remark = loaded.remark.expect("a remark");
            let newer = remark.contains("has format");
            assert!(newer || remark.contains("damaged"), "byte {at}: {remark}");
            fs::write(path(directory.path()), &whole[..at]).expect("writable");
            let cut = load(directory.path()).expect("only damaged");
            assert_eq!(cut.stored, Stored::default(), "cut at {at}");
        }
    }

    /// All that differ from a byte in one bit, and its opposite.
    fn flipped(byte: u8) -> impl Iterator<Item = u8> {
        let bits = (0..8).map(move |bit| byte ^ (1 << bit));
        bits.chain([!byte])
    }

    /// Only a flip in the number of the format can make it another one; what any other leaves
    /// is damaged, and nowhere do other limits come out.
    #[test]
    fn no_flip_of_any_byte_is_taken_for_a_state() {
        let whole = FILE.encode(&stored()).expect("data");
        assert_eq!(FILE.parse(&whole), Ok(Found::Whole(stored())));
        let number = "{\"lissom_state\":".len();
        for (at, byte) in whole.iter().enumerate() {
            for byte in flipped(*byte) {
                let mut torn = whole.clone();
                torn[at] = byte;
                match FILE.parse::<Stored>(&torn) {
                    Err(_) => {}
                    Ok(Found::Newer(version)) if at == number => assert!(version > FILE.version),
                    other => panic!("byte {at} as {byte:#04x}: {other:?}"),
                }
            }
        }
    }

    /// A checksum says that the file is as it was written, not that it can be obeyed.
    #[test]
    fn limits_that_no_tree_can_hold_are_damage_though_the_checksum_matches() {
        let most = Layout::V1.max_run_limit();
        for runs in [0, most + 1] {
            let mut other = serde_json::to_value(stored()).expect("data");
            other["families"]["default"]["tree"]["limits"]["deeper"] = runs.into();
            let bytes = FILE.encode(&other).expect("data");
            let why = FILE.parse::<Stored>(&bytes).expect_err("no limit");
            assert!(why.contains("its second line"), "{runs}: {why}");
        }
    }

    /// What the file holds, what is said of it, and under which name it is kept.
    fn is_put_aside(holds: &str, said: &str, name: &str) {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(path(directory.path()), holds).expect("writable");
        let looked = load(directory.path()).expect("it costs only the state");
        assert_eq!(looked.stored, Stored::default());
        assert!(path(directory.path()).exists(), "a look changes nothing");
        let remark = load_to_write(directory.path()).expect("the same").remark;
        let remark = remark.expect("a remark");
        assert!(remark.contains(said) && remark.contains(name), "{remark}");
        save(directory.path(), &stored()).expect("writable");
        let kept = fs::read_to_string(directory.path().join(name));
        assert_eq!(kept.expect("kept"), holds);
        assert_eq!(left_over(directory.path()), [directory.path().join(name)]);
        let loaded = load_to_write(directory.path()).expect("its own");
        assert_eq!(loaded.stored, stored());
    }

    #[test]
    fn what_cannot_be_used_is_put_aside_and_costs_only_the_state() {
        is_put_aside(
            "{\"lissom_state\":99}\n{}\n",
            "has format 99",
            "LISSOM.format-99",
        );
        is_put_aside("{\"lissom_state\":", "is damaged", "LISSOM.damaged");
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
