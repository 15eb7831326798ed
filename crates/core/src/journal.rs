//! What was seen, what was chosen, why, and what came of it: one line of JSON
//! for each decision.

mod summary;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::summary::{FilesSummary, RunSummary, TreeSummary};
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::plan::{Plan, Reason};
use crate::schedule::{Debt, Load, Order};
use crate::shape::{RunLimits, Shape};
use crate::state::{Drain, DrainId};
use crate::tuner::{Allowance, Trial};

/// The journal's format; who reads all of a journal refuses newer ones.
pub const VERSION: u32 = 1;

/// A line of the journal.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Entry {
    /// Counts from 1 in each journal.
    pub number: u64,
    /// As of [`Moment::opening`].
    #[serde(default)]
    pub opening: u64,
    /// Time since the autopilot began.
    pub at: Duration,
    /// The column family.
    pub column_family: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// A moment on the journal's clock, which begins anew with each opening of the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Moment {
    /// Which opening, from 1; 0 in journals that do not tell it.
    pub opening: u64,
    /// Time since the autopilot began.
    pub at: Duration,
}

impl Entry {
    /// When it was written.
    pub fn moment(&self) -> Moment {
        Moment {
            opening: self.opening,
            at: self.at,
        }
    }
}

/// What a line tells.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The autopilot began.
    Begin {
        /// The journal's format.
        version: u32,
        /// The tuner's name.
        policy: String,
        /// The limits in force.
        limits: RunLimits,
        /// What the tuner is allowed.
        #[serde(flatten)]
        allowance: Allowance,
        /// The dimensions of the tree; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shape: Option<Shape>,
    },
    /// Another policy was set.
    Policy {
        /// The tuner's name.
        policy: String,
        /// As of [`Event::Begin`].
        #[serde(flatten)]
        allowance: Allowance,
        /// Whether the tuner goes on with what one of its name had learned; false in older
        /// journals, where each began anew.
        #[serde(default)]
        goes_on: bool,
    },
    /// Limits were decided that no tuner gave a reason for, as those of a policy that was
    /// set. Older journals do not tell it.
    Limits {
        /// The limits.
        limits: RunLimits,
        /// Why, as a sentence without a full stop.
        why: String,
    },
    /// The dimensions of the tree are others, for the missions that follow. Older journals
    /// do not tell it.
    Shape {
        /// Those of the missions before, since the beginning of a journal is rotated away.
        before: Shape,
        /// Those from now on.
        shape: Shape,
    },
    /// A mission ended and the tuner answered.
    Mission {
        /// What was measured.
        mission: Box<Mission>,
        /// The tree then.
        tree: TreeSummary,
        /// The tuner's answer.
        trial: Trial,
        /// Whether the limits were pinned, so that the answer had no effect.
        pinned: bool,
        /// What else bounded the tuner; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bounds: Option<Bounds>,
        /// Levels whose merge the answer before asked for and the planner refused, as the tuner
        /// was told ([`Question::refused`](crate::tuner::Question::refused)); none in older
        /// journals.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        refused: Vec<LogicalLevel>,
    },
    /// A drain began.
    DrainBegin {
        /// The drain.
        drain: Drain,
    },
    /// A drain ended.
    DrainEnd {
        /// Which.
        drain: DrainId,
        /// Bytes that it did not take down ([`Drain::bytes_left`]): of one that ended early, as
        /// one that nobody wanted any more. 0 in older journals, which do not tell it.
        #[serde(default)]
        left_bytes: u64,
    },
    /// A compaction began.
    CompactionBegin {
        /// Its id, never used twice in a journal.
        compaction: u64,
        /// What it does, and why.
        plan: Plan,
    },
    /// A compaction ended.
    CompactionEnd {
        /// Its id.
        compaction: u64,
        /// What came of it.
        outcome: Outcome,
    },
    /// The schedule's order is another one.
    Schedule {
        /// What holds from now on, and why.
        order: Order,
        /// The load of the last interval.
        load: Load,
        /// What the tree owes.
        debt: Debt,
        /// How long catching up would take now; absent when users leave nothing of the
        /// device, and when its speed is not known.
        catch_up: Option<Duration>,
        /// Whether the device's speed is known; true in journals that do not tell it.
        #[serde(default = "known_where_unrecorded")]
        device_is_known: bool,
    },
    /// Something that a person should know.
    Note {
        /// One sentence.
        text: String,
    },
}

/// What a tuner was bounded by when it was asked. It stands with each mission, since the
/// beginning of a journal is rotated away.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Bounds {
    /// The limits in force: not those of its last answer where a transition lets them
    /// wait, or a policy brought others.
    pub limits: RunLimits,
    /// As of [`Event::Begin`].
    #[serde(flatten)]
    pub allowance: Allowance,
}

fn known_where_unrecorded() -> bool {
    true
}

/// What came of a compaction.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "result")]
pub enum Outcome {
    /// It succeeded.
    Done {
        /// Bytes read.
        read_bytes: u64,
        /// Bytes written.
        write_bytes: u64,
        /// Entries read.
        input_entries: u64,
        /// Entries written.
        output_entries: u64,
        /// Wall time.
        took: Duration,
    },
    /// It did not start, since the tree had changed; it is planned again.
    Stale {
        /// Why.
        why: String,
    },
    /// It was cancelled before it ended; nothing changed.
    Cancelled,
    /// It failed; nothing changed.
    Failed {
        /// RocksDB's message.
        error: String,
    },
}

impl Event {
    /// The reason of a decision, if the event is one.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Event::DrainBegin { drain } => Some(&drain.reason),
            Event::CompactionBegin { plan, .. } => Some(&plan.reason),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::RunLimit;
    use crate::testing::{journals, small_shape};
    use crate::tuner::TrialId;

    fn event(line: &str) -> Event {
        let entry: Entry = serde_json::from_str(line).expect(line);
        let again = serde_json::to_string(&entry).expect("an entry is data");
        assert_eq!(serde_json::from_str::<Entry>(&again).expect(&again), entry);
        entry.event
    }

    #[test]
    fn an_old_journal_was_run_with_the_default_of_exploration_and_without_a_bound() {
        let line = |told: &str| {
            format!(
                r#"{{"number":1,"at":{{"secs":0,"nanos":0}},"column_family":"default",
                "event":"begin","version":1,"policy":"learned",
                "limits":{{"levels":[],"deeper":1}}{told}}}"#
            )
        };
        let allowed = |told: &str| match event(&line(told)) {
            Event::Begin { allowance, .. } => allowance,
            other => panic!("{other:?}"),
        };
        assert_eq!(allowed(""), Allowance::UNRECORDED);
        assert_eq!(allowed(r#","exploration":0.0"#).exploration, 0.0);
        let bound = |told: &str| allowed(told).max_write_amplification;
        assert_eq!(bound(r#","max_write_amplification":30.0"#), Some(30.0));
        assert_eq!(bound(r#","max_write_amplification":null"#), None);
        let Event::Begin { shape, .. } = event(&line("")) else {
            panic!("it is a beginning");
        };
        assert_eq!(shape, None);
    }

    /// With each mission, too, and with each policy.
    #[test]
    fn what_a_tuner_is_allowed_reads_back() {
        for max_write_amplification in [None, Some(0.0), Some(12.5)] {
            let allowance = Allowance {
                exploration: 0.25,
                max_write_amplification,
            };
            let policy = Event::Policy {
                policy: "learned".into(),
                allowance,
                goes_on: true,
            };
            let line = serde_json::to_string(&journals::entry(1, policy)).expect("data");
            assert!(line.contains(r#""exploration":0.25"#), "{line}");
            let told = event(&line);
            assert!(matches!(told, Event::Policy { allowance: it, .. } if it == allowance));
            let bounds = Bounds {
                limits: RunLimits::uniform(RunLimit::ONE),
                allowance,
            };
            let line = serde_json::to_string(&bounds).expect("data");
            assert_eq!(serde_json::from_str::<Bounds>(&line).expect(&line), bounds);
        }
    }

    #[test]
    fn an_old_journal_was_run_with_policies_that_began_anew() {
        let line = |told: &str| {
            format!(
                r#"{{"number":1,"at":{{"secs":0,"nanos":0}},"column_family":"default",
                "event":"policy","policy":"learned"{told}}}"#
            )
        };
        for (told, expected) in [("", false), (r#","goes_on":true"#, true)] {
            let set = event(&line(told));
            assert!(matches!(set, Event::Policy { goes_on, .. } if goes_on == expected));
        }
    }

    #[test]
    fn an_old_journal_does_not_tell_what_a_drain_has_left() {
        let line = |told: &str| {
            format!(
                r#"{{"number":1,"at":{{"secs":0,"nanos":0}},"column_family":"default",
                "event":"drain-end","drain":7{told}}}"#
            )
        };
        for (told, expected) in [("", 0), (r#","left_bytes":9"#, 9)] {
            let ended = event(&line(told));
            assert!(matches!(ended, Event::DrainEnd { left_bytes, .. } if left_bytes == expected));
        }
    }

    #[test]
    fn what_was_refused_reads_back_and_an_old_journal_tells_of_nothing() {
        let limits = RunLimits::uniform(RunLimit::ONE);
        let line = |refused: Vec<LogicalLevel>| {
            let entry = Entry {
                number: 1,
                opening: 1,
                at: Duration::ZERO,
                column_family: "default".into(),
                event: Event::Mission {
                    mission: Box::default(),
                    tree: TreeSummary::default(),
                    trial: Trial::of_limits(TrialId(1), limits.clone(), Vec::new()),
                    pinned: false,
                    bounds: None,
                    refused,
                },
            };
            serde_json::to_string(&entry).expect("an entry is data")
        };
        let read = |line: &str| match event(line) {
            Event::Mission { refused, .. } => refused,
            other => panic!("{other:?}"),
        };
        let level = LogicalLevel(2);
        let told = line(vec![level]);
        assert_eq!(read(&told), [level]);
        let older = told.replace(",\"refused\":[2]", "");
        assert_ne!(older, told);
        assert_eq!(read(&older), []);
        assert_eq!(line(Vec::new()), older);
    }

    #[test]
    fn dimensions_read_back_and_a_line_knows_its_opening() {
        let before = small_shape();
        let mut shape = before.clone();
        shape.size_ratio = 4;
        let entry = Entry {
            number: 7,
            opening: 3,
            at: Duration::from_millis(2_500),
            column_family: "default".into(),
            event: Event::Shape { before, shape },
        };
        let line = serde_json::to_string(&entry).expect("an entry is data");
        assert!(matches!(event(&line), Event::Shape { shape, .. } if shape.size_ratio == 4));
        let told: Entry = serde_json::from_str(&line).expect(&line);
        assert_eq!((told.opening, told.moment()), (3, entry.moment()));
        let older = line.replace("\"opening\":3,", "");
        let older: Entry = serde_json::from_str(&older).expect(&older);
        assert!(older.moment() < told.moment());
    }
}
