//! The arm of perfect knowledge: which static arm it follows in which session.
//!
//! The fastest arm of each session may leave a tree that the sessions after it pay for. So
//! the sequence can be searched by whole runs too: one session's arm is changed at a time,
//! and the change is kept where the whole run takes less.

use lissom_sim::Outcome;
use serde::{Deserialize, Serialize};

use super::{Contender, ORACLE, SimulatedArm, Simulation, SimulationPlan, scenario, simulate};
use crate::arms::ArmName;
use crate::error::Result;

/// How an arm of perfect knowledge chooses among the static arms of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OracleKind {
    /// In each session the arm that was the fastest in it, whatever tree it leaves.
    Sessions,
    /// The sequence that takes the least in all, as far as changes of one session's arm
    /// lead. It begins with the best static arm all the way, or with [`OracleKind::Sessions`]
    /// if that takes less, and so it is behind neither.
    Search,
}

/// What the arm of perfect knowledge follows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Followed {
    /// How it was chosen.
    pub kind: OracleKind,
    /// Its static arms by session, as `lissom bench` takes them: `oracle:SESSION=ARM,...`.
    pub arm: String,
    /// Whole runs that were simulated to choose it, beside those of the static arms.
    pub runs: u32,
}

/// The search goes through the sessions so often at most.
const MOST_PASSES: usize = 8;

/// A gain that leaves more of the time than this is none: the model cannot tell it.
const WORTH: f64 = 0.999;

/// The arm of perfect knowledge over the plan's static ones, which have run as `arms`; `None`
/// without any.
pub(super) fn oracle(
    plan: &SimulationPlan,
    kind: OracleKind,
    arms: &[SimulatedArm],
    progress: &mut dyn FnMut(&str),
) -> Result<Option<(SimulatedArm, Followed)>> {
    let mut hull = Hull::of(plan, arms);
    progress("simulating the oracle");
    let Some(by_session) = hull.by_session()? else {
        return Ok(None);
    };
    let best = match kind {
        OracleKind::Sessions => by_session,
        OracleKind::Search => hull.searched(by_session, progress)?,
    };
    let followed = Followed {
        kind,
        arm: hull.spelled(&best),
        runs: hull.runs,
    };
    let arm = SimulatedArm {
        arm: ORACLE.into(),
        is_static: false,
        chooses_limits: true,
        learns: false,
        outcome: best.outcome,
        others: Vec::new(),
    };
    Ok(Some((arm, followed)))
}

/// What the oracle follows, as text; empty where there is none.
pub(super) fn followed(seen: &Simulation) -> String {
    let Some(oracle) = &seen.oracle else {
        return String::new();
    };
    let how = match oracle.kind {
        OracleKind::Sessions => "the fastest static arm of each session".to_string(),
        OracleKind::Search => format!("searched by {} whole runs", oracle.runs),
    };
    let known = if oracle.arm.parse::<ArmName>().is_ok() {
        "as an arm of `lissom bench`"
    } else {
        "which `lissom bench` does not take as an arm"
    };
    format!("\nThe oracle: {how}; {known}\n  {}\n", oracle.arm)
}

/// Static arms by session, by their numbers, and the run that follows them.
struct Sequence {
    arms: Vec<usize>,
    outcome: Outcome,
}

impl Sequence {
    fn seconds(&self) -> f64 {
        self.outcome.seconds()
    }
}

/// The static arms of a plan, each with its own run.
struct Hull<'a> {
    plan: &'a SimulationPlan,
    arms: Vec<(&'a Contender, &'a Outcome)>,
    /// Runs of sequences.
    runs: u32,
}

impl<'a> Hull<'a> {
    fn of(plan: &'a SimulationPlan, arms: &'a [SimulatedArm]) -> Hull<'a> {
        // A static arm is run once.
        let contenders = plan.arms.iter().filter(|contender| contender.is_static());
        let outcomes = arms.iter().filter(|arm| arm.is_static);
        Hull {
            plan,
            arms: contenders.zip(outcomes.map(|arm| &arm.outcome)).collect(),
            runs: 0,
        }
    }

    /// The arm that took the least by this measure.
    fn fastest(&self, seconds: impl Fn(&Outcome) -> f64) -> Option<usize> {
        let took = |at: usize| seconds(self.arms[at].1);
        (0..self.arms.len()).min_by(|a, b| took(*a).total_cmp(&took(*b)))
    }

    /// In each session the arm that was the fastest in it; `None` without arms.
    fn by_session(&mut self) -> Result<Option<Sequence>> {
        let sessions = self.arms.first().map_or(0, |(_, seen)| seen.sessions.len());
        let fastest = |at: usize| self.fastest(|seen| seen.sessions[at].seconds);
        let arms: Vec<usize> = (0..sessions).filter_map(fastest).collect();
        let outcome = self.run(&arms)?;
        Ok(outcome.map(|outcome| Sequence { arms, outcome }))
    }

    /// The best static arm all the way, as it has run.
    fn constant(&self) -> Option<Sequence> {
        let best = self.fastest(Outcome::seconds)?;
        let outcome = self.arms[best].1.clone();
        Some(Sequence {
            arms: vec![best; outcome.sessions.len()],
            outcome,
        })
    }

    /// The best that a search by whole runs finds.
    fn searched(
        &mut self,
        by_session: Sequence,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Sequence> {
        let start = match self.constant() {
            Some(constant) if constant.seconds() <= by_session.seconds() => constant,
            _ => by_session,
        };
        let count = self.arms.len();
        search(start, count, &mut |arms| {
            progress(&format!("searching the oracle, run {}", self.runs));
            self.run(arms)
        })
    }

    /// One run under these arms, the load under the first one as on the engine; `None` for
    /// none.
    fn run(&mut self, arms: &[usize]) -> Result<Option<Outcome>> {
        let Some(first) = arms.first() else {
            return Ok(None);
        };
        self.runs += 1;
        let mut scenario = scenario::scenario(self.plan, self.arms[*first].0)?;
        for (session, arm) in scenario.sessions.iter_mut().zip(arms) {
            session.policy = Some(self.arms[*arm].0.policy.clone());
        }
        simulate(&scenario, ORACLE).map(Some)
    }

    fn spelled(&self, sequence: &Sequence) -> String {
        let sessions = sequence.outcome.sessions.iter().zip(&sequence.arms);
        let part = |(session, arm): (&lissom_sim::SessionOutcome, &usize)| {
            format!("{}={}", session.name, self.arms[*arm].0)
        };
        let parts: Vec<String> = sessions.map(part).collect();
        format!("{ORACLE}:{}", parts.join(","))
    }
}

/// Changes one session's arm after the other, from the first session on and over again, until
/// no change of a single session is worth it.
fn search(
    start: Sequence,
    arms: usize,
    run: &mut dyn FnMut(&[usize]) -> Result<Option<Outcome>>,
) -> Result<Sequence> {
    let mut best = start;
    let sessions = best.arms.len();
    // Sessions on end, the last one that was changed among them, that are best as they are.
    let mut settled = 0;
    for at in (0..sessions).cycle().take(MOST_PASSES * sessions) {
        if settled == sessions {
            break;
        }
        settled += 1;
        if let Some(better) = better(&best, at, arms, run)? {
            best = better;
            settled = 1;
        }
    }
    Ok(best)
}

/// The best of the other arms in one session, if it is worth the change.
fn better(
    best: &Sequence,
    at: usize,
    arms: usize,
    run: &mut dyn FnMut(&[usize]) -> Result<Option<Outcome>>,
) -> Result<Option<Sequence>> {
    let mut least = WORTH * best.seconds();
    let mut found = None;
    for arm in (0..arms).filter(|arm| *arm != best.arms[at]) {
        let mut arms = best.arms.clone();
        arms[at] = arm;
        let outcome = run(&arms)?.filter(|outcome| outcome.seconds() < least);
        if let Some(outcome) = outcome {
            least = outcome.seconds();
            found = Some(Sequence { arms, outcome });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use lissom_sim::SessionOutcome;

    use super::*;

    fn took(seconds: f64) -> Outcome {
        let session = SessionOutcome {
            seconds,
            ..SessionOutcome::default()
        };
        Outcome {
            sessions: vec![session],
            ..Outcome::default()
        }
    }

    /// What is found from the first of two arms on, in three sessions, where a switch
    /// between two sessions costs so many seconds; and in how many runs.
    fn found(switch: f64) -> (Vec<usize>, u32) {
        let own = [[10.0, 9.0], [10.0, 9.0], [8.0, 20.0]];
        let mut runs = 0;
        let mut run = |arms: &[usize]| {
            runs += 1;
            let seconds: f64 = own.iter().zip(arms).map(|(own, arm)| own[*arm]).sum();
            let switches = arms.windows(2).filter(|pair| pair[0] != pair[1]).count();
            Ok(Some(took(seconds + switch * switches as f64)))
        };
        let start = Sequence {
            arms: vec![0; 3],
            outcome: took(28.0),
        };
        let best = search(start, 2, &mut run).expect("every run ends");
        (best.arms, runs)
    }

    #[test]
    fn a_session_is_changed_where_the_whole_run_gains() {
        // First and second session, then none of three, the second of which was just tried.
        assert_eq!(found(0.5), (vec![1, 1, 0], 4));
        assert_eq!(found(0.0), (vec![1, 1, 0], 4));
    }

    #[test]
    fn what_a_switch_costs_elsewhere_keeps_the_arm() {
        assert_eq!(found(5.0), (vec![0; 3], 3));
        // A gain of a two-thousandth.
        assert_eq!(found(0.986), (vec![0; 3], 3));
    }
}
