//! A trial that runs elsewhere: what is known of it, and what follows.
//!
//! Its time is that of the machine that runs it, and passes only as far as the runner
//! has told. So a slow link is never taken for a slow or a hanging program.

use lissom_search::search::{Cause, Outcome};

use super::message::News;
use crate::error::{Result, TrialsError};
use crate::protocol::{clean, said};
use crate::runner::monitor::{Bounds, Fault, Finding, Monitor};

/// A trial whose machine was lost has three attempts in all: the configuration may be
/// what brings machines down.
const FORGIVEN_LOST: u32 = 2;

/// Where a run stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// It was ordered to start.
    Asked,
    Runs,
    /// It has run long enough and was told to pause.
    Pausing,
    /// It was reported.
    Waits,
    /// It was told to go on from there.
    Resuming,
    /// It was told to pause wherever it is, as everything.
    Halting,
    Halted,
    /// It was told to go on as if nothing had been.
    Proceeding,
}

/// What follows from what was heard.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Step {
    /// Nothing.
    Fine,
    /// It has run long enough: it is to be paused, and then reports.
    Pause,
    /// The report.
    Report(Outcome),
    /// The configuration is bad.
    Failed(Cause, String),
    /// It is gone.
    Gone {
        /// What happened.
        why: String,
        /// How often that is forgiven.
        forgiven: u32,
    },
}

/// A run that was ordered and not stopped.
#[derive(Clone, Debug)]
pub(super) struct Away {
    /// Its number.
    pub run: u64,
    phase: Phase,
    monitor: Monitor,
    /// Its clock, as far as it was told.
    at: f64,
    until: f64,
    /// Whether it waits when it has run long enough.
    waits: bool,
    /// When it was last heard of or told something, by the clock of whoever listens.
    heard: f64,
    /// When it was last told to pause or to go on, by the same clock. Whatever else is said of it
    /// does not answer that.
    told: f64,
    /// Where it runs.
    place: String,
}

impl Away {
    /// A run that is ordered to start, of which `known` running seconds were reported
    /// before.
    pub fn new(run: u64, bounds: Bounds, until: f64, known: f64, waits: bool, now: f64) -> Away {
        Away {
            run,
            phase: Phase::Asked,
            monitor: Monitor::new(bounds, 0.0, until).again(known),
            at: 0.0,
            until,
            waits,
            heard: now,
            told: now,
            place: String::new(),
        }
    }

    /// Takes what is said of it.
    ///
    /// # Errors
    /// It cannot be true.
    pub fn hear(&mut self, news: &News, now: f64) -> Result<Step> {
        self.heard = now;
        self.at = news.at().unwrap_or(0.0).max(self.at);
        let at = self.at;
        match (news, self.phase) {
            (News::Started { place, .. }, Phase::Asked) => {
                self.place.clone_from(place);
                self.phase = Phase::Runs;
            }
            (News::Line { at, line, .. }, _) if self.phase != Phase::Asked => {
                self.monitor.hear(said(line), *at);
            }
            (News::Words { line, .. }, _) => self.monitor.hear_words(line),
            (News::Weighed { memory_bytes, .. }, _) => self.monitor.weigh(*memory_bytes),
            (News::Paused { .. }, Phase::Pausing) => {
                self.phase = Phase::Waits;
                return Ok(Step::Report(self.report()));
            }
            (News::Paused { .. }, Phase::Halting) => {
                self.phase = Phase::Halted;
                self.monitor.halt(at);
            }
            (News::Paused { .. }, Phase::Proceeding) => self.monitor.halt(at),
            (News::Resumed { .. }, Phase::Resuming) => {
                self.phase = Phase::Runs;
                self.monitor.resume(at, self.until);
            }
            (News::Resumed { .. }, Phase::Proceeding) => {
                self.phase = Phase::Runs;
                self.monitor.proceed(at);
            }
            (News::Ended { how, killed, .. }, _) => {
                let fault = Fault::of(self.stands_still(), *killed);
                let finding = self.monitor.ended(&clean(how), fault, at);
                return Ok(self.step(finding));
            }
            (News::Lost { why, .. }, _) => return Ok(self.lost(why)),
            _ => return Err(self.contradicts(news)),
        }
        let step = self.look();
        if step == Step::Pause {
            self.told = now;
        }
        Ok(step)
    }

    /// Takes that nothing was heard of it for so many seconds.
    pub fn is_silent(&self, seconds: f64) -> Step {
        self.lost(&format!("nothing was heard of it for {seconds:.0} s"))
    }

    /// Takes that it runs on though it was told to pause so many seconds ago: what it would report
    /// is not of the time that was asked for.
    pub fn is_unpaused(&self, seconds: f64) -> Step {
        self.lost(&format!("it was not paused within {seconds:.0} s"))
    }

    /// Seconds since it was last heard of; `None` of one that need say nothing.
    pub fn silent_since(&self, now: f64) -> Option<f64> {
        self.is_moving().then_some(now - self.heard)
    }

    /// Seconds for which it waits to be started.
    pub fn asked_since(&self, now: f64) -> Option<f64> {
        (self.phase == Phase::Asked).then_some(now - self.heard)
    }

    /// Seconds for which it was to go on, and has not; `None` of one that was not told to.
    pub fn told_since(&self, now: f64) -> Option<f64> {
        let is_told = matches!(self.phase, Phase::Resuming | Phase::Proceeding);
        is_told.then_some(now - self.told)
    }

    /// Seconds for which it was to pause and then to report; `None` of one that was not told to.
    pub fn pausing_since(&self, now: f64) -> Option<f64> {
        (self.phase == Phase::Pausing).then_some(now - self.told)
    }

    /// Time in which nobody listened is no silence, and nobody waited for an answer.
    pub fn listen_anew(&mut self, now: f64) {
        self.heard = now;
        self.told = now;
    }

    /// It goes on until it has run so long; whether it has to be told, since it was paused.
    pub fn go_on(&mut self, until: f64, now: f64) -> bool {
        self.until = until;
        self.heard = now;
        self.told = now;
        if self.waits {
            self.phase = Phase::Resuming;
        } else {
            self.phase = Phase::Runs;
            self.monitor.resume(self.at, until);
        }
        self.waits
    }

    /// Whether it is to be told to pause, since everything is to stand still.
    pub fn halt(&mut self) -> bool {
        let runs = self.phase == Phase::Runs;
        if runs {
            self.phase = Phase::Halting;
        }
        runs
    }

    /// Whether it runs, as far as is known.
    pub fn is_moving(&self) -> bool {
        matches!(self.phase, Phase::Runs | Phase::Halting | Phase::Pausing)
    }

    /// Whether it may run: one that was asked for, or told to go on, may have begun before that is
    /// heard, or begins once a worker is free.
    pub fn may_move(&self) -> bool {
        let may_begin = matches!(
            self.phase,
            Phase::Asked | Phase::Resuming | Phase::Proceeding
        );
        may_begin || self.is_moving()
    }

    /// Whether it is to be told to go on, since everything is to. [`Away::listen_anew`] comes
    /// before.
    pub fn proceed(&mut self) -> bool {
        let halted = matches!(self.phase, Phase::Halting | Phase::Halted);
        if halted {
            self.phase = Phase::Proceeding;
        }
        halted
    }

    /// Running seconds.
    pub fn seconds(&self) -> f64 {
        self.monitor.seconds(self.at)
    }

    /// What follows from all that is known of one that runs.
    fn look(&mut self) -> Step {
        if self.phase != Phase::Runs {
            return Step::Fine;
        }
        let finding = self.monitor.look(self.at);
        self.step(finding)
    }

    fn step(&mut self, finding: Finding) -> Step {
        match finding {
            Finding::Fine => Step::Fine,
            Finding::Reached if self.waits => {
                self.phase = Phase::Pausing;
                Step::Pause
            }
            Finding::Reached => {
                // It runs until it is ended, which is at once unless it goes on at once.
                self.phase = Phase::Waits;
                Step::Report(self.report())
            }
            Finding::Failed(cause, detail) => Step::Failed(cause, detail + &self.somewhere()),
            Finding::Gone { why, forgiven } => Step::Gone {
                why: why + &self.somewhere(),
                forgiven,
            },
        }
    }

    fn report(&mut self) -> Outcome {
        self.monitor.pause(self.at);
        self.monitor.report(self.at)
    }

    fn lost(&self, why: &str) -> Step {
        Step::Gone {
            why: format!("the runner lost it: {}{}", clean(why), self.somewhere()),
            forgiven: FORGIVEN_LOST,
        }
    }

    fn stands_still(&self) -> bool {
        matches!(
            self.phase,
            Phase::Waits | Phase::Resuming | Phase::Halted | Phase::Proceeding
        )
    }

    /// `; it ran on PLACE`
    fn somewhere(&self) -> String {
        if self.place.is_empty() {
            return String::new();
        }
        format!("; it ran on {}", clean(&self.place))
    }

    fn contradicts(&self, news: &News) -> TrialsError {
        let stands = match self.phase {
            Phase::Asked => "has not started it",
            Phase::Runs => "lets it run",
            Phase::Waits | Phase::Halted => "lets it wait",
            Phase::Pausing | Phase::Halting => "is to pause it",
            Phase::Resuming | Phase::Proceeding => "is to let it go on",
        };
        TrialsError::new(format!(
            "the runner says that run {} {}, where it {stands}: mend the runner",
            self.run,
            news.verb()
        ))
    }
}

#[cfg(test)]
#[path = "away_tests.rs"]
mod tests;
