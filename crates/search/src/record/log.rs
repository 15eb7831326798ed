//! Reads a log back.

use super::line::{Begin, Event, Target, VERSION};
use crate::error::{Result, SearchError};
use crate::search::{Cause, Decision, Earlier, EarlierReading, Outcome, REACHED, TrialId};
use crate::space::{Configuration, Space};
use crate::verdict::{Ablated, Contender, Repeated};

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
    /// A line that is damaged, of another format, or stands before the beginning of
    /// a search; with its number. A last line that was not written to its end is
    /// passed over.
    pub fn parse(text: &str) -> Result<Log> {
        let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |at| at + 1));
        // No part of an object is an object, so what can be read is all there.
        let needs_break = !rest.is_empty() && event(rest).is_ok();
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
        matching.flat_map(Recorded::tried).collect()
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
    let damaged = |error: serde_json::Error| {
        SearchError::new(format!(
            "it is damaged ({error}): remove it, or begin another log"
        ))
    };
    let value: serde_json::Value = serde_json::from_str(line).map_err(damaged)?;
    if value.get("event").and_then(|it| it.as_str()) == Some("begin") {
        let version = value.get("version").and_then(|it| it.as_u64());
        if version != Some(u64::from(VERSION)) {
            let version = version.map_or("of no version".to_owned(), |it| format!("version {it}"));
            return Err(SearchError::new(format!(
                "it was written in another format ({version}; this program has {VERSION}): \
                 begin another log, or use the program that wrote it"
            )));
        }
    }
    // From the text rather than the value, so that every digit counts.
    serde_json::from_str(line).map_err(damaged)
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
    /// evaluation, or its latest where it did not come so far; none if nothing was measured.
    fn tried(&self) -> Vec<Earlier> {
        let full = self.begin.setup.method.points.longest();
        let mut tried: Vec<Tried> = Vec::new();
        let mut best = None;
        for event in &self.events {
            match event {
                Event::Decision { decision, .. } => {
                    started(&mut tried, decision);
                    if let Decision::Done { best: found, .. } = decision {
                        best = *found;
                    }
                }
                Event::Repeated { repeated, .. } => {
                    let mut trials = tried.iter_mut();
                    let is_best = repeated.contender == Contender::Best;
                    if let Some(known) = trials.find(|it| is_best && Some(it.trial) == best) {
                        known.failed |= repeated.metrics.is_none();
                    }
                }
                Event::Measurement { measurement, .. } => {
                    let known = tried.iter_mut().find(|it| it.trial == measurement.trial);
                    if let Some(known) = known {
                        known.take(&measurement.outcome, full);
                    }
                }
                _ => {}
            }
        }
        if tried.iter().all(|it| it.hung || it.measured.is_none()) {
            return Vec::new();
        }
        let known = tried
            .into_iter()
            .filter(|it| it.failed || it.hung || it.measured.is_some());
        known
            .map(|it| Earlier {
                configuration: it.configuration,
                measured: it.measured.filter(|_| !it.failed && !it.hung),
                hung: it.hung,
            })
            .collect()
    }
}

/// A trial of a recorded search.
struct Tried {
    trial: TrialId,
    configuration: Configuration,
    measured: Option<EarlierReading>,
    failed: bool,
    hung: bool,
}

impl Tried {
    /// Takes a report of a search with full evaluations of so many seconds.
    fn take(&mut self, outcome: &Outcome, full: f64) {
        match outcome {
            Outcome::Measured {
                seconds, metrics, ..
            } => {
                if self.has_come_to(full) {
                    // How far it runs on behind that differs from search to search, and figures
                    // of different times are not compared.
                    return;
                }
                self.measured = Some(EarlierReading {
                    seconds: seconds.min(full),
                    metrics: metrics.clone(),
                });
            }
            Outcome::Failed {
                cause: Cause::Hang, ..
            } => self.hung = true,
            Outcome::Failed { .. } => self.failed = true,
            Outcome::Lost { .. } => {}
        }
    }

    fn has_come_to(&self, full: f64) -> bool {
        let measured = self.measured.as_ref();
        measured.is_some_and(|it| it.seconds >= full * REACHED)
    }
}

/// Adds a trial when it is started for the first time.
fn started(tried: &mut Vec<Tried>, decision: &Decision) {
    let Decision::Start {
        trial,
        configuration,
        ..
    } = decision
    else {
        return;
    };
    if tried.iter().all(|it| it.trial != *trial) {
        tried.push(Tried {
            trial: *trial,
            configuration: configuration.clone(),
            measured: None,
            failed: false,
            hung: false,
        });
    }
}
