//! What one thread knows of the keys that it alone writes: which live, in which
//! version, and how many bytes they are. Thread t of n owns the key numbers that are
//! t modulo n, so its reads can be verified without asking the others, and its
//! operations do not depend on their speed.

use super::data::DataShape;
use crate::workload::Workload;

const LIVE: u8 = 0x80;
const VERSION: u8 = 0x7f;

/// The keys of one thread.
#[derive(Debug, Clone)]
pub struct Partition {
    thread: u64,
    threads: u64,
    /// One byte per key: the live bit, and the version modulo 128.
    keys: Vec<u8>,
    live: u64,
    live_bytes: u64,
    /// Whether keys that do not exist are still to come; otherwise they were deleted.
    partial: bool,
}

impl Partition {
    /// The keys of `thread` when `entries` keys are loaded in version 0.
    pub fn loaded(thread: u64, threads: u64, entries: u64, data: &DataShape) -> Self {
        Self::partly_loaded(thread, threads, entries, entries, data)
    }

    /// The keys of `thread` when of `entries` keys the first `loaded` ones are, in
    /// version 0, and the others are still to come.
    pub fn partly_loaded(
        thread: u64,
        threads: u64,
        entries: u64,
        loaded: u64,
        data: &DataShape,
    ) -> Self {
        let own = |keys: u64| (keys + threads - 1 - thread) / threads;
        let (all, there) = (own(entries), own(loaded.min(entries)));
        let mut partition = Self {
            thread,
            threads,
            keys: Vec::with_capacity(all as usize),
            live: 0,
            live_bytes: 0,
            partial: there < all,
        };
        for _ in 0..there {
            partition.add(data);
        }
        partition.keys.resize(all as usize, 0);
        partition
    }

    /// The keys of each of `threads` threads after the load of a workload.
    pub fn all(threads: u64, workload: &Workload, data: &DataShape) -> Vec<Self> {
        let (entries, loaded) = (workload.entries, workload.loaded_entries());
        (0..threads)
            .map(|thread| Self::partly_loaded(thread, threads, entries, loaded, data))
            .collect()
    }

    /// Whether an own key is still to come: it does not exist, and never did.
    pub fn awaits(&self, own: u64) -> bool {
        self.partial
            && self
                .keys
                .get(own as usize)
                .is_some_and(|key| key & LIVE == 0)
    }

    /// Makes a key that is still to come, in version 0.
    pub fn create(&mut self, own: u64, data: &DataShape) {
        self.keys[own as usize] = LIVE;
        self.live += 1;
        self.live_bytes += data.entry_size(self.index(own), 0);
    }

    /// Keys ever made, deleted ones included.
    pub fn made(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Keys that exist.
    pub fn live(&self) -> u64 {
        self.live
    }

    /// Bytes of all existing keys with their values.
    pub fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Key number of the thread's own number `own`.
    pub fn index(&self, own: u64) -> u64 {
        own * self.threads + self.thread
    }

    /// The first existing key from `own` on, wrapping round; `None` if none exists.
    pub fn live_from(&self, own: u64) -> Option<u64> {
        let start = own as usize;
        let is_live = |key: &u8| key & LIVE != 0;
        let after = self.keys[start..]
            .iter()
            .position(is_live)
            .map(|p| start + p);
        after
            .or_else(|| self.keys[..start].iter().position(is_live))
            .map(|p| p as u64)
    }

    /// Version of an own key; `None` if it does not exist.
    pub fn version(&self, own: u64) -> Option<u8> {
        self.keys
            .get(own as usize)
            .filter(|key| **key & LIVE != 0)
            .map(|key| key & VERSION)
    }

    /// Version of a key by its global number: outer `None` if another thread owns it.
    pub fn version_of_index(&self, index: u64) -> Option<Option<u8>> {
        (index % self.threads == self.thread).then(|| self.version(index / self.threads))
    }

    /// Makes a new key and returns its own number.
    pub fn add(&mut self, data: &DataShape) -> u64 {
        let own = self.made();
        self.keys.push(LIVE);
        self.live += 1;
        self.live_bytes += data.entry_size(self.index(own), 0);
        own
    }

    /// Moves an existing key to its next version, which is returned.
    pub fn update(&mut self, own: u64, data: &DataShape) -> u8 {
        let index = self.index(own);
        let old = self.keys[own as usize] & VERSION;
        let new = (old + 1) & VERSION;
        self.keys[own as usize] = LIVE | new;
        self.live_bytes -= data.entry_size(index, old);
        self.live_bytes += data.entry_size(index, new);
        new
    }

    /// Deletes an existing key.
    pub fn delete(&mut self, own: u64, data: &DataShape) {
        let version = self.keys[own as usize] & VERSION;
        self.keys[own as usize] = version;
        self.live -= 1;
        self.live_bytes -= data.entry_size(self.index(own), version);
    }
}
