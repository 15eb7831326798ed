//! What the planner remembers between plans.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::guards::Guards;
use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::shape::RunLimits;
use crate::tree::{File, Tree};
use crate::tuner::{Change, Trial};

/// Identifies a drain within one column family; never used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DrainId(pub u64);

/// A merge of all runs in the physical levels `[top, target)` into the run at
/// `target`, done piece by piece.
///
/// Invariants: no other drain and no merge of L0 touches a level in
/// `[top, target]` until it ends; newer runs of the drained level take slots
/// above `top`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Drain {
    /// Its name in the journal.
    pub id: DrainId,
    /// The newest run that is drained.
    pub top: PhysicalLevel,
    /// The run that receives, older than all that are drained.
    pub target: PhysicalLevel,
    /// Only files that begin within these keys are drained; all when absent.
    pub range: Option<(Key, Key)>,
    /// The run that receives is the drain's own: there was none when it began. False where a
    /// state file or a journal does not tell it.
    #[serde(default)]
    pub begins_run: bool,
    /// Why it was begun.
    pub reason: Reason,
}

impl Drain {
    /// Whether a physical level belongs to the drain.
    pub fn covers(&self, level: PhysicalLevel) -> bool {
        self.top <= level && level <= self.target
    }

    /// Whether a file of a physical level, which begins at this key, is one that the drain
    /// takes down.
    pub fn takes(&self, level: PhysicalLevel, smallest: &Key) -> bool {
        self.covers(level) && level != self.target && self.has_in_range(smallest)
    }

    /// Whether a file that begins at this key is in the range of the drain.
    pub fn has_in_range(&self, smallest: &Key) -> bool {
        let range = self.range.as_ref();
        range.is_none_or(|(low, high)| low <= smallest && smallest <= high)
    }

    /// Bytes of the files that the drain has yet to take down, those that running
    /// pieces merge included.
    pub fn bytes_left(&self, tree: &Tree) -> u64 {
        let files = tree.iter();
        files
            .filter(|(level, file)| self.takes(*level, &file.smallest))
            .map(|(_, file)| file.size)
            .sum()
    }

    /// Files of the run that receives which the drain will rewrite, each once: those that
    /// overlap what it has yet to take down.
    pub fn rewritten<'a>(&self, tree: &'a Tree) -> impl Iterator<Item = &'a File> {
        let receiver = tree.files(self.target);
        let mut meets = vec![false; receiver.len()];
        for (level, file) in tree.iter() {
            if self.takes(level, &file.smallest) {
                let first = receiver.partition_point(|it| it.largest < file.smallest);
                let behind = receiver.partition_point(|it| it.smallest <= file.largest);
                meets[first..behind.max(first)].fill(true);
            }
        }
        let receiving = receiver.iter().zip(meets);
        receiving.filter_map(|(file, meets)| meets.then_some(file))
    }
}

/// The planner's memory. Losing it costs work, never data: the planner
/// converges from any manifest with an empty state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TreeState {
    /// The limits in force.
    pub limits: RunLimits,
    /// Limits that wait for each level's next drain, or until it is empty (lazy
    /// transition). Absent once every level has them.
    pub waiting: Option<RunLimits>,
    /// Levels that a change of limits wants merged down (greedy transition), but for the deepest,
    /// which is to be [consolidated](TreeState::consolidate).
    pub forced: Vec<LogicalLevel>,
    /// Levels whose runs the tuner wants to become one, whatever their limits are.
    #[serde(default)]
    pub consolidate: Vec<LogicalLevel>,
    /// Levels that it wants in the next one: their only run, or a full one's drain at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub push_down: Vec<LogicalLevel>,
    /// Levels whose merge the tuner's last answer asked for and the planner refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<LogicalLevel>,
    /// Levels whose consolidation that is under way ends with the pieces that run. A
    /// level is taken out once no such drain of it is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abandon: Vec<LogicalLevel>,
    /// Someone asked for the whole tree to be merged into one run.
    pub compact_all: bool,
    /// The newest file of L0 when it was asked for: it and all older ones are merged
    /// down first. What is flushed later is not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_all_after: Option<u64>,
    /// Where the merge goes level by level: what lay above this level then is in it or deeper.
    /// What has come in since is not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_all_from: Option<LogicalLevel>,
    /// Where the runs of level 1 lie, or will lie, that a schedule had L0 merged into by itself.
    /// They and those above them are merged back once they are too many.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub set_apart: BTreeSet<PhysicalLevel>,
    /// Drains under way.
    pub drains: Vec<Drain>,
    /// The id of the next drain.
    pub next_drain: u64,
    /// Keys at which outputs are cut.
    pub guards: Guards,
    /// Where the last drain of a range of each level's keys stopped, by level - 1: the
    /// next one goes on behind it. Levels have one under the file-granular transition, and
    /// those that give up a few pieces at a time, as a single run above the deepest level
    /// does. Tombstones move it too.
    pub cursors: Vec<Option<Key>>,
}

impl TreeState {
    /// A new state with the given limits.
    pub fn new(limits: RunLimits) -> TreeState {
        TreeState {
            limits,
            waiting: None,
            forced: Vec::new(),
            consolidate: Vec::new(),
            push_down: Vec::new(),
            refused: Vec::new(),
            abandon: Vec::new(),
            compact_all: false,
            compact_all_after: None,
            compact_all_from: None,
            set_apart: BTreeSet::new(),
            drains: Vec::new(),
            next_drain: 1,
            guards: Guards::default(),
            cursors: Vec::new(),
        }
    }

    /// Asks for everything to be merged into one run: at a stretch where nobody writes meanwhile,
    /// since he who asks is alone, and otherwise level by level, so that L0 has room.
    pub fn ask_compact_all(&mut self, alone: bool) {
        self.compact_all = true;
        self.compact_all_after = None;
        self.compact_all_from = (!alone).then_some(LogicalLevel(1));
    }

    /// Whoever asked for everything to be merged is alone no more.
    pub fn compact_all_by_levels(&mut self) {
        if self.compact_all {
            self.compact_all_from.get_or_insert(LogicalLevel(1));
        }
    }

    /// The limits that will be in force once nothing waits.
    pub fn wanted_limits(&self) -> &RunLimits {
        self.waiting.as_ref().unwrap_or(&self.limits)
    }

    /// Takes up which levels a tuner wants merged, and which no more. What it wanted
    /// before and has not begun is dropped; what it gave up stays so until it wants it
    /// again.
    pub fn take_up(&mut self, trial: &Trial) {
        let levels = |changes: &[Change]| changes.iter().map(|it| it.level).collect();
        self.consolidate = levels(&trial.consolidate);
        self.push_down = levels(&trial.push_down);
        self.refused.clear();
        self.give_up(trial);
        let wanted: Vec<_> = self.consolidate.iter().chain(&self.push_down).collect();
        self.abandon.retain(|level| !wanted.contains(&level));
    }

    /// The same where limits are pinned: nothing new is merged for a tuner, but what it gave up
    /// ends, for it says so once.
    pub fn take_up_pinned(&mut self, trial: &Trial) {
        self.drop_merges();
        self.give_up(trial);
    }

    fn give_up(&mut self, trial: &Trial) {
        for given_up in &trial.abandon {
            if !self.abandon.contains(&given_up.level) {
                self.abandon.push(given_up.level);
            }
        }
    }

    /// Drops the merges that a tuner wanted and that have not begun.
    pub fn drop_merges(&mut self) {
        self.consolidate.clear();
        self.push_down.clear();
        self.refused.clear();
    }

    /// Gives up all merges that a tuner wanted, as when another one takes its place: those
    /// under way end with the pieces that run.
    pub fn give_up_merges(&mut self) {
        self.drop_merges();
        let begun = self.drains.iter().filter_map(|drain| match drain.reason {
            Reason::Consolidate { level } => Some(level),
            _ => None,
        });
        self.abandon = begun.collect();
    }

    /// Whether nobody wants a drain to go on.
    pub fn is_abandoned(&self, drain: &Drain) -> bool {
        matches!(drain.reason, Reason::Consolidate { level } if self.abandon.contains(&level))
    }

    /// Whether a begun drain has yet to take a file down that begins at this key.
    pub fn is_drained(&self, level: PhysicalLevel, smallest: &Key) -> bool {
        self.drains.iter().any(|drain| drain.takes(level, smallest))
    }

    /// Bytes that begun drains will read: what they have left above their targets, and what
    /// they rewrite there. No file counts twice, since drains never intersect.
    pub fn drained_bytes(&self, tree: &Tree) -> u64 {
        let of_drain = |drain: &Drain| {
            let rewritten: u64 = drain.rewritten(tree).map(|file| file.size).sum();
            drain.bytes_left(tree) + rewritten
        };
        self.drains.iter().map(of_drain).sum()
    }

    /// The drain that covers a physical level.
    pub fn drain_at(&self, level: PhysicalLevel) -> Option<&Drain> {
        self.drains.iter().find(|drain| drain.covers(level))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Observation;
    use crate::shape::RunLimit;
    use crate::testing::drawing::parse;
    use crate::tuner::TrialId;

    #[test]
    fn a_drain_that_does_not_tell_what_it_begins_reads_back() {
        let seen = parse("1.13: 0-40:4 \n drain 1.13 -> 2.15").expect("a drawing");
        let drain = Drain {
            begins_run: true,
            ..seen.state.drains[0].clone()
        };
        let mut kept = serde_json::to_value(&drain).expect("JSON");
        let told = kept.as_object_mut().expect("a map").remove("begins_run");
        assert_eq!(told, Some(true.into()));
        let read: Drain = serde_json::from_value(kept).expect("it reads back");
        assert_eq!(read, seen.state.drains[0]);
    }

    /// What is wanted waits for nobody under a pin; what is wanted no more ends all the same.
    #[test]
    fn under_a_pin_merges_are_given_up_and_none_begins() {
        let change = |level| Change {
            level: LogicalLevel(level),
            why: "a reason".into(),
        };
        let limits = RunLimits::uniform(RunLimit::ONE);
        let mut trial = Trial::of_limits(TrialId(1), limits.clone(), Vec::new());
        trial.consolidate = vec![change(1)];
        trial.abandon = vec![change(2)];
        let mut state = TreeState::new(limits);
        state.refused = vec![LogicalLevel(1)];
        state.take_up_pinned(&trial);
        assert_eq!(state.consolidate, []);
        assert_eq!(state.refused, [], "of an earlier answer");
        assert_eq!(state.abandon, [LogicalLevel(2)]);
        state.refused = vec![LogicalLevel(1)];
        state.take_up(&trial);
        assert_eq!(state.refused, [], "of an earlier answer");
        assert_eq!(state.consolidate, [LogicalLevel(1)]);
        assert_eq!(state.abandon, [LogicalLevel(2)], "it is in the list once");
    }

    #[test]
    fn drains_take_what_lies_above_their_targets_and_rewrite_what_it_meets_there() {
        let mut seen = parse(
            "L0: 0-90:1
             1.12: 0-40:2
             1.13: 0-40:4 50-90:8
             2.15: 0-45:16 46-90:128
             3.14: 0-90:32
             4.15: 0-90:64 95-99:256
             drain 1.13 -> 2.15
             drain 3.14 -> 4.15",
        )
        .expect("a drawing");
        let left = |seen: &Observation| {
            let drains = seen.state.drains.iter();
            let each: Vec<u64> = drains.map(|drain| drain.bytes_left(&seen.tree)).collect();
            (each, seen.state.drained_bytes(&seen.tree))
        };
        assert_eq!(left(&seen), (vec![12, 32], 12 + 16 + 128 + 32 + 64));
        seen.state.drains[0].range = Some((Key::from("00041"), Key::from("00090")));
        assert_eq!(left(&seen), (vec![8, 32], 8 + 128 + 32 + 64));
        seen.state.drains.clear();
        assert_eq!(left(&seen), (vec![], 0));
    }

    #[test]
    fn merges_that_a_tuner_wanted_are_given_up_and_no_others() {
        let mut seen = parse(
            "1.13: 0-40:4
             2.15: 0-90:16
             3.14: 0-90:32
             4.15: 0-90:64
             drain 1.13 -> 2.15
             consolidating 3.14 -> 4.15",
        )
        .expect("a drawing");
        seen.state.consolidate = vec![LogicalLevel(1)];
        seen.state.push_down = vec![LogicalLevel(2)];
        seen.state.give_up_merges();
        assert!(seen.state.consolidate.is_empty() && seen.state.push_down.is_empty());
        let drains = seen.state.drains.iter();
        let given_up: Vec<bool> = drains.map(|it| seen.state.is_abandoned(it)).collect();
        assert_eq!(given_up, [false, true]);
    }
}
