//! A column family's tree as data for people: levels, runs, fill, drains.

use std::collections::BTreeMap;

use lissom_core::{Drain, Layout, LogicalLevel, PhysicalLevel, Shape, Tree, TreeState, tree::File};
use serde::Serialize;

use crate::ffi::snapshot::TableRow;

/// What one column family looks like.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Portrait {
    /// The column family.
    pub name: String,
    /// Bytes of all files.
    pub bytes: u64,
    /// All files.
    pub files: usize,
    /// Entries of any kind; absent when some file's number is not known.
    pub entries: Option<u64>,
    /// Filter bits per key over all files that have a filter; absent when no
    /// file has one.
    pub filter_bits_per_key: Option<f64>,
    /// The tree.
    pub tree: TreePortrait,
}

/// A tree, as who drives it sees it.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "driven_by")]
pub enum TreePortrait {
    /// The autopilot's logical levels.
    Lissom(Flexible),
    /// RocksDB's own levels.
    Rocksdb(Plain),
}

/// A tree of RocksDB's own.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Plain {
    /// Its compaction style, by RocksDB's name.
    pub compaction_style: String,
    /// RocksDB's levels that hold files, level 0 always.
    pub levels: Vec<PlainLevel>,
}

/// One of RocksDB's levels.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlainLevel {
    /// Its number.
    pub level: u16,
    /// Bytes.
    pub bytes: u64,
    /// Files; at level 0 each is a run.
    pub files: usize,
    /// Share of tombstones among the entries; absent when not known.
    pub tombstone_share: Option<f64>,
}

/// A tree of logical levels.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Flexible {
    /// The policy's name; absent when the state file does not say.
    pub policy: Option<String>,
    /// Run limits of levels 1, 2, ...; the last one holds for deeper levels.
    pub run_limits: Vec<u16>,
    /// Limits that wait for each level's next drain, or until it is empty (lazy
    /// transition).
    pub waiting_run_limits: Option<Vec<u16>>,
    /// Capacity of a level over that of the level above (T).
    pub size_ratio: u32,
    /// Bytes in the tree over bytes in its oldest run, an upper bound of the
    /// space amplification; absent in an empty tree.
    pub space_amplification: Option<f64>,
    /// The bound on it.
    pub max_space_amplification: f64,
    /// L0.
    pub level0: Level0,
    /// What RocksDB's own compaction of L0 left; absent when nothing.
    pub landing: Option<Landing>,
    /// Logical levels down to the deepest that holds a run.
    pub levels: Vec<Level>,
    /// Drains under way.
    pub drains: Vec<DrainPortrait>,
    /// A merge of everything into one run was asked for and has not begun.
    pub compact_all: bool,
    /// Files that could not be read.
    pub unreadable_files: usize,
}

/// L0.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Level0 {
    /// Bytes.
    pub bytes: u64,
    /// Files.
    pub files: usize,
    /// Files at which they are merged into level 1.
    pub trigger: u32,
}

/// The landing level.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Landing {
    /// Bytes.
    pub bytes: u64,
    /// Files.
    pub files: usize,
}

/// One logical level.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Level {
    /// From 1.
    pub level: u16,
    /// Bytes of all its runs.
    pub bytes: u64,
    /// Bytes that it may hold.
    pub capacity: u64,
    /// The most runs that the policy wants here.
    pub run_limit: u16,
    /// Its runs, newest first.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Run {
    /// Its place within the level; the newest run has the lowest.
    pub slot: u16,
    /// RocksDB's level.
    pub physical_level: u16,
    /// Bytes.
    pub bytes: u64,
    /// Files.
    pub files: usize,
    /// Share of tombstones among the entries; absent when not known.
    pub tombstone_share: Option<f64>,
    /// What happens to it.
    pub state: RunState,
}

/// What happens to a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Merges from above come into it.
    Active,
    /// It is only ever drained.
    Sealed,
    /// It is being merged away.
    Draining,
    /// A drain merges into it.
    Receiving,
}

/// A drain under way.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DrainPortrait {
    /// Its number in the journal.
    pub id: u64,
    /// Where its runs are, such as `level 1 slots 12-15`.
    pub from: String,
    /// Where they go.
    pub to: String,
    /// Bytes that its runs still hold.
    pub bytes_left: u64,
    /// Why it was begun.
    pub reason: String,
}

/// What is known of a column family besides its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) state: &'a TreeState,
    pub(crate) policy: Option<&'a str>,
    pub(crate) unreadable_files: usize,
}

/// The portrait of a tree that the autopilot drives.
pub(crate) fn flexible(tree: &Tree, known: Known<'_>) -> TreePortrait {
    let Known { shape, state, .. } = known;
    let deepest = tree.deepest_occupied(&shape.layout);
    let landing = tree.files(PhysicalLevel::LANDING);
    TreePortrait::Lissom(Flexible {
        policy: known.policy.map(str::to_owned),
        run_limits: limits(&state.limits),
        waiting_run_limits: state.waiting.as_ref().map(limits),
        size_ratio: shape.size_ratio,
        space_amplification: tree.space_amplification(),
        max_space_amplification: shape.max_space_amplification,
        level0: Level0 {
            bytes: tree.bytes(PhysicalLevel::L0),
            files: tree.level0().len(),
            trigger: shape.level0_file_num_compaction_trigger,
        },
        landing: (!landing.is_empty()).then(|| Landing {
            bytes: tree.bytes(PhysicalLevel::LANDING),
            files: landing.len(),
        }),
        levels: shape
            .layout
            .logical_levels()
            .filter(|level| deepest.is_some_and(|deepest| *level <= deepest))
            .map(|number| level(tree, shape, state, number))
            .collect(),
        drains: state
            .drains
            .iter()
            .map(|drain| drain_portrait(tree, &shape.layout, drain))
            .collect(),
        compact_all: state.compact_all,
        unreadable_files: known.unreadable_files,
    })
}

/// The portrait of a tree that RocksDB drives.
pub(crate) fn plain(tree: &Tree, compaction_style: String) -> TreePortrait {
    let levels = std::iter::once(PhysicalLevel::L0)
        .chain(tree.runs())
        .map(|level| PlainLevel {
            level: level.0,
            bytes: tree.bytes(level),
            files: tree.files(level).len(),
            tombstone_share: tombstone_share(tree.files(level)),
        })
        .collect();
    TreePortrait::Rocksdb(Plain {
        compaction_style,
        levels,
    })
}

/// Puts a tree's portrait in its frame.
pub(crate) fn frame(
    name: &str,
    tree: &Tree,
    tables: &BTreeMap<u64, TableRow>,
    portrait: TreePortrait,
) -> Portrait {
    let known = tree.iter().all(|(_, file)| file.entries > 0);
    Portrait {
        name: name.to_owned(),
        bytes: tree.total_bytes(),
        files: tree.total_files(),
        entries: known.then(|| tree.iter().map(|(_, file)| file.entries).sum()),
        filter_bits_per_key: filter_bits(tree, tables),
        tree: portrait,
    }
}

fn limits(limits: &lissom_core::RunLimits) -> Vec<u16> {
    limits
        .levels
        .iter()
        .chain([&limits.deeper])
        .map(|limit| limit.get())
        .collect()
}

fn level(tree: &Tree, shape: &Shape, state: &TreeState, number: LogicalLevel) -> Level {
    let runs = tree.runs_of(&shape.layout, number);
    Level {
        level: number.0,
        bytes: runs.iter().map(|run| tree.bytes(*run)).sum(),
        capacity: shape.capacity(number),
        run_limit: state.limits.get(number).get(),
        runs: runs
            .iter()
            .filter_map(|physical| {
                let (_, slot) = shape.layout.logical(*physical)?;
                Some(Run {
                    slot: slot.0,
                    physical_level: physical.0,
                    bytes: tree.bytes(*physical),
                    files: tree.files(*physical).len(),
                    tombstone_share: tombstone_share(tree.files(*physical)),
                    state: run_state(tree, shape, state, number, *physical),
                })
            })
            .collect(),
    }
}

/// The newest run that no drain takes is active until it has its share of the
/// level ([`Shape::sealed_at`]); the others are sealed.
fn run_state(
    tree: &Tree,
    shape: &Shape,
    state: &TreeState,
    level: LogicalLevel,
    run: PhysicalLevel,
) -> RunState {
    if let Some(drain) = state.drain_at(run) {
        return if drain.target == run {
            RunState::Receiving
        } else {
            RunState::Draining
        };
    }
    let fresh: Vec<PhysicalLevel> = tree
        .runs_of(&shape.layout, level)
        .into_iter()
        .filter(|other| {
            state
                .drain_at(*other)
                .is_none_or(|drain| drain.target == *other)
        })
        .collect();
    let Some((active, sealed)) = fresh.split_first() else {
        return RunState::Sealed;
    };
    let sealed_bytes = sealed.iter().map(|run| tree.bytes(*run)).sum();
    let limit = state.limits.get(level);
    let seal = shape.sealed_at(level, limit, sealed.len() as u16, sealed_bytes);
    if run == *active && tree.bytes(run) < seal {
        RunState::Active
    } else {
        RunState::Sealed
    }
}

fn drain_portrait(tree: &Tree, layout: &Layout, drain: &Drain) -> DrainPortrait {
    let last_source = PhysicalLevel(drain.target.0.saturating_sub(1));
    let sources = tree.runs_within(drain.top, last_source);
    let from = match sources[..] {
        [] => place(layout, drain.top),
        [only] => place(layout, only),
        [first, .., last] => span(layout, first, last),
    };
    DrainPortrait {
        id: drain.id.0,
        from,
        to: place(layout, drain.target),
        bytes_left: drain.bytes_left(tree),
        reason: drain.reason.to_string(),
    }
}

/// A physical level in the words of the layout.
pub(super) fn place(layout: &Layout, level: PhysicalLevel) -> String {
    match layout.logical(level) {
        Some((logical, slot)) => format!("{logical} slot {}", slot.0),
        None if level == PhysicalLevel::L0 => "L0".into(),
        None if level == PhysicalLevel::LANDING => "the landing level".into(),
        None => format!("RocksDB's level {}", level.0),
    }
}

fn span(layout: &Layout, first: PhysicalLevel, last: PhysicalLevel) -> String {
    match (layout.logical(first), layout.logical(last)) {
        (Some((level, from)), Some((other, to))) if level == other => {
            format!("{level} slots {}-{}", from.0, to.0)
        }
        _ => format!("{} to {}", place(layout, first), place(layout, last)),
    }
}

fn tombstone_share(files: &[File]) -> Option<f64> {
    let entries: u64 = files.iter().map(|file| file.entries).sum();
    let deletions: u64 = files.iter().map(|file| file.deletions).sum();
    let known = files.iter().all(|file| file.entries > 0);
    (known && entries > 0).then(|| deletions as f64 / entries as f64)
}

fn filter_bits(tree: &Tree, tables: &BTreeMap<u64, TableRow>) -> Option<f64> {
    let (mut bytes, mut keys) = (0, 0);
    for (_, file) in tree.iter() {
        if let Some(table) = tables
            .get(&file.number)
            .filter(|table| table.filter_size > 0)
        {
            bytes += table.filter_size;
            keys += match table.filter_entries {
                0 => table.entries,
                known => known,
            };
        }
    }
    (keys > 0).then(|| bytes as f64 * 8.0 / keys as f64)
}
