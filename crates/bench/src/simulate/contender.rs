//! Arms of the simulator by name.

use std::fmt;
use std::str::FromStr;

use lissom::core::schedule::ScheduleKind;
use lissom::core::tuner::Policy;

use crate::error::{BenchError, Place};

/// Who decides in an arm: how many runs, and when to compact.
///
/// Spelled as a policy, `fixed-4`, or with a schedule, `fixed-4@dlc`.
#[derive(Clone, PartialEq, Debug)]
pub struct Contender {
    /// Chooses the run limits.
    pub policy: Policy,
    /// When to compact; `eager` when absent.
    pub schedule: Option<ScheduleKind>,
}

impl Contender {
    /// Whether its decisions do not depend on the workload: such arms make up the hull.
    pub fn is_static(&self) -> bool {
        self.schedule.is_none() && !self.chooses_limits()
    }

    /// Whether its run limits follow the workload.
    pub fn chooses_limits(&self) -> bool {
        !matches!(self.policy, Policy::Fixed(_) | Policy::LazyLeveling)
    }
}

impl From<Policy> for Contender {
    fn from(policy: Policy) -> Contender {
        Contender {
            policy,
            schedule: None,
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.schedule {
            None => self.policy.fmt(f),
            Some(schedule) => write!(f, "{}@{schedule}", self.policy),
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
        let policy = policy.parse::<Policy>().place(format!("arm {text}"))?;
        Ok(Contender { policy, schedule })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print_alike() {
        for name in ["fixed-4", "fixed-4@eager", "learned@dlc-part", "lerp@silk"] {
            let contender: Contender = name.parse().expect(name);
            assert_eq!(contender.to_string(), name);
        }
        for (name, says) in [
            ("best", "choose fixed-K"),
            ("fixed-4@lazy", "choose eager, paced"),
            ("rocksdb-leveled@dlc", "is no policy"),
            ("@dlc", "is no policy"),
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
    }
}
