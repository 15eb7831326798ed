//! Where the threads of a trial note what they do.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::drive::{Latencies, OpKind};
use crate::generate::Partition;

/// One place for each thread.
pub(super) struct Board {
    places: Vec<Place>,
    /// Sessions of which something was done.
    sessions: AtomicU64,
}

struct Place {
    latencies: Mutex<Latencies>,
    live_bytes: AtomicU64,
    user_bytes: AtomicU64,
}

impl Board {
    /// A board for the threads that own these keys.
    pub(super) fn new(partitions: &[Partition]) -> Self {
        let places = partitions.iter().map(|partition| Place {
            latencies: Mutex::default(),
            live_bytes: AtomicU64::new(partition.live_bytes()),
            user_bytes: AtomicU64::new(0),
        });
        Self {
            places: places.collect(),
            sessions: AtomicU64::new(0),
        }
    }

    /// Notes of how many sessions something was done so far.
    pub(super) fn note_sessions(&self, visited: usize) {
        self.sessions.store(visited as u64, Ordering::Relaxed);
    }

    /// Sessions of which something was done.
    pub(super) fn sessions(&self) -> u64 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Notes one operation of a thread, the bytes of its existing entries after it, and
    /// the bytes of keys and values that it wrote.
    pub(super) fn note(
        &self,
        thread: usize,
        (kind, latency): (OpKind, Duration),
        live_bytes: u64,
        user_bytes: u64,
    ) {
        let Some(place) = self.places.get(thread) else {
            return;
        };
        lock(&place.latencies).record(kind, latency);
        place.live_bytes.store(live_bytes, Ordering::Relaxed);
        place.user_bytes.fetch_add(user_bytes, Ordering::Relaxed);
    }

    /// The latencies that were noted since the last call.
    pub(super) fn take(&self) -> Latencies {
        let mut sum = Latencies::default();
        for place in &self.places {
            let fresh = Latencies::default();
            let noted = std::mem::replace(&mut *lock(&place.latencies), fresh);
            sum.add(&noted);
        }
        sum
    }

    /// Bytes of all existing entries.
    pub(super) fn live_bytes(&self) -> u64 {
        let places = self.places.iter();
        places
            .map(|place| place.live_bytes.load(Ordering::Relaxed))
            .sum()
    }

    /// Bytes of keys and values that were written so far.
    pub(super) fn user_bytes(&self) -> u64 {
        let places = self.places.iter();
        places
            .map(|place| place.user_bytes.load(Ordering::Relaxed))
            .sum()
    }
}

/// A thread that panicked leaves usable histograms behind.
fn lock(latencies: &Mutex<Latencies>) -> std::sync::MutexGuard<'_, Latencies> {
    latencies.lock().unwrap_or_else(PoisonError::into_inner)
}
