//! What is known of a trial, and what follows from it. Times are seconds of one
//! clock, and arguments.

use lissom_search::objective::{Metrics, metrics};
use lissom_search::search::{Cause, Outcome};

use super::gauge::Gauge;
use super::stopwatch::Stopwatch;
use crate::protocol::{Said, Tail};

/// What a trial may take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Bounds {
    /// Bytes of memory of all its processes.
    pub memory_bytes: u64,
    /// Running seconds without a sample.
    pub deadline: f64,
    /// Seconds of set-up.
    pub setup_deadline: f64,
    /// Seconds of a point of its series.
    pub grain: f64,
}

/// What follows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Finding {
    /// It may go on.
    Fine,
    /// It has run as long as it was told to.
    Reached,
    /// The configuration is bad.
    Failed(Cause, String),
    /// It is gone, perhaps through no fault of its own: it may begin anew unless that
    /// has happened so often before.
    Gone {
        /// What happened.
        why: String,
        /// How often that is forgiven.
        forgiven: u32,
    },
}

/// Whose fault an ending is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// It stood still: somebody else ended it.
    Others,
    /// It was killed while it ran: the system may have been short of memory.
    Unknown,
    /// It ended by itself.
    Own,
}

/// Notes that are kept.
const NOTES: usize = 20;

/// A trial that was ended while it stood still has three attempts in all.
const FORGIVEN_WAITING: u32 = 2;
/// One that was killed while it ran has two.
const FORGIVEN_RUNNING: u32 = 1;

impl Fault {
    /// Of one that `waited` when it ended, or was `killed`.
    pub fn of(waited: bool, killed: bool) -> Fault {
        match (waited, killed) {
            (true, _) => Fault::Others,
            (false, true) => Fault::Unknown,
            (false, false) => Fault::Own,
        }
    }
}

/// Everything that is known of a trial.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Monitor {
    bounds: Bounds,
    /// Running seconds after which it is reported.
    until: f64,
    started: f64,
    watch: Stopwatch,
    gauge: Gauge,
    tail: Tail,
    /// What it told to know about its configuration.
    notes: Vec<String>,
    /// Since when everything stands still, whatever it was doing.
    halted: Option<f64>,
    /// When it last went on; the first sample behind that spans the pause.
    resumed: Option<f64>,
    failure: Option<String>,
    /// The most memory that it held, in its set-up too, and the last that is known.
    most_bytes: u64,
    last_bytes: u64,
    /// The most since it was ready; absent until it was weighed then.
    running_bytes: Option<u64>,
    /// Whether its set-up was reported.
    setup_told: bool,
    /// Running seconds whose series was reported already, by an earlier attempt.
    known: f64,
}

impl Monitor {
    /// A trial that is being started.
    pub fn new(bounds: Bounds, now: f64, until: f64) -> Monitor {
        Monitor {
            bounds,
            until,
            started: now,
            watch: Stopwatch::default(),
            gauge: Gauge::new(bounds.grain),
            tail: Tail::default(),
            notes: Vec::new(),
            halted: None,
            resumed: None,
            failure: None,
            most_bytes: 0,
            last_bytes: 0,
            running_bytes: None,
            setup_told: false,
            known: 0.0,
        }
    }

    /// The same, begun anew after an attempt that was reported up to `known` running
    /// seconds.
    pub fn again(self, known: f64) -> Monitor {
        Monitor { known, ..self }
    }

    /// Takes what it said at a time.
    pub fn hear(&mut self, said: Said, at: f64) {
        match said {
            Said::Ready => self.watch.begin(at),
            Said::Failure(words) => {
                self.failure.get_or_insert(words);
            }
            Said::Note(words) => self.take_note(words),
            Said::Words(words) => self.tail.push(&words),
            Said::Sample(window) => {
                let second = self.watch.seconds(at);
                if !self.watch.has_begun() {
                    self.watch.begin(at);
                } else if self.resumed.take_if(|resumed| at >= *resumed).is_some() {
                    self.gauge.skip(second);
                } else {
                    self.gauge.take(&window, second);
                }
            }
        }
    }

    fn take_note(&mut self, words: String) {
        self.tail.push(&words);
        if self.notes.len() < NOTES && !self.notes.contains(&words) {
            self.notes.push(words);
        }
    }

    /// Takes words for people.
    pub fn hear_words(&mut self, words: &str) {
        self.tail.push(words);
    }

    /// Takes the memory that it holds.
    pub fn weigh(&mut self, bytes: u64) {
        self.most_bytes = self.most_bytes.max(bytes);
        self.last_bytes = bytes;
        if self.watch.has_begun() {
            self.running_bytes = self.running_bytes.max(Some(bytes));
        }
    }

    /// It stands still.
    pub fn pause(&mut self, now: f64) {
        self.watch.pause(now);
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.watch.is_paused()
    }

    /// It goes on.
    pub fn resume(&mut self, now: f64, until: f64) {
        self.watch.resume(now);
        self.resumed = Some(now);
        self.until = until;
    }

    /// Everything stands still from here on, also a set-up.
    pub fn halt(&mut self, now: f64) {
        self.halted.get_or_insert(now);
    }

    /// Everything goes on as if nothing had been.
    pub fn proceed(&mut self, now: f64) {
        let Some(since) = self.halted.take() else {
            return;
        };
        if self.watch.has_begun() {
            self.watch.pause(since);
            self.watch.resume(now);
            self.resumed = Some(now);
        } else {
            self.started += now - since;
        }
    }

    /// What follows from what is known.
    pub fn look(&self, now: f64) -> Finding {
        if let Some(words) = &self.failure {
            return self.by_its_own_words(words, now);
        }
        if self.most_bytes > self.bounds.memory_bytes {
            return Finding::Failed(Cause::OutOfMemory, self.too_large());
        }
        if self.is_paused() {
            return Finding::Fine;
        }
        if !self.watch.has_begun() {
            return self.setting_up(now);
        }
        let seconds = self.watch.seconds(now);
        if seconds - self.gauge.last() > self.bounds.deadline {
            return Finding::Failed(Cause::Hang, self.silent(seconds));
        }
        // Without any sample, or where none comes any more, it runs on until there is one, or it
        // counts as hung: metrics are of samples, and tell nothing of a silence behind them.
        let is_heard = self.gauge.samples() > 0 && !self.gauge.is_silent(seconds);
        if seconds >= self.until && is_heard {
            return Finding::Reached;
        }
        Finding::Fine
    }

    /// It has ended, in this way.
    pub fn ended(&self, how: &str, fault: Fault, now: f64) -> Finding {
        if let Some(words) = &self.failure {
            return self.by_its_own_words(words, now);
        }
        match fault {
            Fault::Others => Finding::Gone {
                why: format!("it was ended while it waited ({how})"),
                forgiven: FORGIVEN_WAITING,
            },
            Fault::Unknown if self.most_bytes > self.bounds.memory_bytes => {
                Finding::Failed(Cause::OutOfMemory, self.too_large())
            }
            Fault::Unknown => Finding::Gone {
                why: format!(
                    "it was killed {} ({how}), which the system does when memory runs out; it \
                     held {} of {} at the most; {}",
                    self.when(now),
                    mebibytes(self.most_bytes),
                    mebibytes(self.bounds.memory_bytes),
                    self.tail
                ),
                forgiven: FORGIVEN_RUNNING,
            },
            Fault::Own => Finding::Failed(
                Cause::Crash,
                format!(
                    "it ended by itself {} ({how}); {}",
                    self.when(now),
                    self.tail
                ),
            ),
        }
    }

    /// `after 3.2 s of running, ...`, or `before it was ready`.
    fn when(&self, now: f64) -> String {
        if !self.watch.has_begun() {
            return "before it was ready".to_owned();
        }
        format!(
            "after {:.1} s of running, where {:.1} s were asked for",
            self.watch.seconds(now),
            self.until
        )
    }

    /// The report on all that it has run.
    pub fn report(&mut self, now: f64) -> Outcome {
        let seconds = self.watch.seconds(now);
        let mut all = self.gauge.metrics();
        // What its set-up held is within the bound, but not of what is measured.
        let held = self.running_bytes.unwrap_or(self.last_bytes);
        all.entry(metrics::MEMORY.to_owned()).or_insert(held as f64);
        let metrics = match Metrics::new(all) {
            Ok(metrics) => metrics,
            Err(error) => {
                return Outcome::Failed {
                    cause: Cause::NoMetric,
                    detail: error.to_string(),
                };
            }
        };
        let setup_seconds = if self.setup_told {
            0.0
        } else {
            self.setup_seconds()
        };
        self.setup_told = true;
        let mut series = self.gauge.series();
        series.retain(|it| it.second > self.known && it.throughput.is_finite());
        Outcome::Measured {
            seconds,
            setup_seconds,
            metrics,
            series,
            notes: self.notes.clone(),
        }
    }

    /// Running seconds.
    pub fn seconds(&self, now: f64) -> f64 {
        self.watch.seconds(now)
    }

    fn setup_seconds(&self) -> f64 {
        self.watch
            .began()
            .map_or(0.0, |at| (at - self.started).max(0.0))
    }

    fn setting_up(&self, now: f64) -> Finding {
        let seconds = now - self.started;
        if seconds <= self.bounds.setup_deadline {
            return Finding::Fine;
        }
        let detail = format!("it was not ready after {seconds:.0} s; {}", self.tail);
        Finding::Failed(Cause::Hang, detail)
    }

    fn by_its_own_words(&self, words: &str, now: f64) -> Finding {
        if !self.watch.has_begun() {
            return Finding::Failed(Cause::CannotOpen, words.to_owned());
        }
        let seconds = self.watch.seconds(now);
        Finding::Failed(
            Cause::Crash,
            format!("after {seconds:.1} s of running: {words}"),
        )
    }

    fn too_large(&self) -> String {
        format!(
            "its processes held {}, where {} are allowed",
            mebibytes(self.most_bytes),
            mebibytes(self.bounds.memory_bytes)
        )
    }

    fn silent(&self, seconds: f64) -> String {
        format!(
            "no sample came for {:.1} s of running; {}",
            seconds - self.gauge.last(),
            self.tail
        )
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
#[path = "monitor_tests.rs"]
mod tests;
