//! What came of each option.

use serde::{Deserialize, Serialize};

use super::plan::{How, Row};
use super::text::{OptionsText, Section};

/// What applying a configuration came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Applied {
    /// The directory of the database.
    pub directory: String,
    /// The options, by section and name.
    pub outcomes: Vec<Outcome>,
    /// What else there is to know, a sentence each.
    pub remarks: Vec<String>,
    /// The copy, if all data were rewritten.
    pub rebuilt: Option<Rebuilt>,
}

/// What came of one option.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// What was decided.
    pub row: Row,
    /// What came of it.
    pub taken: Taken,
    /// The value that was read back; absent where nothing says it.
    pub now: Option<String>,
    /// A word on it: the end of a sentence.
    pub why: String,
}

/// Whether an option has its wanted value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Taken {
    /// It had it before.
    Already,
    /// It was changed, and reads back as wanted.
    Changed,
    /// It was changed, and RocksDB keeps another value.
    Adjusted,
    /// It was not changed.
    Left,
    /// It is for the program that opens the database to set: the directory does not keep it.
    Unkept,
}

/// All data in new files.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rebuilt {
    /// Where the directory lies that was there before.
    pub before: String,
    /// What was copied, by column family, and found equal on both sides.
    pub families: Vec<RebuiltFamily>,
}

/// A column family that was copied.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RebuiltFamily {
    /// Its name.
    pub name: String,
    /// Entries.
    pub entries: u64,
    /// Bytes of keys and values.
    pub bytes: u64,
    /// A hash of all entries in their order: FNV-1a, 128 bits, hexadecimal.
    pub checksum: String,
}

impl Applied {
    /// How many options ended in a certain way.
    pub fn count(&self, taken: Taken) -> usize {
        self.outcomes
            .iter()
            .filter(|outcome| outcome.taken == taken)
            .count()
    }

    /// Options that were not changed though it was wanted.
    pub fn left(&self) -> impl Iterator<Item = &Outcome> {
        self.outcomes
            .iter()
            .filter(|outcome| outcome.taken == Taken::Left)
    }
}

impl Outcome {
    /// An option for which there is nothing to do.
    fn untouched(row: &Row, taken: Taken) -> Outcome {
        Outcome {
            taken,
            now: row.old.clone(),
            why: row.why.clone(),
            row: row.clone(),
        }
    }

    /// An option that nothing was done for.
    pub(super) fn left(row: Row, why: impl Into<String>) -> Outcome {
        Outcome {
            taken: Taken::Left,
            now: row.old.clone(),
            why: why.into(),
            row,
        }
    }

    /// An option that was to be changed, by what was read back. `failure` is what
    /// RocksDB answered, if that was an error.
    pub(super) fn read_back(row: Row, now: Option<&str>, failure: Option<&str>) -> Outcome {
        let who = match row.section {
            Section::Settings => "the store",
            _ => "RocksDB",
        };
        let (taken, why) = match (now, failure) {
            (Some(now), None) if now == row.new => (Taken::Changed, String::new()),
            (Some(now), Some(error)) if now == row.new => (
                Taken::Changed,
                format!("but it was not recorded, since RocksDB answered: {error}"),
            ),
            (_, Some(error)) => (Taken::Left, format!("RocksDB answered: {error}")),
            (now, None) if now == row.old.as_deref() => (
                Taken::Left,
                format!("{who} keeps its value, which goes with the other options"),
            ),
            (Some(now), None) => (
                Taken::Adjusted,
                format!("{who} made it {now}, which goes with the other options"),
            ),
            (None, None) => (Taken::Left, "it does not read back".to_owned()),
        };
        Outcome {
            taken,
            now: now.map(str::to_owned),
            why,
            row,
        }
    }

    /// What needs no look: an option that is as it should be, one that cannot be changed, and
    /// one that stands nowhere. `None` of the others.
    pub(super) fn settled(row: &Row) -> Option<Outcome> {
        match row.how {
            How::Unchanged | How::Ignored => Some(Outcome::untouched(row, Taken::Already)),
            How::Unkept => Some(Outcome::untouched(row, Taken::Unkept)),
            How::Impossible => Some(Outcome::left(row.clone(), row.why.clone())),
            How::RunTime | How::Reopening | How::Rebuild => None,
        }
    }
}

/// A sentence for each option that changed though nobody wanted it: RocksDB keeps
/// some in step with others.
pub(super) fn side_effects(before: &OptionsText, now: &OptionsText, rows: &[Row]) -> Vec<String> {
    let named = |section: &Section, name: &str| {
        rows.iter()
            .any(|row| row.section == *section && row.name == name)
    };
    before
        .iter()
        .filter(|&(section, name, _)| !named(section, name))
        .filter_map(|(section, name, setting)| {
            let now = now.canonical(section, name, setting.known)?;
            let was = setting.value.canonical.as_str();
            (now != was)
                .then(|| format!("RocksDB also changed {name} in {section} from {was} to {now}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(how: How) -> Row {
        Row {
            section: Section::Database,
            name: "max_background_jobs".into(),
            line: 1,
            old: Some("2".into()),
            new: "6".into(),
            how,
            for_new_files: false,
            why: "why".into(),
        }
    }

    #[test]
    fn what_reads_back_decides() {
        for (now, failure, taken, words) in [
            (Some("6"), None, Taken::Changed, ""),
            (Some("6"), Some("no space"), Taken::Changed, "not recorded"),
            (Some("8"), None, Taken::Adjusted, "made it 8"),
            (Some("2"), None, Taken::Left, "keeps its value"),
            (Some("2"), Some("bad"), Taken::Left, "answered: bad"),
            (None, None, Taken::Left, "does not read back"),
        ] {
            let outcome = Outcome::read_back(row(How::Reopening), now, failure);
            assert_eq!(outcome.taken, taken, "{outcome:?}");
            assert!(outcome.why.contains(words), "{outcome:?}");
        }
    }

    #[test]
    fn what_nobody_wanted_is_told() {
        let text = |jobs: u32, sync: u32| {
            OptionsText::recorded(&format!(
                "[DBOptions]\nmax_background_jobs={jobs}\nbytes_per_sync={sync}\n"
            ))
            .0
        };
        let rows = [row(How::RunTime)];
        let said = side_effects(&text(2, 0), &text(6, 1), &rows);
        assert_eq!(
            said,
            ["RocksDB also changed bytes_per_sync in [DBOptions] from 0 to 1"]
        );
    }

    #[test]
    fn what_needs_no_look() {
        let taken = |how| Outcome::settled(&row(how)).map(|outcome| outcome.taken);
        assert_eq!(taken(How::Unchanged), Some(Taken::Already));
        assert_eq!(taken(How::Ignored), Some(Taken::Already));
        assert_eq!(taken(How::Impossible), Some(Taken::Left));
        assert_eq!(taken(How::Unkept), Some(Taken::Unkept));
        assert_eq!(taken(How::Reopening), None);
    }
}
