//! Looks at the clock, prints a line for each window, and says when it is over.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::board::Board;
use super::line::{self, CUMULATIVE, Sample};
use super::plan::TrialPlan;
use super::run_clock::RunClock;
use super::window::{Stops, TICK, Windows};
use crate::drive::{Clock, Latencies, OpKind, ProcessUse, table_file_bytes};
use crate::error::Result;
use crate::store::{Counters, Store};

/// A signal that is on its way has come after this.
const GRACE: Duration = Duration::from_millis(2);

/// Signals to the process, as flags that a handler raises.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    /// The process shall end.
    pub end: Arc<AtomicBool>,
    /// The process was continued after a stop (SIGCONT).
    pub resumed: Arc<AtomicBool>,
}

/// Watches a trial that runs in other threads.
pub(super) struct Watch<'a> {
    pub(super) plan: &'a TrialPlan,
    pub(super) store: &'a dyn Store,
    pub(super) board: &'a Board,
    pub(super) clock: &'a RunClock<'a>,
    pub(super) signals: &'a Signals,
    pub(super) stop: &'a AtomicBool,
}

impl Watch<'_> {
    /// Prints windows until the time has run, the process shall end, or the driver has
    /// stopped. A window that was begun then is not printed. Whoever stops the process
    /// drops the window in which it goes on.
    pub(super) fn run(&self, output: &mut dyn Write) -> Result<()> {
        let mut seen = Seen {
            first: self.store.counters(),
            latencies: Latencies::default(),
            stopped: false,
        };
        let begun = self.clock.now();
        let mut windows = Windows::new(self.plan.window, begun);
        let mut stops = Stops::new(self.clock.machine_now());
        loop {
            std::thread::sleep(TICK);
            if self.note_stop(&mut stops) {
                seen.stopped = true;
                self.store.resumed()?;
            }
            let now = self.clock.now();
            if let Some(took) = windows.cut(now) {
                line::sample(output, &self.sample(took, &mut seen))?;
            }
            if self.is_over() || now.saturating_sub(begun) >= self.plan.time {
                return Ok(());
            }
        }
    }

    /// Whether the process was stopped since the last look.
    fn note_stop(&self, stops: &mut Stops) -> bool {
        let now = self.clock.machine_now();
        let mut resumed = self.resumed();
        if !resumed && stops.is_suspicious(now) {
            std::thread::sleep(GRACE);
            resumed = self.resumed();
        }
        self.clock.note_stop(stops.look(now, resumed));
        resumed
    }

    fn resumed(&self) -> bool {
        self.signals.resumed.swap(false, Ordering::AcqRel)
    }

    fn is_over(&self) -> bool {
        self.signals.end.load(Ordering::Acquire) || self.stop.load(Ordering::Acquire)
    }

    fn sample(&self, took: Duration, seen: &mut Seen) -> Sample {
        let window = self.board.take();
        seen.take(&window);
        let written = self.store.counters().since(&seen.first).written_bytes();
        Sample {
            memory_bytes: ProcessUse::now().resident_bytes,
            space_amplification: ratio(
                table_file_bytes(&self.plan.directory),
                self.board.live_bytes(),
            ),
            write_amplification: ratio(written, self.board.user_bytes()),
            sessions: self.plan.workload.sessions.len() as u64,
            sessions_visited: self.board.sessions(),
            ..timed(&window, &seen.latencies, took)
        }
    }
}

/// What is known from the windows before.
pub(super) struct Seen {
    /// The store's counters when the process was ready.
    pub(super) first: Counters,
    /// Of all windows but those with a stop.
    pub(super) latencies: Latencies,
    /// Whether the process was stopped in the present window.
    pub(super) stopped: bool,
}

impl Seen {
    /// Takes a window. Operations that were in flight during a stop seem to have taken
    /// as long as that.
    pub(super) fn take(&mut self, window: &Latencies) {
        if !std::mem::take(&mut self.stopped) {
            self.latencies.add(window);
        }
    }
}

/// The part of a sample that comes from operations: of a window, which took so long,
/// and of all of them.
pub(super) fn timed(window: &Latencies, all: &Latencies, took: Duration) -> Sample {
    let p99 = |wanted: fn(OpKind) -> bool| {
        let summary = all.over(wanted);
        (summary.count > 0).then_some(summary.p99)
    };
    let seconds = took.as_secs_f64().max(1e-6);
    Sample {
        seconds,
        throughput: window.over(|_| true).count as f64 / seconds,
        p99_micros: p99(|_| true),
        get_p99_micros: p99(|kind| matches!(kind, OpKind::GetPresent | OpKind::GetAbsent)),
        put_p99_micros: p99(OpKind::writes),
        scan_p99_micros: p99(|kind| kind == OpKind::Scan),
        cumulative: CUMULATIVE,
        ..Sample::default()
    }
}

fn ratio(bytes: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| bytes as f64 / of as f64)
}
