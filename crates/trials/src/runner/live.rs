//! A trial whose processes run or stand still.

use std::time::Instant;

use lissom_search::search::Outcome;

use super::follow::Follow;
use super::listen::{Heard, Stream};
use super::monitor::{Fault, Finding, Monitor};
use super::place::Place;
use super::process::{self, Process};
use super::scale::Scale;
use crate::protocol::said;

/// Lines that are taken at once, so that no child keeps others waiting.
const MOST_LINES: usize = 2_000;

/// Processes, what is known of them, and where they lie.
#[derive(Debug)]
pub(super) struct Live {
    pub process: Process,
    pub place: Place,
    pub monitor: Monitor,
    pub scale: Scale,
    /// The file with samples, if they do not come by the standard output.
    pub follow: Option<Follow>,
    pub memory_bytes: u64,
    /// When the runner's clock began.
    pub begun: Instant,
    /// Whether the leader had ended when it was to go on.
    pub gone: bool,
}

impl Live {
    /// Looks at everything once; of a trial that stands still only whether it has
    /// ended, so that many of them take no time from the one that runs.
    pub fn look(&mut self) -> Finding {
        let waits = self.monitor.is_paused();
        if self.process.has_ended() {
            return self.ended(waits || self.gone);
        }
        if waits {
            return Finding::Fine;
        }
        self.hear();
        let now = self.now();
        if let Some(bytes) = self.scale.weigh(now, self.memory_bytes) {
            self.monitor.weigh(bytes);
        }
        self.monitor.look(now)
    }

    /// Stops the processes and gives the report on what they ran.
    pub fn pause(&mut self) -> Outcome {
        self.process.pause();
        let now = self.now();
        self.hear();
        self.monitor.pause(now);
        self.monitor.report(now)
    }

    /// Lets the processes go on.
    pub fn resume(&mut self, until: f64) {
        self.gone = self.process.has_ended();
        self.hear();
        self.monitor.resume(self.now(), until);
        self.process.resume();
    }

    /// Stops the processes wherever they are, unless they wait anyway.
    pub fn halt(&mut self) {
        if !self.monitor.is_paused() {
            self.process.pause();
            self.monitor.halt(self.now());
        }
    }

    /// Lets them go on from there.
    pub fn proceed(&mut self) {
        if !self.monitor.is_paused() {
            self.hear();
            self.monitor.proceed(self.now());
            self.process.resume();
        }
    }

    /// Running seconds.
    pub fn seconds(&self) -> f64 {
        self.monitor.seconds(self.now())
    }

    fn hear(&mut self) {
        for _ in 0..MOST_LINES {
            let Some(heard) = self.process.heard() else {
                break;
            };
            self.take(heard);
        }
        self.read();
    }

    /// Reads the file with samples.
    fn read(&mut self) {
        let at = self.now();
        let lines = self.follow.as_mut().map(Follow::lines);
        for line in lines.unwrap_or_default() {
            self.monitor.hear(said(&line), at);
        }
    }

    fn take(&mut self, heard: Heard) {
        let speaks = heard.from == Stream::Output && self.follow.is_none();
        if speaks {
            let at = self.seconds_at(heard.at);
            self.monitor.hear(said(&heard.line), at);
        } else {
            self.monitor.hear_words(&heard.line);
        }
    }

    /// The leader has ended; `waited` if it stood still then, and so did nothing of
    /// itself.
    fn ended(&mut self, waited: bool) -> Finding {
        self.hear();
        let now = self.now();
        let ending = self.process.last_words();
        for line in ending.lines {
            self.take(line);
        }
        self.read();
        self.monitor
            .ended(&ending.how, Fault::of(waited, ending.killed), now)
    }

    fn now(&self) -> f64 {
        self.seconds_at(Instant::now())
    }

    fn seconds_at(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begun).as_secs_f64()
    }
}

/// Ends the processes of all of them and removes their directories; sentences on what
/// failed.
pub(super) fn end_all(mut lives: Vec<Live>) -> Vec<String> {
    let processes = lives.iter_mut().map(|it| &mut it.process).collect();
    let left = process::end_all(processes).into_iter();
    let left =
        left.map(|it| format!("process group {it} could not be ended: look what it waits for"));
    let mut sentences: Vec<String> = left.collect();
    sentences.extend(lives.iter().filter_map(|it| it.place.remove()));
    sentences
}
