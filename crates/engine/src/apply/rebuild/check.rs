//! What is refused before a rebuild, each in one sentence.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::{getegid, geteuid};

use super::files::{ARCHIVE, is_archived, is_rocksdbs};
use super::job::Job;
use super::mark;
use crate::RocksDb;
use crate::apply::directory::Directory;
use crate::apply::safety::{refusal, unread};
use crate::apply::text::{OptionsText, Section};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::options::live_options;
use crate::inspect::read::handle;

/// Refuses what would lose something.
///
/// # Errors
/// The first reason.
pub(super) fn check(job: &Job) -> Result<()> {
    let path = &job.place.path;
    Directory::check_log(path)?;
    let why = [&job.present, &job.target]
        .into_iter()
        .find_map(|options| refusal(options).or_else(|| families(options, &job.names)))
        .or_else(|| unread(&job.mistakes))
        .or(stranger(path)?.map(|name| {
            format!(
                "{name} in it is no file of RocksDB's that can be copied, and would stay in the \
                 old directory: move it away first"
            )
        }))
        .or(location(path)?);
    match why {
        None => Ok(()),
        Some(why) => Err(Error::fix(format!(
            "{} cannot be rebuilt: {why}",
            path.display()
        ))),
    }
}

/// A copy would keep the newest version of each key only.
///
/// # Errors
/// When a column family has user timestamps, or its options cannot be read.
pub(super) fn timestamps(job: &Job, source: &RocksDb) -> Result<()> {
    for name in &job.names {
        let handle = handle(source, name)?;
        if live_options(CfRef::of(&handle)?)?.cf.timestamp_size > 0 {
            return Err(Error::fix(format!(
                "{} cannot be rebuilt: column family \"{name}\" carries user timestamps, of which \
                 a copy would keep the newest version only",
                job.place.path.display()
            )));
        }
    }
    Ok(())
}

fn families(options: &OptionsText, names: &[String]) -> Option<String> {
    names.iter().find_map(|name| {
        let section = Section::Family(name.clone());
        let get = |option: &str| options.get(&section, option).unwrap_or("nullptr");
        let why = family(&get)?;
        Some(format!("column family \"{name}\" {why}"))
    })
}

fn family<'a>(get: &dyn Fn(&str) -> &'a str) -> Option<String> {
    for filter in ["compaction_filter", "compaction_filter_factory"] {
        if get(filter) != "nullptr" {
            return Some(format!(
                "has a {filter}, {}: what it drops from the copy cannot be told from a loss",
                get(filter)
            ));
        }
    }
    (get("compaction_style") == "kCompactionStyleFIFO")
        .then(|| "has kCompactionStyleFIFO, which drops the oldest files by design".to_owned())
}

/// The first file in a directory that neither RocksDB nor a rebuild has made.
///
/// # Errors
/// When the directory cannot be read.
pub(super) fn stranger(path: &Path) -> Result<Option<String>> {
    let cannot = |error| Error::io("read the directory", path, &error);
    let marks = [mark::path(path), mark::draft(path)];
    for entry in fs::read_dir(path).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().map_err(cannot)?;
        let is_known = match kind.is_dir() && name == ARCHIVE {
            true => is_archive(&entry.path())?,
            false => kind.is_file() && is_rocksdbs(&name),
        };
        if !is_known && !marks.contains(&entry.path()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Whether nothing is in a directory but logs.
fn is_archive(path: &Path) -> Result<bool> {
    let cannot = |error| Error::io("read the directory", path, &error);
    for entry in fs::read_dir(path).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        let is_file = entry.file_type().map_err(cannot)?.is_file();
        if !(is_file && is_archived(&entry.file_name().to_string_lossy())) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A directory can be exchanged with one beside it that belongs to the same user and
/// group.
fn location(path: &Path) -> Result<Option<String>> {
    let own = look(path)?;
    let Some(parent) = path.parent() else {
        return Ok(Some("it has no directory around it".into()));
    };
    let around = look(parent)?;
    if around.dev() != own.dev() {
        return Ok(Some(
            "it is the root of a file system, and no other directory can take its place: move \
             the database into a directory below it"
                .into(),
        ));
    }
    Ok(owner(Owner::of(&own), Owner::of_new(&around)))
}

fn look(path: &Path) -> Result<Metadata> {
    fs::metadata(path).map_err(|error| Error::io("look at", path, &error))
}

/// Whom a directory belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Owner {
    user: u32,
    group: u32,
}

/// Directories below it belong to its own group (inode(7)).
const SET_GROUP_ID: u32 = 0o2000;

impl Owner {
    fn of(directory: &Metadata) -> Owner {
        Owner {
            user: directory.uid(),
            group: directory.gid(),
        }
    }

    /// Of a directory that this process makes in another one.
    fn of_new(around: &Metadata) -> Owner {
        let inherits = around.mode() & SET_GROUP_ID != 0;
        Owner {
            user: geteuid().as_raw(),
            group: match inherits {
                true => around.gid(),
                false => getegid().as_raw(),
            },
        }
    }
}

/// A copy that its user cannot open is of no use to him.
fn owner(original: Owner, copy: Owner) -> Option<String> {
    (original != copy).then(|| {
        format!(
            "it belongs to the user {} and the group {}, and a copy of it would belong to {} and \
             {}: run this as that user, with that group",
            original.user, original.group, copy.user, copy.group
        )
    })
}

/// Gives the copy the permissions of its original.
///
/// # Errors
/// When they belong to different users or groups, or the permissions cannot be set.
pub(super) fn same_owner(original: &Path, copy: &Path) -> Result<()> {
    let (original_data, copy_data) = (look(original)?, look(copy)?);
    if let Some(why) = owner(Owner::of(&original_data), Owner::of(&copy_data)) {
        return Err(Error::fix(format!(
            "{} cannot be rebuilt: {why}",
            original.display()
        )));
    }
    fs::set_permissions(copy, original_data.permissions())
        .map_err(|error| Error::io("set the permissions of", copy, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_copy_would_lose_is_refused() {
        let why = |text: &str| families(&OptionsText::recorded(text).0, &["a".to_owned()]);
        let section = "[CFOptions \"a\"]\n";
        assert_eq!(why(&format!("{section}ttl=1\n")), None);
        for (statement, words) in [
            ("compaction_filter=mine", "a compaction_filter, mine"),
            ("compaction_style=kCompactionStyleFIFO", "oldest files"),
        ] {
            let said = why(&format!("{section}{statement}\n")).expect(statement);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn a_copy_belongs_to_the_same_user_and_group() {
        let of = |user, group| Owner { user, group };
        assert_eq!(owner(of(1, 2), of(1, 2)), None);
        for other in [of(0, 2), of(1, 0)] {
            let why = owner(of(1, 2), other).expect("another one");
            assert!(why.contains("the user 1 and the group 2"), "{why}");
        }
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(location(directory.path()).expect("readable"), None);
    }

    #[test]
    fn an_archive_holds_logs_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        let archive = path.join(ARCHIVE);
        fs::write(path.join("CURRENT"), "").expect("written");
        fs::create_dir(&archive).expect("made");
        fs::write(archive.join("000004.log"), "").expect("written");
        assert_eq!(stranger(path).expect("readable"), None);
        fs::write(archive.join("mine.log"), "").expect("written");
        assert_eq!(stranger(path).expect("readable"), Some(ARCHIVE.into()));
    }
}
