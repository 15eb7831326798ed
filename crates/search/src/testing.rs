//! Trials in virtual time, to test a search, a space or an objective without
//! running anything.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::objective::{Metrics, metrics};
use crate::random::Random;
use crate::record::Event;
use crate::search::{Cause, Decision, Measurement, Outcome, Sample, Search, TrialId};
use crate::space::Configuration;

/// Metrics of a configuration once it has settled, or how it fails.
pub type Answer = std::result::Result<BTreeMap<String, f64>, Cause>;

/// What each configuration reaches.
pub type Surface<'a> = dyn Fn(&Configuration) -> Answer + 'a;

/// A machine that obeys a search. Time passes only in it.
pub struct Lab<'a> {
    surface: &'a Surface<'a>,
    /// Trials that run at once.
    pub workers: usize,
    /// Standard deviation of a metric over one second, as a share of it; over more
    /// seconds it falls as in independent draws.
    pub noise: f64,
    /// Seconds in which the throughput of a new trial, which begins twice as high,
    /// comes near its settled value (to 1 / e).
    pub settling: f64,
    /// Where the noise begins.
    pub seed: u64,
    /// Seconds by the clock.
    pub clock: f64,
    running: Vec<Run>,
    known: BTreeMap<TrialId, Known>,
}

/// A trial that runs.
struct Run {
    trial: TrialId,
    ends: f64,
    until: f64,
}

/// A trial that was started.
struct Known {
    configuration: Configuration,
    reached: f64,
}

impl<'a> Lab<'a> {
    /// One worker, no noise, settling within 5 s.
    pub fn new(surface: &'a Surface<'a>) -> Lab<'a> {
        Lab {
            surface,
            workers: 1,
            noise: 0.0,
            settling: 5.0,
            seed: 1,
            clock: 0.0,
            running: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    /// Obeys the search until it is done, and shows every event that a log would
    /// hold.
    ///
    /// # Errors
    /// The search refused a report.
    pub fn run(
        &mut self,
        search: &mut Search,
        mut show: impl FnMut(&Event),
    ) -> Result<Option<TrialId>> {
        loop {
            if self.running.len() < self.workers {
                let decision = search.ask(self.clock);
                let waits = matches!(decision, Decision::Wait { .. });
                if !waits {
                    self.obey(&decision);
                    let done = match &decision {
                        Decision::Done { best, .. } => Some(*best),
                        _ => None,
                    };
                    let at = self.clock;
                    show(&Event::Decision { at, decision });
                    match done {
                        Some(best) => return Ok(best),
                        None => continue,
                    }
                }
            }
            let measurement = self.next_report();
            show(&Event::Measurement {
                at: self.clock,
                measurement: measurement.clone(),
            });
            search.tell(measurement)?;
        }
    }

    /// Does what was decided.
    fn obey(&mut self, decision: &Decision) {
        match decision {
            Decision::Start {
                trial,
                configuration,
                until,
                ..
            } => {
                let known = Known {
                    configuration: configuration.clone(),
                    reached: 0.0,
                };
                self.known.insert(*trial, known);
                self.let_run(*trial, *until);
            }
            Decision::Continue { trial, until, .. } => self.let_run(*trial, *until),
            Decision::Stop { trial, .. } => self.running.retain(|it| it.trial != *trial),
            Decision::Wait { .. } | Decision::Done { .. } => {}
        }
    }

    fn let_run(&mut self, trial: TrialId, until: f64) {
        let reached = self.known.get(&trial).map_or(0.0, |it| it.reached);
        self.running.push(Run {
            trial,
            ends: self.clock + until - reached,
            until,
        });
    }

    /// The report of the trial that ends first.
    ///
    /// # Panics
    /// When nothing runs: a search must not wait for nothing.
    fn next_report(&mut self) -> Measurement {
        let runs = self.running.iter().enumerate();
        let first = runs.min_by(|(_, one), (_, other)| one.ends.total_cmp(&other.ends));
        let place = first
            .map(|(place, _)| place)
            .expect("a search that waits has a trial running");
        let run = self.running.remove(place);
        self.clock = self.clock.max(run.ends);
        Measurement {
            trial: run.trial,
            outcome: self.outcome(run.trial, run.until),
        }
    }

    fn outcome(&mut self, trial: TrialId, until: f64) -> Outcome {
        let Some(known) = self.known.get_mut(&trial) else {
            return Outcome::Lost {
                why: "it was never started".to_owned(),
            };
        };
        let settled = match (self.surface)(&known.configuration) {
            Ok(settled) => settled,
            Err(cause) => {
                return Outcome::Failed {
                    cause,
                    detail: "the surface says so".to_owned(),
                };
            }
        };
        let reached = std::mem::replace(&mut known.reached, until);
        let salt = trial.0.wrapping_mul(0x9e37_79b9).wrapping_add(until as u64);
        let mut random = Random::new(self.seed.wrapping_mul(1_000_003).wrapping_add(salt));
        let series = self.series(&settled, reached, until, &mut random);
        match Metrics::new(self.averages(&settled, until, &mut random)) {
            Ok(metrics) => Outcome::Measured {
                seconds: until,
                setup_seconds: 0.0,
                metrics,
                series,
                notes: Vec::new(),
            },
            Err(error) => Outcome::Failed {
                cause: Cause::NoMetric,
                detail: error.to_string(),
            },
        }
    }

    /// Throughput in each second.
    fn series(
        &self,
        settled: &BTreeMap<String, f64>,
        from: f64,
        until: f64,
        random: &mut Random,
    ) -> Vec<Sample> {
        let settled = settled.get(metrics::THROUGHPUT).copied().unwrap_or(0.0);
        let seconds = (from as u32 + 1)..=(until as u32);
        seconds
            .map(|second| {
                let second = f64::from(second);
                let high = 1.0 + (-second / self.settling).exp();
                let noise = 1.0 + self.noise * random.normal();
                Sample {
                    second,
                    throughput: (settled * high * noise).max(0.0),
                }
            })
            .collect()
    }

    /// Metrics over the first `until` seconds.
    fn averages(
        &self,
        settled: &BTreeMap<String, f64>,
        until: f64,
        random: &mut Random,
    ) -> BTreeMap<String, f64> {
        let decay = self.settling / until * (1.0 - (-until / self.settling).exp());
        let metrics = settled.iter().map(|(name, value)| {
            let high = if name == metrics::THROUGHPUT {
                1.0 + decay
            } else {
                1.0
            };
            let noise = 1.0 + self.noise * random.normal() / until.sqrt();
            (name.clone(), value * high * noise)
        });
        metrics.collect()
    }
}
