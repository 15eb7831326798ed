//! What every tuner promises. A plug-in calls this from its own tests.

mod missions;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use self::missions::missions;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::{RunLimit, RunLimits, Shape, Transition};
use crate::testing::damaged::{MOST_PARTS, damaged};
use crate::testing::{numbered_files, small_shape};
use crate::tree::Tree;
use crate::tuner::{EXPLORATION, Learned, Question, TrialId, Tuner};

fn tree_of_two_levels() -> Tree {
    let layout = small_shape().layout;
    let mut levels = Vec::new();
    for level in [1, 2] {
        let (_, last) = layout.span(LogicalLevel(level));
        levels.resize(usize::from(last.0), Vec::new());
        levels.push(numbered_files(100 * u64::from(level)));
    }
    Tree::new(levels).unwrap_or_default()
}

/// Whose limits hold.
#[derive(Clone, Copy)]
enum Rule {
    /// The tuner's.
    Tuner,
    /// Those of the beginning, whatever it answers.
    Pin,
    /// The tuner's, but for those that somebody sets now and then.
    Hand,
}

impl Rule {
    /// The limits after an answer, where those before held.
    fn limits(self, round: usize, before: RunLimits, answered: RunLimits) -> RunLimits {
        match self {
            Rule::Tuner => answered,
            Rule::Pin => before,
            Rule::Hand if round.is_multiple_of(8) => {
                RunLimits::uniform(RunLimit::clamped(round as u16 / 4))
            }
            Rule::Hand => answered,
        }
    }

    /// What the tree is like meanwhile: under some limits that were answered may wait for their
    /// levels.
    fn shape(self) -> Shape {
        let transition = match self {
            Rule::Tuner => Transition::Flexible,
            Rule::Pin => Transition::Lazy,
            Rule::Hand => Transition::Greedy,
        };
        Shape {
            transition,
            ..small_shape()
        }
    }
}

/// Two of a kind, which are to answer alike.
struct Twins {
    one: Box<dyn Tuner>,
    other: Box<dyn Tuner>,
    /// The trials so far.
    trials: BTreeSet<TrialId>,
    limits: RunLimits,
}

impl Twins {
    fn new(make: &impl Fn() -> Box<dyn Tuner>) -> Twins {
        Twins {
            one: make(),
            other: make(),
            trials: BTreeSet::new(),
            limits: RunLimits::uniform(RunLimit::clamped(3)),
        }
    }

    /// All missions so many times, half of them over an empty tree.
    fn fly(&mut self, rounds: usize, rule: Rule) {
        let trees = [Tree::default(), tree_of_two_levels()];
        let (shape, one) = (rule.shape(), [LogicalLevel(1)]);
        for round in 0..rounds {
            let refused = if round % 4 == 3 { &one[..] } else { &[] };
            for mission in missions() {
                let tree = &trees[round * 2 / rounds];
                let answered = self.ask(&shape, tree, &mission, refused);
                let before = self.limits.clone();
                self.limits = rule.limits(round, before, answered);
            }
        }
    }

    /// Asks both, and tells them that such a mission followed. Returns the limits that
    /// they want.
    fn ask(
        &mut self,
        shape: &Shape,
        tree: &Tree,
        mission: &Mission,
        refused: &[LogicalLevel],
    ) -> RunLimits {
        let question = Question {
            shape,
            tree,
            limits: &self.limits,
            refused,
            mission,
        };
        let trial = self.one.ask(&question);
        assert_eq!(trial, self.other.ask(&question), "alike from alike");
        assert!(self.trials.insert(trial.id), "{:?} came twice", trial.id);
        trial
            .check(&shape.layout, &self.limits)
            .unwrap_or_else(|why| panic!("{trial:?} cannot be obeyed: {why}"));
        self.one.tell(trial.id, mission);
        self.other.tell(trial.id, mission);
        trial.limits
    }
}

/// Checks a tuner: it answers every mission with what can be obeyed
/// ([`Trial::check`](crate::tuner::Trial::check)), whoever sets the limits, also where
/// these wait for their levels and where merges that it asked for are refused, never uses a
/// trial's id twice, decides alike from alike, takes its own state back and keeps it, and
/// goes on, with or without it, from any other, as from its own that is damaged somewhere.
///
/// # Panics
/// When the tuner breaks its contract.
pub fn tuner_contract(make: impl Fn() -> Box<dyn Tuner>) {
    assert!(!make().name().is_empty());
    takes_back(&make, &Value::Null);
    for rule in [Rule::Tuner, Rule::Pin, Rule::Hand] {
        let mut twins = Twins::new(&make);
        twins.fly(40, rule);
        let state = twins.one.state();
        takes_back(&make, &state);
        let outer = state.as_object().map_or(0, Map::len);
        let parts = match rule {
            Rule::Tuner => MOST_PARTS.max(outer),
            Rule::Pin | Rule::Hand => outer,
        };
        for state in damaged(&state, parts) {
            goes_on(&make, &state);
        }
    }
    for state in foreign() {
        goes_on(&make, &state);
    }
}

/// What a tuner has kept, another one of its kind takes up; what it learned is the same.
fn takes_back(make: &impl Fn() -> Box<dyn Tuner>, state: &Value) {
    let mut tuner = make();
    tuner
        .restore(state)
        .unwrap_or_else(|why| panic!("a tuner takes its own state back: {why}"));
    if !state.is_null() {
        assert_eq!(tuner.state(), *state, "it keeps what it took back");
    }
}

/// What a tuner cannot take up it says, and is as new.
fn goes_on(make: &impl Fn() -> Box<dyn Tuner>, state: &Value) {
    let mut twins = Twins::new(make);
    let taken = twins.one.restore(state);
    assert_eq!(taken, twins.other.restore(state), "alike from alike");
    if let Err(why) = taken {
        assert!(!why.is_empty(), "{state} is refused without a word");
        let (is, new) = (twins.one.state(), make().state());
        assert_eq!(is, new, "{state} is refused and leaves something");
    }
    twins.fly(2, Rule::Tuner);
}

/// What no tuner has kept, and what the store's own learner has.
fn foreign() -> Vec<Value> {
    let learner = || -> Box<dyn Tuner> { Box::new(Learned::new(EXPLORATION)) };
    let mut learned = Twins::new(&learner);
    learned.fly(4, Rule::Tuner);
    vec![
        json!(0),
        json!(true),
        json!("learned"),
        json!([]),
        json!({}),
        json!({"weights": [[0.5, 1e300], [null]], "steps": -1}),
        learned.one.state(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuner::{Policy, Trial};

    #[test]
    fn every_policy_keeps_the_contract() {
        for name in [
            "fixed-3",
            "fixed-7,5,1",
            "lazy-leveling",
            "thresholds-20-80",
            "learned",
            "lerp",
            "lerp-monkey",
            "lerp-without-propagation",
            "lerp-without-pull",
            "learned-from-4-without-levels+prior+guardrails+consolidation+trials+memory",
            "learned-without-windows+spread+haste+foresight+hedge+blame",
        ] {
            let policy: Policy = name.parse().expect(name);
            tuner_contract(|| policy.tuner());
        }
    }

    /// Goes round all limits, says why unless it is silent, and takes up how often it was
    /// asked unless it forgets. One that trusts reads what lies deep without a look at what
    /// it is.
    #[derive(Default)]
    struct Bad {
        asked: u64,
        silent: bool,
        forgets: bool,
        trusts: bool,
    }

    impl Tuner for Bad {
        fn name(&self) -> String {
            "bad".into()
        }

        fn ask(&mut self, seen: &Question<'_>) -> Trial {
            // What it has taken back may be the largest number that there is.
            self.asked = self.asked.wrapping_add(1);
            let limits = RunLimits::uniform(RunLimit::clamped(self.asked as u16 % 12 + 1));
            let mut changes = seen.changes(&limits, |_| "by turns".into());
            if self.silent {
                changes.clear();
            }
            Trial::of_limits(TrialId(self.asked), limits, changes)
        }

        fn tell(&mut self, _: TrialId, _: &Mission) {}

        fn state(&self) -> Value {
            json!({ "past": [{ "asked": self.asked }] })
        }

        fn restore(&mut self, state: &Value) -> Result<(), String> {
            let asked = &state["past"][0]["asked"];
            assert!(!self.trusts || !asked.is_string(), "a number is a number");
            let asked = asked.as_u64().filter(|_| !self.forgets);
            self.asked = asked.unwrap_or(self.asked);
            Ok(())
        }
    }

    #[test]
    #[should_panic(expected = "without a reason")]
    fn a_tuner_that_gives_no_reasons_breaks_the_contract() {
        tuner_contract(|| {
            Box::new(Bad {
                silent: true,
                ..Bad::default()
            })
        });
    }

    #[test]
    #[should_panic(expected = "it keeps what it took back")]
    fn a_tuner_that_forgets_breaks_the_contract() {
        tuner_contract(|| {
            Box::new(Bad {
                forgets: true,
                ..Bad::default()
            })
        });
    }

    #[test]
    #[should_panic(expected = "a number is a number")]
    fn a_tuner_that_trusts_what_lies_deep_in_its_state_breaks_the_contract() {
        tuner_contract(|| {
            Box::new(Bad {
                trusts: true,
                ..Bad::default()
            })
        });
    }

    /// By their words, which nothing but a person reads. Those of `learned` have tests of
    /// their own.
    #[test]
    fn policies_tell_what_they_expect_of_a_limit_or_that_they_expect_nothing() {
        for name in [
            "fixed-3",
            "lazy-leveling",
            "thresholds-20-80",
            "lerp",
            "lerp-monkey",
            "lerp-without-propagation",
        ] {
            let policy: Policy = name.parse().expect(name);
            let (mut tuner, shape, tree) = (policy.tuner(), small_shape(), tree_of_two_levels());
            let mut limits = RunLimits::uniform(RunLimit::clamped(5));
            let mut changes = 0;
            for mission in missions().iter().cycle().take(400) {
                let trial = tuner.ask(&Question {
                    shape: &shape,
                    tree: &tree,
                    limits: &limits,
                    refused: &[],
                    mission,
                });
                for change in &trial.changes {
                    let tells = change.why.contains("expect");
                    assert!(tells, "{name}, {}: {}", change.level, change.why);
                    changes += 1;
                }
                tuner.tell(trial.id, mission);
                limits = trial.limits;
            }
            assert!(changes > 0, "{name} changes nothing");
        }
    }

    #[test]
    fn one_that_gives_reasons_and_remembers_keeps_it() {
        tuner_contract(|| Box::new(Bad::default()));
    }
}
