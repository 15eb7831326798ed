//! Why each level has its run limit, from the journal: what it was before, what was
//! expected, and what came.

use std::collections::{BTreeMap, VecDeque};

use lissom_core::journal::{Entry, Event, TreeSummary};
use lissom_core::tuner::Trial;
use lissom_core::{LogicalLevel, Mission, RunLimits};
use serde::Serialize;

/// Missions before a decision that its outcome is compared with.
const BEFORE: usize = 12;

/// A workload of which each kind of operation has a share that is so near is the same, as
/// for the policy `learned`. What is another workload tells nothing of a limit.
const ALIKE: f64 = 0.1;

/// Why a level has its run limit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LimitReason {
    /// The column family.
    pub column_family: String,
    /// The level, from 1.
    pub level: u16,
    /// Its limit, by the journal.
    pub limit: u16,
    /// Its limit before; absent where the journal does not tell.
    pub before: Option<u16>,
    /// Seconds since the autopilot began when it was decided.
    pub at_seconds: f64,
    /// Why, and what was expected, as the tuner said.
    pub why: String,
    /// Missions since under the workload that it was decided for.
    pub missions_since: usize,
    /// Missions since under others.
    pub missions_elsewhere: usize,
    /// Seconds that an operation took on average in the missions before under the same
    /// workload, where there were any.
    pub took_before: Option<f64>,
    /// The same since.
    pub took_since: Option<f64>,
}

impl LimitReason {
    /// All of it in a sentence.
    pub fn sentence(&self) -> String {
        let limit = match self.before {
            Some(before) if before != self.limit => format!("{}, {before} before", self.limit),
            _ => self.limit.to_string(),
        };
        let micros = |seconds: f64| format!("{:.1} µs", seconds * 1e6);
        let came = match (self.took_before, self.took_since) {
            (Some(before), Some(since)) => format!(
                "; an operation took {} before and {} in {}",
                micros(before),
                micros(since),
                self.since()
            ),
            (None, Some(since)) => {
                format!("; an operation took {} in {}", micros(since), self.since())
            }
            (_, None) => "; nothing was measured since".into(),
        };
        let elsewhere = match self.missions_elsewhere {
            0 => String::new(),
            missions => format!(" (not counting {missions} under another workload)"),
        };
        format!(
            "level {} has {limit}: {}{came}{elsewhere}",
            self.level, self.why
        )
    }

    fn since(&self) -> String {
        match self.missions_since {
            1 => "the mission since".into(),
            missions => format!("the {missions} missions since"),
        }
    }
}

/// The shares of gets, scans and writes among operations.
#[derive(Clone, Copy, Debug)]
struct Mix([f64; 3]);

impl Mix {
    fn of(mission: &Mission) -> Mix {
        let counts = mission.kinds().map(|(count, _)| count);
        let all = counts.iter().sum::<f64>().max(1.0);
        Mix(counts.map(|count| count / all))
    }

    fn is_like(&self, other: &Mix) -> bool {
        let both = self.0.iter().zip(&other.0);
        both.map(|(one, other)| (one - other).abs())
            .all(|apart| apart <= ALIKE)
    }
}

/// Times of operations over missions.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    missions: usize,
    operations: f64,
    seconds: f64,
}

impl Took {
    fn add(&mut self, other: Took) {
        self.missions += other.missions;
        self.operations += other.operations;
        self.seconds += other.seconds;
    }

    /// Of one mission; none without an operation that was timed.
    fn of(mission: &Mission) -> Option<Took> {
        let seconds = mission.waited()?;
        Some(Took {
            missions: 1,
            operations: mission.operations.total() as f64,
            seconds,
        })
    }

    fn mean(&self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.seconds / self.operations)
    }
}

/// What has come of a decision.
struct Decided {
    reason: LimitReason,
    /// The workload that it was decided for: that of the mission before, or else of the
    /// first one after.
    mix: Option<Mix>,
    since: Took,
}

impl Decided {
    fn see(&mut self, mix: Mix, took: Took) {
        if self.mix.get_or_insert(mix).is_like(&mix) {
            self.since.add(took);
        } else {
            self.reason.missions_elsewhere += 1;
        }
    }
}

/// One column family while its journal is read.
#[derive(Default)]
struct Reading {
    limits: Option<RunLimits>,
    deepest: u16,
    /// The last missions.
    recent: VecDeque<(Mix, Took)>,
    by_level: BTreeMap<u16, Decided>,
}

/// The reason of every level that held data when the last mission of its column family
/// ended.
pub(super) fn reasons(entries: &[Entry]) -> Vec<LimitReason> {
    let mut families: BTreeMap<&str, Reading> = BTreeMap::new();
    for entry in entries {
        let reading = families.entry(&entry.column_family).or_default();
        match &entry.event {
            Event::Begin { policy, limits, .. } => {
                let why = format!("the autopilot began with {policy}");
                reading.set(entry, limits, |_| Some(why.clone()));
            }
            Event::Mission {
                mission,
                tree,
                trial,
                pinned,
                ..
            } => {
                reading.see(mission, tree);
                if !pinned {
                    reading.set(entry, &trial.limits, |level| said(trial, level));
                }
            }
            _ => {}
        }
    }
    families.into_values().flat_map(Reading::told).collect()
}

/// What a tuner says of a level whose limit it changes.
fn said(trial: &Trial, level: LogicalLevel) -> Option<String> {
    let change = trial.changes.iter().find(|change| change.level == level);
    change.map(|change| change.why.clone())
}

/// Where no tuner gave a reason.
fn unsaid(before: Option<u16>) -> &'static str {
    match before {
        Some(_) => "it was set by hand or with a policy",
        None => "it was decided before the journal begins",
    }
}

impl Reading {
    /// A mission has ended, under the limits of before.
    fn see(&mut self, mission: &Mission, tree: &TreeSummary) {
        let levels = tree.runs.iter().filter_map(|run| run.level);
        self.deepest = levels.map(|level| level.0).max().unwrap_or(0);
        let Some(took) = Took::of(mission) else {
            return;
        };
        let mix = Mix::of(mission);
        for decided in self.by_level.values_mut() {
            decided.see(mix, took);
        }
        self.recent.push_back((mix, took));
        if self.recent.len() > BEFORE {
            self.recent.pop_front();
        }
    }

    /// Limits hold from here on; a level whose limit is another one has a new reason.
    fn set(
        &mut self,
        entry: &Entry,
        limits: &RunLimits,
        why: impl Fn(LogicalLevel) -> Option<String>,
    ) {
        let mix = self.recent.back().map(|(mix, _)| *mix);
        let mut before = Took::default();
        for (of, took) in &self.recent {
            if mix.is_some_and(|mix| mix.is_like(of)) {
                before.add(*took);
            }
        }
        for level in lissom_core::Layout::V1.logical_levels() {
            let limit = limits.get(level).get();
            let old = self.limits.as_ref().map(|old| old.get(level).get());
            if old == Some(limit) {
                continue;
            }
            let reason = LimitReason {
                column_family: entry.column_family.clone(),
                level: level.0,
                limit,
                before: old,
                at_seconds: entry.at.as_secs_f64(),
                why: why(level).unwrap_or_else(|| unsaid(old).into()),
                missions_since: 0,
                missions_elsewhere: 0,
                took_before: before.mean(),
                took_since: None,
            };
            let decided = Decided {
                reason,
                mix,
                since: Took::default(),
            };
            self.by_level.insert(level.0, decided);
        }
        self.limits = Some(limits.clone());
    }

    fn told(self) -> impl Iterator<Item = LimitReason> {
        let deepest = self.deepest;
        let levels = self.by_level.into_iter();
        levels
            .filter(move |(level, _)| *level <= deepest)
            .map(|(_, decided)| LimitReason {
                missions_since: decided.since.missions,
                took_since: decided.since.mean(),
                ..decided.reason
            })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lissom_core::RunLimit;
    use lissom_core::journal::RunSummary;
    use lissom_core::observation::{Latency, OperationMix};
    use lissom_core::tuner::{Change, TrialId};

    use super::*;

    fn entry(number: u64, event: Event) -> Entry {
        Entry {
            number,
            at: Duration::from_secs(number),
            column_family: "default".into(),
            event,
        }
    }

    fn uniform(limit: u16) -> RunLimits {
        RunLimits::uniform(RunLimit::clamped(limit))
    }

    fn begin(limit: u16) -> Event {
        Event::Begin {
            version: lissom_core::journal::VERSION,
            policy: "learned".into(),
            limits: uniform(limit),
            exploration: 0.1,
        }
    }

    /// A mission whose gets took so long, and the limits that were decided after it, with
    /// a reason for level 1.
    fn mission(micros: u64, limits: RunLimits, why: Option<&str>, pinned: bool) -> Event {
        let mission = Mission {
            operations: OperationMix {
                gets_found: 100,
                ..OperationMix::default()
            },
            get: Latency {
                mean: Duration::from_micros(micros),
                ..Latency::default()
            },
            ..Mission::default()
        };
        let change = why.map(|why| Change {
            level: LogicalLevel(1),
            why: why.into(),
        });
        let (_, last) = lissom_core::Layout::V1.span(LogicalLevel(2));
        Event::Mission {
            mission: Box::new(mission),
            tree: TreeSummary {
                runs: vec![RunSummary {
                    physical: last,
                    level: Some(LogicalLevel(2)),
                    bytes: 1,
                    files: 1,
                }],
                ..TreeSummary::default()
            },
            trial: Trial::of_limits(TrialId(1), limits, change.into_iter().collect()),
            pinned,
            bounds: None,
        }
    }

    #[test]
    fn each_level_has_its_last_decision_with_what_came_of_it() {
        let mut three = uniform(4);
        three.set(LogicalLevel(1), RunLimit::clamped(3));
        let why = "3 instead of 4: the model expects 80.0 µs an operation";
        let events = [
            begin(4),
            mission(100, uniform(4), None, false),
            mission(120, three.clone(), Some(why), false),
            mission(90, three.clone(), None, false),
            mission(70, three.clone(), None, false),
            // Held, so that it changes nothing.
            mission(80, uniform(9), Some("a wish"), true),
        ];
        let numbered = (0..).zip(events).map(|(at, event)| entry(at, event));
        let told = reasons(&numbered.collect::<Vec<_>>());
        assert_eq!(told.len(), 2, "levels without data have no need of one");
        assert_eq!(
            told[0].sentence(),
            format!(
                "level 1 has 3, 4 before: {why}; an operation took 110.0 µs before and 80.0 µs in \
                 the 3 missions since"
            )
        );
        assert_eq!((told[0].before, told[0].at_seconds), (Some(4), 2.0));
        assert_eq!(
            told[1].sentence(),
            "level 2 has 4: the autopilot began with learned; an operation took 92.0 µs in the 5 \
             missions since"
        );
    }

    /// Writes take a tenth of what reads take.
    #[test]
    fn another_workload_is_not_taken_for_what_came_of_a_limit() {
        let writes = |micros: u64, limits: RunLimits, why: Option<&str>| {
            let mut event = mission(0, limits, why, false);
            if let Event::Mission { mission, .. } = &mut event {
                mission.operations.gets_found = 0;
                mission.operations.writes = 100;
                mission.put.mean = Duration::from_micros(micros);
            }
            event
        };
        let reads = |limits: RunLimits| mission(100, limits, None, false);
        let events = [
            begin(4),
            reads(uniform(4)),
            writes(12, uniform(5), Some("more runs")),
            writes(10, uniform(5), None),
            reads(uniform(5)),
            reads(uniform(5)),
        ];
        let numbered = (0..).zip(events).map(|(at, event)| entry(at, event));
        let told = reasons(&numbered.collect::<Vec<_>>());
        assert_eq!(
            told[0].sentence(),
            "level 1 has 5, 4 before: more runs; an operation took 12.0 µs before and 10.0 µs in \
             the mission since (not counting 2 under another workload)"
        );
    }

    #[test]
    fn an_empty_journal_gives_no_reasons_and_a_rotated_one_begins_anywhere() {
        assert!(reasons(&[]).is_empty());
        assert!(reasons(&[entry(1, begin(2))]).is_empty());
        let told = reasons(&[entry(9, mission(50, uniform(5), None, false))]);
        assert_eq!(told.len(), 2);
        assert_eq!((told[0].limit, told[0].before), (5, None));
        let sentence = "level 1 has 5: it was decided before the journal begins; nothing was \
                        measured since";
        assert_eq!(told[0].sentence(), sentence);
    }
}
