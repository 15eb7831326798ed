//! The workload's sessions, over and over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::board::Board;
use super::plan::TrialPlan;
use crate::drive::{Clock, Pace, Performer, join};
use crate::error::{BenchError, Result};
use crate::generate::{DataShape, OpStream, Partition};
use crate::store::Store;
use crate::workload::Session;

/// All sessions of a trial.
pub(super) struct Sessions<'a> {
    pub(super) plan: &'a TrialPlan,
    pub(super) store: &'a dyn Store,
    pub(super) data: &'a DataShape,
    pub(super) board: &'a Board,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
}

impl Sessions<'_> {
    /// Goes through the sessions until it is told to stop. Each pass draws operations
    /// of its own; all threads enter a session together.
    pub(super) fn run(&self, partitions: &mut [Partition]) -> Result<()> {
        let sessions = self.plan.workload.sessions.iter().cycle();
        for (number, session) in sessions.enumerate() {
            if self.is_stopped() {
                break;
            }
            self.store.session_begins(&session.name)?;
            self.session(session, number, partitions)?;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn session(
        &self,
        session: &Session,
        number: usize,
        partitions: &mut [Partition],
    ) -> Result<()> {
        let start = self.clock.now();
        let threads = partitions.len() as u64;
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let workers: Vec<_> = partitions
                .iter_mut()
                .enumerate()
                .map(|(thread, partition)| {
                    let worker = Worker {
                        trial: self,
                        session,
                        number,
                        thread,
                        threads,
                        start,
                    };
                    scope.spawn(move || worker.run(partition))
                })
                .collect();
            workers.into_iter().map(join).collect()
        });
        results.into_iter().collect()
    }
}

/// One thread of a session.
struct Worker<'a> {
    trial: &'a Sessions<'a>,
    session: &'a Session,
    number: usize,
    thread: usize,
    threads: u64,
    start: Duration,
}

impl Worker<'_> {
    fn run(&self, partition: &mut Partition) -> Result<()> {
        let result = self.operate(partition);
        if result.is_err() {
            // The trial is void: the other threads need not go on.
            self.trial.stop.store(true, Ordering::Release);
        }
        result
    }

    fn operate(&self, partition: &mut Partition) -> Result<()> {
        let trial = self.trial;
        let thread = self.thread as u64;
        let mut stream = OpStream::new(self.session, self.number, thread, trial.plan.seed);
        let mut pace = Pace::new(self.session.rate, thread, self.threads, self.start);
        let mut performer = Performer::new(trial.store, trial.data);
        let mut written = 0;
        let total = self.session.length(trial.plan.workload.entries);
        for _ in 0..(total + self.threads - 1 - thread) / self.threads {
            if trial.is_stopped() {
                break;
            }
            let op = stream
                .next(partition, trial.data)
                .ok_or_else(|| self.no_keys_left())?;
            performer.prepare(&op);
            let from = pace.next(trial.clock);
            let ended = performer.perform(&op, partition, trial.clock)?;
            let noted = (op.kind(), ended.saturating_sub(from));
            let bytes = performer.user_bytes - written;
            written = performer.user_bytes;
            trial
                .board
                .note(self.thread, noted, partition.live_bytes(), bytes);
        }
        Ok(())
    }

    fn no_keys_left(&self) -> BenchError {
        BenchError::new(format!(
            "session \"{}\" deleted all keys of a thread; lower mix.delete or --seconds",
            self.session.name
        ))
    }
}
