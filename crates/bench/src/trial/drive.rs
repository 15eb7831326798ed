//! The workload's sessions by turns, over and over.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::board::Board;
use super::plan::TrialPlan;
use super::rota::{Portion, Rota};
use crate::drive::{Clock, Pace, Performer, join};
use crate::error::{BenchError, Result};
use crate::generate::{DataShape, DueTimes, OpStream, Partition};
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

/// A session, and how far its due times are. A session's own time stands while others
/// have their turns.
struct Course<'a> {
    session: &'a Session,
    due: DueTimes,
}

/// What a thread keeps from portion to portion.
struct Seat<'a> {
    performer: Performer<'a>,
    /// Bytes that are noted on the board.
    noted: u64,
    /// Its operations of each session.
    streams: Vec<OpStream>,
    /// How long ago its next operation of each session was due when the last turn ended: what a
    /// store owes then is not forgiven.
    late: Vec<Duration>,
}

impl<'a> Sessions<'a> {
    /// Goes through portions of the sessions until it is told to stop; all threads enter
    /// a portion together.
    pub(super) fn run(&self, partitions: &mut [Partition]) -> Result<()> {
        let sessions = self.plan.workload.sessions.iter();
        let mut courses: Vec<Course<'_>> = sessions.map(Course::new).collect();
        let threads = 0..partitions.len() as u64;
        let mut seats: Vec<Seat<'_>> = threads.map(|thread| self.seat(thread)).collect();
        let mut visited = BTreeSet::new();
        for portion in Rota::new(&self.plan.workload) {
            let Some(course) = courses.get_mut(portion.session) else {
                break;
            };
            if self.is_stopped() {
                break;
            }
            visited.insert(portion.session);
            self.board.note_sessions(visited.len());
            self.store.session_begins(&course.session.name)?;
            self.portion(&portion, course, &mut seats, partitions)?;
            course.pass(portion.operations);
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn seat(&self, thread: u64) -> Seat<'a> {
        let (sessions, seed) = (&self.plan.workload.sessions, self.plan.operations_seed);
        Seat {
            performer: Performer::new(self.store, self.data),
            noted: 0,
            late: vec![Duration::ZERO; sessions.len()],
            streams: sessions
                .iter()
                .enumerate()
                .map(|(number, session)| OpStream::new(session, number, thread, seed))
                .collect(),
        }
    }

    fn portion(
        &self,
        portion: &Portion,
        course: &Course<'_>,
        seats: &mut [Seat<'_>],
        partitions: &mut [Partition],
    ) -> Result<()> {
        let begun = self.clock.now();
        let threads = partitions.len() as u64;
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let workers: Vec<_> = partitions
                .iter_mut()
                .zip(seats)
                .enumerate()
                .map(|(thread, (partition, seat))| {
                    let worker = Worker {
                        trial: self,
                        course,
                        portion,
                        thread,
                        threads,
                        begun,
                    };
                    scope.spawn(move || worker.run(seat, partition))
                })
                .collect();
            workers.into_iter().map(join).collect()
        });
        results.into_iter().collect()
    }
}

impl<'a> Course<'a> {
    fn new(session: &'a Session) -> Self {
        Self {
            session,
            due: DueTimes::new(session.rate),
        }
    }

    /// The pace of a thread that takes each `threads`-th operation behind the first
    /// `skipped` ones, as if the session had never been interrupted: its next operation is
    /// due now, or that of a thread that was behind was due `late` ago.
    fn pace(&self, skipped: u64, threads: u64, now: Duration, late: Duration) -> Pace {
        if !self.session.is_open() {
            return Pace::Closed;
        }
        let due = self.due.clone().skip(skipped as usize);
        let next = if late.is_zero() {
            self.due.clone().next()
        } else {
            due.clone().next()
        };
        let passed = Duration::from_secs_f64(next.unwrap_or(0.0)) + late;
        Pace::Open {
            due: due.step_by(threads as usize),
            start: now.saturating_sub(passed),
        }
    }

    /// So many operations are done.
    fn pass(&mut self, operations: u64) {
        if self.session.is_open() {
            // The times of operations that are done are of no use.
            self.due.by_ref().take(operations as usize).for_each(drop);
        }
    }
}

/// How long ago the next operation was due; zero if it is not yet, or has no due time.
fn overdue(pace: &mut Pace, now: Duration) -> Duration {
    let Pace::Open { due, start } = pace else {
        return Duration::ZERO;
    };
    let next = Duration::from_secs_f64(due.next().unwrap_or(0.0));
    now.saturating_sub(*start + next)
}

/// One thread of a portion.
struct Worker<'a> {
    trial: &'a Sessions<'a>,
    course: &'a Course<'a>,
    portion: &'a Portion,
    thread: usize,
    threads: u64,
    /// When the portion began.
    begun: Duration,
}

impl Worker<'_> {
    fn run(&self, seat: &mut Seat<'_>, partition: &mut Partition) -> Result<()> {
        let result = self.operate(seat, partition);
        if result.is_err() {
            // The trial is void: the other threads need not go on.
            self.trial.stop.store(true, Ordering::Release);
        }
        result
    }

    fn operate(&self, seat: &mut Seat<'_>, partition: &mut Partition) -> Result<()> {
        let trial = self.trial;
        let (skipped, own) = self.portion.share(self.thread as u64, self.threads);
        let session = self.portion.session;
        let stream = seat.streams.get_mut(session);
        let (Some(stream), Some(late)) = (stream, seat.late.get_mut(session)) else {
            return Ok(());
        };
        let course = self.course;
        let mut pace = course.pace(skipped, self.threads, self.begun, *late);
        for _ in 0..own {
            if trial.is_stopped() {
                break;
            }
            let op = stream
                .next(partition, trial.data)
                .ok_or_else(|| self.no_keys_left())?;
            seat.performer.prepare(&op);
            let from = pace.next(trial.clock);
            let ended = seat.performer.perform(&op, partition, trial.clock)?;
            let timed = (op.kind(), ended.saturating_sub(from));
            let bytes = seat.performer.user_bytes - seat.noted;
            seat.noted = seat.performer.user_bytes;
            trial
                .board
                .note(self.thread, timed, partition.live_bytes(), bytes);
        }
        *late = overdue(&mut pace, trial.clock.now());
        Ok(())
    }

    fn no_keys_left(&self) -> BenchError {
        BenchError::new(format!(
            "session \"{}\" deleted all keys of a thread; lower mix.delete or --seconds",
            self.course.session.name
        ))
    }
}
