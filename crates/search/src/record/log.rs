//! Reads a log back.

use serde_json::Value;

use super::line::{Begin, EVENTS, Event, Target, VERSION};
use super::tried::{Tried, contenders, started};
use crate::error::{Result, SearchError};
use crate::objective::judge;
use crate::search::{Decision, Earlier, EarlierReading, Outcome, Setup, TrialId, broken};
use crate::space::{Configuration, Space};
use crate::verdict::{Ablated, Contender, Lengths, Repeated, is_refuted};

/// A log that was read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Log {
    /// The searches in it, the oldest first.
    pub searches: Vec<Recorded>,
    /// Bytes of the text up to the end of its last whole line. What was being written
    /// behind them when a program ended is lost: cut the file here before appending
    /// to it.
    pub whole_bytes: usize,
    /// Whether the last line lacks only its line break: append one first.
    pub needs_break: bool,
}

/// One search in a log.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// Its first line.
    pub begin: Begin,
    /// The other lines.
    pub events: Vec<Event>,
}

impl Log {
    /// Reads the text of a log. An empty text is a log without searches.
    ///
    /// # Errors
    /// A line that is damaged, of another format or version, or stands before the beginning
    /// of a search; with its number. A last line that was not written to its end is
    /// passed over.
    pub fn parse(text: &str) -> Result<Log> {
        let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |at| at + 1));
        // No part of an object is an object, so what is one is all there.
        let needs_break = serde_json::from_str::<Value>(rest).is_ok_and(|it| it.is_object());
        let mut log = Log {
            searches: Vec::new(),
            whole_bytes: whole.len() + if needs_break { rest.len() } else { 0 },
            needs_break,
        };
        let last = needs_break.then_some(rest);
        for (at, line) in whole.lines().chain(last).enumerate() {
            let place = format!("line {} of the search log", at + 1);
            log.take(line).map_err(|error| error.at(place))?;
        }
        Ok(log)
    }

    fn take(&mut self, line: &str) -> Result<()> {
        match event(line)? {
            Event::Begin(begin) => self.searches.push(Recorded {
                begin: *begin,
                events: Vec::new(),
            }),
            event => match self.searches.last_mut() {
                Some(search) => search.events.push(event),
                None => {
                    return Err(SearchError::new(
                        "it stands before the beginning of a search: this is no search log, or \
                         its first line is missing",
                    ));
                }
            },
        }
        Ok(())
    }

    /// What all searches of this space and target have measured, as a later search
    /// takes it. Where nothing could be measured, the program rather than its
    /// configurations failed: of such a search nothing is taken.
    pub fn earlier(&self, space: &Space, target: &Target) -> Vec<Earlier> {
        let searches = self.searches.iter();
        let matching = searches.filter(|it| it.fits(space, target).is_ok());
        let default = space.default_configuration();
        matching.flat_map(|it| it.tried(&default)).collect()
    }

    /// Why nothing can be learned from the searches in it; `None` if something can, or
    /// there are none.
    pub fn stranger(&self, space: &Space, target: &Target) -> Option<SearchError> {
        let searches = self.searches.iter();
        let errors: Vec<SearchError> = searches
            .filter_map(|it| it.fits(space, target).err())
            .collect();
        let all = errors.len() == self.searches.len();
        errors.into_iter().next_back().filter(|_| all)
    }
}

/// The event of a line.
fn event(line: &str) -> Result<Event> {
    let value: Value = serde_json::from_str(line).map_err(|error| {
        SearchError::new(format!(
            "it is damaged ({error}): remove it, or begin another log"
        ))
    })?;
    let name = value.get("event").and_then(Value::as_str);
    if name == Some("begin") {
        check_version(value.get("version").and_then(Value::as_u64))?;
    }
    // From the text rather than the value, so that every digit counts.
    serde_json::from_str(line).map_err(|error| unknown(name, &error))
}

fn check_version(version: Option<u64>) -> Result<()> {
    if version == Some(u64::from(VERSION)) {
        return Ok(());
    }
    let version = version.map_or("of no version".to_owned(), |it| format!("version {it}"));
    Err(SearchError::new(format!(
        "it was written in another format ({version}; this program has {VERSION}): begin another \
         log, or use the program that wrote it"
    )))
}

/// That a whole line holds what this program does not know. It may be what others have measured,
/// so nobody is told to remove it.
fn unknown(name: Option<&str>, error: &serde_json::Error) -> SearchError {
    SearchError::new(match name {
        None => "it tells of no event: this is no search log; begin another log".to_owned(),
        Some(name) if EVENTS.contains(&name) => format!(
            "what it tells of the event {name} is not as this program writes it ({error}): \
             another version of lissom wrote it, so use that one, or begin another log"
        ),
        Some(name) => format!(
            "it tells of the event {name:?}, which this program does not know: a newer lissom \
             wrote it, so use that one, or begin another log"
        ),
    })
}

impl Recorded {
    /// Whether this search's measurements hold for a space and a target.
    ///
    /// # Errors
    /// They do not, and why.
    pub fn fits(&self, space: &Space, target: &Target) -> Result<()> {
        let begin = &self.begin;
        if begin.space_fingerprint != space.fingerprint() {
            return Err(SearchError::new(format!(
                "the search log belongs to another space ({}, fingerprint {}; this one is {}, \
                 {}): parameters, rules, features or constants differ",
                begin.space,
                begin.space_fingerprint,
                space.name(),
                space.fingerprint()
            )));
        }
        if begin.target.fingerprint != target.fingerprint {
            return Err(SearchError::new(format!(
                "the search log belongs to another target ({}, fingerprint {}; this one is {}, \
                 {})",
                begin.target.name, begin.target.fingerprint, target.name, target.fingerprint
            )));
        }
        Ok(())
    }

    /// Whether it chose its best; repeats may still be missing.
    pub fn is_done(&self) -> bool {
        self.decisions()
            .any(|decision| matches!(decision, Decision::Done { .. }))
    }

    /// Whether nothing more was to come: its verdict is complete, and what was found is written.
    pub fn has_ended(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|event| matches!(event, Event::End { .. }))
    }

    /// The decisions in it, in their order.
    pub fn decisions(&self) -> impl Iterator<Item = &Decision> {
        self.events.iter().filter_map(|event| match event {
            Event::Decision { decision, .. } => Some(decision),
            _ => None,
        })
    }

    /// Repeats in it, in their order.
    pub fn repeated(&self) -> impl Iterator<Item = &Repeated> {
        self.events.iter().filter_map(|event| match event {
            Event::Repeated { repeated, .. } => Some(repeated),
            _ => None,
        })
    }

    /// Ablations in it, in their order.
    pub fn ablated(&self) -> impl Iterator<Item = &Ablated> {
        self.events.iter().filter_map(|event| match event {
            Event::Ablated { ablated, .. } => Some(ablated),
            _ => None,
        })
    }

    /// Seconds by the clock that it has taken so far.
    pub fn elapsed(&self) -> f64 {
        self.events.iter().map(Event::at).fold(0.0, f64::max)
    }

    /// Every configuration that was measured or failed, with its measurement after a full
    /// evaluation, or its latest where it did not come so far; none if nothing was measured. A
    /// best that its repeats refuted counts as if it had failed.
    fn tried(&self, default: &Configuration) -> Vec<Earlier> {
        let broken = self.broken();
        let mut tried = self.trials(self.events.len() - broken);
        // Repeats by a program that had broken tell nothing either.
        let best = self.best().filter(|_| broken == 0);
        let refuted = best.filter(|best| self.is_refuted(*best, &tried, default));
        if let Some(best) = tried.iter_mut().find(|it| Some(it.trial) == refuted) {
            best.failed = true;
        }
        if tried.iter().all(|it| it.hung || it.measured.is_none()) {
            return Vec::new();
        }
        let ablations = self.ablations(&tried);
        let known = tried
            .into_iter()
            .filter(|it| it.failed || it.hung || it.measured.is_some());
        known
            .map(|it| Earlier {
                configuration: it.configuration,
                measured: it.measured.filter(|_| !it.failed && !it.hung),
                hung: it.hung,
            })
            .chain(ablations)
            .collect()
    }

    /// Its trials, with what measurements among the first so many events tell of them.
    fn trials(&self, told: usize) -> Vec<Tried> {
        let full = self.begin.setup.method.points.longest();
        let mut tried: Vec<Tried> = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            match event {
                Event::Decision { decision, .. } => started(&mut tried, decision),
                Event::Measurement { measurement, .. } if at < told => {
                    let known = tried.iter_mut().find(|it| it.trial == measurement.trial);
                    if let Some(known) = known {
                        known.take(&measurement.outcome, full);
                    }
                }
                _ => {}
            }
        }
        tried
    }

    /// How many of the last events hold nothing but failures of a program that had broken: they
    /// tell nothing of the configurations.
    fn broken(&self) -> usize {
        let setup = &self.begin.setup;
        let outcomes = self.events.iter().map(|event| match event {
            Event::Measurement { measurement, .. } => Some(&measurement.outcome),
            _ => None,
        });
        // As a search does, which takes what it cannot judge for a failure.
        let works = |metrics| judge(&setup.objective, &setup.constraints, metrics).is_ok();
        let (mut events, mut failures) = (0, 0);
        for outcome in outcomes.rev() {
            match outcome {
                Some(Outcome::Measured { metrics, .. }) if works(metrics) => break,
                Some(Outcome::Measured { .. } | Outcome::Failed { .. }) => failures += 1,
                Some(Outcome::Lost { .. }) | None => {}
            }
            events += 1;
        }
        if failures >= broken(setup.method.workers) {
            events
        } else {
            0
        }
    }

    /// The best by the search itself.
    fn best(&self) -> Option<TrialId> {
        self.decisions().find_map(|decision| match decision {
            Decision::Done { best, .. } => *best,
            _ => None,
        })
    }

    /// Whether the best, which is this trial, failed in a repeat, or another contender is to be
    /// believed after them.
    fn is_refuted(&self, best: TrialId, tried: &[Tried], default: &Configuration) -> bool {
        let repeated: Vec<Repeated> = self.repeated().cloned().collect();
        let mut own = repeated.iter().filter(|it| it.contender == Contender::Best);
        let Setup {
            objective,
            constraints,
            ..
        } = &self.begin.setup;
        let lengths = Lengths {
            repeats: self.repeat_seconds().unwrap_or(0.0),
            search: self.reached(best),
        };
        // Repeats without a metric that is sought tell nothing.
        own.any(|it| it.metrics.is_none()) || {
            let (who, default) = contenders(best, tried, default, &repeated);
            let refuted = is_refuted(objective, constraints, &repeated, lengths, (&who, default));
            refuted.unwrap_or(false)
        }
    }

    /// Seconds that each repeat was to run; `None` where none was planned.
    fn repeat_seconds(&self) -> Option<f64> {
        self.events.iter().find_map(|event| match event {
            Event::Repeats { seconds, .. } => Some(*seconds),
            _ => None,
        })
    }

    /// Seconds that a trial was measured for; 0 of one that never was.
    fn reached(&self, trial: TrialId) -> f64 {
        let readings = self.events.iter().filter_map(|event| match event {
            Event::Measurement { measurement, .. } if measurement.trial == trial => {
                Some(&measurement.outcome)
            }
            _ => None,
        });
        let seconds = readings.filter_map(|outcome| match outcome {
            Outcome::Measured { seconds, .. } => Some(*seconds),
            _ => None,
        });
        seconds.fold(0.0, f64::max)
    }

    /// Ablations that were measured, of configurations that no trial had. They ran alone: where
    /// trials ran beside others, their figures are not those of trials.
    fn ablations(&self, tried: &[Tried]) -> Vec<Earlier> {
        let method = &self.begin.setup.method;
        let Some(ran) = self.repeat_seconds().filter(|_| method.workers == 1) else {
            return Vec::new();
        };
        let seconds = ran.min(method.points.longest());
        let new = |it: &Configuration| tried.iter().all(|known| known.configuration != *it);
        let measured = self.ablated().filter_map(|it| {
            let configuration = it.configuration.clone().filter(new)?;
            let metrics = it.metrics.clone()?;
            Some(Earlier {
                configuration,
                measured: Some(EarlierReading { seconds, metrics }),
                hung: false,
            })
        });
        measured.collect()
    }
}
