//! From an empty directory to the state in which measuring begins.

use std::fs;

use super::event::{Event, Progress};
use super::job::{Job, remove_directory};
use super::kept::KeptLoad;
use crate::error::{Place, Result};
use crate::generate::{DataShape, Partition, Rng, load_order, phase_updates};
use crate::store::Store;
use crate::workload::Workload;

/// Operations between two reports of progress.
const REPORT_EVERY: u64 = 5000;

/// A store in its starting state.
pub struct Loaded {
    /// The store.
    pub store: Box<dyn Store>,
    /// Whether the load was copied.
    pub copied: bool,
    /// Whether it had come to rest before it was opened anew; true where it was not.
    pub settled: bool,
}

/// Loads, or copies a kept load, and then does the round's updates. Each arm loads through its
/// own path, for a tree is shaped by its arm, and one that learns does so in each round anew; but
/// without its schedule, which comes in once all of that is merged.
pub fn reach_start(
    job: &Job,
    data: &DataShape,
    partitions: &mut [Partition],
    report: &mut (dyn FnMut(Event) + Send),
) -> Result<Loaded> {
    remove_directory(&job.directory)?;
    let asked = job.kept_load()?;
    let begins_cold = asked.is_some();
    // Rounds that shared a load from which their arm has learned would be one draw of what it
    // learned.
    let kept = asked.filter(|_| !job.arm.follows_workload());
    let copied = kept.as_ref().is_some_and(KeptLoad::exists);
    let mut settled = true;
    let mut store = if let (true, Some(kept)) = (copied, &kept) {
        kept.copy_to(&job.directory)?;
        job.open_to_load()?
    } else {
        load(job, data, report)?
    };
    if begins_cold && !copied {
        // What has not come to rest is no start for other rounds.
        if close_settled(job, store)?
            && let Some(kept) = &kept
        {
            kept.keep(&job.directory)?;
        }
        store = job.open_to_load()?;
    }
    job.filling()
        .update(store.as_ref(), data, partitions, report)?;
    if job.opens_anew {
        settled = close_settled(job, store)?;
        store = job.open()?;
    }
    Ok(Loaded {
        store,
        copied,
        settled,
    })
}

/// Whether it had come to rest before it was closed.
fn close_settled(job: &Job, store: Box<dyn Store>) -> Result<bool> {
    let settled = store.settle(job.patience())?;
    store.close()?;
    Ok(settled)
}

fn load(
    job: &Job,
    data: &DataShape,
    report: &mut (dyn FnMut(Event) + Send),
) -> Result<Box<dyn Store>> {
    fs::create_dir_all(&job.directory).place(job.directory.display())?;
    let store = job.open_to_load()?;
    job.filling().load(store.as_ref(), data, report)?;
    Ok(store)
}

/// What is written into a store before anything is measured.
pub(crate) struct Filling<'a> {
    /// Entries, their order, and how many updates follow.
    pub workload: &'a Workload,
    /// Seed of the order and of the updates.
    pub seed: u64,
    /// The round, from 0; each has its own share of the random phase.
    pub round: u32,
}

impl Filling<'_> {
    /// Writes every entry that is loaded once.
    pub(crate) fn load(
        &self,
        store: &dyn Store,
        data: &DataShape,
        report: &mut (dyn FnMut(Event) + Send),
    ) -> Result<()> {
        let workload = self.workload;
        let entries = workload.loaded_entries();
        let mut writer = Writer::new(store, data, "load", entries);
        for index in load_order(&workload.fill, entries, self.seed) {
            writer.write(index, 0, report)?;
        }
        Ok(())
    }

    /// Updates uniformly drawn keys, the same in every arm of a round.
    pub(crate) fn update(
        &self,
        store: &dyn Store,
        data: &DataShape,
        partitions: &mut [Partition],
        report: &mut (dyn FnMut(Event) + Send),
    ) -> Result<()> {
        let entries = self.workload.entries;
        let total = phase_updates(&self.workload.fill, entries, self.seed, self.round);
        let mut rng = Rng::new(&[self.seed, 0x7570_6461, u64::from(self.round)]);
        let mut writer = Writer::new(store, data, "phase", total);
        let threads = partitions.len() as u64;
        for _ in 0..total {
            let index = rng.below(entries);
            let partition = &mut partitions[(index % threads) as usize];
            let version = partition.update(index / threads, data);
            writer.write(index, version, report)?;
        }
        Ok(())
    }
}

/// Writes without measuring.
struct Writer<'a> {
    store: &'a dyn Store,
    data: &'a DataShape,
    part: &'static str,
    done: u64,
    total: u64,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> Writer<'a> {
    fn new(store: &'a dyn Store, data: &'a DataShape, part: &'static str, total: u64) -> Self {
        Self {
            store,
            data,
            part,
            done: 0,
            total,
            key: Vec::new(),
            value: Vec::new(),
        }
    }

    fn write(
        &mut self,
        index: u64,
        version: u8,
        report: &mut (dyn FnMut(Event) + Send),
    ) -> Result<()> {
        self.data.key(index, &mut self.key);
        self.data.value(index, version, &mut self.value);
        self.store.put(&self.key, &self.value)?;
        self.done += 1;
        if self.done.is_multiple_of(REPORT_EVERY) || self.done == self.total {
            report(Event::Progress(Progress {
                part: self.part.to_string(),
                done: self.done,
                total: self.total,
                ..Progress::default()
            }));
        }
        Ok(())
    }
}
