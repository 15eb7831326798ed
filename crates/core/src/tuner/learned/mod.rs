//! The store's own learner: a model of costs whose constants are fitted online,
//! and trials that overrule it.
//!
//! After each mission it takes up what operations and compactions took ([`cost`]),
//! asks the model for the limits that would cost least ([`search`](search::best)),
//! and marches towards them, one step per level and mission, if they promise
//! enough. A march begins where the cost has been measured, or at once where the model
//! has learned and promises much; what is measured at its end stands above what was
//! foretold ([`phase`]): if it is worse than before, the way is gone back ([`left`] tells
//! how, where before was not measured), and its farther half is not gone again for a
//! while ([`bars`]). Now and then, when the model has nothing to say, a step is tried all
//! the same. Which workload it is the missions tell ([`present`]); workloads are
//! remembered with what served them and what did not ([`memory`]), and what served is
//! taken at once when they return ([`change`]). Levels are merged once
//! reads have lost what that costs, while users have paid for the bytes ([`consolidate`]).

mod bars;
mod bet;
mod change;
mod clock;
mod consolidate;
mod cost;
mod fit;
mod kept;
mod learning;
mod left;
mod lengths;
mod march;
mod memory;
mod passing;
mod phase;
mod present;
mod search;
mod structure;
#[cfg(test)]
mod tests;
mod times;
mod trials;
mod usual;

use self::change::WayBack;
use self::clock::Clock;
use self::consolidate::{Budget, Losses, Wanted, Wants};
use self::cost::Cost;
pub use self::learning::{Learning, Part};
use self::lengths::{Course, Lengths};
use self::march::March;
use self::memory::Memory;
use self::phase::Phase;
use self::present::Present;
use self::structure::Structure;
use self::times::{Times, took};
use self::trials::Tried;
use super::{Allowance, Question, Trial, TrialId, Tuner};
use crate::observation::Mission;
use crate::shape::RunLimits;

/// Less than this, relative, is not worth a change.
const WORTH: f64 = 0.02;

/// The default of what a learner may explore: one mission in ten may be a trial.
pub const EXPLORATION: f64 = 0.1;

/// The learner.
#[derive(Clone, Debug)]
pub struct Learned {
    cost: Cost,
    memory: Memory,
    phase: Phase,
    losses: Losses,
    budget: Budget,
    lengths: Lengths,
    course: Course,
    present: Present,
    /// Bytes in the tree.
    data: f64,
    /// The last answer, and limits that held in its stead: somebody pins them or set them
    /// by hand.
    answered: Option<RunLimits>,
    imposed: Option<RunLimits>,
    times: Times,
    clock: Clock,
    /// The march that goes on, or that led to the present limits.
    march: Option<March>,
    /// The last mission showed that the workload is another one.
    turned: bool,
    tried: Option<Tried>,
    /// A way back that was asked for and is not gone yet.
    owed: Option<WayBack>,
    /// Where to go first after a restart, if these limits hold.
    undo: Option<RunLimits>,
    unproved: Option<RunLimits>,
    /// Trials so far, which go round the levels and up and down by turns.
    trials: u64,
    /// Missions that may be trials, saved up, and all.
    spare: f64,
    asked: u64,
    /// Missions that the model has taken up.
    learned: u64,
    exploration: f64,
    learning: Learning,
}

/// Limits to go to, and why.
struct Wish {
    limits: RunLimits,
    why: String,
}

impl Learned {
    /// A learner that spends at most this share of the missions on trials, none with 0, and may
    /// write as much as by default.
    pub fn new(exploration: f64) -> Learned {
        Learned::with(Allowance::exploring(exploration), Learning::default())
    }

    /// A learner within what a user allows, perhaps without some of its parts.
    pub fn with(allowance: Allowance, learning: Learning) -> Learned {
        let exploration = allowance.exploration;
        Learned {
            cost: Cost::new(learning.has(Part::Prior))
                .blurring(learning.has(Part::Windows))
                .hedging(learning.has(Part::Hedge)),
            memory: Memory::default(),
            phase: Phase::new(learning.has(Part::Spread)),
            losses: Losses::default(),
            budget: Budget::new(allowance.max_write_amplification),
            lengths: Lengths::default(),
            course: Course::default(),
            present: Present::default(),
            data: 0.0,
            answered: None,
            imposed: None,
            times: Times::default(),
            clock: Clock::default(),
            march: None,
            turned: false,
            tried: None,
            owed: None,
            undo: None,
            unproved: None,
            trials: 0,
            spare: 0.0,
            asked: 0,
            learned: 0,
            exploration: if exploration.is_finite() && learning.has(Part::Trials) {
                exploration.clamp(0.0, 1.0)
            } else {
                0.0
            },
            learning,
        }
    }

    /// The model takes up the mission, if there is anything to learn from it.
    fn learn(&mut self, seen: &Question<'_>, structure: &Structure<'_>) {
        let for_reads = self.losses.wrote(seen.mission);
        let (cost, clocked) = (&mut self.cost, self.clock.error);
        let (tree, mission, limits) = (seen.tree, seen.mission, seen.limits);
        let learned = cost.learn(structure, tree, mission, limits, for_reads, clocked);
        self.learned += u64::from(learned);
    }

    fn wish(&mut self, seen: &Question<'_>) -> Option<Wish> {
        if let Some(wish) = self.take_back(seen) {
            return Some(wish);
        }
        if let Some(wish) = self.notice_change(seen) {
            return Some(wish);
        }
        let structure = Structure::of(seen.shape, seen.tree)?;
        self.phase.grow(structure.data(), structure.inflows());
        self.learn(seen, &structure);
        self.cost.expect(self.lengths.whole(&self.course));
        // What looks like another workload tells nothing of this one.
        let alike = self.present.pattern.filter(|_| self.present.is_sure());
        let cost = alike.and_then(|pattern| took(seen.mission, &pattern));
        let cost = cost.map(|cost| {
            let model = &self.cost;
            model.evened(&structure, seen.tree, seen.mission, seen.limits, cost)
        });
        let flushed = seen.mission.flush_write_bytes;
        self.phase.record(seen.limits, cost, flushed);
        if !self.present.is_sure() {
            return None;
        }
        if let Some(wish) = self.ask_again(seen) {
            return Some(wish);
        }
        if let Some(tried) = self.tried.clone() {
            self.spare -= 1.0;
            return self.end_trial(seen, &structure, &tried);
        }
        self.go_back(seen, &structure)
            .or_else(|| self.regret(seen, &structure))
            .or_else(|| self.follow_model(seen, &structure))
            .or_else(|| self.explore(seen, &structure))
    }
}

/// A wish, if it changes anything.
fn wish(seen: &Question<'_>, limits: RunLimits, why: String) -> Option<Wish> {
    (!limits.is_same(seen.limits)).then_some(Wish { limits, why })
}

fn changes_of(wanted: Vec<Wanted>) -> Vec<super::Change> {
    wanted.into_iter().map(|it| it.change).collect()
}

impl Tuner for Learned {
    fn name(&self) -> String {
        // Where it began is not what it is.
        let learning = Learning {
            without: self.learning.without.clone(),
            ..Learning::default()
        };
        learning.to_string()
    }

    fn ask(&mut self, seen: &Question<'_>) -> Trial {
        let mission = self.clock.tell(self.times.complete(seen.mission));
        let seen = &Question {
            mission: &mission,
            ..*seen
        };
        self.asked += 1;
        self.save_up();
        self.course.pass(mission.duration);
        self.data = seen.tree.total_bytes() as f64;
        self.budget.pass(seen);
        self.notice_others(seen);
        let wish = self.wish(seen);
        let limits = wish
            .as_ref()
            .map_or(seen.limits, |wish| &wish.limits)
            .clone();
        let changes = seen.changes(&limits, |level| {
            let why = wish.as_ref().map_or("", |wish| wish.why.as_str());
            let (old, new) = (seen.limits.get(level), limits.get(level));
            format!("{} instead of {}: {why}", new.get(), old.get())
        });
        self.answered = Some(limits.clone());
        let march = self.march.take();
        self.march = march.filter(|it| it.goes_on || it.end.is_same(&limits));
        let abandon = self.abandon(seen);
        let wants = self.consolidate(seen);
        let merges = wants.merges.into_iter();
        let (lower, merged) = merges.partition(|it: &Wanted| it.goes_down);
        Trial {
            id: TrialId(self.asked),
            limits,
            changes,
            consolidate: changes_of(merged),
            push_down: changes_of(lower),
            abandon,
            waits: wants.waits,
        }
    }

    fn steps(&self) -> u64 {
        self.learned
    }

    // What came of a trial is the mission of the next question.
    fn tell(&mut self, _: TrialId, _: &Mission) {}

    fn state(&self) -> serde_json::Value {
        self.kept()
    }

    fn restore(&mut self, state: &serde_json::Value) -> Result<(), String> {
        self.take_up(state)
    }
}

impl Learned {
    /// The levels to merge for the reads' sake.
    fn consolidate(&mut self, seen: &Question<'_>) -> Wants {
        if !self.learning.has(Part::Consolidation) {
            return Wants::default();
        }
        let (sure, follow) = (self.present.is_sure(), self.follow());
        let (cost, budget) = (&self.cost, &self.budget);
        self.losses.after(seen, cost, budget, sure, follow)
    }

    /// Missions like the last one that are expected to follow; none where nobody can tell.
    fn follow(&self) -> f64 {
        let tells = self.learning.has(Part::Foresight) && self.present.is_sure();
        let left = self.lengths.left(&self.course);
        left.filter(|_| tells).unwrap_or(0.0)
    }

    /// Notes limits that were not asked for. What is held by hand has proved nothing,
    /// however long it holds.
    fn notice_others(&mut self, seen: &Question<'_>) {
        let Some(answered) = &self.answered else {
            return;
        };
        if !answered.is_same(seen.limits) && !seen.limits_may_wait() {
            self.imposed = Some(seen.limits.clone());
        } else if let Some(imposed) = &self.imposed
            && !imposed.is_same(seen.limits)
        {
            self.imposed = None;
        }
    }

    /// Merges that are wanted no more. What looks like another workload and is not yet
    /// believed ends none.
    fn abandon(&mut self, seen: &Question<'_>) -> Vec<super::Change> {
        let turned = std::mem::take(&mut self.turned);
        if !self.present.is_sure() || !self.learning.has(Part::Consolidation) {
            return Vec::new();
        }
        let follow = self.follow();
        self.losses.end(seen, &self.cost, turned, follow)
    }
}
