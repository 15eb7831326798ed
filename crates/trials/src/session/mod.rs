//! The loop between a search and whatever runs its trials, and the repeats behind
//! it.
//!
//! [`Session::run`] asks the search, obeys, listens, tells, and writes everything
//! down; then it repeats the best against the runner-up and the default, and runs the
//! best without what single parameters bring. Clocks, processes and files reach it
//! as [`Trials`] and [`Book`].

mod alone;
mod left_behind;
mod opening;
mod plan;
mod seek;
mod verdict;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use alone::came_to_nothing;
pub use opening::{Opening, interrupted_workers, most_alive, most_started};
pub use plan::{Plan, Repeats};

use std::collections::BTreeSet;

use lissom_search::record::Event;
use lissom_search::search::{Measurement, Search, TrialId};
use lissom_search::space::Configuration;
use lissom_search::verdict::Repeated;

use crate::error::{Result, TrialsError};
use crate::findings::Findings;

/// What the operations of the search's trials are drawn from; those of a round of repeats
/// have the sum with the round's number.
const SEED: u64 = 1;

/// Seconds between two looks of whoever watches.
const SHOWN_EACH: f64 = 0.5;

/// A trial to be started.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// Its name in reports.
    pub trial: TrialId,
    /// Its name in paths: letters, digits, dashes, underscores and points.
    pub label: String,
    /// What it runs.
    pub configuration: Configuration,
    /// Seconds of running, without set-up and pauses, after which it reports.
    pub until: f64,
    /// What its operations are drawn from.
    pub seed: u64,
}

/// Whatever runs trials, and its clock.
pub trait Trials {
    /// Seconds by the clock since some instant.
    fn seconds(&self) -> f64;

    /// Another search begins than one that was interrupted: what that one has left for all its
    /// trials is not for this one's. Comes before the first start.
    ///
    /// # Errors
    /// What was left cannot be removed.
    fn search_begins(&mut self) -> Result<()> {
        Ok(())
    }

    /// The search has ended and does not go on: what all its trials share is not needed any
    /// more. Where this is not said, the same search goes on with it later.
    fn search_ended(&mut self) {}

    /// Starts a trial, anew if it is known.
    ///
    /// # Errors
    /// It cannot be started, whatever its configuration is.
    fn start(&mut self, job: &Job) -> Result<()>;

    /// Lets a trial that was reported run on.
    ///
    /// # Errors
    /// It cannot go on, whatever its configuration is.
    fn go_on(&mut self, trial: TrialId, until: f64) -> Result<()>;

    /// A trial that was reported has nothing to do for now: where trials end instead of
    /// waiting, it does. One of which this is not said goes on at once, and where it is.
    fn may_end(&mut self, trial: TrialId);

    /// Ends trials, all at the same time, and forgets them; nothing of unknown ones.
    fn stop_many(&mut self, trials: &[TrialId]);

    /// Ends a trial and forgets it; nothing of an unknown one.
    fn stop(&mut self, trial: TrialId) {
        self.stop_many(&[trial]);
    }

    /// Whether trials end instead of waiting, and begin anew when they go on. This may
    /// turn out while they run.
    fn restarts(&self) -> bool;

    /// Stops everything that runs where it is. Its time stands still; that of
    /// [`Trials::seconds`] goes on.
    fn halt(&mut self);

    /// Lets all of it go on.
    fn proceed(&mut self);

    /// The reports that came since the last call, each trial's once for every start
    /// and every [`Trials::go_on`]. Waits a little where there is none.
    ///
    /// # Errors
    /// No trial can go on, as on a full disk.
    fn poll(&mut self) -> Result<Vec<Measurement>>;

    /// What one should know of the way trials ended: sentences.
    fn remarks(&self) -> &[String] {
        &[]
    }
}

/// Where everything is written down.
pub trait Book {
    /// Appends an event, as a whole or not at all.
    ///
    /// # Errors
    /// It could not be written.
    fn append(&mut self, event: &Event) -> Result<()>;
}

/// Whoever watches a session, and may end it.
pub trait Observer {
    /// Whether the session should end.
    fn interrupts(&self) -> bool;

    /// Whether the session should stand still, with all its trials.
    fn suspends(&self) -> bool;

    /// Returns when it may go on.
    fn stand_still(&mut self);

    /// Sees how far it is, now and then.
    fn sees(&mut self, progress: &str);
}

/// A search that is being run.
pub struct Session<'a> {
    plan: &'a Plan,
    trials: &'a mut dyn Trials,
    book: &'a mut dyn Book,
    observer: &'a mut dyn Observer,
    search: Search,
    /// Everything that happened, the log's first line left out.
    events: Vec<Event>,
    /// What the search's clock is ahead of that of the trials.
    ahead: f64,
    running: BTreeSet<TrialId>,
    /// When the search chose its best.
    decided: Option<f64>,
    shown: f64,
}

impl<'a> Session<'a> {
    /// Runs a search from where it is to the end of its verdict, and says what was found. In
    /// the book it goes on until [`record_end`].
    ///
    /// # Errors
    /// It was interrupted, nothing more can be run or written down, or the program
    /// reports nothing that the search could go by. What was measured before stands
    /// in the book.
    pub fn run(
        plan: &'a Plan,
        opening: Opening,
        trials: &'a mut dyn Trials,
        book: &'a mut dyn Book,
        observer: &'a mut dyn Observer,
    ) -> Result<Findings> {
        let ahead = opening.elapsed - trials.seconds();
        let begin = opening.begin(plan);
        let mut session = Session {
            plan,
            trials,
            book,
            observer,
            decided: opening.decided(),
            search: opening.search,
            events: opening.events,
            ahead,
            running: BTreeSet::new(),
            shown: f64::NEG_INFINITY,
        };
        if let Some(begin) = begin {
            session.trials.search_begins()?;
            session.book.append(&begin)?;
        }
        let done = session.seek().and_then(|()| session.verdict());
        session.stop_all();
        done?;
        session.trials.search_ended();
        let spent = session.now();
        Findings::of(plan, &session.search, &session.events, spent)
    }

    /// Seconds by the clock since the search began, times without it left out.
    fn now(&self) -> f64 {
        self.trials.seconds() + self.ahead
    }

    /// Writes something down.
    fn note(&mut self, event: Event) -> Result<()> {
        if let Err(error) = self.book.append(&event) {
            // What the trials have written may be what fills the disk.
            self.stop_all();
            if self.book.append(&event).is_err() {
                return Err(lost_with(&event, error));
            }
            self.events.push(event);
            return Err(error);
        }
        self.events.push(event);
        Ok(())
    }

    /// Stops whatever runs or waits; what does not is not known to the trials.
    fn stop_all(&mut self) {
        let mut alive = std::mem::take(&mut self.running);
        alive.extend(self.search.alive());
        match alive.len() {
            0 => {}
            1 => self.observer.sees("ending 1 trial"),
            more => self.observer.sees(&format!("ending {more} trials")),
        }
        alive.extend(self.search.trials().iter().map(|it| it.id));
        let all: Vec<TrialId> = alive.into_iter().collect();
        self.trials.stop_many(&all);
    }

    /// Stops everything until it may go on, as if no time had passed.
    fn stand_still(&mut self) {
        let since = self.trials.seconds();
        self.trials.halt();
        self.observer.stand_still();
        self.trials.proceed();
        self.ahead -= self.trials.seconds() - since;
    }

    /// Looks whether to end or to stand still, and shows how far it is.
    fn attend(&mut self, progress: impl FnOnce(&Search, f64) -> String) -> Result<()> {
        if self.observer.interrupts() {
            return Err(TrialsError::new("interrupted"));
        }
        if self.observer.suspends() {
            self.stand_still();
        }
        let now = self.now();
        if now - self.shown >= SHOWN_EACH {
            self.shown = now;
            let progress = progress(&self.search, now);
            self.observer.sees(&progress);
        }
        Ok(())
    }
}

/// Why something was not written down, and what is lost with it: a decision is decided again,
/// but nobody else knows what was measured.
fn lost_with(event: &Event, error: TrialsError) -> TrialsError {
    match event {
        Event::Measurement { .. } | Event::Repeated { .. } | Event::Ablated { .. } => {
            TrialsError::new(format!(
                "{error}; ending the trials has not helped, so the measurement in hand is lost: \
                 see to it that the log can be written, and it is taken again"
            ))
        }
        _ => error,
    }
}

/// Writes down that a search has ended. Only once what was found is written: until then the same
/// search goes on behind its verdict, and finds the same.
///
/// # Errors
/// It could not be written.
pub fn record_end(book: &mut dyn Book, found: &Findings) -> Result<()> {
    let at = found.spent_seconds;
    book.append(&Event::End { at })
}

/// How contenders are repeated, if that was planned.
pub(crate) fn planned_repeats(events: &[Event]) -> Option<Repeats> {
    events.iter().find_map(|event| match event {
        Event::Repeats {
            rounds, seconds, ..
        } => Some(Repeats {
            rounds: *rounds,
            seconds: *seconds,
        }),
        _ => None,
    })
}

/// The repeats among events, in their order.
pub(crate) fn repeated(events: &[Event]) -> impl Iterator<Item = &Repeated> {
    events.iter().filter_map(|event| match event {
        Event::Repeated { repeated, .. } => Some(repeated),
        _ => None,
    })
}
