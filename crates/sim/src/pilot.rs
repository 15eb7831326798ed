//! The store's own decisions: planner and tuner, called as the engine calls them, under
//! the schedule's order.

use lissom_core::Observation;
use lissom_core::filters::FilterAllocation;
use lissom_core::observation::{InFlight, Mission};
use lissom_core::plan::Plan;
use lissom_core::planner;
use lissom_core::schedule::{DeepOrder, Level0Order, Order, Phase};
use lissom_core::shape::{RunLimits, Shape};
use lissom_core::state::TreeState;
use lissom_core::tree::Tree;
use lissom_core::tuner::{Allowance, Policy, Question, TrialId, Tuner};

use crate::scenario::Scenario;

/// What the tuner answered.
pub(crate) struct Decided {
    /// Something is to change, or a merge has come to wait.
    pub(crate) is_new: bool,
    pub(crate) limits: RunLimits,
    pub(crate) why: Vec<String>,
}

pub(crate) struct Pilot {
    shape: Shape,
    workers: usize,
    pub(crate) state: TreeState,
    tuner: Box<dyn Tuner>,
    trial: Option<TrialId>,
    policy: Policy,
    filters: FilterAllocation,
    /// What a tuner is allowed.
    allowance: Allowance,
    /// What the schedule lets run.
    pub(crate) order: Order,
    /// The limits are held, whatever the tuner answers.
    pub(crate) pinned: bool,
}

impl Pilot {
    pub(crate) fn new(scenario: &Scenario) -> Pilot {
        let (store, policy) = (&scenario.store, &scenario.policy);
        Pilot {
            shape: store.shape.clone(),
            workers: store.workers,
            order: Order::all(Phase::Low, "nothing was seen of the load yet"),
            state: TreeState::new(policy.first_limits()),
            tuner: policy.over(store.filters).tuner_within(scenario.allowance),
            trial: None,
            policy: policy.clone(),
            filters: store.filters,
            pinned: false,
            allowance: scenario.allowance,
        }
    }

    /// What the tuner takes up is what another one of the same policy keeps.
    ///
    /// # Errors
    /// The tuner's sentence, when it cannot.
    pub(crate) fn restore_from(&mut self, earlier: &Pilot) -> Result<(), String> {
        self.tuner.restore(&earlier.tuner.state())
    }

    /// Steps of learning so far; they begin anew with another policy.
    pub(crate) fn steps(&self) -> u64 {
        self.tuner.steps()
    }

    /// Hands the decisions to another policy.
    pub(crate) fn follow(&mut self, policy: &Policy, tree: Tree, in_flight: Vec<InFlight>) {
        if self.policy == *policy {
            return;
        }
        self.policy = policy.clone();
        self.tuner = policy.over(self.filters).tuner_within(self.allowance);
        self.trial = None;
        let limits = policy.first_limits();
        if limits != *self.state.wanted_limits() {
            let seen = self.observation(tree, in_flight);
            self.state = planner::with_limits(&seen, limits);
        }
    }

    /// Whether the order lets anything wait.
    pub(crate) fn holds_back(&self) -> bool {
        let order = &self.order;
        (order.level0, order.deep) != (Level0Order::Merge, DeepOrder::All) || order.at_bound
    }

    /// What the planner sees of the tree.
    pub(crate) fn observation(&self, tree: Tree, in_flight: Vec<InFlight>) -> Observation {
        Observation {
            shape: self.shape.fitted(&tree),
            tree,
            state: self.state.clone(),
            in_flight,
            unreadable: Default::default(),
            workers: self.workers,
            drains_elsewhere: 0,
            level0: self.order.level0,
            at_bound: self.order.at_bound,
            deep: self.order.deep,
            pinned: self.pinned,
            drains_begin: true,
            moves_rewrite: false,
        }
    }

    /// What starts now.
    pub(crate) fn plan(&mut self, tree: Tree, in_flight: Vec<InFlight>) -> Vec<Plan> {
        let planned = planner::plan(&self.observation(tree, in_flight));
        self.state = planned.state;
        planned.plans
    }

    /// Tells the tuner what came of its last answer, and asks.
    pub(crate) fn end_mission(
        &mut self,
        tree: Tree,
        in_flight: Vec<InFlight>,
        mission: &Mission,
    ) -> Decided {
        if let Some(trial) = self.trial.take() {
            self.tuner.tell(trial, mission);
        }
        let trial = self.tuner.ask(&Question {
            shape: &self.shape.fitted(&tree),
            tree: &tree,
            limits: &self.state.limits,
            refused: &self.state.refused,
            mission,
        });
        self.trial = Some(trial.id);
        if self.pinned {
            self.state.take_up_pinned(&trial);
            return Decided {
                is_new: false,
                limits: self.state.limits.clone(),
                why: Vec::new(),
            };
        }
        let wanted = |state: &TreeState| (state.consolidate.clone(), state.push_down.clone());
        let before = wanted(&self.state);
        self.state.take_up(&trial);
        let now = wanted(&self.state);
        let begins = before != now && now != Default::default();
        let merges = begins || !trial.abandon.is_empty() || !trial.waits.is_empty();
        let wanted = Some(&trial.limits);
        let moves = trial.limits != self.state.limits && self.state.waiting.as_ref() != wanted;
        if moves {
            let seen = self.observation(tree, in_flight);
            self.state = planner::with_limits(&seen, trial.limits.clone());
        }
        let changes = trial.changes.iter().chain(trial.merges());
        Decided {
            is_new: moves || merges,
            limits: trial.limits.clone(),
            why: changes
                .map(|change| format!("{}: {}", change.level, change.why))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{self, Sender};

    use lissom_core::layout::LogicalLevel;
    use lissom_core::shape::RunLimit;
    use lissom_core::testing::drawing::parse;
    use lissom_core::tuner::{Change, Trial};

    use super::*;

    /// Wants level 2 to go down, and sends on what was refused.
    struct Lowering(Sender<Vec<LogicalLevel>>);

    impl Tuner for Lowering {
        fn name(&self) -> String {
            "lowering".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            let refused = seen.refused.to_vec();
            self.0.send(refused).expect("somebody listens");
            let mut trial = Trial::of_limits(TrialId(1), seen.limits.clone(), Vec::new());
            trial.push_down.push(Change {
                level: LogicalLevel(2),
                why: "a test".into(),
            });
            trial
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}
    }

    /// What a tuner is told at the end of three missions over a drawn tree: before it has wanted
    /// anything, after a look of the planner's, and once more without one.
    fn told(drawing: &str) -> Vec<Vec<LogicalLevel>> {
        let (send, told) = mpsc::channel();
        let seen = parse(drawing).expect("a drawing");
        let (shape, tree) = (seen.shape, seen.tree);
        let limits = RunLimits::uniform(RunLimit::ONE);
        let mut pilot = Pilot {
            shape,
            workers: 1,
            state: TreeState::new(limits.clone()),
            tuner: Box::new(Lowering(send)),
            trial: None,
            policy: Policy::Fixed(limits),
            filters: FilterAllocation::Uniform,
            allowance: Allowance::default(),
            order: Order::all(Phase::Low, "a test"),
            pinned: false,
        };
        let mut end = |looks: bool| {
            if looks {
                pilot.plan(tree.clone(), Vec::new());
            }
            pilot.end_mission(tree.clone(), Vec::new(), &Mission::default());
        };
        end(true);
        end(true);
        end(false);
        told.try_iter().collect()
    }

    #[test]
    fn the_next_question_tells_what_the_planner_refused() {
        let below = "3.15: 0-49:2000 50-99:2000";
        let refused = told(&format!("2.15: 0-99:200 \n {below}"));
        assert_eq!(refused, [vec![], vec![LogicalLevel(2)], vec![]]);
        // It has common cuts.
        let begun = told(&format!("2.15: 0-49:100 50-99:100 \n {below}"));
        assert!(begun.len() == 3 && begun.iter().all(Vec::is_empty));
    }
}
