//! Names of arms.

use std::fmt;
use std::str::FromStr;

use lissom::core::Transition;
use lissom::core::schedule::ScheduleKind;
use lissom::core::tuner::Policy;
use serde::{Deserialize, Serialize};

use crate::error::BenchError;

/// Largest run limit of the arms `fixed-K`.
pub const LARGEST_FIXED: u32 = 10;

/// One contender.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ArmName {
    /// Stock RocksDB, leveled, with the library's defaults.
    RocksdbLeveled,
    /// Stock RocksDB, leveled, with `max_bytes_for_level_base` as given in bytes, or as
    /// the tuning guide has it: the bytes of L0.
    RocksdbLeveledTuned(Option<u64>),
    /// Stock RocksDB, leveled, with its own auto-tuned rate limiter: up to 1 GiB/s of
    /// what flushes and compactions write, as by default; reads are not counted. It is refilled
    /// the more often the shorter the schedules' interval is.
    RocksdbLeveledAutoRate,
    /// Stock RocksDB, leveled, whose compactions run at low priority, the lowest that its interfaces
    /// beside C++ have: nice 19 at the processors, the idle class at the device.
    RocksdbLeveledLowPriority,
    /// Stock RocksDB, universal.
    RocksdbUniversal,
    /// Stock RocksDB with a user's OPTIONS file, by the name under which
    /// [`Resources::options_files`](crate::Resources::options_files) has it.
    RocksdbOptions(String),
    /// The same run limit in every level.
    Fixed(u32),
    /// Run limit 1 in the last level, the size ratio above it.
    LazyLeveling,
    /// Run limits by RusKey's two thresholds on the share of reads, in percent.
    Thresholds(String, String),
    /// A learner, by its policy's name: `learned`, `lerp`, and their variants; `lerp-monkey`
    /// alone has Monkey's filters.
    Learner(String),
    /// A learner whose run limits are held from the first session on: what the load
    /// has taught it, and nothing more.
    Frozen(String),
    /// A store that is [switched](ArmName::is_switchable), with perfect knowledge, to another
    /// static arm at the start of each session named.
    Oracle(Vec<(String, ArmName)>),
    /// As an oracle, with the transition that a change of limits goes through; for
    /// comparing transitions, not for the headroom.
    Switch(Transition, Vec<(String, ArmName)>),
    /// An arm of Lissom whose compactions follow a schedule.
    Scheduled(Box<ArmName>, ScheduleKind),
    /// An arm of Lissom whose merges never give way to whoever wants a processor or the device.
    NormalPriority(Box<ArmName>),
    /// In-memory store for tests of the harness.
    Mock(String),
}

/// What begins the name of stock RocksDB with an OPTIONS file.
const OPTIONS: &str = "rocksdb-options-";

/// What ends the name of a learner that is held.
pub(crate) const FROZEN: &str = "-frozen";

/// What ends the name of an arm whose merges never give way.
const NORMAL_PRIORITY: &str = "+normal-priority";

/// Transitions as arms spell them.
const TRANSITIONS: [(Transition, &str); 4] = [
    (Transition::Flexible, "flexible"),
    (Transition::Lazy, "lazy"),
    (Transition::Greedy, "greedy"),
    (Transition::FileGranular, "file-granular"),
];

impl ArmName {
    /// Whether the arm's decisions do not depend on the workload: such arms make up
    /// the hull.
    pub fn is_static(&self) -> bool {
        match self {
            Self::NormalPriority(arm) => arm.is_static(),
            Self::Thresholds(..)
            | Self::Learner(_)
            | Self::Frozen(_)
            | Self::Oracle(..)
            | Self::Switch(..)
            | Self::Scheduled(..) => false,
            _ => true,
        }
    }

    /// Whether it is RocksDB with its own compaction.
    pub fn is_stock(&self) -> bool {
        matches!(
            self,
            Self::RocksdbLeveled
                | Self::RocksdbLeveledTuned(_)
                | Self::RocksdbLeveledAutoRate
                | Self::RocksdbLeveledLowPriority
                | Self::RocksdbUniversal
                | Self::RocksdbOptions(_)
        )
    }

    /// Whether it is one of those static arms between which one open store can switch: all
    /// of Lissom's, which have the same schedule.
    pub fn is_switchable(&self) -> bool {
        matches!(self, Self::Fixed(_) | Self::LazyLeveling)
    }

    /// Whether a tuner that looks at the workload chooses its run limits; also where they
    /// are held later, for comparison.
    pub fn follows_workload(&self) -> bool {
        match self {
            Self::Thresholds(..) | Self::Learner(_) | Self::Frozen(_) => true,
            Self::Scheduled(arm, _) | Self::NormalPriority(arm) => arm.follows_workload(),
            _ => false,
        }
    }

    /// Whether a schedule may be named with it.
    fn may_be_scheduled(&self) -> bool {
        matches!(
            self,
            Self::Fixed(_) | Self::LazyLeveling | Self::Thresholds(..) | Self::Learner(_)
        )
    }

    /// Whether it may be asked to keep its merges at normal priority.
    fn may_be_kept_at_normal_priority(&self) -> bool {
        self.may_be_scheduled() || matches!(self, Self::Scheduled(..) | Self::Frozen(_))
    }

    /// The arm without what says when and how its merges run. This one makes its load, without
    /// its schedule and at its own priority: so arms that differ in nothing else start alike,
    /// and no schedule learns from a load that comes once.
    pub fn shape(&self) -> &Self {
        match self {
            Self::Scheduled(arm, _) | Self::NormalPriority(arm) => arm.shape(),
            arm => arm,
        }
    }

    /// The schedule that its compactions follow, if one is named.
    fn scheduled_by(&self) -> Option<ScheduleKind> {
        match self {
            Self::NormalPriority(arm) => arm.scheduled_by(),
            Self::Scheduled(_, schedule) => Some(*schedule),
            _ => None,
        }
    }

    /// Whether its compactions follow a schedule.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.scheduled_by().is_some()
    }

    /// Whether its schedule goes by what the device can do.
    pub(crate) fn goes_by_device(&self) -> bool {
        let schedule = self.scheduled_by();
        schedule.is_some_and(|schedule| schedule != ScheduleKind::Eager)
    }

    /// Whether this is the run with perfect knowledge.
    pub fn is_oracle(&self) -> bool {
        matches!(self, Self::Oracle(..))
    }

    /// The same learner, held from the first session on; `None` for what is no learner.
    pub fn held(&self) -> Option<Self> {
        match self {
            Self::Learner(policy) => Some(Self::Frozen(policy.clone())),
            _ => None,
        }
    }

    /// Static arms by session, for an arm that is switched.
    pub fn schedule(&self) -> Option<&[(String, ArmName)]> {
        match self {
            Self::Oracle(schedule) | Self::Switch(_, schedule) => Some(schedule),
            _ => None,
        }
    }

    /// The name, without the static arms by session.
    pub fn label(&self) -> String {
        match self {
            Self::Oracle(_) => "oracle".to_string(),
            Self::Switch(transition, _) => format!("switch-{}", transition_name(*transition)),
            _ => self.to_string(),
        }
    }

    /// The name as a file name.
    pub fn file_name(&self) -> String {
        let text = self.to_string();
        let keep = |c: char| {
            if c.is_ascii_alphanumeric() || "-.".contains(c) {
                c
            } else {
                '_'
            }
        };
        let name: String = text.chars().map(keep).collect();
        if name.len() <= 60 {
            return name;
        }
        format!(
            "{}-{}",
            &name[..40],
            &crate::workload::sha256_hex(text.as_bytes())[..12]
        )
    }
}

impl fmt::Display for ArmName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RocksdbLeveled => f.write_str("rocksdb-leveled"),
            Self::RocksdbLeveledTuned(None) => f.write_str("rocksdb-leveled-tuned"),
            Self::RocksdbLeveledTuned(Some(bytes)) => write!(f, "rocksdb-leveled-tuned-{bytes}"),
            Self::RocksdbLeveledAutoRate => f.write_str("rocksdb-leveled-auto-rate"),
            Self::RocksdbLeveledLowPriority => f.write_str("rocksdb-leveled-low-priority"),
            Self::RocksdbUniversal => f.write_str("rocksdb-universal"),
            Self::RocksdbOptions(name) => write!(f, "{OPTIONS}{name}"),
            Self::Fixed(limit) => write!(f, "fixed-{limit}"),
            Self::LazyLeveling => f.write_str("lazy-leveling"),
            Self::Learner(policy) => f.write_str(policy),
            Self::Frozen(policy) => write!(f, "{policy}{FROZEN}"),
            Self::Thresholds(low, high) => write!(f, "thresholds-{low}-{high}"),
            Self::Scheduled(arm, schedule) => write!(f, "{arm}@{schedule}"),
            Self::NormalPriority(arm) => write!(f, "{arm}{NORMAL_PRIORITY}"),
            Self::Mock(rest) => write!(f, "mock-{rest}"),
            Self::Oracle(schedule) | Self::Switch(_, schedule) => {
                write!(f, "{}:{}", self.label(), spelled(schedule))
            }
        }
    }
}

impl FromStr for ArmName {
    type Err = BenchError;

    fn from_str(text: &str) -> Result<Self, BenchError> {
        match text {
            "rocksdb-leveled" => return Ok(Self::RocksdbLeveled),
            "rocksdb-leveled-tuned" => return Ok(Self::RocksdbLeveledTuned(None)),
            "rocksdb-leveled-auto-rate" => return Ok(Self::RocksdbLeveledAutoRate),
            "rocksdb-leveled-low-priority" => return Ok(Self::RocksdbLeveledLowPriority),
            "rocksdb-universal" => return Ok(Self::RocksdbUniversal),
            "lazy-leveling" => return Ok(Self::LazyLeveling),
            _ => {}
        }
        parse_parametrised(text).ok_or_else(|| unknown(text))
    }
}

fn parse_parametrised(text: &str) -> Option<ArmName> {
    if let Some(name) = text.strip_prefix(OPTIONS) {
        return is_plain(name).then(|| ArmName::RocksdbOptions(name.to_string()));
    }
    if let Some(arm) = text.strip_suffix(NORMAL_PRIORITY) {
        let arm: ArmName = arm.parse().ok()?;
        let may = arm.may_be_kept_at_normal_priority();
        return may.then(|| ArmName::NormalPriority(Box::new(arm)));
    }
    if let Some((arm, schedule)) = text.rsplit_once('@') {
        let arm: ArmName = arm.parse().ok().filter(ArmName::may_be_scheduled)?;
        return Some(ArmName::Scheduled(Box::new(arm), schedule.parse().ok()?));
    }
    if let Some(bytes) = text.strip_prefix("rocksdb-leveled-tuned-") {
        let bytes = bytes.parse().ok().filter(|bytes| *bytes >= 64 << 10)?;
        return Some(ArmName::RocksdbLeveledTuned(Some(bytes)));
    }
    if text.starts_with("fixed-") {
        return fixed_limit(text).map(ArmName::Fixed);
    }
    if let Some(schedule) = text.strip_prefix("oracle:") {
        return parse_schedule(schedule).map(ArmName::Oracle);
    }
    if let Some((transition, schedule)) = text
        .strip_prefix("switch-")
        .and_then(|rest| rest.split_once(':'))
    {
        let known = TRANSITIONS.iter().find(|(_, name)| *name == transition)?;
        return parse_schedule(schedule).map(|schedule| ArmName::Switch(known.0, schedule));
    }
    if let Some(rest) = text.strip_prefix("mock-") {
        return Some(ArmName::Mock(rest.to_string()));
    }
    if let Some(policy) = text.strip_suffix(FROZEN) {
        return learns(policy).then(|| ArmName::Frozen(policy.to_string()));
    }
    if learns(text) {
        return Some(ArmName::Learner(text.to_string()));
    }
    let (low, high) = text.strip_prefix("thresholds-")?.split_once('-')?;
    let thresholds = ArmName::Thresholds(low.into(), high.into());
    text.parse::<Policy>().is_ok().then_some(thresholds)
}

/// Whether an OPTIONS file may be called so: the name stands in tables and file names.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=40).contains(&name.len()) && name.chars().all(plain)
}

fn learns(policy: &str) -> bool {
    policy.parse().is_ok_and(|policy: Policy| policy.learns())
}

fn fixed_limit(text: &str) -> Option<u32> {
    let limit = text.strip_prefix("fixed-")?.parse().ok()?;
    (1..=LARGEST_FIXED).contains(&limit).then_some(limit)
}

fn parse_schedule(text: &str) -> Option<Vec<(String, ArmName)>> {
    text.split(',').map(oracle_part).collect()
}

fn spelled(schedule: &[(String, ArmName)]) -> String {
    let parts: Vec<_> = schedule
        .iter()
        .map(|(session, arm)| format!("{session}={arm}"))
        .collect();
    parts.join(",")
}

fn transition_name(transition: Transition) -> &'static str {
    let named = TRANSITIONS.iter().find(|(known, _)| *known == transition);
    named.map_or("flexible", |(_, name)| name)
}

fn oracle_part(part: &str) -> Option<(String, ArmName)> {
    let (session, arm) = part.split_once('=')?;
    let arm: ArmName = arm.parse().ok().filter(ArmName::is_switchable)?;
    (!session.is_empty()).then_some((session.to_string(), arm))
}

fn unknown(text: &str) -> BenchError {
    BenchError::new(format!(
        "arm \"{text}\" is not known; the arms are rocksdb-leveled, rocksdb-leveled-tuned[-BYTES], \
         rocksdb-leveled-auto-rate, rocksdb-leveled-low-priority, \
         rocksdb-universal, rocksdb-options-NAME (with --options NAME=PATH; letters, digits and -_. in \
         NAME), fixed-1 to fixed-{LARGEST_FIXED}, lazy-leveling, thresholds-LOW-HIGH \
         (percent of reads, LOW not above HIGH), learned, learned-from-K (begins at K), lerp, \
         lerp-monkey (under Monkey's filters), learned-frozen and learned-from-K-frozen (held \
         after the load), \
         one of these with a schedule as in fixed-4@dlc, with merges that never give way as in \
         fixed-4+normal-priority or fixed-4@dlc+normal-priority, \
         oracle:SESSION=fixed-K,SESSION=lazy-leveling, and \
         switch-TRANSITION:SESSION=fixed-K,SESSION=lazy-leveling with flexible, lazy, greedy or \
         file-granular"
    ))
}

impl TryFrom<String> for ArmName {
    type Error = BenchError;

    fn try_from(text: String) -> Result<Self, BenchError> {
        text.parse()
    }
}

impl From<ArmName> for String {
    fn from(arm: ArmName) -> Self {
        arm.to_string()
    }
}
