//! The search: ask what to do, do it anywhere, tell what came of it.
//!
//! Dremel (SIGMETRICS 2022), section 4: quantile buckets of fused features make the
//! arms of a bandit; the first configuration of each arm is chosen by a heuristic,
//! further ones by rounds of upper confidence bounds; at time points that the first
//! trial's own fluctuation tells, the worse half is stopped, and the better half
//! runs *on*.
//!
//! ```
//! use lissom_search::objective::Metrics;
//! use lissom_search::search::{Decision, Measurement, Outcome, Search, Setup};
//! use lissom_search::space::{BuiltIn, Constants};
//!
//! let space = BuiltIn::Dremel.file()?.with(&Constants::new())?;
//! let mut search = Search::new(&space, Setup::new("throughput".parse()?, 3600.0), &[])?;
//! let mut clock = 0.0;
//! let best = loop {
//!     let (trial, until) = match search.ask(clock) {
//!         Decision::Start { trial, until, .. } => (trial, until), // with its configuration
//!         Decision::Continue { trial, until, .. } => (trial, until),
//!         Decision::Stop { .. } => continue,
//!         Decision::Wait { .. } => unreachable!("each trial is told of at once"),
//!         Decision::Done { best, .. } => break best,
//!     };
//!     clock += 20.0; // run it here
//!     let metrics = [("throughput".to_owned(), 1e4 + trial.0 as f64)];
//!     search.tell(Measurement {
//!         trial,
//!         outcome: Outcome::Measured {
//!             seconds: until,
//!             setup_seconds: 0.0,
//!             metrics: Metrics::new(metrics.into())?,
//!             series: Vec::new(),
//!             notes: Vec::new(),
//!         },
//!     })?;
//! };
//! assert!(best.is_some());
//! # Ok::<(), lissom_search::SearchError>(())
//! ```
//!
//! The search is deterministic: the same space, setup and earlier measurements, and
//! the same questions and reports in the same order, give the same decisions. So it
//! is resumed by replaying its log ([`crate::record`]).

mod arms;
mod ask;
mod bounds;
mod budget;
mod decision;
mod earlier;
mod first;
mod halving;
mod leg;
mod measurement;
mod method;
mod near;
mod order;
mod points;
mod progress;
mod rounds;
mod tell;
#[cfg(test)]
mod tests;
mod trial;

pub use arms::{ArmId, Arms};
pub(crate) use ask::broken;
pub use bounds::Bound;
pub use decision::{Decision, TrialId};
pub use earlier::{Earlier, EarlierReading};
pub use leg::CutOff;
pub use measurement::{Cause, Measurement, Outcome, Sample};
pub use method::{Method, Sampling};
pub(crate) use points::{REACHED, deviation, mean};
pub use points::{TimePoints, fluctuation_at};
pub use progress::Progress;
pub use trial::{Origin, Reading, State, Trial};

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use leg::Leg;

use crate::error::Result;
use crate::objective::{Constraint, Objective};
use crate::random::Random;
use crate::space::{Point, Space};

/// What a search is to find, and what it may spend.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// What it is after.
    pub objective: Objective,
    /// Bounds that the best must keep.
    pub constraints: Vec<Constraint>,
    /// How it goes about it.
    pub method: Method,
    /// Where its random numbers begin.
    pub seed: u64,
    /// Seconds by the clock for everything, the reserve of the method included.
    pub budget_seconds: f64,
}

impl Setup {
    /// Dremel's method from seed 1, without constraints.
    pub fn new(objective: Objective, budget_seconds: f64) -> Setup {
        Setup {
            objective,
            constraints: Vec::new(),
            method: Method::default(),
            seed: 1,
            budget_seconds,
        }
    }
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    space: Space,
    setup: Setup,
    arms: Arms,
    random: Random,
    trials: Vec<Trial>,
    /// Everything that is or will be a trial.
    tried: Vec<Point>,
    /// Configurations that are to be started.
    queue: VecDeque<Planned>,
    /// Trials that are stopped but whose runner does not know yet, and why.
    stops: VecDeque<(TrialId, String)>,
    stage: Stage,
    /// The most trials that were alive behind one of the method's own rounds: further rounds
    /// keep to it.
    most: usize,
    /// When trials are compared; absent until it is found.
    points: Option<Vec<f64>>,
    /// Whether trials begin anew when they go on.
    restarts: bool,
    /// Whether what trials share is there: one was ready, and not all were lost since.
    is_prepared: bool,
    /// Failures that were told since something was measured.
    failures_in_a_row: usize,
    /// One that had been measured was among the last of many failures in a row.
    has_broken: bool,
    /// What ran when the search ended, if trials were compared before.
    last_leg: Option<Leg>,
    notes: Vec<String>,
}

/// How far the search is.
#[derive(Clone, PartialEq, Debug)]
enum Stage {
    /// Configurations are added and run to the first time point; rounds so far.
    Sampling(u32),
    /// The better ones run to this time point, counted from 0.
    Halving(usize),
    /// It has ended, for this reason.
    Finished(String),
}

/// A trial to be.
#[derive(Clone, PartialEq, Debug)]
struct Planned {
    arm: Option<ArmId>,
    point: Point,
    origin: Origin,
    reason: String,
}

impl Search {
    /// Prepares a search; `earlier` are configurations that searches of the same
    /// space and target have tried before.
    ///
    /// # Errors
    /// A setting of the method that is out of its range; rules that no
    /// configuration satisfies; a budget too short for one trial.
    pub fn new(space: &Space, setup: Setup, earlier: &[Earlier]) -> Result<Search> {
        let features: Vec<&str> = space.features().iter().map(|it| it.name.as_str()).collect();
        setup.method.check(&features)?;
        budget::check(&setup)?;
        let mut random = Random::new(setup.seed);
        let arms = Arms::of(space, &setup.method, &mut random)?;
        let mut search = Search {
            points: setup.method.points.fixed(),
            space: space.clone(),
            setup,
            arms,
            random,
            trials: Vec::new(),
            tried: Vec::new(),
            queue: VecDeque::new(),
            stops: VecDeque::new(),
            stage: Stage::Sampling(0),
            most: 0,
            restarts: false,
            is_prepared: false,
            failures_in_a_row: 0,
            has_broken: false,
            last_leg: None,
            notes: Vec::new(),
        };
        search.plan_first(earlier)?;
        Ok(search)
    }

    /// The space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// What is to be found.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The arms.
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// All trials, in the order of their start.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// A trial by its id.
    pub fn trial(&self, id: TrialId) -> Option<&Trial> {
        self.trials.iter().find(|it| it.id == id)
    }

    /// When trials are compared, in seconds of running; `None` until the first one
    /// has settled.
    pub fn points(&self) -> Option<&[f64]> {
        self.points.as_deref()
    }

    /// What one should know of the way the search went: sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the next decision is to stop a trial.
    pub fn has_stops(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Whether it has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Finished(_)) && self.stops.is_empty()
    }

    /// Takes whether trials begin anew when they go on, instead of waiting with their data:
    /// then each pays its set-up and its whole time again, but for one that goes on at once
    /// ([`Search::goes_on_at_once`]). Until told otherwise they wait.
    pub fn note_restarts(&mut self, restarts: bool) {
        self.restarts = restarts;
    }

    /// Whether trials begin anew when they go on, as was told.
    pub fn restarts(&self) -> bool {
        self.restarts
    }

    /// Trials that run or wait. After an interruption, tell each of them
    /// [`Outcome::Lost`] unless it survived.
    pub fn alive(&self) -> Vec<TrialId> {
        let trials = self.trials.iter();
        trials
            .filter(|it| matches!(it.state, State::Running(_) | State::Waiting))
            .map(|it| it.id)
            .collect()
    }
}
