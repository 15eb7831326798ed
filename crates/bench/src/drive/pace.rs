//! From when an operation's latency counts. In a closed loop that is the moment it is
//! sent. In an open loop it is the moment it was due: if the store stalls, every
//! operation that was due meanwhile is charged with its wait.

use std::time::Duration;

use super::clock::Clock;
use crate::generate::DueTimes;
use crate::workload::Rate;

/// The pace of one thread.
#[derive(Debug)]
pub enum Pace {
    /// Send when the last operation has ended.
    Closed,
    /// Send when due.
    Open {
        /// Due times of this thread's operations.
        due: std::iter::StepBy<std::iter::Skip<DueTimes>>,
        /// The session's start.
        start: Duration,
    },
}

impl Pace {
    /// Pace of `thread` of `threads` in a session that started at `start`: thread t
    /// takes every operation whose number is t modulo `threads`.
    pub fn new(rate: Rate, thread: u64, threads: u64, start: Duration) -> Self {
        if rate == Rate::Closed {
            return Self::Closed;
        }
        let due = DueTimes::new(rate)
            .skip(thread as usize)
            .step_by(threads as usize);
        Self::Open { due, start }
    }

    /// Waits until the next operation may be sent, and returns the moment from which
    /// its latency counts.
    pub fn next(&mut self, clock: &dyn Clock) -> Duration {
        match self {
            Self::Closed => clock.now(),
            Self::Open { due, start } => {
                let offset = due.next().expect("due times have no end");
                let due = *start + Duration::from_secs_f64(offset);
                clock.wait_until(due);
                due
            }
        }
    }
}
