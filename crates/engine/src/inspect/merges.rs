//! What came of merges for the reads' sake, by the journal: what was expected of each, what it
//! wrote, and what operations took before it and since.
//!
//! Whatever else has changed meanwhile, as run limits, is in what operations took, too.

use std::collections::BTreeMap;
use std::time::Duration;

use lissom_core::cost_model::AccessPattern;
use lissom_core::journal::{Entry, Event, Moment, Outcome};
use lissom_core::reasons::{Recent, Took, measured};
use lissom_core::tuner::Trial;
use lissom_core::{Drain, DrainId, LogicalLevel, Mission, Reason};

use super::draw::bytes;

/// Missions since that count: those after them meet other runs.
const SINCE: usize = 12;

/// The sentences on such merges that are over, by the places of their last lines.
pub(super) fn told(entries: &[Entry]) -> BTreeMap<usize, String> {
    let mut families: BTreeMap<&str, Reading> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let family = families.entry(entry.column_family.as_str());
        family.or_default().follow(at, entry);
    }
    let merges = families.into_values().flat_map(|family| family.merges);
    let told = merges.filter_map(|merge| Some((merge.ended?.0, merge.sentence())));
    told.collect()
}

/// How a drain ended. One that has bytes left was given up, or could not go on.
pub(super) fn ending(drain: DrainId, left_bytes: u64) -> String {
    let early = match left_bytes {
        0 => String::new(),
        left => format!(" early, with {} left", bytes(left)),
    };
    format!("drain #{} ended{early}", drain.0)
}

/// A merge for the reads' sake, as far as the journal was read.
struct Merge {
    drain: DrainId,
    level: LogicalLevel,
    /// What the tuner said when it wanted it; absent where that was not read.
    expected: Option<String>,
    /// The workload that it was begun for.
    workload: Option<AccessPattern>,
    /// Seconds that an operation took on average in the missions before.
    took_before: Option<f64>,
    written: u64,
    /// Time of its pieces.
    worked: Duration,
    /// The place of the line that ends it, and when.
    ended: Option<(usize, Moment)>,
    /// Bytes that it did not merge when it ended.
    left_bytes: u64,
    since: Took,
}

impl Merge {
    /// A mission of a workload began then.
    fn see(&mut self, begun: Moment, workload: &AccessPattern, took: Took) {
        let is_over = self.ended.is_some_and(|(_, ended)| ended <= begun);
        let is_alike = self.workload.is_some_and(|it| it.is_like(workload));
        if is_over && is_alike && self.since.missions < SINCE {
            self.since.add(took);
        }
    }

    fn sentence(&self) -> String {
        let why = self.expected.as_ref();
        let expected = why.map_or_else(String::new, |why| format!("; expected: {why}"));
        format!(
            "{}, a merge of {} for the reads' sake{expected}; came: {} written in {:.2} s, {}",
            ending(self.drain, self.left_bytes),
            self.level,
            bytes(self.written),
            self.worked.as_secs_f64(),
            self.took()
        )
    }

    fn took(&self) -> String {
        let micros = |seconds: f64| format!("{:.1} µs", seconds * 1e6);
        let Some(since) = self.since.mean() else {
            return "nothing was measured since under the same workload".to_owned();
        };
        let missions = match self.since.missions {
            1 => "the mission since".to_owned(),
            missions => format!("the {missions} missions since"),
        };
        let before = self
            .took_before
            .map_or_else(|| "an unknown time".to_owned(), micros);
        format!(
            "an operation took {before} before and {} in {missions}",
            micros(since)
        )
    }
}

/// One column family while its journal is read.
#[derive(Default)]
struct Reading {
    recent: Recent,
    /// Why levels are wanted, by the last answer.
    wanted: BTreeMap<LogicalLevel, String>,
    /// Compactions of drains that have not ended.
    pieces: BTreeMap<u64, DrainId>,
    merges: Vec<Merge>,
}

impl Reading {
    fn follow(&mut self, at: usize, entry: &Entry) {
        match &entry.event {
            Event::Mission {
                mission,
                trial,
                pinned,
                ..
            } => {
                self.see(entry.moment(), mission);
                self.hear(trial, *pinned);
            }
            Event::DrainBegin { drain } => self.begin(drain),
            Event::DrainEnd { drain, left_bytes } => {
                if let Some(merge) = self.running(*drain) {
                    merge.ended = Some((at, entry.moment()));
                    merge.left_bytes = *left_bytes;
                }
            }
            Event::CompactionBegin { compaction, plan } => {
                let piece = plan.drain.map(|drain| (*compaction, drain));
                self.pieces.extend(piece);
            }
            Event::CompactionEnd {
                compaction,
                outcome,
            } => self.count(*compaction, outcome),
            _ => {}
        }
    }

    /// A mission has ended. It tells of the merges that were over when it began.
    fn see(&mut self, ended: Moment, mission: &Mission) {
        self.recent.see(mission);
        let Some((workload, took)) = measured(mission) else {
            return;
        };
        let begun = Moment {
            at: ended.at.saturating_sub(mission.duration),
            ..ended
        };
        for merge in &mut self.merges {
            merge.see(begun, &workload, took);
        }
    }

    /// What is wanted from here on.
    fn hear(&mut self, answer: &Trial, pinned: bool) {
        let wanted = answer.consolidate.iter().chain(&answer.push_down);
        let wanted = wanted.filter(|_| !pinned);
        self.wanted = wanted.map(|it| (it.level, it.why.clone())).collect();
    }

    fn begin(&mut self, drain: &Drain) {
        let Reason::Consolidate { level } = drain.reason else {
            return;
        };
        let workload = self.recent.workload();
        let took_before = workload.and_then(|workload| self.recent.took_under(&workload));
        self.merges.push(Merge {
            drain: drain.id,
            level,
            expected: self.wanted.get(&level).cloned(),
            workload,
            took_before,
            written: 0,
            worked: Duration::ZERO,
            ended: None,
            left_bytes: 0,
            since: Took::default(),
        });
    }

    fn running(&mut self, drain: DrainId) -> Option<&mut Merge> {
        let mut merges = self.merges.iter_mut().rev();
        merges.find(|merge| merge.drain == drain && merge.ended.is_none())
    }

    /// A compaction has ended.
    fn count(&mut self, compaction: u64, outcome: &Outcome) {
        let Some(drain) = self.pieces.remove(&compaction) else {
            return;
        };
        if let Outcome::Done {
            write_bytes, took, ..
        } = outcome
            && let Some(merge) = self.running(drain)
        {
            merge.written += write_bytes;
            merge.worked += *took;
        }
    }
}

#[cfg(test)]
mod tests {
    use lissom_core::plan::Input;
    use lissom_core::testing::journals::{self, gets, lines};
    use lissom_core::tuner::{Change, TrialId};
    use lissom_core::{Key, PhysicalLevel, Plan, PlanKind, RunLimit, RunLimits};

    use super::*;
    use crate::inspect::history::decisions;

    const WHY: &str = "a merge is to save an operation 30.0 µs";

    const FOR_READS: Reason = Reason::Consolidate {
        level: LogicalLevel(2),
    };

    const FULL: Reason = Reason::LevelFull {
        level: LogicalLevel(2),
        bytes: 10,
        capacity: 9,
    };

    /// A mission of so many seconds whose gets took so many microseconds, after which these
    /// levels are to be merged.
    fn mission(seconds: u64, micros: u64, wanted: &[u16]) -> Event {
        let mission = Mission {
            duration: Duration::from_secs(seconds),
            ..gets(micros)
        };
        let change = |level: &u16| Change {
            level: LogicalLevel(*level),
            why: WHY.into(),
        };
        let limits = RunLimits::uniform(RunLimit::ONE);
        let mut trial = Trial::of_limits(TrialId(1), limits, Vec::new());
        trial.consolidate = wanted.iter().map(change).collect();
        journals::mission(mission, trial, false)
    }

    /// Half of it writes, which is another workload.
    fn of_writes() -> Event {
        let mut event = mission(1, 10, &[]);
        if let Event::Mission { mission, .. } = &mut event {
            mission.operations.writes = 100;
            mission.put.mean = Duration::from_micros(1);
        }
        event
    }

    /// A piece of drain 7 that wrote so many bytes in a quarter of a second.
    fn piece(compaction: u64, write_bytes: u64, reason: Reason) -> [Event; 2] {
        let plan = Plan {
            kind: PlanKind::Merge,
            inputs: vec![Input {
                level: PhysicalLevel(32),
                files: vec![3],
            }],
            output: PhysicalLevel(33),
            output_file_size: 1,
            range: (Key::from("a"), Key::from("b")),
            input_bytes: write_bytes,
            drain: Some(DrainId(7)),
            excess: None,
            awaited: false,
            hurried: false,
            reason,
        };
        let outcome = Outcome::Done {
            read_bytes: write_bytes,
            write_bytes,
            input_entries: 9,
            output_entries: 9,
            took: Duration::from_millis(250),
        };
        [
            Event::CompactionBegin { compaction, plan },
            Event::CompactionEnd {
                compaction,
                outcome,
            },
        ]
    }

    fn ended(left_bytes: u64) -> Event {
        let drain = DrainId(7);
        Event::DrainEnd { drain, left_bytes }
    }

    /// A merge for a reason, from line 3 to line 9, and missions before, meanwhile and since.
    fn merging(reason: &Reason) -> Vec<Entry> {
        let drain = Drain {
            id: DrainId(7),
            top: PhysicalLevel(32),
            target: PhysicalLevel(33),
            range: None,
            begins_run: false,
            reason: reason.clone(),
        };
        let mut events = vec![mission(1, 100, &[]), mission(1, 120, &[2])];
        events.push(Event::DrainBegin { drain });
        events.extend(piece(4, 2_000_000, reason.clone()));
        events.push(mission(1, 500, &[]));
        events.extend(piece(7, 1_000_000, reason.clone()));
        events.push(ended(0));
        // It began before the merge was over.
        events.push(mission(5, 400, &[]));
        events.extend([mission(1, 90, &[]), of_writes(), mission(1, 70, &[])]);
        lines(1, events)
    }

    #[test]
    fn a_merge_is_told_with_what_was_expected_and_what_came() {
        let entries = merging(&FOR_READS);
        let begun = format!(
            "drain #7 ended, a merge of level 2 for the reads' sake; expected: {WHY}; came: 3.0 MB \
             written in 0.50 s, "
        );
        let sentence = |entries: &[Entry]| {
            let mut decided = decisions(entries).into_iter();
            decided.find(|it| it.number == 9).map(|it| it.sentence)
        };
        let measured = "an operation took 110.0 µs before and 80.0 µs in the 2 missions since";
        assert_eq!(sentence(&entries), Some(format!("{begun}{measured}")));
        let nothing = "nothing was measured since under the same workload";
        assert_eq!(sentence(&entries[..9]), Some(format!("{begun}{nothing}")));
        assert_eq!(told(&entries).len(), 1);
    }

    /// Of which nobody wanted the rest any more.
    #[test]
    fn a_merge_that_ended_early_is_told_as_one() {
        let mut entries = merging(&FOR_READS);
        entries[8].event = ended(1_500_000);
        let sentence = told(&entries).remove(&8).expect("it is over");
        let begins = "drain #7 ended early, with 1.5 MB left, a merge of level 2 for the reads' \
                      sake; expected: ";
        assert!(sentence.starts_with(begins), "{sentence}");
        let came = "; came: 3.0 MB written in 0.50 s, an operation took 110.0 µs before and ";
        assert!(sentence.contains(came), "{sentence}");
        let mut of_space = merging(&FULL);
        of_space[8].event = ended(1_500_000);
        let mut decided = decisions(&of_space).into_iter();
        let told = decided.find(|it| it.number == 9).map(|it| it.sentence);
        let early = "drain #7 ended early, with 1.5 MB left";
        assert_eq!(told.as_deref(), Some(early));
    }

    #[test]
    fn only_so_many_missions_since_tell_of_a_merge() {
        let events = merging(&FOR_READS).into_iter().map(|entry| entry.event);
        let mut events: Vec<Event> = events.collect();
        events.extend((0..10).map(|_| mission(1, 80, &[])));
        events.extend((0..10).map(|_| mission(1, 900, &[])));
        let sentence = told(&lines(1, events)).remove(&8).expect("it is over");
        let measured = "110.0 µs before and 80.0 µs in the 12 missions since";
        assert!(sentence.ends_with(measured), "{sentence}");
    }

    #[test]
    fn a_drain_for_another_reason_and_one_whose_beginning_is_gone_are_not_told() {
        assert!(told(&merging(&FULL)).is_empty());
        assert!(told(&merging(&FOR_READS)[3..]).is_empty());
    }
}
