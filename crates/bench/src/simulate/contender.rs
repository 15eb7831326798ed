//! Arms of the simulator by name.

use std::fmt;
use std::str::FromStr;

use lissom::core::schedule::ScheduleKind;
use lissom::core::tuner::Policy;

use crate::arms::FROZEN;
use crate::error::{BenchError, Place};

/// Who decides in an arm: how many runs, and when to compact.
///
/// Spelled as a policy, `fixed-4`, with a schedule, `fixed-4@dlc`, or as a learner that is
/// held, `learned-frozen`.
#[derive(Clone, PartialEq, Debug)]
pub struct Contender {
    /// Chooses the run limits.
    pub policy: Policy,
    /// When to compact; `eager` when absent.
    pub schedule: Option<ScheduleKind>,
    /// Whether its run limits are held from the first session on: what the load has taught
    /// it, and nothing more.
    pub frozen: bool,
}

impl Contender {
    /// Whether its decisions do not depend on the workload: such arms make up the hull.
    pub fn is_static(&self) -> bool {
        self.schedule.is_none() && !self.chooses_limits()
    }

    /// Whether a tuner that looks at the workload chooses its run limits; also where they
    /// are held later, for comparison.
    pub fn chooses_limits(&self) -> bool {
        !matches!(self.policy, Policy::Fixed(_) | Policy::LazyLeveling)
    }

    /// Whether it learns from what it is told of times: such arms alone meet the noise.
    pub fn learns(&self) -> bool {
        self.policy.learns()
    }

    /// Whether its tuner keeps what it has learned over a reopening.
    pub fn keeps_state(&self) -> bool {
        !self.policy.tuner().state().is_null()
    }
}

impl From<Policy> for Contender {
    fn from(policy: Policy) -> Contender {
        Contender {
            policy,
            schedule: None,
            frozen: false,
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.policy.fmt(f)?;
        if self.frozen {
            f.write_str(FROZEN)?;
        }
        match self.schedule {
            None => Ok(()),
            Some(schedule) => write!(f, "@{schedule}"),
        }
    }
}

impl FromStr for Contender {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Contender, BenchError> {
        let (policy, schedule) = match text.rsplit_once('@') {
            None => (text, None),
            Some((policy, schedule)) => {
                let kind = schedule.parse::<ScheduleKind>();
                (policy, Some(kind.place(format!("arm {text}"))?))
            }
        };
        let (policy, frozen) = match policy.strip_suffix(FROZEN) {
            Some(policy) => (policy, true),
            None => (policy, false),
        };
        let policy = policy.parse::<Policy>().place(format!("arm {text}"))?;
        if frozen && (schedule.is_some() || !policy.learns()) {
            return Err(BenchError::new(format!(
                "arm {text}: only a learner without a schedule is held after the load: choose \
                 learned{FROZEN}, learned-from-10{FROZEN} or lerp{FROZEN}"
            )));
        }
        Ok(Contender {
            policy,
            schedule,
            frozen,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print_alike() {
        for name in [
            "fixed-4",
            "fixed-4@eager",
            "learned@dlc-part",
            "lerp@silk",
            "learned-frozen",
            "learned-from-10",
            "learned-from-10-frozen",
            "lerp-frozen",
        ] {
            let contender: Contender = name.parse().expect(name);
            assert_eq!(contender.to_string(), name);
        }
        for (name, says) in [
            ("best", "choose fixed-K"),
            ("fixed-4@lazy", "choose eager, paced"),
            ("rocksdb-leveled@dlc", "is no policy"),
            ("@dlc", "is no policy"),
            ("fixed-4-frozen", "only a learner without a schedule"),
            ("learned-frozen@dlc", "choose learned-frozen"),
        ] {
            let error = name.parse::<Contender>().expect_err(name).to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn only_arms_that_look_at_nothing_are_static() {
        let is_static = |name: &str| name.parse::<Contender>().expect(name).is_static();
        assert!(is_static("fixed-4") && is_static("lazy-leveling"));
        assert!(!is_static("fixed-4@eager") && !is_static("learned"));
        assert!(!is_static("learned-frozen"));
    }

    #[test]
    fn only_a_learner_that_is_saved_keeps_something() {
        let keeps = |name: &str| name.parse::<Contender>().expect(name).keeps_state();
        assert!(keeps("learned") && keeps("learned-frozen"));
        assert!(!keeps("fixed-4") && !keeps("thresholds-30-70") && !keeps("lerp"));
    }
}
