//! Where a search stands when a session begins.

use lissom_search::record::{Begin, Event, Log, Recorded, resume};
use lissom_search::search::{Decision, Search, TimePoints};

use super::Plan;
use super::left_behind::left_behind;
use crate::error::{Result, TrialsError};
use crate::findings::words::time;

/// A search that is to be run: resumed from a log, or begun with what is known from
/// it.
#[derive(Clone, Debug)]
pub struct Opening {
    pub(super) search: Search,
    pub(super) events: Vec<Event>,
    pub(super) elapsed: f64,
    resumed: bool,
    notes: Vec<String>,
}

impl Opening {
    /// The log's last search, if it is the planned one and has not ended, unless
    /// `anew`; otherwise another one, which learns from all of the same space and
    /// target.
    ///
    /// # Errors
    /// This program would have decided otherwise; a setting of the search that makes no
    /// sense.
    pub fn of(plan: &Plan, log: &Log, anew: bool) -> Result<Opening> {
        let last = log.searches.last();
        if let Some(last) = last.filter(|it| !anew && goes_on(it, plan)) {
            let (search, elapsed) = resume(log, &plan.space, &plan.target)
                .map_err(|error| TrialsError::new(format!("{error} (--new)")))?;
            return Ok(Opening {
                search,
                elapsed,
                events: last.events.clone(),
                resumed: true,
                notes: vec![format!(
                    "the search that was interrupted goes on after {}",
                    time(elapsed)
                )],
            });
        }
        let earlier = log.earlier(&plan.space, &plan.target);
        let left = last.filter(|it| !anew && !it.has_ended());
        let left = left.map(|it| left_behind(&it.begin, plan));
        Ok(Opening {
            search: Search::new(&plan.space, plan.setup.clone(), &earlier)?,
            events: Vec::new(),
            elapsed: 0.0,
            resumed: false,
            notes: left.into_iter().chain(unlearned(plan, log)).collect(),
        })
    }

    /// What one should know of the way it begins: sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a search goes on that was interrupted.
    pub fn is_resumed(&self) -> bool {
        self.resumed
    }

    /// Seconds by the clock that the search has taken before.
    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// The first line of a search that begins.
    pub(super) fn begin(&self, plan: &Plan) -> Option<Event> {
        (!self.resumed).then(|| {
            Event::Begin(Box::new(Begin {
                repeats: Some(plan.rounds),
                ..Begin::of(&self.search, plan.target.clone())
            }))
        })
    }

    /// When the search chose its best, if it has.
    pub(super) fn decided(&self) -> Option<f64> {
        self.events.iter().find_map(|event| match event {
            Event::Decision {
                at,
                decision: Decision::Done { .. },
            } => Some(*at),
            _ => None,
        })
    }
}

/// The most trials of a search that can be alive at once: as many as its method plans, or as the
/// budget lets be.
pub fn most_alive(search: &Search) -> usize {
    planned(search).min(search.most_affordable())
}

/// The most trials that a search can start: as many as its method plans, unless it uses its whole
/// budget and starts others where some have ended, or as fit into the time.
pub fn most_started(search: &Search) -> usize {
    let fitting = fitting(search);
    if search.setup().method.whole_budget {
        fitting
    } else {
        planned(search).min(fitting)
    }
}

/// The default, the best of earlier searches, one of each arm, and those of the method's own
/// rounds: with other buckets than before, that best may be of no arm.
fn planned(search: &Search) -> usize {
    let method = &search.setup().method;
    let arms = search.arms().count();
    let rounds = (method.rounds as usize).saturating_mul(method.arms_per_round.min(arms));
    rounds.saturating_add(arms).saturating_add(2)
}

/// As many as fit into the time if each runs only to the first comparison. What is kept of it for
/// repeats is given up where these do not fit.
fn fitting(search: &Search) -> usize {
    let setup = search.setup();
    let method = &setup.method;
    let shortest = match &method.points {
        TimePoints::Fixed(points) => points.first().copied().unwrap_or(0.0),
        TimePoints::Settled { window, .. } => *window,
    };
    // The conversion saturates.
    let turns = (setup.budget_seconds / shortest).ceil() as usize;
    let fitting = turns.saturating_mul(method.workers);
    fitting.max(1)
}

/// The workers of the log's last search if it was interrupted and is the planned one but
/// for their number, which may depend on what is there to run trials.
pub fn interrupted_workers(plan: &Plan, log: &Log) -> Option<usize> {
    let last = log.searches.last()?;
    let workers = last.begin.setup.method.workers;
    let mut planned = plan.clone();
    planned.setup.method.workers = workers;
    goes_on(last, &planned).then_some(workers)
}

/// Whether a recorded search is the planned one, and not at its end.
fn goes_on(recorded: &Recorded, plan: &Plan) -> bool {
    let begin = &recorded.begin;
    // A log that does not tell of repeats goes on with any number of them.
    let repeats = begin.repeats.is_none_or(|it| it == plan.rounds);
    let planned = repeats && begin.setup == plan.setup;
    planned && !recorded.has_ended() && recorded.fits(&plan.space, &plan.target).is_ok()
}

/// That nothing is known from the log.
fn unlearned(plan: &Plan, log: &Log) -> Option<String> {
    let error = log.stranger(&plan.space, &plan.target)?;
    Some(format!("nothing is learned from earlier searches: {error}"))
}
