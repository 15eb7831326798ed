//! The measured part of a run.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::boot::boot;
use super::event::{Event, Progress};
use super::job::Job;
use super::load::Loaded;
use super::record::{ArmRun, LoadRecord, SessionRecord, Totals};
use crate::drive::{
    Clock, Driver, Latencies, LatencySummary, OpKind, ProcessUse, Sample, SessionOutcome,
    SystemClock, join, table_file_bytes, verify_all,
};
use crate::error::Result;
use crate::generate::{DataShape, Partition, phase_updates};
use crate::store::{Counters, Store};
use crate::workload::Session;

/// Between two looks at the disk while an arm pays its debt.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// Lets the arm settle, then runs all sessions; what it owes then is timed, and what it holds
/// is verified.
pub fn measure(
    job: &Job,
    loaded: &Loaded,
    data: DataShape,
    partitions: Vec<Partition>,
    (baseline, load_seconds): (ProcessUse, f64),
    report: &mut (dyn FnMut(Event) + Send),
) -> Result<ArmRun> {
    let store = loaded.store.as_ref();
    report(begin("settle"));
    let settled = store.settle(job.patience())?;
    let fill = &job.workload.fill;
    let load = LoadRecord {
        copied: loaded.copied,
        seconds: load_seconds,
        phase_updates: phase_updates(fill, job.workload.entries, job.seed, job.round),
        settled: settled && loaded.settled,
        disk_bytes: table_file_bytes(&job.directory),
    };
    let clock = SystemClock::start();
    let mut driver = Driver {
        store,
        directory: job.directory.clone(),
        workload: &job.workload,
        data,
        partitions,
        seed: job.seed,
        sample_interval: Duration::from_millis(job.sample_millis),
        clock: &clock,
    };
    // What the load merged is taken here, and forgotten.
    let mut book = Book::new(store.take_counters(), ProcessUse::now());
    for (number, session) in job.workload.measured_sessions().iter().enumerate() {
        let live = live_bytes(&driver.partitions);
        store.session_begins(&session.name)?;
        // Counts every operation that is due where a rate changes.
        let total = session.length(job.workload.entries);
        let outcome = driver.run(session, number, &mut |sample, done| {
            report(Event::Progress(progress(session, sample, done, total)));
        })?;
        let live = (live, live_bytes(&driver.partitions));
        book.enter(session, outcome, store.take_counters(), live);
    }
    let debt = store.shape().debt_bytes;
    let mut run = book.close(job, load, baseline, debt);
    report(begin("settle"));
    let live = live_bytes(&driver.partitions);
    let (seconds, most) = rest(store, &job.directory, job.patience(), &clock)?;
    let totals = &mut run.totals;
    totals.settle_seconds = seconds;
    let peak = totals.peak_space_amplification;
    totals.peak_space_amplification = peak.max(ratio(most, live as f64));
    report(begin("verify"));
    let verified = verify_all(store, &driver.partitions, &driver.data)?;
    run.totals.verified_at_end = Some(verified);
    Ok(run)
}

/// How long a store takes to come to rest with nobody beside it, `None` where it does not within
/// `patience`; and the most that its disk held meanwhile, looked at every second.
fn rest(
    store: &dyn Store,
    directory: &Path,
    patience: Duration,
    clock: &dyn Clock,
) -> Result<(Option<f64>, u64)> {
    let begun = clock.now();
    let (ended, ends) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let looks = scope.spawn(move || most_bytes_until(directory, &ends));
        let rests = store.settle(patience);
        let took = clock.now().saturating_sub(begun);
        drop(ended);
        let most = join(looks);
        Ok((rests?.then_some(took.as_secs_f64()), most))
    })
}

/// The most bytes in `directory` until the sender of `ends` is gone.
fn most_bytes_until(directory: &Path, ends: &mpsc::Receiver<()>) -> u64 {
    let mut most = 0;
    loop {
        most = most.max(table_file_bytes(directory));
        if ends.recv_timeout(LOOKS_EVERY) != Err(mpsc::RecvTimeoutError::Timeout) {
            return most.max(table_file_bytes(directory));
        }
    }
}

/// A part begins that has no operations.
fn begin(part: &str) -> Event {
    Event::Progress(Progress {
        part: part.to_string(),
        ..Progress::default()
    })
}

fn live_bytes(partitions: &[Partition]) -> u64 {
    partitions.iter().map(Partition::live_bytes).sum()
}

fn progress(session: &Session, sample: &Sample, done: u64, total: u64) -> Progress {
    Progress {
        part: session.name.clone(),
        done,
        total,
        operations_per_second: sample.operations_per_second,
        p99: sample.latency.p99,
    }
}

/// Collects the sessions of one run.
struct Book {
    first: Counters,
    last: Counters,
    process: ProcessUse,
    /// Of closed sessions.
    latencies: Latencies,
    sessions: Vec<SessionRecord>,
    samples: Vec<Sample>,
}

impl Book {
    fn new(counters: Counters, process: ProcessUse) -> Self {
        Self {
            first: counters.clone(),
            last: counters,
            process,
            latencies: Latencies::default(),
            sessions: Vec::new(),
            samples: Vec::new(),
        }
    }

    fn enter(
        &mut self,
        session: &Session,
        outcome: SessionOutcome,
        now: Counters,
        live: (u64, u64),
    ) {
        let latency = outcome.latencies.over(|_| true);
        self.sessions.push(SessionRecord {
            name: session.name.clone(),
            open: session.is_open(),
            operations: latency.count,
            seconds: outcome.elapsed.as_secs_f64(),
            latencies: outcome.latencies.by_kind(),
            latency,
            user_bytes: outcome.user_bytes,
            verified: outcome.verified,
            counters: now.since(&self.last),
            live_bytes: live.1,
            disk_bytes: outcome.samples.last().map_or(0, |sample| sample.disk_bytes),
            peak_space_amplification: peak_space_amplification(&outcome.samples, live),
        });
        // From the moment due and from the moment sent are two quantities.
        if !session.is_open() {
            self.latencies.add(&outcome.latencies);
        }
        self.samples.extend(outcome.samples);
        self.last = now;
    }

    fn close(
        self,
        job: &Job,
        load: LoadRecord,
        baseline: ProcessUse,
        debt_bytes: Option<u64>,
    ) -> ArmRun {
        let process = ProcessUse::now();
        let resident = self
            .samples
            .iter()
            .map(|sample| sample.process.resident_bytes);
        let peaks = self
            .sessions
            .iter()
            .map(|session| session.peak_space_amplification);
        let pieces = self
            .sessions
            .iter()
            .map(|session| session.counters.largest_piece_bytes);
        let last = self.sessions.last();
        let over = |wanted: fn(OpKind) -> bool| -> LatencySummary { self.latencies.over(wanted) };
        let totals = Totals {
            user_bytes: self.sessions.iter().map(|session| session.user_bytes).sum(),
            counters: Counters {
                largest_piece_bytes: pieces.max().unwrap_or(0),
                ..self.last.since(&self.first)
            },
            writes: over(OpKind::writes_alone),
            point_reads: over(OpKind::reads_a_point),
            scans: over(|kind| kind == OpKind::Scan),
            verified: self.sessions.iter().map(|session| session.verified).sum(),
            verified_at_end: None,
            peak_space_amplification: peaks.fold(0.0, f64::max),
            end_space_amplification: last.map_or(0.0, |s| ratio(s.disk_bytes, s.live_bytes as f64)),
            debt_bytes,
            settle_seconds: None,
            baseline_resident_bytes: baseline.resident_bytes,
            peak_resident_bytes: resident.max().unwrap_or(0),
            device_written_bytes: process.device_written_bytes - self.process.device_written_bytes,
            device_read_bytes: process.device_read_bytes - self.process.device_read_bytes,
        };
        ArmRun {
            arm: job.arm.clone(),
            round: job.round,
            program: job.program.clone(),
            boot: boot(),
            sitting: None,
            load,
            sessions: self.sessions,
            totals,
            samples: self.samples,
        }
    }
}

/// Highest bytes on disk over existing bytes; these grow evenly from `live.0` to
/// `live.1` in the session.
fn peak_space_amplification(samples: &[Sample], live: (u64, u64)) -> f64 {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return 0.0;
    };
    let begun = first.at - first.seconds;
    let length = (last.at - begun).max(1e-9);
    let amplification = |sample: &Sample| {
        let share = (sample.at - begun) / length;
        let live = live.0 as f64 + (live.1 as f64 - live.0 as f64) * share;
        ratio(sample.disk_bytes, live)
    };
    samples.iter().map(amplification).fold(0.0, f64::max)
}

fn ratio(bytes: u64, live: f64) -> f64 {
    if live > 0.0 { bytes as f64 / live } else { 0.0 }
}
