//! Takes a sample of the run at fixed intervals.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hdrhistogram::Histogram;

use super::clock::Clock;
use super::latency::{LatencySummary, OpKind, nanos, new_histogram};
use super::process::{ProcessUse, table_file_bytes};
use super::series::Sample;
use crate::store::Store;

/// Where workers note what they did; one lock each, which only the sampler shares.
pub struct Board(Vec<Mutex<Noted>>);

/// Latencies of the kinds that a sample tells apart.
struct Noted {
    point_reads: Histogram<u64>,
    scans: Histogram<u64>,
    writes: Histogram<u64>,
}

impl Noted {
    fn new() -> Self {
        Self {
            point_reads: new_histogram(),
            scans: new_histogram(),
            writes: new_histogram(),
        }
    }

    fn of(&mut self, kind: OpKind) -> &mut Histogram<u64> {
        match kind {
            kind if kind.reads_a_point() => &mut self.point_reads,
            OpKind::Scan => &mut self.scans,
            _ => &mut self.writes,
        }
    }

    fn add(&mut self, other: &Self) {
        add(&mut self.point_reads, &other.point_reads);
        add(&mut self.scans, &other.scans);
        add(&mut self.writes, &other.writes);
    }

    fn reset(&mut self) {
        self.point_reads.reset();
        self.scans.reset();
        self.writes.reset();
    }

    fn all(&self) -> Histogram<u64> {
        let mut all = self.writes.clone();
        add(&mut all, &self.point_reads);
        add(&mut all, &self.scans);
        all
    }
}

fn add(sum: &mut Histogram<u64>, more: &Histogram<u64>) {
    sum.add(more).expect("all histograms have the same bounds");
}

impl Board {
    /// A board for `threads` workers.
    pub fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| Mutex::new(Noted::new())).collect())
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.0.len()
    }

    /// Notes that `thread` ended an operation.
    pub fn note(&self, thread: usize, kind: OpKind, latency: Duration) {
        let mut noted = lock(&self.0[thread]);
        noted.of(kind).saturating_record(nanos(latency));
    }

    /// Everything noted since the last call.
    fn take(&self, sum: &mut Noted) {
        sum.reset();
        for noted in &self.0 {
            let mut noted = lock(noted);
            sum.add(&noted);
            noted.reset();
        }
    }
}

/// A worker that panicked leaves usable histograms behind.
fn lock(noted: &Mutex<Noted>) -> std::sync::MutexGuard<'_, Noted> {
    noted
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
        let mut noted = Noted::new();
        let mut begun = start;
        loop {
            let due = begun + self.interval;
            while !stop.load(Ordering::Acquire) && clock.now() < due {
                std::thread::park_timeout(due.saturating_sub(clock.now()));
            }
            let now = clock.now();
            let stopping = stop.load(Ordering::Acquire);
            let sample = self.sample(&mut noted, begun, now);
            report(&sample, self.done);
            samples.push(sample);
            begun = now;
            if stopping {
                return samples;
            }
        }
    }

    fn sample(&mut self, noted: &mut Noted, begun: Duration, now: Duration) -> Sample {
        self.board.take(noted);
        let all = noted.all();
        self.done += all.len();
        let shape = self.store.shape();
        let seconds = (now - begun).as_secs_f64().max(1e-6);
        Sample {
            at: now.as_secs_f64(),
            seconds,
            session: self.session,
            operations_per_second: all.len() as f64 / seconds,
            latency: LatencySummary::of(&all),
            point_reads: LatencySummary::of(&noted.point_reads),
            scans: LatencySummary::of(&noted.scans),
            process: ProcessUse::now(),
            background: self.store.counters().background(),
            user_load: self.store.user_load(),
            disk_bytes: table_file_bytes(self.directory),
            debt_bytes: shape.debt_bytes,
            levels: shape.levels,
        }
    }
}
