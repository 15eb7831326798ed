//! Where a search stands when a session begins.

use lissom_search::record::{Begin, Event, Log, Recorded, resume};
use lissom_search::search::{Decision, Search, TimePoints};

use super::Plan;
use crate::error::Result;

/// A search that is to be run: resumed from a log, or begun with what is known from
/// it.
#[derive(Clone, Debug)]
pub struct Opening {
    pub(super) search: Search,
    pub(super) events: Vec<Event>,
    pub(super) elapsed: f64,
    resumed: bool,
}

impl Opening {
    /// The log's last search, if it is the planned one and has not ended, unless
    /// `anew`; otherwise another one, which learns from all of the same space and
    /// target.
    ///
    /// # Errors
    /// The log belongs to another space or target, or this program would have
    /// decided otherwise; a setting of the search that makes no sense.
    pub fn of(plan: &Plan, log: &Log, anew: bool) -> Result<Opening> {
        let last = log.searches.last();
        if let Some(last) = last.filter(|it| !anew && goes_on(it, plan)) {
            let (search, elapsed) = resume(log, &plan.space, &plan.target)?;
            return Ok(Opening {
                search,
                elapsed,
                events: last.events.clone(),
                resumed: true,
            });
        }
        let earlier = log.earlier(&plan.space, &plan.target)?;
        Ok(Opening {
            search: Search::new(&plan.space, plan.setup.clone(), &earlier)?,
            events: Vec::new(),
            elapsed: 0.0,
            resumed: false,
        })
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
        let begin = || Event::Begin(Box::new(Begin::of(&self.search, plan.target.clone())));
        (!self.resumed).then(begin)
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

/// The most trials of a search that can be alive at once: as many as its method plans,
/// or as fit into the time if each runs only to the first comparison.
pub fn most_alive(search: &Search) -> usize {
    let setup = search.setup();
    let method = &setup.method;
    let arms = search.arms().count();
    let rounds = (method.rounds as usize).saturating_mul(method.arms_per_round.min(arms));
    let planned = rounds.saturating_add(arms).saturating_add(1);
    let shortest = match &method.points {
        TimePoints::Fixed(points) => points.first().copied().unwrap_or(0.0),
        TimePoints::Settled { window, .. } => *window,
    };
    let time = (setup.budget_seconds - method.reserve_seconds).max(0.0);
    // The conversion saturates.
    let fitting = ((time / shortest).ceil() as usize).saturating_mul(method.workers);
    planned.min(fitting.max(1))
}

/// Whether a recorded search is the planned one, and not at its end.
fn goes_on(recorded: &Recorded, plan: &Plan) -> bool {
    let planned = recorded.begin.setup == plan.setup;
    planned && !recorded.has_ended() && recorded.fits(&plan.space, &plan.target).is_ok()
}
