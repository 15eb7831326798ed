//! What is refused before a rebuild, each in one sentence.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
use rustix::process::{getegid, geteuid};

use super::job::Job;
use super::mark;
use super::place::is_named_as_beside;
use crate::RocksDb;
use crate::apply::build::build;
use crate::apply::directory::Directory;
use crate::apply::safety::{refusal, unread};
use crate::apply::text::{OptionsText, Section};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::options::{live_options, read_options};
use crate::file_names::{ARCHIVE, is_archived, is_rocksdbs};
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
        .or_else(|| ingests_behind(&job.present, &job.names))
        .or_else(|| unwritable(&job.target, &job.names))
        .or_else(|| unread(&job.mistakes))
        .or(stranger(path)?.map(|name| {
            format!(
                "{name} in it is no file of RocksDB's that can be copied, and would stay in the \
                 old directory: move it away first"
            )
        }))
        .or(location(path)?);
    let why = match why {
        None => elsewhere(job)?,
        found => found,
    };
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

/// What is deleted stays so for files that are ingested behind it later, and a copy holds no
/// deletions: such a file would bring back what they hid.
fn ingests_behind(present: &OptionsText, names: &[String]) -> Option<String> {
    let on = |section: &Section, option: &str| present.get(section, option) == Some("true");
    let in_family = |name: &String| on(&Section::Family(name.clone()), "cf_allow_ingest_behind");
    (on(&Section::Database, "allow_ingest_behind") || names.iter().any(in_family)).then(|| {
        "ingest-behind is on, under which deletions are kept for what is ingested later, and a \
         copy would have none of them: open it once with it off, if nothing will be ingested \
         behind any more"
            .to_owned()
    })
}

/// Options under which a copy can be begun and not be completed.
fn unwritable(target: &OptionsText, names: &[String]) -> Option<String> {
    let on = |section: &Section, option: &str| target.get(section, option) == Some("true");
    if on(&Section::Database, "error_if_exists") {
        return Some(
            "error_if_exists is on, under which nobody opens a database that is there: turn it \
             off in the options that you give"
                .into(),
        );
    }
    let in_family = |name: &&String| {
        on(
            &Section::Family((*name).clone()),
            "disallow_memtable_writes",
        )
    };
    names.iter().find(in_family).map(|name| {
        format!(
            "column family \"{name}\" has disallow_memtable_writes, and a copy is written like \
             any other data: turn it off in the options that you give"
        )
    })
}

/// Where a program keeps files elsewhere, a copy that is opened by its options would keep its
/// own there, too; and RocksDB removes at open what lies there and is not the database's.
fn elsewhere(job: &Job) -> Result<Option<String>> {
    for name in &job.names {
        let mut options = build(&job.present, name, &*job.customise)?;
        let found = read_options(&mut options)?;
        if found.db.db_paths > 0 || found.cf.cf_paths > 0 || !found.db.wal_dir.is_empty() {
            return Ok(Some(format!(
                "column family \"{name}\" is opened with db_paths, cf_paths or a wal_dir, where \
                 its copy would lie, too, and RocksDB would remove the files that lie there now"
            )));
        }
    }
    Ok(None)
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
    if is_named_as_beside(path) {
        return Ok(Some(
            "its name ends as that of a directory that a rebuild leaves beside a database: rename \
             it first"
                .into(),
        ));
    }
    let own = look(path)?;
    let Some(parent) = path.parent() else {
        return Ok(Some("it has no directory around it".into()));
    };
    let around = look(parent)?;
    if around.dev() != own.dev() || is_mounted(path) {
        return Ok(Some(
            "it is the root of a file system, and no other directory can take its place: move \
             the database into a directory below it"
                .into(),
        ));
    }
    Ok(owner(Owner::of(&own), Owner::of_new(&around)))
}

/// Also of a part of the same file system. An old kernel may not tell.
fn is_mounted(path: &Path) -> bool {
    statx(CWD, path, AtFlags::empty(), StatxFlags::BASIC_STATS)
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
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
    fn what_a_copy_cannot_be_completed_with_is_refused() {
        let read = |text: &str| OptionsText::recorded(text).0;
        let names = ["a".to_owned()];
        for (text, words) in [
            ("[DBOptions]\nerror_if_exists=true\n", "error_if_exists"),
            (
                "[CFOptions \"a\"]\ndisallow_memtable_writes=true\n",
                "family \"a\"",
            ),
        ] {
            let said = unwritable(&read(text), &names).expect(text);
            assert!(said.contains(words), "{said}");
            assert_eq!(
                unwritable(&read(&text.replace("true", "false")), &names),
                None
            );
        }
        for text in [
            "[DBOptions]\nallow_ingest_behind=true\n",
            "[CFOptions \"a\"]\ncf_allow_ingest_behind=true\n",
        ] {
            assert!(ingests_behind(&read(text), &names).is_some(), "{text}");
            let off = text.replace("true", "false");
            assert_eq!(ingests_behind(&read(&off), &names), None);
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
