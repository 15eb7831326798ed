//! Workloads that were observed: the missions of a journal, or a list.

use std::fs;
use std::path::Path;

use lissom_core::cost_model::Workload;
use lissom_core::journal::{Entry, Event};

use super::history;
use super::read::check_directory;
use crate::error::{Error, Result};

/// The workloads that were seen, oldest first: of a database directory, the
/// missions in its journals; of a file, a workload a line, spelled
/// `z0=25,z1=25,q=25,w=25`, or the lines of a journal. Empty lines and those that
/// begin with `#` are passed over.
///
/// # Errors
/// When nothing can be read, a line is neither, or there is no workload at all.
pub fn observed_workloads(path: &Path) -> Result<Vec<Workload>> {
    let observed = if path.is_dir() {
        check_directory(path)?;
        let lines = history::all(path)?;
        lines.entries.iter().filter_map(of_entry).collect()
    } else {
        of_file(path)?
    };
    if observed.is_empty() {
        return Err(Error::fix(format!(
            "{} tells of no workload: a store writes a mission into its journal when it has \
             served operations through Lissom's handle",
            path.display()
        )));
    }
    Ok(observed)
}

fn of_entry(entry: &Entry) -> Option<Workload> {
    match &entry.event {
        Event::Mission { mission, .. } => Workload::of_mission(&mission.operations),
        _ => None,
    }
}

fn of_file(path: &Path) -> Result<Vec<Workload>> {
    let text = fs::read_to_string(path).map_err(|error| Error::io("read", path, &error))?;
    let mut observed = Vec::new();
    for (at, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong =
            |why: String| Error::fix(format!("line {} of {}: {why}", at + 1, path.display()));
        if line.starts_with('{') {
            let entry = serde_json::from_str(line)
                .map_err(|error| wrong(format!("no line of a journal ({error})")))?;
            observed.extend(of_entry(&entry));
        } else {
            observed.push(line.parse().map_err(|error| wrong(format!("{error}")))?);
        }
    }
    Ok(observed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_its_mistakes_are_named() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("history");
        fs::write(&file, "# seen\n\nz0=50,w=50\nw=100\n").expect("written");
        let seen = observed_workloads(&file).expect("two workloads");
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].shares(), [0.5, 0.0, 0.0, 0.5]);
        for (text, says) in [
            ("w=1\nw=2", "line 2 of "),
            ("{}", "no line of a journal"),
            ("# nothing\n", "tells of no workload"),
        ] {
            fs::write(&file, text).expect("written");
            let error = observed_workloads(&file).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
        let none = observed_workloads(&directory.path().join("none"));
        assert!(
            none.expect_err("no file")
                .to_string()
                .contains("cannot read")
        );
    }
}
