//! Runs trials on other machines, through a program that can: a *runner*.
//!
//! A runner starts, pauses, weighs and ends what it is told to, and passes on what trials
//! print, with the times of the machine that runs them. What follows from that is decided
//! here, by the same [`monitor`](crate::runner::monitor) as for a child of this machine.
//! The modules read in this order: [`message`] (the protocol), [`greeting`] (what a
//! runner can), [`away`] (one trial), [`link`] (the runner's process), [`hello`], this one
//! (what it is told) and [`hear`] (what follows from what it says).

mod away;
mod greeting;
mod hear;
mod hello;
mod link;
mod message;

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use lissom_search::search::{Measurement, TrialId};

use crate::error::{Result, TrialsError};
use crate::runner::losses::Losses;
use crate::runner::place::Root;
use crate::runner::{Settings, Writer};
use crate::session::{Job, Trials};
use crate::template::Template;
use away::Away;
use greeting::Greeting;
use hello::await_hello;
use link::Link;
use message::{Order, VERSION};

/// Between two looks at what was said.
const TICK: Duration = Duration::from_millis(10);
/// Messages that are taken at once.
const MOST_MESSAGES: usize = 10_000;
/// Trials have so many seconds to stand still when everything is to.
const HALT_SECONDS: f64 = 5.0;
/// Whoever has not listened for so many seconds has missed nothing: it lies in the pipe.
const UNHEARD_SECONDS: f64 = 1.0;

/// How long silence is borne, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patience {
    /// Until the runner says what it can. Machines may have to be found first.
    pub hello: f64,
    /// Between two messages of the runner, and of a trial that runs; and until one that was told
    /// to pause has done so, which needs no worker.
    pub silence: f64,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            hello: 180.0,
            silence: 60.0,
        }
    }
}

/// Runs trials elsewhere. All of them end when it is dropped, and so does the runner.
pub struct Elsewhere {
    settings: Settings,
    template: Template,
    writer: Writer,
    patience: Patience,
    greeting: Greeting,
    begun: Instant,
    trials: BTreeMap<TrialId, Known>,
    /// The number of the last start.
    run: u64,
    losses: Losses,
    remarks: Vec<String>,
    /// What was not given yet.
    reports: Vec<Measurement>,
    /// What went wrong while there were reports to give first.
    pending: Option<TrialsError>,
    /// When the runner was last heard.
    heard: f64,
    /// When it was last listened to.
    listened: f64,
    /// When a trial last ran.
    moved: f64,
    link: Link,
}

/// A trial that was started and not stopped.
struct Known {
    job: Job,
    /// Absent between two attempts.
    away: Option<Away>,
    /// Running seconds that were reported.
    reported: f64,
}

impl Elsewhere {
    /// Starts a runner and waits until it has said what it can. `workers` is the most
    /// trials that will run at once, if that is known; `interrupted` is asked now and
    /// then. Of the directory of `settings` only the runner's own record is made use of.
    ///
    /// # Errors
    /// It cannot be started, does not say hello in time or in this version, or has no
    /// workers; the directory belongs to another search; it was interrupted.
    pub fn open(
        settings: Settings,
        template: Template,
        writer: Writer,
        command: &[String],
        workers: Option<usize>,
        patience: Patience,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Elsewhere> {
        let root = Root::open(&settings.directory, false)?;
        let mut link = Link::start(root, command)?;
        link.send(&Order::Hello {
            version: VERSION,
            lissom: env!("CARGO_PKG_VERSION").to_owned(),
            workers,
            memory_bytes: settings.memory_bytes,
            waits: !settings.restart,
            keep: settings.keep,
        })?;
        let greeting = await_hello(&mut link, patience.hello, interrupted)?;
        Ok(Elsewhere {
            settings,
            template,
            writer,
            patience,
            greeting,
            begun: Instant::now(),
            trials: BTreeMap::new(),
            run: 0,
            losses: Losses::default(),
            remarks: Vec::new(),
            reports: Vec::new(),
            pending: None,
            heard: 0.0,
            listened: 0.0,
            moved: 0.0,
            link,
        })
    }

    /// The runner's name, for people.
    pub fn name(&self) -> &str {
        &self.greeting.name
    }

    /// Trials that it can run at once.
    pub fn workers(&self) -> usize {
        self.greeting.workers
    }

    /// Takes how many trials may be alive at once. Where they cannot all wait, they start
    /// anew instead; then a sentence.
    pub fn admit(&mut self, most_alive: usize) -> Option<String> {
        if self.settings.restart {
            return None;
        }
        let note = self.greeting.crowded(most_alive)?;
        self.settings.restart = true;
        Some(note)
    }

    /// Orders an attempt, of which `known` running seconds were reported before.
    fn begin(&mut self, job: &Job, known: f64) -> Result<Away> {
        self.run += 1;
        self.link.send(&Order::Start {
            run: self.run,
            label: job.label.clone(),
            command: self
                .template
                .half_filled(job.trial, self.settings.told_seconds(), job.seed),
            options: (self.writer)(&job.configuration)?,
        })?;
        let (bounds, waits) = (self.settings.bounds(), !self.settings.restart);
        let now = self.seconds();
        Ok(Away::new(self.run, bounds, job.until, known, waits, now))
    }

    /// Tells the run of a trial something, if it has one.
    fn order(&self, trial: TrialId, order: impl FnOnce(u64) -> Order) -> Result<()> {
        let known = self.trials.get(&trial);
        let run = known.and_then(|it| it.away.as_ref()).map(|it| it.run);
        run.map_or(Ok(()), |run| self.link.send(&order(run)))
    }

    /// Ends a run, wherever it is.
    fn forget(&self, away: Option<Away>) {
        if let Some(away) = away {
            // A number can always be written.
            let _ = self.link.send(&Order::Stop { run: away.run });
        }
    }

    /// Does something with every run.
    fn each(&mut self, mut act: impl FnMut(&mut Away)) {
        let known = self.trials.values_mut();
        known.filter_map(|it| it.away.as_mut()).for_each(&mut act);
    }

    /// Tells all runs something of which that is true.
    fn order_all(
        &mut self,
        mut is_meant: impl FnMut(&mut Away) -> bool,
        order: impl Fn(u64) -> Order,
    ) -> Result<()> {
        let mut runs = Vec::new();
        self.each(|away| {
            if is_meant(away) {
                runs.push(away.run);
            }
        });
        runs.into_iter()
            .try_for_each(|run| self.link.send(&order(run)))
    }

    /// Waits until every trial stands still, one that is about to start too, but not for ever.
    fn stand_still(&mut self) -> Result<()> {
        let until = self.seconds() + HALT_SECONDS;
        loop {
            self.order_all(Away::halt, |run| Order::Pause { run })?;
            self.listen()?;
            let mut moving = false;
            self.each(|away| moving |= away.may_move());
            if !moving || self.seconds() >= until {
                return Ok(());
            }
            thread::sleep(TICK);
        }
    }
}

impl Trials for Elsewhere {
    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn start(&mut self, job: &Job) -> Result<()> {
        self.stop(job.trial);
        let known = Known {
            job: job.clone(),
            away: Some(self.begin(job, 0.0)?),
            reported: 0.0,
        };
        self.trials.insert(job.trial, known);
        Ok(())
    }

    fn go_on(&mut self, trial: TrialId, until: f64) -> Result<()> {
        let Some(mut known) = self.trials.remove(&trial) else {
            return Err(TrialsError::not_here(trial));
        };
        known.job.until = until;
        match &mut known.away {
            Some(away) => {
                if away.go_on(until, self.seconds()) {
                    self.link.send(&Order::GoOn { run: away.run })?;
                }
            }
            None => known.away = Some(self.begin(&known.job, known.reported)?),
        }
        self.trials.insert(trial, known);
        Ok(())
    }

    fn may_end(&mut self, trial: TrialId) {
        let known = self.trials.get_mut(&trial);
        let known = known.filter(|_| self.settings.restart);
        let ending = known.and_then(|it| it.away.take());
        self.forget(ending);
    }

    fn stop_many(&mut self, trials: &[TrialId]) {
        for trial in trials {
            let known = self.trials.remove(trial);
            self.forget(known.and_then(|it| it.away));
        }
    }

    fn restarts(&self) -> bool {
        self.settings.restart
    }

    fn halt(&mut self) {
        if !self.greeting.pauses {
            return;
        }
        if let Err(error) = self.stand_still() {
            self.pending.get_or_insert(error);
        }
    }

    fn proceed(&mut self) {
        let now = self.seconds();
        self.listen_anew(now);
        self.listened = now;
        if let Err(error) = self.order_all(Away::proceed, |run| Order::GoOn { run }) {
            self.pending.get_or_insert(error);
        }
    }

    fn poll(&mut self) -> Result<Vec<Measurement>> {
        let done = match self.pending.take() {
            Some(error) => Err(error),
            None => self.listen().and_then(|()| self.look_at_clock()),
        };
        let reports = std::mem::take(&mut self.reports);
        match done {
            Err(error) if reports.is_empty() => return Err(error),
            Err(error) => self.pending = Some(error),
            Ok(()) if reports.is_empty() => thread::sleep(TICK),
            Ok(()) => {}
        }
        Ok(reports)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
