//! A tree in memory that executes plans as RocksDB would, and knows every
//! version of every key.

use std::collections::{BTreeMap, BTreeSet};

use super::cuts::{cut, level_guards};
use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::{InFlight, Observation};
use crate::plan::{Plan, PlanKind};
use crate::planner;
use crate::schedule::{Order, Phase};
use crate::shape::{RunLimits, Shape};
use crate::state::TreeState;
use crate::tree::{File, Tree};
use crate::validate::validate;

/// Bytes that one entry takes.
pub const ENTRY_BYTES: u64 = 10;

/// What a key holds: the version of its last write, and whether that was a
/// delete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    /// Counts writes.
    pub number: u64,
    /// The write was a delete.
    pub deleted: bool,
}

/// One file's entries by key.
pub(super) type Entries = BTreeMap<u32, Version>;

/// A tree whose data can be checked.
#[derive(Clone, Debug)]
pub struct Model {
    /// The dimensions.
    pub shape: Shape,
    /// The planner's memory.
    pub state: TreeState,
    /// Files that plans must leave alone.
    pub unreadable: BTreeSet<u64>,
    /// Workers that the planner may use.
    pub workers: usize,
    /// What the schedule lets run.
    pub order: Order,
    /// The limits are held.
    pub pinned: bool,
    /// Drains may begin: what the planner remembers can be made durable.
    pub drains_begin: bool,
    /// What could move is rewritten.
    pub moves_rewrite: bool,
    /// Accepted plans, oldest first.
    pub running: Vec<Plan>,
    /// Bytes that merges wrote.
    pub written_bytes: u64,
    /// The planner's memory when it was last made durable.
    durable: TreeState,
    levels: Vec<Vec<(u64, Entries)>>,
    next_file: u64,
    writes: u64,
    truth: Entries,
}

impl Model {
    /// An empty tree.
    pub fn new(shape: Shape, limits: RunLimits) -> Model {
        let levels = vec![Vec::new(); usize::from(shape.layout.num_levels())];
        let state = TreeState::new(limits);
        Model {
            shape,
            durable: state.clone(),
            state,
            unreadable: BTreeSet::new(),
            workers: 2,
            order: Order::all(Phase::Low, "whatever is due"),
            pinned: false,
            drains_begin: true,
            moves_rewrite: false,
            running: Vec::new(),
            written_bytes: 0,
            levels,
            next_file: 1,
            writes: 0,
            truth: Entries::new(),
        }
    }

    /// Flushes one memtable with these writes: a key, and whether it is deleted.
    pub fn flush(&mut self, writes: impl IntoIterator<Item = (u32, bool)>) {
        let mut entries = Entries::new();
        for (key, deleted) in writes {
            self.writes += 1;
            let version = Version {
                number: self.writes,
                deleted,
            };
            entries.insert(key, version);
            self.truth.insert(key, version);
        }
        let number = self.number();
        self.levels[0].insert(0, (number, entries));
    }

    /// Puts a run with these keys at a physical level, on top of what lies
    /// deeper and below nothing: call it for deeper levels first.
    pub fn place(&mut self, level: PhysicalLevel, keys: impl IntoIterator<Item = u32>) {
        let mut entries = Entries::new();
        for key in keys {
            self.writes += 1;
            let version = Version {
                number: self.writes,
                deleted: false,
            };
            entries.insert(key, version);
            self.truth.insert(key, version);
        }
        let files = &mut self.levels[usize::from(level.0)];
        for (_, older) in files.drain(..) {
            for (key, version) in older {
                entries.entry(key).or_insert(version);
            }
        }
        let keys: Vec<(u32, Version)> = entries.into_iter().collect();
        for chunk in keys.chunks(7) {
            let number = self.number();
            self.levels[usize::from(level.0)].push((number, chunk.iter().copied().collect()));
        }
    }

    /// RocksDB's own compaction: all of L0 into the landing level.
    pub fn brake(&mut self) {
        if self
            .running
            .iter()
            .any(|plan| plan.top() <= PhysicalLevel::LANDING)
        {
            return;
        }
        let files: Vec<_> = self.levels[0].drain(..).rev().collect();
        let landing: Vec<_> = self.levels[1].drain(..).collect();
        let mut merged = Entries::new();
        for (_, entries) in landing.into_iter().chain(files) {
            merged.extend(entries);
        }
        let number = self.number();
        if !merged.is_empty() {
            self.levels[1].push((number, merged));
        }
    }

    /// What the planner sees.
    pub fn observation(&self) -> Observation {
        let tree = self.tree();
        Observation {
            shape: self.shape.fitted(&tree),
            tree,
            state: self.state.clone(),
            in_flight: self
                .running
                .iter()
                .map(planner::in_flight)
                .collect::<Vec<InFlight>>(),
            unreadable: self.unreadable.clone(),
            workers: self.workers,
            drains_elsewhere: 0,
            level0: self.order.level0,
            at_bound: self.order.at_bound,
            deep: self.order.deep,
            pinned: self.pinned,
            drains_begin: self.drains_begin,
            moves_rewrite: self.moves_rewrite,
        }
    }

    /// The manifest.
    pub fn tree(&self) -> Tree {
        let levels = self
            .levels
            .iter()
            .map(|files| {
                files
                    .iter()
                    .map(|(number, entries)| file(*number, entries))
                    .collect()
            })
            .collect();
        Tree::new(levels).unwrap_or_else(|error| panic!("the model made an illegal tree: {error}"))
    }

    /// Asks the planner and accepts what it proposes. Returns how much that was.
    ///
    /// # Panics
    /// When a plan is refused, or a drain begins that cannot be made durable.
    pub fn plan(&mut self) -> usize {
        let seen = self.observation();
        let planned = planner::plan(&seen);
        let mut in_flight = seen.in_flight.clone();
        for plan in &planned.plans {
            validate(&seen.tree, &in_flight, plan)
                .unwrap_or_else(|refusal| panic!("refused, {refusal}: {plan:?}"));
            in_flight.push(planner::in_flight(plan));
        }
        self.state = planned.state;
        if self.drains_begin {
            self.durable = self.state.clone();
        } else {
            assert_eq!(self.state.next_drain, seen.state.next_drain);
        }
        let accepted = planned.plans.len();
        self.running.extend(planned.plans);
        accepted
    }

    /// Ends the running plan at `at` (modulo their number) with success.
    pub fn finish(&mut self, at: usize) {
        if self.running.is_empty() {
            return;
        }
        let plan = self.running.remove(at % self.running.len());
        self.execute(&plan);
    }

    /// Ends the running plan at `at` (modulo their number) without effect.
    pub fn cancel(&mut self, at: usize) {
        if !self.running.is_empty() {
            self.running.remove(at % self.running.len());
        }
    }

    /// Plans and executes until nothing is left to do.
    ///
    /// # Panics
    /// When `most` rounds do not suffice.
    pub fn settle(&mut self, most: usize) {
        for _ in 0..most {
            self.plan();
            if self.running.is_empty() {
                return;
            }
            while !self.running.is_empty() {
                self.finish(0);
            }
        }
        panic!("the planner does not come to rest: {:?}", self.state.drains);
    }

    /// Loses the planner's memory, as when the state file is gone.
    pub fn forget(&mut self) {
        self.running.clear();
        self.state = TreeState::new(self.state.limits.clone());
    }

    /// Goes on with the memory that was durable, which may be of another tree, as after a crash.
    pub fn crash(&mut self) {
        self.running.clear();
        self.state = self.durable.clone();
    }

    /// Runs of a level, newest first, as entry counts.
    pub fn runs(&self, level: u16) -> Vec<u64> {
        let tree = self.tree();
        tree.runs_of(&self.shape.layout, LogicalLevel(level))
            .into_iter()
            .map(|run| tree.bytes(run) / ENTRY_BYTES)
            .collect()
    }

    /// Every key reads as its last write, and newer versions lie above older
    /// ones.
    ///
    /// # Panics
    /// When that is not so.
    pub fn check(&self) {
        let mut found = Entries::new();
        for (level, files) in self.levels.iter().enumerate() {
            for (number, entries) in files {
                for (key, version) in entries {
                    let newest = found.entry(*key).or_insert(*version);
                    assert!(
                        newest.number >= version.number,
                        "key {key}: version {} at level {level}, file {number}, lies below {}",
                        version.number,
                        newest.number
                    );
                }
            }
        }
        for (key, version) in &self.truth {
            let read = found.get(key).filter(|version| !version.deleted);
            assert_eq!(
                read,
                Some(version).filter(|version| !version.deleted),
                "key {key}"
            );
        }
    }

    fn number(&mut self) -> u64 {
        self.next_file += 1;
        self.next_file - 1
    }

    fn execute(&mut self, plan: &Plan) {
        let output = usize::from(plan.output.0);
        if plan.kind == PlanKind::Move {
            for input in &plan.inputs {
                for number in &input.files {
                    let taken = self.take(input.level, *number);
                    self.levels[output].push((*number, taken));
                }
            }
        } else {
            let guards = self.guards(plan.output);
            let merged = self.merge(plan);
            for entries in cut(plan, &guards, merged) {
                self.written_bytes += entries.len() as u64 * ENTRY_BYTES;
                let number = self.number();
                self.levels[output].push((number, entries));
            }
        }
        self.levels[output].sort_by_key(|(_, entries)| entries.keys().next().copied());
    }

    fn merge(&mut self, plan: &Plan) -> Entries {
        let mut merged = Entries::new();
        for input in &plan.inputs {
            for number in &input.files {
                for (key, version) in self.take(input.level, *number) {
                    let newest = merged.entry(key).or_insert(version);
                    if version.number > newest.number {
                        *newest = version;
                    }
                }
            }
        }
        let deeper = &self.levels[usize::from(plan.output.0) + 1..];
        merged
            .retain(|key, version| !version.deleted || deeper.iter().flatten().any(reaches(*key)));
        merged
    }

    fn take(&mut self, level: PhysicalLevel, number: u64) -> Entries {
        let files = &mut self.levels[usize::from(level.0)];
        let at = files
            .iter()
            .position(|file| file.0 == number)
            .unwrap_or_else(|| panic!("file {number} is not at {level}"));
        files.remove(at).1
    }

    fn guards(&self, output: PhysicalLevel) -> Vec<Key> {
        let tree = self.tree();
        level_guards(&self.shape.fitted(&tree), &self.state, output, &tree)
    }
}

/// Whether a file's range holds a key, so that a tombstone above must stay.
fn reaches(key: u32) -> impl Fn(&(u64, Entries)) -> bool {
    move |(_, entries)| {
        let ends = (entries.keys().next(), entries.keys().next_back());
        matches!(ends, (Some(low), Some(high)) if *low <= key && key <= *high)
    }
}

/// A number as a key.
pub fn name(key: u32) -> Key {
    Key::from(format!("{key:08}"))
}

fn file(number: u64, entries: &Entries) -> File {
    let key = |key: Option<&u32>| name(*key.unwrap_or(&0));
    File {
        number,
        size: entries.len() as u64 * ENTRY_BYTES,
        smallest: key(entries.keys().next()),
        largest: key(entries.keys().next_back()),
        entries: entries.len() as u64,
        deletions: entries.values().filter(|version| version.deleted).count() as u64,
    }
}
