//! Policies by name, as settings and arms spell them.

use std::fmt;
use std::str::FromStr;

use super::thresholds::percent;
use super::{Allowance, Fixed, LazyLeveling, Learned, Learning, Lerp, Thresholds, Tuner};
use crate::filters::FilterAllocation;
use crate::layout::Layout;
use crate::shape::{RunLimit, RunLimits};

/// A way to choose run limits.
///
/// Spelled `fixed-4`, `fixed-10,10,1` (levels 1, 2, and all deeper ones),
/// `lazy-leveling`, `thresholds-LOW-HIGH` with LOW and HIGH in percent of reads,
/// `learned` (see [`Learning`] for its variants), or `lerp`, with `-without-propagation` for
/// a learner in each level, `-without-pull` for one whose actor nothing holds back,
/// `-without-propagation+pull`. `lerp` propagates by the filters of the tree
/// ([`Policy::over`]); `lerp-monkey` does as under Monkey's filters, and needs them
/// ([`Policy::filters`]).
#[derive(Clone, PartialEq, Debug)]
pub enum Policy {
    /// The same limits for ever.
    Fixed(RunLimits),
    /// Many runs above, one in the largest level.
    LazyLeveling,
    /// RusKey's threshold rule; shares of reads from 0 to 1.
    Thresholds {
        /// Fewer reads raise the limits.
        low: f64,
        /// More reads lower them.
        high: f64,
    },
    /// After RusKey's learner.
    Lerp {
        /// By which it propagates; uniform ones give way to those of the tree.
        filters: FilterAllocation,
        /// Whether deeper levels follow from the learned ones.
        propagates: bool,
        /// Whether large outputs of its actors cost something.
        pulls: bool,
    },
    /// The store's own learner.
    Learned(Learning),
}

/// Parts of [`Policy::Lerp`] that it can do without.
const PROPAGATION: &str = "propagation";
const PULL: &str = "pull";

/// Learners begin alike everywhere.
const SEED: u64 = 1;

/// A name that is no policy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicyError(String);

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PolicyError {}

impl Policy {
    /// The tuner that follows this policy, within the default of [`Allowance`].
    pub fn tuner(&self) -> Box<dyn Tuner> {
        self.tuner_within(Allowance::default())
    }

    /// The tuner that follows this policy within what a user allows.
    pub fn tuner_within(&self, allowance: Allowance) -> Box<dyn Tuner> {
        match self {
            Policy::Fixed(limits) => Box::new(Fixed::new(limits.clone())),
            Policy::LazyLeveling => Box::new(LazyLeveling::default()),
            Policy::Lerp {
                filters,
                propagates,
                pulls,
            } => {
                let lerp = if *propagates {
                    Lerp::new(*filters, SEED)
                } else {
                    Lerp::without_propagation(*filters, SEED)
                };
                let lerp = if *pulls { lerp } else { lerp.without_pull() };
                let explores = allowance.exploration > 0.0;
                Box::new(if explores { lerp } else { lerp.without_noise() })
            }
            Policy::Learned(learning) => Box::new(Learned::with(allowance, learning.clone())),
            Policy::Thresholds { low, high } => match Thresholds::new(*low, *high) {
                Ok(rule) => Box::new(rule),
                // Only a policy built by hand gets here: hold still.
                Err(_) => Box::new(Fixed::new(self.first_limits())),
            },
        }
    }

    /// The same policy over a tree with such filters: `lerp` propagates by them.
    pub fn over(&self, filters: FilterAllocation) -> Policy {
        match self {
            Policy::Lerp {
                filters: FilterAllocation::Uniform,
                propagates,
                pulls,
            } => Policy::Lerp {
                filters,
                propagates: *propagates,
                pulls: *pulls,
            },
            _ => self.clone(),
        }
    }

    /// The filters that it needs; `None` where any will do.
    pub fn filters(&self) -> Option<FilterAllocation> {
        match self {
            Policy::Lerp {
                filters: FilterAllocation::Monkey,
                ..
            } => Some(FilterAllocation::Monkey),
            _ => None,
        }
    }

    /// The limits before the first mission.
    pub fn first_limits(&self) -> RunLimits {
        match self {
            Policy::Fixed(limits) => limits.clone(),
            Policy::Learned(learning) => learning.start.clone(),
            Policy::LazyLeveling | Policy::Thresholds { .. } | Policy::Lerp { .. } => {
                RunLimits::uniform(RunLimit::ONE)
            }
        }
    }

    /// Whether it learns from latencies.
    pub fn learns(&self) -> bool {
        matches!(self, Policy::Learned(_) | Policy::Lerp { .. })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fixed(limits) => write!(f, "fixed-{limits}"),
            Policy::LazyLeveling => f.write_str("lazy-leveling"),
            Policy::Learned(learning) => learning.fmt(f),
            Policy::Lerp {
                filters,
                propagates,
                pulls,
            } => {
                f.write_str(match filters {
                    FilterAllocation::Uniform => "lerp",
                    FilterAllocation::Monkey => "lerp-monkey",
                })?;
                let parts = [(PROPAGATION, *propagates), (PULL, *pulls)];
                let without = parts.iter().filter(|(_, has)| !has);
                let without: Vec<&str> = without.map(|(part, _)| *part).collect();
                if without.is_empty() {
                    Ok(())
                } else {
                    write!(f, "-without-{}", without.join("+"))
                }
            }
            Policy::Thresholds { low, high } => {
                write!(f, "thresholds-{}-{}", percent(*low), percent(*high))
            }
        }
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Policy, PolicyError> {
        if text == "lazy-leveling" {
            return Ok(Policy::LazyLeveling);
        }
        if let Some(lerp) = parse_lerp(text) {
            return lerp.map_err(|why| PolicyError(format!("{text:?} is no policy: {why}")));
        }
        if let Some(learning) = text.strip_prefix("learned") {
            return Learning::parse(learning, parse_limits)
                .map(Policy::Learned)
                .map_err(|why| PolicyError(format!("{text:?} is no policy: {why}")));
        }
        if let Some(limits) = text.strip_prefix("fixed-") {
            return parse_limits(limits)
                .map(Policy::Fixed)
                .map_err(|why| PolicyError(format!("{text:?} is no policy: {why}")));
        }
        if let Some(shares) = text.strip_prefix("thresholds-") {
            return parse_thresholds(shares)
                .map_err(|why| PolicyError(format!("{text:?} is no policy: {why}")));
        }
        Err(PolicyError(format!(
            "{text:?} is no policy: choose fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned, lerp or lerp-monkey"
        )))
    }
}

/// `None` for another policy.
fn parse_lerp(text: &str) -> Option<Result<Policy, String>> {
    let (name, without) = match text.split_once("-without-") {
        Some((name, without)) => (name, Some(without)),
        None => (text, None),
    };
    let filters = match name {
        "lerp" => FilterAllocation::Uniform,
        "lerp-monkey" => FilterAllocation::Monkey,
        _ => return None,
    };
    let (mut propagates, mut pulls) = (true, true);
    for part in without.into_iter().flat_map(|parts| parts.split('+')) {
        match part {
            PROPAGATION => propagates = false,
            PULL => pulls = false,
            _ => {
                return Some(Err(format!(
                    "{part:?} is no part of lerp: {PROPAGATION}, {PULL}"
                )));
            }
        }
    }
    Some(Ok(Policy::Lerp {
        filters,
        propagates,
        pulls,
    }))
}

fn parse_limits(text: &str) -> Result<RunLimits, String> {
    let limits = text.split(',').map(parse_limit);
    let mut levels = limits.collect::<Result<Vec<_>, _>>()?;
    let deeper = levels.pop().ok_or("it names no run limit")?;
    let most = usize::from(Layout::V1.levels);
    if levels.len() > most {
        return Err(format!(
            "it names {} run limits: give at most {}, one for each of a tree's {most} levels and \
             one for all deeper ones",
            levels.len() + 1,
            most + 1
        ));
    }
    Ok(RunLimits { levels, deeper })
}

fn parse_limit(text: &str) -> Result<RunLimit, String> {
    let runs = text
        .parse()
        .map_err(|_| format!("{text:?} is not a number of runs"))?;
    RunLimit::new(runs).map_err(|error| error.to_string())
}

fn parse_thresholds(text: &str) -> Result<Policy, String> {
    let (low, high) = text
        .split_once('-')
        .ok_or("give two percentages, as in thresholds-20-80")?;
    let share = |percent: &str| {
        percent
            .parse::<f64>()
            .map(|percent| percent / 100.0)
            .map_err(|_| format!("{percent:?} is not a percentage"))
    };
    let (low, high) = (share(low)?, share(high)?);
    Thresholds::new(low, high).map(|_| Policy::Thresholds { low, high })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::layout::LogicalLevel;
    use crate::observation::{Latency, Mission, OperationMix};
    use crate::testing::{numbered_files, small_shape};
    use crate::tree::Tree;
    use crate::tuner::{Change, EXPLORATION, Question};

    #[test]
    fn names_parse_and_print_alike() {
        for name in [
            "fixed-1",
            "fixed-10,10,1",
            "lazy-leveling",
            "thresholds-20-80",
            "lerp",
            "lerp-monkey",
            "lerp-without-propagation",
            "lerp-without-pull",
            "lerp-monkey-without-propagation+pull",
            "learned",
            "learned-from-4,4,1",
            "learned-without-memory",
            "learned-from-10-without-prior+trials",
        ] {
            let policy: Policy = name.parse().expect(name);
            assert_eq!(policy.to_string(), name);
        }
    }

    #[test]
    fn thresholds_have_one_spelling() {
        for share in ["12.5", "29", "7", "71", "33.3", "20", "80"] {
            let (low, high) = (
                format!("thresholds-{share}-100"),
                format!("thresholds-0-{share}"),
            );
            for name in [low, high] {
                let policy: Policy = name.parse().expect(&name);
                assert_eq!(policy.to_string(), name);
                let kept = policy.tuner().name();
                assert_eq!(kept, name);
                assert_eq!(kept.parse::<Policy>(), Ok(policy));
            }
        }
    }

    /// One for each level, and one for all deeper ones.
    #[test]
    fn more_run_limits_than_a_tree_has_levels_are_refused() {
        for name in ["fixed", "learned-from"] {
            let of = |limits: usize| format!("{name}-{}", vec!["2"; limits].join(","));
            let policy: Policy = of(13).parse().expect("a policy");
            assert_eq!(policy.first_limits().levels.len(), 12);
            let error = of(14).parse::<Policy>().expect_err("one too many");
            let says = "is no policy: it names 14 run limits: give at most 13, one for each of a \
                        tree's 12 levels and one for all deeper ones";
            assert!(error.to_string().ends_with(says), "{error}");
        }
    }

    #[test]
    fn lerp_propagates_by_the_filters_of_the_tree() {
        let over = |name: &str, filters| {
            let policy: Policy = name.parse().expect(name);
            policy.over(filters).to_string()
        };
        for name in ["fixed-4", "learned", "lerp", "lerp-without-pull"] {
            assert_eq!(over(name, FilterAllocation::Uniform), name);
        }
        for (name, monkey) in [
            ("fixed-4", "fixed-4"),
            ("learned", "learned"),
            ("lerp", "lerp-monkey"),
            ("lerp-without-pull", "lerp-monkey-without-pull"),
            ("lerp-monkey", "lerp-monkey"),
        ] {
            assert_eq!(over(name, FilterAllocation::Monkey), monkey);
            let policy: Policy = name.parse().expect(name);
            let needs = (name == "lerp-monkey").then_some(FilterAllocation::Monkey);
            assert_eq!(policy.filters(), needs, "{name}");
        }
    }

    /// Missions that say the same for ever, from a tree of one level.
    #[test]
    fn a_share_of_nothing_explores_nothing() {
        let trials = |name: &str, share: f64| {
            let policy: Policy = name.parse().expect(name);
            // Whatever lerp changes here is one.
            let is_trial = |it: &Change| name != "learned" || it.why.contains("a trial of");
            let mut tuner = policy.tuner_within(Allowance::exploring(share));
            let (shape, tree) = (small_shape(), one_level());
            let mut limits = RunLimits::uniform(RunLimit::ONE);
            let mut trials = 0;
            for _ in 0..400 {
                let trial = tuner.ask(&Question {
                    shape: &shape,
                    tree: &tree,
                    limits: &limits,
                    refused: &[],
                    mission: &steady(),
                });
                trials += trial.changes.iter().filter(|it| is_trial(it)).count();
                tuner.tell(trial.id, &steady());
                limits = trial.limits;
            }
            trials
        };
        for name in ["learned", "lerp", "lerp-monkey"] {
            assert!(trials(name, EXPLORATION) > 0, "{name}");
            assert_eq!(trials(name, 0.0), 0, "{name}");
        }
    }

    fn one_level() -> Tree {
        let layout = small_shape().layout;
        let (_, last) = layout.span(LogicalLevel(1));
        let mut levels = vec![Vec::new(); usize::from(last.0) + 1];
        levels[usize::from(last.0)] = numbered_files(10);
        Tree::new(levels).expect("a run")
    }

    fn steady() -> Mission {
        let mean = |micros| Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        };
        Mission {
            duration: Duration::from_secs(1),
            operations: OperationMix {
                gets_found: 500,
                writes: 500,
                ..OperationMix::default()
            },
            get: mean(100),
            put: mean(10),
            user_write_bytes: 10_000,
            flush_write_bytes: 10_000,
            ..Mission::default()
        }
    }

    #[test]
    fn wrong_names_say_what_to_write() {
        for (name, says) in [
            (
                "leveled",
                "choose fixed-K, lazy-leveling, thresholds-LOW-HIGH, learned, lerp or lerp-monkey",
            ),
            ("fixed-0", "choose one from 1 to 12"),
            ("fixed-x", "not a number of runs"),
            ("thresholds-80-20", "0 <= low <= high <= 1"),
            ("thresholds-5", "give two percentages"),
            (
                "learned-without-luck",
                "no part of the learner: levels, prior,",
            ),
            ("lerp-without-luck", "no part of lerp: propagation, pull"),
            ("learned-from-0", "choose one from 1 to 12"),
            ("learnedly", "neither -from- nor -without-"),
        ] {
            let error = name.parse::<Policy>().expect_err(name).to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
