//! Takes a sample of the run at fixed intervals.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;

use super::clock::Clock;
use super::latency::{LatencySummary, nanos, new_histogram};
use super::process::{ProcessUse, table_file_bytes};
use super::series::Sample;
use crate::store::Store;

/// Where workers note what they did; one lock each, which only the sampler shares.
pub struct Board(Vec<Mutex<Histogram<u64>>>);

impl Board {
    /// A board for `threads` workers.
    pub fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::new(new_histogram())).collect())
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.0.len()
    }

    /// Notes that `thread` ended an operation.
    pub fn note(&self, thread: usize, latency: Duration) {
        lock(&self.0[thread]).saturating_record(nanos(latency));
    }

    /// Everything noted since the last call.
    fn take(&self, sum: &mut Histogram<u64>) {
        sum.reset();
        for histogram in &self.0 {
            let mut histogram = lock(histogram);
            sum.add(&*histogram)
                .expect("all histograms have the same bounds");
            histogram.reset();
        }
    }
}

/// A worker that panicked leaves a usable histogram behind.
fn lock(histogram: &Mutex<Histogram<u64>>) -> std::sync::MutexGuard<'_, Histogram<u64>> {
    histogram
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Takes the samples of one session.
pub struct Sampler<'a> {
    store: &'a dyn Store,
    directory: &'a Path,
    board: &'a Board,
    session: usize,
    interval: Duration,
    done: u64,
}

impl<'a> Sampler<'a> {
    /// A sampler of session number `session`.
    pub fn new(
        store: &'a dyn Store,
        directory: &'a Path,
        board: &'a Board,
        session: usize,
        interval: Duration,
    ) -> Self {
        Self {
            store,
            directory,
            board,
            session,
            interval,
            done: 0,
        }
    }

    /// Samples from `start` until `stop`; the last interval may be shorter.
    pub fn run(
        &mut self,
        clock: &dyn Clock,
        start: Duration,
        stop: &AtomicBool,
        report: &mut (dyn FnMut(&Sample, u64) + Send),
    ) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut histogram = new_histogram();
        let mut begun = start;
        loop {
            let due = begun + self.interval;
            while !stop.load(Ordering::Acquire) && clock.now() < due {
                std::thread::park_timeout(due.saturating_sub(clock.now()));
            }
            let now = clock.now();
            let stopping = stop.load(Ordering::Acquire);
            let sample = self.sample(&mut histogram, begun, now);
            report(&sample, self.done);
            samples.push(sample);
            begun = now;
            if stopping {
                return samples;
            }
        }
    }

    fn sample(&mut self, histogram: &mut Histogram<u64>, begun: Duration, now: Duration) -> Sample {
        self.board.take(histogram);
        self.done += histogram.len();
        let shape = self.store.shape();
        let seconds = (now - begun).as_secs_f64().max(1e-6);
        Sample {
            at: now.as_secs_f64(),
            seconds,
            session: self.session,
            operations_per_second: histogram.len() as f64 / seconds,
            latency: LatencySummary::of(histogram),
            process: ProcessUse::now(),
            disk_bytes: table_file_bytes(self.directory),
            debt_bytes: shape.debt_bytes,
            levels: shape.levels,
        }
    }
}
