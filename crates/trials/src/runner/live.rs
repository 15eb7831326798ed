//! A trial whose processes run or stand still.

use std::time::Instant;

use lissom_search::search::Outcome;

use super::follow::Follow;
use super::listen::{Heard, Stream};
use super::monitor::{Finding, Monitor};
use super::place::Place;
use super::process::Process;
use super::scale::Scale;
use crate::protocol::said;

/// Lines that are taken at once, so that no child keeps others waiting.
const MOST_LINES: usize = 2_000;
/// What a killed process says of itself.
const KILLED: &str = "signal: 9";

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
}

impl Live {
    /// Looks at everything once; of a trial that stands still only whether it has
    /// ended, so that many of them take no time from the one that runs.
    pub fn look(&mut self) -> Finding {
        if self.monitor.is_paused() && !self.process.has_ended() {
            return Finding::Fine;
        }
        self.hear();
        if self.process.has_ended() {
            return self.ended();
        }
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
        self.hear();
        self.monitor.resume(self.now(), until);
        self.process.resume();
    }

    /// Running seconds.
    pub fn seconds(&self) -> f64 {
        self.monitor.seconds(self.now())
    }

    /// Ends the processes and removes their directory; sentences on what failed.
    pub fn end(mut self) -> Vec<String> {
        let group = self.process.group();
        let left = (!self.process.end())
            .then(|| format!("process group {group} could not be ended: look what it waits for"));
        left.into_iter().chain(self.place.remove()).collect()
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

    fn ended(&mut self) -> Finding {
        let now = self.now();
        let (lines, how) = self.process.last_words();
        for line in lines {
            self.take(line);
        }
        self.read();
        let hint = if how.starts_with(KILLED) {
            ", which the system sends when memory runs out"
        } else {
            ""
        };
        self.monitor.ended(&format!("{how}{hint}"), now)
    }

    fn now(&self) -> f64 {
        self.seconds_at(Instant::now())
    }

    fn seconds_at(&self, at: Instant) -> f64 {
        at.saturating_duration_since(self.begun).as_secs_f64()
    }
}
