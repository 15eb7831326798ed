//! Workloads that were observed: the missions of a journal, or a list.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lissom_core::cost_model::Workload;
use lissom_core::journal::{Entry, Event};
use lissom_core::observation::OperationMix;
use lissom_core::robust::history::{Observed, of_missions};

use super::history;
use super::read::check_directory;
use crate::error::{Error, Result};

/// The column family of which a list is: it names none.
const UNNAMED: &str = "default";

const NOTHING: &str = "tells of no workload: a store writes a mission into its journal when it \
                       has served operations through Lissom's handle";

/// The workloads that were seen of a column family, oldest first: of a database directory,
/// the missions in its journals, merged as of [`of_missions`]; of a file, a workload a line,
/// spelled `z0=25,z1=25,q=25,w=25`, or the lines of a journal. Empty lines and those that
/// begin with `#` are passed over.
///
/// # Errors
/// When nothing can be read, a line is neither, or there is no workload of the column family.
pub fn observed_workloads(path: &Path, column_family: &str) -> Result<Vec<Observed>> {
    let seen = if path.is_dir() {
        of_directory(path)?
    } else {
        of_file(path)?
    };
    match seen.lack(column_family) {
        Some(lack) => Err(Error::fix(format!("{} {lack}", path.display()))),
        None => Ok(seen.of_family(column_family)),
    }
}

/// What was read.
#[derive(Default)]
struct Seen {
    /// Workloads of a list.
    listed: Vec<Observed>,
    /// What the missions of each column family consisted of, in their order.
    missions: BTreeMap<String, Vec<OperationMix>>,
}

impl Seen {
    fn take(&mut self, entry: Entry) {
        let Event::Mission { mission, .. } = entry.event else {
            return;
        };
        if mission.operations.total() > 0 {
            let of_family = self.missions.entry(entry.column_family).or_default();
            of_family.push(mission.operations);
        }
    }

    /// Why there is no workload of a column family: the end of a sentence about the path.
    fn lack(&self, column_family: &str) -> Option<String> {
        if self.missions.contains_key(column_family) {
            return None;
        }
        if !self.missions.is_empty() {
            let others: Vec<String> = self.missions.keys().map(|it| format!("{it:?}")).collect();
            return Some(format!(
                "tells of no mission of the column family {column_family:?}, but of {}: give \
                 one of these",
                others.join(", ")
            ));
        }
        if self.listed.is_empty() {
            return Some(NOTHING.into());
        }
        (column_family != UNNAMED).then(|| {
            format!("is a list, which is of no column family: give it without {column_family:?}")
        })
    }

    fn of_family(self, column_family: &str) -> Vec<Observed> {
        let missions = self.missions.get(column_family);
        let mut observed = self.listed;
        observed.extend(of_missions(missions.into_iter().flatten()));
        observed
    }
}

fn of_directory(path: &Path) -> Result<Seen> {
    check_directory(path)?;
    let mut seen = Seen::default();
    for entry in history::all(path)?.entries {
        seen.take(entry);
    }
    Ok(seen)
}

fn of_file(path: &Path) -> Result<Seen> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let mut seen = Seen::default();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong =
            |why: String| Error::fix(format!("line {} of {}: {why}", at + 1, path.display()));
        if line.starts_with('{') {
            let entry: Entry = serde_json::from_str(line)
                .map_err(|error| wrong(format!("no line of a journal ({error})")))?;
            seen.take(entry);
        } else {
            let workload = line.parse::<Workload>();
            let workload = workload.map_err(|error| wrong(error.to_string()))?;
            seen.listed.push(Observed::listed(workload));
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use lissom_core::testing::journals;
    use lissom_core::tuner::Trial;
    use lissom_core::{Mission, RunLimit, RunLimits};

    use super::*;
    use crate::files::journal;

    /// A mission of so many gets and writes.
    fn line(column_family: &str, gets_found: u64, writes: u64) -> String {
        let operations = OperationMix {
            gets_found,
            writes,
            ..OperationMix::default()
        };
        let mission = Mission {
            operations,
            ..Mission::default()
        };
        let trial = Trial::unanswered(RunLimits::uniform(RunLimit::ONE));
        let entry = Entry {
            column_family: column_family.into(),
            ..journals::entry(1, journals::mission(mission, trial, false))
        };
        serde_json::to_string(&entry).expect("an entry is data") + "\n"
    }

    /// A busy and an idle column family by turns.
    fn two_families() -> String {
        let lines = [("default", 4_000, 4_000), ("b", 1, 0)];
        let lines = lines.map(|(name, gets, writes)| line(name, gets, writes));
        lines.concat().repeat(3)
    }

    #[test]
    fn missions_are_those_of_one_column_family() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("CURRENT"), "").expect("written");
        let file = journal::path(directory.path());
        fs::write(&file, two_families()).expect("written");
        for path in [directory.path(), file.as_path()] {
            let of = |name: &str| observed_workloads(path, name);
            let seen = of("default").expect("three missions");
            assert_eq!(seen.len(), 3);
            for it in &seen {
                assert_eq!(it.workload.shares(), [0.0, 0.5, 0.0, 0.5]);
                assert_eq!(it.operations, 8_000);
            }
            let few = of("b").expect("three missions, merged");
            assert_eq!(few.len(), 1);
            assert_eq!(few[0].operations, 3);
            let error = of("c").expect_err("none of this name").to_string();
            assert!(
                error.ends_with(
                    "tells of no mission of the column family \"c\", but of \"b\", \
                     \"default\": give one of these"
                ),
                "{error}"
            );
        }
    }

    #[test]
    fn a_list_is_of_no_column_family() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("history");
        fs::write(&file, "w=100\n").expect("written");
        let error = observed_workloads(&file, "b").expect_err("not known");
        assert!(error.to_string().contains("is a list"), "{error}");
    }

    #[test]
    fn a_list_is_read_and_its_mistakes_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("history");
        fs::write(&file, "# seen\n\nz0=50,w=50\nw=100\n").expect("written");
        let seen = observed_workloads(&file, UNNAMED).expect("two workloads");
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].workload.shares(), [0.5, 0.0, 0.0, 0.5]);
        assert_eq!(seen[0].operations, seen[1].operations);
        for (text, says) in [
            ("w=1\nw=2", "line 2 of "),
            ("{}", "no line of a journal"),
            ("# nothing\n", "tells of no workload"),
        ] {
            fs::write(&file, text).expect("written");
            let error = observed_workloads(&file, UNNAMED).expect_err(says);
            assert!(error.to_string().contains(says), "{error}");
        }
        let none = observed_workloads(&directory.path().join("none"), UNNAMED);
        assert!(
            none.expect_err("no file")
                .to_string()
                .contains("cannot read")
        );
    }
}
