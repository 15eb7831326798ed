//! Schedules by name, as settings and arms spell them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::{
    Burst, DebtBounds, Delay, Dlc, Eager, FullLoad, LoadModel, LookAhead, Paced, Schedule, Silk,
};

/// A way to choose when to compact.
///
/// Spelled `eager`, `paced`, `dlc`, `dlc-part`, `dlc-burst-part`, `dlc-part-burst-part`, `silk`,
/// `silk-star`, `look-ahead`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScheduleKind {
    /// As soon as something is due.
    #[default]
    Eager,
    /// Full levels give as much as they take in.
    Paced,
    /// L0 waits at high load.
    Dlc(Delay, Burst),
    /// Deep compactions wait at high load.
    Silk,
    /// The same with DLC's load model.
    SilkStar,
    /// L0 waits as far as the next low phase can make up for it.
    LookAhead,
}

/// All, with their names.
const KINDS: [(&str, ScheduleKind); 9] = [
    ("eager", ScheduleKind::Eager),
    ("paced", ScheduleKind::Paced),
    ("dlc", ScheduleKind::Dlc(Delay::Full, Burst::Full)),
    ("dlc-part", ScheduleKind::Dlc(Delay::Part, Burst::Full)),
    (
        "dlc-burst-part",
        ScheduleKind::Dlc(Delay::Full, Burst::Part),
    ),
    (
        "dlc-part-burst-part",
        ScheduleKind::Dlc(Delay::Part, Burst::Part),
    ),
    ("silk", ScheduleKind::Silk),
    ("silk-star", ScheduleKind::SilkStar),
    ("look-ahead", ScheduleKind::LookAhead),
];

/// A name that is no schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScheduleKindError(String);

impl fmt::Display for ScheduleKindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScheduleKindError {}

impl ScheduleKind {
    /// All kinds.
    pub fn every() -> impl Iterator<Item = ScheduleKind> {
        KINDS.into_iter().map(|(_, kind)| kind)
    }

    /// The schedule, for a tree that owes no more than these bounds, on a machine that is
    /// full when the device or the processors are.
    pub fn schedule(self, bounds: &DebtBounds) -> Box<dyn Schedule> {
        self.schedule_within(bounds, FullLoad::default())
    }

    /// The same on a machine that is full at another load. `paced` goes by the machine
    /// whatever is said here: it asks whether anybody is there.
    pub fn schedule_within(self, bounds: &DebtBounds, full: FullLoad) -> Box<dyn Schedule> {
        self.schedule_in(bounds, full, Duration::from_secs(1))
    }

    /// The same where `second` stands for DLC's second, as where time is compressed: every
    /// [interval](Schedule::interval) is in that proportion, but for
    /// [`LEAST_INTERVAL`](super::LEAST_INTERVAL).
    pub fn schedule_in(
        self,
        bounds: &DebtBounds,
        full: FullLoad,
        second: Duration,
    ) -> Box<dyn Schedule> {
        let files = bounds.max_level0_files;
        match self {
            ScheduleKind::Eager => Box::new(Eager),
            ScheduleKind::Paced => Box::new(Paced::default()),
            ScheduleKind::Dlc(delay, burst) => Box::new(Dlc::new(delay, burst, bounds, full)),
            ScheduleKind::Silk => Box::new(Silk::new(files, full, second)),
            ScheduleKind::SilkStar => Box::new(Silk::star(files, full)),
            ScheduleKind::LookAhead => Box::new(LookAhead::new(*bounds, full)),
        }
    }

    /// What it tells high load from low by; `None` for `eager`, which does not.
    pub fn load_model(self) -> Option<LoadModel> {
        match self {
            ScheduleKind::Eager => None,
            ScheduleKind::Dlc(..) | ScheduleKind::SilkStar => Some(LoadModel::CacheAdditions),
            ScheduleKind::Silk => Some(LoadModel::Operations),
            ScheduleKind::Paced | ScheduleKind::LookAhead => Some(LoadModel::Scarcest),
        }
    }
}

impl fmt::Display for ScheduleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = KINDS.iter().find(|(_, kind)| kind == self);
        f.write_str(known.map_or("", |(name, _)| name))
    }
}

impl FromStr for ScheduleKind {
    type Err = ScheduleKindError;

    fn from_str(text: &str) -> Result<ScheduleKind, ScheduleKindError> {
        let known = KINDS.iter().find(|(name, _)| *name == text);
        known.map(|(_, kind)| *kind).ok_or_else(|| {
            let names: Vec<_> = KINDS.iter().map(|(name, _)| *name).collect();
            ScheduleKindError(format!(
                "{text:?} is no schedule: choose {}",
                names.join(", ")
            ))
        })
    }
}
