//! A rebuild, from the lock to the exchange.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use rust_rocksdb::WaitForCompactOptions;

use super::check::{check, same_owner, timestamps};
use super::copy::{self, Sides, tell};
use super::digest::Digest;
use super::identity::identity;
use super::making::{making, must_settle};
use super::mark::{self, FamilyProgress, Mark, Progress};
use super::place::Place;
use super::steps::{Name, State};
use super::{Phase, Watch, disk, space};
use crate::RocksDb;
use crate::adopt::drive::Customise;
use crate::apply::build::{Access, open, open_and_close};
use crate::apply::directory::Directory;
use crate::apply::lock::lock;
use crate::apply::outcome::{Rebuilt, RebuiltFamily};
use crate::apply::plan::Space;
use crate::apply::text::{OptionsText, Section};
use crate::error::{Error, Result};

/// A directory, and the options that its copy is to have.
pub(in crate::apply) struct Job {
    pub(in crate::apply) place: Place,
    pub(in crate::apply) names: Vec<String>,
    /// What it was opened with last.
    pub(in crate::apply) present: OptionsText,
    /// A sentence for each option of it that RocksDB 11.12 cannot read.
    pub(in crate::apply) mistakes: Vec<String>,
    /// What its copy is opened with.
    pub(in crate::apply) target: OptionsText,
    /// What was asked for, by [`id_of`].
    pub(in crate::apply) wanted: String,
    pub(in crate::apply) customise: Arc<Customise>,
}

/// A piece of the copy that is flushed at once has at most this many bytes.
const LARGEST_PIECE: u64 = 128 << 20;

/// RocksDB's default `write_buffer_size`.
const WRITE_BUFFER: u64 = 64 << 20;

impl Job {
    /// What the copy needs. Changes nothing.
    ///
    /// # Errors
    /// When the directory cannot be rebuilt, or not be opened.
    pub(in crate::apply) fn forecast(&self) -> Result<Space> {
        self.check_beside()?;
        check(self)?;
        let source = self.open_source()?;
        timestamps(self, &source)?;
        space::space(self, &source)
    }

    /// What the need of [`forecast`](Self::forecast) leaves out, in a sentence.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub(in crate::apply) fn unreckoned(&self) -> Result<Option<String>> {
        space::unreckoned(self)
    }

    /// What lies beside the database must be a copy of it or nothing.
    fn check_beside(&self) -> Result<()> {
        let seen = self.place.seen()?;
        let in_the_way = |path: &Path, what: &str| {
            Err(Error::fix(format!(
                "{} is in the way: {what}",
                path.display()
            )))
        };
        match seen.rebuild {
            State::Absent | State::Copying | State::Verified => {}
            State::Bare if disk::is_empty(&self.place.rebuild)? => {}
            _ => return in_the_way(&self.place.rebuild, "it is no copy, so move it away"),
        }
        match seen.before {
            State::Absent => Ok(()),
            State::Before => in_the_way(
                &self.place.before,
                "it is the old directory of an earlier rebuild; `lissom apply PATH --finish` \
                 removes it, `lissom apply PATH --undo` takes it back",
            ),
            _ => in_the_way(
                &self.place.before,
                "it is no directory from before a rebuild, so move it away",
            ),
        }
    }

    fn open_source(&self) -> Result<RocksDb> {
        open(
            &self.place.path,
            &self.present,
            &self.names,
            &*self.customise,
            Access::ReadOnly,
        )
    }

    fn open_copy(&self) -> Result<RocksDb> {
        open(
            &self.place.rebuild,
            &self.target,
            &self.names,
            &*self.customise,
            Access::ReadOnly,
        )
    }

    /// For writing.
    fn open_unfinished(&self) -> Result<RocksDb> {
        open(
            &self.place.rebuild,
            &making(&self.target, &self.names)?,
            &self.names,
            &*self.customise,
            Access::Create,
        )
    }

    /// What was copied lies as its options want it, and is compared so.
    fn close_copy(&self) -> Result<()> {
        if must_settle(&self.target, &self.names) {
            let copy = self.open_unfinished()?;
            copy.wait_for_compact(&WaitForCompactOptions::default())?;
        }
        // With the options as they are wanted, without those that made the copy.
        open_and_close(
            &self.place.rebuild,
            &self.target,
            &self.names,
            &*self.customise,
        )
    }

    /// All that the copy is made with, in one number.
    fn options_id(&self) -> String {
        digest_of(&self.target, self.names.iter().map(String::as_str)).to_string()
    }

    /// Bytes after which the copy of a column family is flushed: half a memtable, so
    /// that none fills up and is flushed while entries are written.
    pub(super) fn flush_bytes(&self, name: &str) -> u64 {
        let section = Section::Family(name.to_owned());
        let memtable: Option<u64> = self
            .target
            .get(&section, "write_buffer_size")
            .and_then(|bytes| bytes.parse().ok());
        (memtable.unwrap_or(WRITE_BUFFER) / 2).clamp(1, LARGEST_PIECE)
    }
}

/// Copies, compares and exchanges; goes on where an earlier call was interrupted.
///
/// # Errors
/// When the directory is open elsewhere, cannot be rebuilt, or there is too little
/// space; when the disk fails. The database is then as it was.
pub(in crate::apply) fn run(job: &Job, watch: &mut Watch<'_>) -> Result<Rebuilt> {
    let place = &job.place;
    let held = lock(&place.path)?;
    mark::remove_draft(&place.path)?;
    Directory::check_unchanged(&place.path, &job.names, &job.present)?;
    job.check_beside()?;
    place.clear_removing()?;
    check(job)?;
    let source = job.open_source()?;
    timestamps(job, &source)?;
    let mut progress = begin(job)?;
    let stopped = |error: Error| {
        error.within(format!(
            "the rebuild stopped, {} is as it was, and the same command goes on, or begins anew once \
             {} is removed",
            place.path.display(),
            place.rebuild.display()
        ))
    };
    if progress.verified.is_none() {
        // Comparing writes nothing but the mark.
        if progress.compared.is_none() {
            space::check(&place.path, space::space(job, &source)?)?;
        }
        copy_all(job, &source, &mut progress, watch).map_err(stopped)?;
        check_all(job, &source, &mut progress, watch).map_err(stopped)?;
    }
    drop(source);
    if !is_untouched(place, &progress)? {
        return Err(Error::retry(format!(
            "{} was opened meanwhile, so it was not taken: give the same command again, and the \
             copy begins anew",
            place.rebuild.display()
        )));
    }
    let families = families(&progress);
    place.exchange(Name::Rebuild, Name::Before)?;
    drop(held);
    Ok(Rebuilt {
        before: place.before.display().to_string(),
        families,
    })
}

/// The progress of a copy that was begun from this very database with these very
/// options, or of a new one. It is of what is asked for now: other words may come to the
/// same options, and the same command completes the exchange.
fn begin(job: &Job) -> Result<Progress> {
    let place = &job.place;
    let wanted = Progress {
        options: job.options_id(),
        source: identity(&place.path)?,
        wanted: job.wanted.clone(),
        ..Progress::default()
    };
    let found = match place.rebuild.is_dir() {
        true => mark::load(&place.rebuild)?,
        false => None,
    };
    let progress = match found {
        Some(Mark::Copy(mut found)) if found.is_of(&wanted) && is_untouched(place, &found)? => {
            if found.wanted != wanted.wanted {
                found.wanted = wanted.wanted;
                save(job, &found)?;
            }
            found
        }
        _ => begin_anew(place, wanted)?,
    };
    same_owner(&place.path, &place.rebuild)?;
    Ok(progress)
}

/// Whether nobody has opened the copy for writing since comparing began. Who did may have
/// changed anything, down to the levels that it has.
fn is_untouched(place: &Place, progress: &Progress) -> Result<bool> {
    match &progress.compared {
        None => Ok(true),
        Some(then) => Ok(identity(&place.rebuild)? == *then),
    }
}

fn begin_anew(place: &Place, wanted: Progress) -> Result<Progress> {
    if place.rebuild.is_dir() {
        place.remove(&place.rebuild)?;
    }
    fs::create_dir(&place.rebuild).map_err(|error| Error::io("make", &place.rebuild, &error))?;
    mark::save(&place.rebuild, &Mark::Copy(wanted.clone()))?;
    disk::sync_parent(&place.rebuild)?;
    Ok(wanted)
}

fn save(job: &Job, progress: &Progress) -> Result<()> {
    mark::save(&job.place.rebuild, &Mark::Copy(progress.clone()))
}

fn copy_all(
    job: &Job,
    source: &RocksDb,
    progress: &mut Progress,
    watch: &mut Watch<'_>,
) -> Result<()> {
    let is_done = |name: &String| {
        let family = progress.families.get(name);
        family.is_some_and(|family| family.copied.done)
    };
    if job.names.iter().all(is_done) {
        return Ok(());
    }
    let copy = job.open_unfinished()?;
    let sides = Sides {
        source,
        copy: &copy,
    };
    for name in &job.names {
        let mut family = progress.families.remove(name).unwrap_or_default();
        copy::copy(
            &sides,
            name,
            job.flush_bytes(name),
            &mut family,
            &mut |family: &FamilyProgress| {
                progress.families.insert(name.clone(), family.clone());
                save(job, progress)?;
                let positions = progress.families.values().map(|family| &family.copied);
                tell(Phase::Copying, positions, watch);
                match family.copied.done {
                    true => Ok(()),
                    false => space::leaves_room(job, job.flush_bytes(name)),
                }
            },
        )?;
        progress.families.insert(name.clone(), family);
    }
    Ok(())
}

/// Compares what a later open finds on the disk.
fn check_all(
    job: &Job,
    source: &RocksDb,
    progress: &mut Progress,
    watch: &mut Watch<'_>,
) -> Result<()> {
    if progress.compared.is_none() {
        job.close_copy()?;
        progress.compared = Some(identity(&job.place.rebuild)?);
        save(job, progress)?;
    }
    let copy = job.open_copy()?;
    let sides = Sides {
        source,
        copy: &copy,
    };
    for name in &job.names {
        let mut family = progress.families.remove(name).unwrap_or_default();
        let difference = copy::check(&sides, name, &mut family, &mut |family: &FamilyProgress| {
            progress.families.insert(name.clone(), family.clone());
            save(job, progress)?;
            let positions = progress.families.values().map(|family| &family.checked);
            tell(Phase::Checking, positions, watch);
            Ok(())
        })?;
        if let Some(why) = difference {
            // No copy of this database any more: the next call begins anew.
            progress.source.clear();
            save(job, progress)?;
            return Err(why);
        }
        progress.families.insert(name.clone(), family);
    }
    progress.verified = Some(copy.latest_sequence_number());
    drop(copy);
    save(job, progress)
}

fn families(progress: &Progress) -> Vec<RebuiltFamily> {
    progress
        .families
        .iter()
        .map(|(name, FamilyProgress { checked, .. })| RebuiltFamily {
            name: name.clone(),
            entries: checked.entries,
            bytes: checked.bytes,
            checksum: checked.digest.to_string(),
        })
        .collect()
}

/// A text of options in one number: two that ask for the same have the same.
pub(in crate::apply) fn id_of(wanted: &OptionsText) -> String {
    let families = wanted.families().into_iter();
    digest_of(wanted, std::iter::once("").chain(families)).to_string()
}

fn digest_of<'a>(options: &OptionsText, families: impl Iterator<Item = &'a str>) -> Digest {
    families.fold(Digest::default(), |digest, name| {
        let lines = options.lines(name);
        [name, &lines.db, &lines.cf, &lines.table]
            .iter()
            .fold(digest, |digest, text| digest.with_text(text.as_bytes()))
    })
}

#[cfg(test)]
#[path = "job_tests.rs"]
mod tests;
