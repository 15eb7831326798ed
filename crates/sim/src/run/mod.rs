//! Sessions in virtual time.
//!
//! Time goes from event to event: a memtable is full, a mission or a session ends,
//! a job ends, another rate is offered, the schedule is asked. Between two events
//! nothing changes its speed.

mod background;
mod missions;
mod orders;
mod user;

use std::rc::Rc;

use lissom_core::schedule::Debt;

use crate::content::Density;
use crate::jobs::Jobs;
use crate::machine::Crowding;
use crate::memtable::Memtable;
use crate::mission::{Counts, Times};
use crate::noise::Noise;
use crate::outcome::Outcome;
use crate::pace::Pace;
use crate::pilot::Pilot;
use crate::popularity::{Classes, Popularity};
use crate::reads::Costs;
use crate::scenario::{Mix, Scenario, Session};
use crate::scheduler::Scheduler;
use crate::tree::SimTree;
use crate::watch::Watch;

/// From so many flushes on, the loaded tree is made rather than loaded.
const MOST_LOADING_FLUSHES: f64 = 100_000.0;

/// Updates after that are as many as these flushes hold, at most: they fill the levels above the
/// run that was made, and a share of its entries would take a day.
const MOST_WARMING_FLUSHES: f64 = 10_000.0;

/// Seconds in which nothing runs and nobody can write, after which no order will come
/// that changes it. Every schedule holds a load of nothing for low much sooner.
const PATIENCE: f64 = 3_600.0;

/// Less than this is nothing, relative to what it is counted against.
const NOTHING: f64 = 1e-9;

/// Time cannot go on: writes have stopped, and nothing runs that could let them go; or it
/// cannot begin again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stuck(String);

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stuck {}

/// Carries a scenario out.
///
/// # Errors
/// When writes stop for ever, or a schedule holds everything back while nobody is there;
/// a right planner and a right schedule let neither happen.
pub fn simulate(scenario: &Scenario) -> Result<Outcome, Stuck> {
    let mut run = Run::new(scenario);
    run.carry_out()?;
    Ok(run.outcome)
}

/// Carries a scenario out twice. The second time everything is new, tree, schedule and run
/// limits, but the tuner has restored what that of the first time kept at its end. The
/// noise is the same in both, so that they differ by what was kept alone.
///
/// # Errors
/// As [`simulate`], and when the tuner does not take up what it kept itself; a right
/// tuner does.
pub fn simulate_reopened(scenario: &Scenario) -> Result<[Outcome; 2], Stuck> {
    let mut first = Run::new(scenario);
    first.carry_out()?;
    let mut second = Run::new(scenario);
    second.pilot.restore_from(&first.pilot).map_err(Stuck)?;
    second.carry_out()?;
    Ok([first.outcome, second.outcome])
}

struct Run<'a> {
    scenario: &'a Scenario,
    classes: Classes,
    /// Keys that exist, by class.
    keys: Vec<f64>,
    tree: SimTree,
    memtable: Memtable,
    /// Full ones that no flush has taken up, oldest first.
    waiting: Vec<Memtable>,
    jobs: Jobs,
    pilot: Pilot,
    /// Absent for `eager`.
    scheduler: Option<Scheduler>,
    noise: Noise,
    now: f64,
    began: f64,
    measured: Option<usize>,
    /// Operations and seconds of the session at the end of each mission.
    course: Vec<(f64, f64)>,
    mission: Counts,
    session: Counts,
    total: Counts,
    pace: Pace,
    watch: Watch,
    outcome: Outcome,
    /// What the tree owes, while it does not change.
    debt: Option<Debt>,
    /// Costs over the tree as it is, while it does not change.
    costs: Option<Rc<Costs>>,
    /// The tree or the jobs have changed since the planner looked.
    news: bool,
}

/// One step's speeds.
struct Step {
    crowding: Crowding,
    /// Operations a second.
    rate: f64,
    /// What they would be if nobody held writers back.
    free_rate: f64,
    times: Times,
    /// Seconds of CPU that an operation takes.
    cpu: f64,
    costs: Rc<Costs>,
}

impl<'a> Run<'a> {
    fn new(scenario: &'a Scenario) -> Run<'a> {
        let store = &scenario.store;
        let entries = scenario.entries as f64;
        let asked = scenario.sessions.iter().map(|session| &session.keys);
        let classes = Classes::of(asked, entries);
        let levels = usize::from(store.shape.layout.num_levels());
        let keys = vec![0.0; classes.count()];
        Run {
            memtable: Memtable::new(&keys),
            keys,
            classes,
            tree: SimTree::new(levels, store.entry_bytes),
            waiting: Vec::new(),
            jobs: Jobs::default(),
            pilot: Pilot::new(scenario),
            scheduler: Scheduler::of(scenario),
            noise: Noise::new(scenario.seed, scenario.noise, scenario.slow_noise),
            now: 0.0,
            began: 0.0,
            measured: None,
            course: Vec::new(),
            mission: Counts::default(),
            session: Counts::default(),
            total: Counts::default(),
            pace: Pace::new(None),
            watch: Watch::default(),
            outcome: Outcome::default(),
            debt: None,
            costs: None,
            news: false,
            scenario,
        }
    }

    /// The load, then the sessions.
    fn carry_out(&mut self) -> Result<(), Stuck> {
        self.load()?;
        self.began = self.now;
        self.outcome = Outcome::default();
        self.mission = Counts::default();
        self.pilot.pinned = self.scenario.frozen;
        let scenario = self.scenario;
        for (at, session) in scenario.sessions.iter().enumerate() {
            self.measured = Some(at);
            self.course.clear();
            self.note_space();
            self.take_up(session);
            let (missions, steps) = (self.outcome.missions, self.pilot.steps());
            let sums = self.session(session)?;
            self.note_space();
            let mut seen = self.session_outcome(session, &sums);
            seen.missions = self.outcome.missions - missions;
            seen.steps = self.pilot.steps().saturating_sub(steps);
            self.outcome.sessions.push(seen);
        }
        Ok(())
    }

    /// All entries, then the updates that bring the tree to its steady state.
    fn load(&mut self) -> Result<(), Stuck> {
        let store = &self.scenario.store;
        let entries = self.scenario.entries as f64;
        let in_flush = store.shape.write_buffer_size as f64 / store.entry_bytes;
        let mut updates = entries * self.scenario.warm_updates;
        if entries > MOST_LOADING_FLUSHES * in_flush {
            updates = updates.min(MOST_WARMING_FLUSHES * in_flush);
            self.place_all(entries);
        } else {
            self.unmeasured(
                entries,
                Mix {
                    put: 1.0,
                    ..Mix::default()
                },
            )?;
        }
        if updates > 0.0 {
            self.unmeasured(
                updates,
                Mix {
                    update: 1.0,
                    ..Mix::default()
                },
            )?;
        }
        self.settle()
    }

    /// One run with everything, in the shallowest level that holds it.
    fn place_all(&mut self, entries: f64) {
        let shape = &self.scenario.store.shape;
        let bytes = entries * self.scenario.store.entry_bytes;
        let level = shape
            .layout
            .logical_levels()
            .find(|level| shape.capacity(*level) as f64 >= bytes)
            .unwrap_or(shape.layout.deepest());
        let (_, last) = shape.layout.span(level);
        self.keys = self
            .classes
            .keys()
            .iter()
            .map(|share| share * entries)
            .collect();
        let content = self.keys.iter().map(|keys| Density {
            fresh: *keys,
            ..Density::default()
        });
        let file_bytes = shape.target_file_size(bytes as u64) as f64;
        self.tree
            .place_run(usize::from(last.0), content.collect(), file_bytes);
        self.changed();
    }

    fn unmeasured(&mut self, operations: f64, mix: Mix) -> Result<(), Stuck> {
        let session = Session {
            name: String::new(),
            operations: operations as u64,
            mix,
            keys: Popularity::Uniform,
            scan_length: 0.0,
            rate: None,
            policy: None,
            settles: false,
        };
        self.session(&session).map(drop)
    }
}
