//! One session, with all its threads.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::clock::Clock;
use super::latency::Latencies;
use super::pace::Pace;
use super::perform::Performer;
use super::sampler::{Board, Sampler};
use super::series::Sample;
use crate::error::{BenchError, Result};
use crate::generate::{DataShape, OpStream, Partition};
use crate::store::Store;
use crate::workload::{Session, Workload};

/// Drives the sessions of one run, one after the other.
pub struct Driver<'a> {
    /// The store under test.
    pub store: &'a dyn Store,
    /// Its directory, for the bytes on disk.
    pub directory: PathBuf,
    /// The workload.
    pub workload: &'a Workload,
    /// Keys and values.
    pub data: DataShape,
    /// What each thread knows of its keys.
    pub partitions: Vec<Partition>,
    /// Seed of all operations.
    pub seed: u64,
    /// Length of a sample's interval.
    pub sample_interval: Duration,
    /// Time.
    pub clock: &'a dyn Clock,
}

/// What came of one session.
#[derive(Debug)]
pub struct SessionOutcome {
    /// From first send to last end.
    pub elapsed: Duration,
    /// By kind.
    pub latencies: Latencies,
    /// Bytes of keys and values that were written.
    pub user_bytes: u64,
    /// Answers that were checked.
    pub verified: u64,
    /// The series.
    pub samples: Vec<Sample>,
}

/// One thread's part of a session.
struct Share {
    latencies: Latencies,
    user_bytes: u64,
    verified: u64,
    ended: Duration,
}

impl Driver<'_> {
    /// Runs session number `number`; `report` sees each sample as it is taken.
    pub fn run(
        &mut self,
        session: &Session,
        number: usize,
        report: &mut (dyn FnMut(&Sample, u64) + Send),
    ) -> Result<SessionOutcome> {
        let threads = self.partitions.len();
        let board = Board::new(threads);
        let stop = AtomicBool::new(false);
        let start = self.clock.now();
        let total = session.length(self.workload.entries);
        let mut partitions = std::mem::take(&mut self.partitions);
        let this = &*self;
        let mut sampler = Sampler::new(
            this.store,
            &this.directory,
            &board,
            number,
            this.sample_interval,
        );
        let (shares, samples) = std::thread::scope(|scope| {
            let workers: Vec<_> = partitions
                .iter_mut()
                .enumerate()
                .map(|(thread, partition)| {
                    let worker = Worker {
                        driver: this,
                        session,
                        number,
                        thread,
                        start,
                        total,
                    };
                    let (board, stop) = (&board, &stop);
                    scope.spawn(move || worker.run(partition, board, stop))
                })
                .collect();
            let sampling = scope.spawn(|| sampler.run(this.clock, start, &stop, report));
            // A panic goes on only when the sampler knows that there is nobody left.
            let ended: Vec<_> = workers.into_iter().map(|it| it.join()).collect();
            stop.store(true, Ordering::Release);
            sampling.thread().unpark();
            let shares: Vec<Result<Share>> = ended.into_iter().map(joined).collect();
            (shares, join(sampling))
        });
        self.partitions = partitions;
        let shares: Vec<Share> = shares.into_iter().collect::<Result<_>>()?;
        Ok(gather(shares, start, samples))
    }
}

/// What a thread returned; its panic goes on here.
pub(crate) fn join<T>(handle: std::thread::ScopedJoinHandle<'_, T>) -> T {
    joined(handle.join())
}

fn joined<T>(ended: std::thread::Result<T>) -> T {
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn gather(shares: Vec<Share>, start: Duration, samples: Vec<Sample>) -> SessionOutcome {
    let mut latencies = Latencies::default();
    let ended = shares
        .iter()
        .map(|share| share.ended)
        .max()
        .unwrap_or(start);
    for share in &shares {
        latencies.add(&share.latencies);
    }
    SessionOutcome {
        elapsed: ended.saturating_sub(start),
        latencies,
        user_bytes: shares.iter().map(|share| share.user_bytes).sum(),
        verified: shares.iter().map(|share| share.verified).sum(),
        samples,
    }
}

/// One thread of a session.
struct Worker<'a> {
    driver: &'a Driver<'a>,
    session: &'a Session,
    number: usize,
    thread: usize,
    start: Duration,
    /// Operations of all threads.
    total: u64,
}

impl Worker<'_> {
    fn run(&self, partition: &mut Partition, board: &Board, stop: &AtomicBool) -> Result<Share> {
        let share = self.operate(partition, board, stop);
        if share.is_err() {
            // The run is void: the other threads need not go on.
            stop.store(true, Ordering::Release);
        }
        share
    }

    fn operate(
        &self,
        partition: &mut Partition,
        board: &Board,
        stop: &AtomicBool,
    ) -> Result<Share> {
        let (driver, thread) = (self.driver, self.thread as u64);
        let threads = board.threads() as u64;
        let mut stream = OpStream::new(self.session, self.number, thread, driver.seed);
        let mut pace = Pace::new(self.session.rate, thread, threads, self.start);
        let mut performer = Performer::new(driver.store, &driver.data);
        let mut latencies = Latencies::default();
        let own = (self.total + threads - 1 - thread) / threads;
        for _ in 0..own {
            if stop.load(Ordering::Acquire) {
                break;
            }
            let op = stream
                .next(partition, &driver.data)
                .ok_or_else(|| self.no_keys_left())?;
            performer.prepare(&op);
            let from = pace.next(driver.clock);
            let ended = performer.perform(&op, partition, driver.clock)?;
            let latency = ended.saturating_sub(from);
            latencies.record(op.kind(), latency);
            board.note(self.thread, op.kind(), latency);
        }
        let (user_bytes, verified) = (performer.user_bytes, performer.verified);
        Ok(Share {
            latencies,
            user_bytes,
            verified,
            ended: driver.clock.now(),
        })
    }

    fn no_keys_left(&self) -> BenchError {
        BenchError::new(format!(
            "session \"{}\" deleted all keys of a thread; lower mix.delete or --threads",
            self.session.name
        ))
    }
}
