//! What a search that was killed leaves behind: processes, and directories.
//!
//! A child usually notices by itself: its standard input ends, the next line that it
//! writes raises SIGPIPE, and the kernel sends SIGHUP to a group that is stopped
//! when its parent dies. A child that notices nothing of this is ended here, when
//! the next search takes the directory: it is found by its environment, and by its
//! process group, which is written down as soon as it is known.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::place::{remove_all, remove_marked};
use super::strays;
use super::system;
use crate::error::{Result, TrialsError};

/// The file in a trial's directory that says which processes belong to it. Only
/// directories with it are ever removed, so nobody else has a file of this name.
pub(super) const RECORD: &str = ".lissom-trial.json";

/// The directory of a trial that is not begun yet.
pub(super) const BEGUN: &str = ".lissom-trial-begun";

/// Killed processes are gone within this.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process group, so that another one of the same number is not taken for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Record {
    /// Its id, and that of its leader.
    group: i32,
    /// When the leader was started, in ticks since the machine was.
    started: u64,
    /// The machine's start.
    boot: String,
}

/// The text of the record of a group whose leader runs.
pub(super) fn record(group: i32) -> Result<String> {
    let record = Record {
        group,
        // A leader that is gone already can only be told by its mark.
        started: system::stat(group).map_or(0, |it| it.started),
        boot: system::boot(),
    };
    serde_json::to_string(&record).map_err(|error| {
        TrialsError::new(format!("a process group is not JSON: {error}; report this"))
    })
}

/// Ends all processes and removes all directories that were left in `root`; with
/// `keep` only the marks are removed.
pub(super) fn clear(root: &Path, keep: bool) -> Result<()> {
    let begun = root.join(BEGUN);
    remove_all(&begun).map_err(|error| TrialsError::io("remove", &begun, &error))?;
    let unreadable = |error| TrialsError::io("read", root, &error);
    for entry in fs::read_dir(root).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let file = path.join(RECORD);
        let Ok(text) = fs::read_to_string(&file) else {
            continue;
        };
        // It is empty where the search was killed just when it started the process.
        let record = serde_json::from_str::<Record>(&text).ok();
        end(record, &path.display().to_string())?;
        let removed = if keep {
            fs::remove_file(&file)
        } else {
            remove_marked(&path, RECORD)
        };
        removed.map_err(|error| TrialsError::io("remove", &path, &error))?;
    }
    Ok(())
}

/// Kills what is left of a trial.
fn end(record: Option<Record>, mark: &str) -> Result<()> {
    // Decided once: a group that has members keeps its number.
    let group = record.filter(|it| it.is_ours(mark)).map(|it| it.group);
    let is_meant = |pid| {
        let in_group = group.is_some_and(|group| system::is_member(pid, group));
        in_group || strays::is_marked(pid, mark)
    };
    strays::end(PATIENCE, is_meant).map_err(|pid| {
        TrialsError::new(format!(
            "process {pid} of an earlier search does not end: end it, and try again"
        ))
    })
}

impl Record {
    /// Whether the group of this number is still the one that was written down.
    fn is_ours(&self, mark: &str) -> bool {
        if self.boot != system::boot() || self.group <= 1 {
            return false;
        }
        system::members(self.group).into_iter().any(|pid| {
            let is_leader =
                pid == self.group && system::stat(pid).is_some_and(|it| it.started == self.started);
            is_leader || strays::is_marked(pid, mark)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::place::Root;
    use crate::runner::process::Process;

    fn words(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn processes_that_were_left_are_ended_with_their_directory() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Root::open(directory.path(), false).expect("nobody has it");
        let place = root.place("trial-1").expect("a place");
        // A child that ignores everything that it could notice.
        let script = "trap '' HUP TERM PIPE; sleep 1000 & sleep 1000; wait";
        let process = Process::start(&words(script), &place.mark()).expect("sh starts");
        place.record(process.group()).expect("writable");
        drop(root);
        let root = Root::open(directory.path(), false).expect("free again");
        assert!(system::members(process.group()).is_empty());
        assert!(!place.data().exists());
        drop(root);
    }

    #[test]
    fn a_process_that_was_never_written_down_is_ended() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = Root::open(directory.path(), false).expect("nobody has it");
        let place = root.place("trial-1").expect("a place");
        // The search is killed between the start and the record.
        let process = Process::start(&words("sleep 1000 & wait"), &place.mark());
        let process = process.expect("sh starts");
        drop(root);
        let root = Root::open(directory.path(), false).expect("free again");
        assert!(system::members(process.group()).is_empty());
        assert!(!place.data().exists());
        drop(root);
    }

    #[test]
    fn another_process_of_the_same_number_lives_on() {
        let directory = tempfile::tempdir().expect("a directory");
        let process = Process::start(&words("sleep 1000"), "elsewhere").expect("sh starts");
        for (started, boot) in [(1, system::boot()), (0, "another".to_owned())] {
            let trial = directory.path().join("trial-1");
            fs::create_dir(&trial).expect("new");
            let record = Record {
                group: process.group(),
                started,
                boot,
            };
            let text = serde_json::to_string(&record).expect("plain data");
            fs::write(trial.join(RECORD), text).expect("writable");
            assert_eq!(clear(directory.path(), false), Ok(()));
            assert!(!trial.exists() && !process.has_ended());
        }
    }

    #[test]
    fn directories_of_others_are_left_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let mine = directory.path().join("precious");
        fs::create_dir(&mine).expect("new");
        fs::write(mine.join("data"), "x").expect("writable");
        fs::write(mine.join("process.json"), "{}").expect("writable");
        let torn = directory.path().join("trial-2");
        fs::create_dir(&torn).expect("new");
        fs::write(torn.join(RECORD), "{\"group\": 1").expect("writable");
        assert_eq!(clear(directory.path(), false), Ok(()));
        assert!(mine.join("data").exists() && !torn.exists());
    }
}
