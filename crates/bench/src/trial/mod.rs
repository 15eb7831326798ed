//! One configuration under a workload, in a process of its own, for a search.
//!
//! The process prints lines of JSON: `{"note": "..."}` of what it cannot run as it was told,
//! `{"ready": true}` once the data set is there, then one object of metrics for each window, or
//! `{"error": "..."}`. The workload's sessions,
//! without the closing one, take turns in small portions, over and over, until its time
//! has run or it is told to end. Whoever started it may stop and continue it at any time: time
//! counts while it runs, and operations that were in flight spoil one window only.

mod board;
mod drive;
mod line;
mod plan;
mod prepared;
mod rota;
mod run_clock;
mod set_up;
mod shared;
mod system;
#[cfg(test)]
mod tests;
mod watch;
mod window;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::drive::{SystemClock, join};
use crate::error::Result;

use board::Board;
use drive::Sessions;
use run_clock::RunClock;
use set_up::Ready;
use watch::Watch;

pub use plan::{Limits, System, TrialPlan};
pub use shared::shared;
pub use watch::Signals;

/// Runs a trial to its end. Lines go to `output`; `listen` is called before the process says
/// that it is ready, and until then signals do what they do by default.
///
/// # Errors
/// Also printed as a line: the store cannot be opened, the data set not be made, the
/// store gives a wrong answer or fails; `output` is closed.
pub fn run_trial(
    plan: &TrialPlan,
    output: &mut dyn Write,
    listen: impl FnOnce() -> Result<Signals>,
) -> Result<()> {
    let result = attempt(plan, output, listen);
    if let Err(error) = &result {
        // Nobody may be left to read it; the exit code tells as well.
        let _ = line::failure(output, &error.to_string());
    }
    result
}

fn attempt(
    plan: &TrialPlan,
    output: &mut dyn Write,
    listen: impl FnOnce() -> Result<Signals>,
) -> Result<()> {
    let mut ready = set_up::set_up(plan)?;
    for remark in &ready.remarks {
        line::note(output, remark)?;
    }
    let signals = listen()?;
    line::ready(output)?;
    let measured = measure(plan, &mut ready, &signals, output);
    let closed = ready.store.close();
    measured.and(closed)
}

fn measure(
    plan: &TrialPlan,
    ready: &mut Ready,
    signals: &Signals,
    output: &mut dyn Write,
) -> Result<()> {
    let machine = SystemClock::start();
    let clock = RunClock::new(&machine);
    let board = Board::new(&ready.partitions);
    let stop = AtomicBool::new(false);
    let store = ready.store.as_ref();
    let partitions = &mut ready.partitions;
    let sessions = Sessions {
        plan,
        store,
        data: &ready.data,
        board: &board,
        clock: &clock,
        stop: &stop,
    };
    let watch = Watch {
        plan,
        store,
        board: &board,
        clock: &clock,
        signals,
        stop: &stop,
    };
    std::thread::scope(|scope| {
        let driving = scope.spawn(|| {
            let _told = Raised(&stop);
            sessions.run(partitions)
        });
        let watched = watch.run(output);
        stop.store(true, Ordering::Release);
        join(driving).and(watched)
    })
}

/// Raises a flag when it is dropped, by a panic too.
struct Raised<'a>(&'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
