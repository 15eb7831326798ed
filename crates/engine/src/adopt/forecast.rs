//! What will the planner do with a tree? The planner itself is asked, on a tree
//! of files without data.
//!
//! Moves come out as they will be. For merges, bytes are an upper bound, since
//! which keys several files hold is not known before they are read; where
//! outputs are cut is estimated from the boundaries of the inputs.

use std::collections::BTreeSet;

use lissom_core::tree::File;
use lissom_core::{
    Key, LogicalLevel, Observation, Plan, PlanKind, Shape, Tree, TreeState, planner,
};
use serde::Serialize;

use crate::error::{Error, Result};
use crate::inspect::read::Looked;
use crate::settings::Settings;

/// No tree takes more plans than this to come to rest.
const MOST_PLANS: u64 = 1_000_000;

/// What lies between a tree and its rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Forecast {
    /// Moves of whole runs or pieces, which rewrite nothing.
    pub moves: u64,
    /// Merges.
    pub merges: u64,
    /// Bytes that merges read, at most.
    pub merged_bytes: u64,
    /// Input bytes of the largest merge, at most.
    pub largest_merge_bytes: u64,
}

/// What a column family that was looked at needs under its settings, from this state on.
///
/// # Errors
/// When the planner does not come to rest, which is a defect of it.
pub(crate) fn foresee(settings: &Settings, seen: &Looked, state: &TreeState) -> Result<Forecast> {
    let (shape, workers) = (settings.shape(), settings.workers);
    forecast(&shape, &seen.tree, state, workers, seen.moves_rewrite)
}

/// Asks the planner until it wants nothing more. Where moves rewrite
/// ([`Observation::moves_rewrite`]) it wants none, and merges what it would have moved.
fn forecast(
    shape: &Shape,
    tree: &Tree,
    state: &TreeState,
    workers: usize,
    moves_rewrite: bool,
) -> Result<Forecast> {
    let mut seen = Observation::quiet(shape.clone(), tree.clone(), state.clone(), workers);
    seen.moves_rewrite = moves_rewrite;
    let mut found = Forecast::default();
    let mut next_file = tree.iter().map(|(_, file)| file.number).max().unwrap_or(0) + 1;
    while found.moves + found.merges < MOST_PLANS {
        seen.shape = shape.fitted(&seen.tree);
        let planned = planner::plan(&seen);
        let rest = planned.plans.is_empty() && planned.state == seen.state;
        seen.state = planned.state;
        if rest {
            return Ok(found);
        }
        for plan in &planned.plans {
            found.count(plan);
            seen.tree = executed(&seen, plan, &mut next_file)?;
        }
    }
    Err(Error::bug(
        "the planner does not come to rest on a tree without data",
    ))
}

impl Forecast {
    fn count(&mut self, plan: &Plan) {
        match plan.kind {
            PlanKind::Move => self.moves += 1,
            PlanKind::Merge => {
                self.merges += 1;
                self.merged_bytes += plan.input_bytes;
                self.largest_merge_bytes = self.largest_merge_bytes.max(plan.input_bytes);
            }
        }
    }

    /// Whether the tree is at rest.
    pub fn is_nothing(&self) -> bool {
        self.moves == 0 && self.merges == 0
    }
}

/// The tree after a plan.
fn executed(seen: &Observation, plan: &Plan, next_file: &mut u64) -> Result<Tree> {
    let taken: BTreeSet<u64> = plan.files().collect();
    let mut levels: Vec<Vec<File>> = vec![Vec::new(); usize::from(plan.output.0) + 1];
    let mut inputs = Vec::new();
    for (level, file) in seen.tree.iter() {
        if taken.contains(&file.number) {
            inputs.push(file);
            continue;
        }
        let at = usize::from(level.0);
        if levels.len() <= at {
            levels.resize(at + 1, Vec::new());
        }
        levels[at].push(file.clone());
    }
    let outputs = match plan.kind {
        PlanKind::Move => inputs.into_iter().cloned().collect(),
        PlanKind::Merge => merged(seen, plan, &inputs, next_file),
    };
    levels[usize::from(plan.output.0)].extend(outputs);
    Tree::new(levels)
        .map_err(|error| Error::bug(format!("a forecast made an illegal tree: {error}")))
}

/// The outputs of a merge. Cuts can only be where a key is known: where an input
/// begins, and at guard keys. Between two such keys an input's bytes are taken
/// as spread evenly.
fn merged(seen: &Observation, plan: &Plan, inputs: &[&File], next_file: &mut u64) -> Vec<File> {
    let guards = guards(seen, plan);
    let starts = starts(inputs, &guards);
    let weights = weights(inputs, &starts);
    let purged = seen.tree.runs().next_back() <= Some(plan.output);
    let ends: BTreeSet<&Key> = inputs.iter().map(|file| &file.largest).collect();
    let mut outputs: Vec<File> = Vec::new();
    let mut open: Option<(&Key, Weight)> = None;
    for (at, start) in starts.iter().enumerate() {
        let (first, mut weight) = open.unwrap_or((start, Weight::default()));
        weight.add(&weights[at]);
        let next = starts.get(at + 1);
        let full = weight.bytes >= plan.output_file_size as f64;
        let at_guard = next.is_some_and(|next| guards.contains(*next));
        if next.is_some() && !full && !at_guard {
            open = Some((first, weight));
            continue;
        }
        open = None;
        let last = last_key(start, next.copied(), &ends);
        outputs.push(weight.file(*next_file, first, last, purged));
        *next_file += 1;
    }
    outputs
}

/// The guard keys that hold for the output level.
fn guards<'a>(seen: &'a Observation, plan: &Plan) -> BTreeSet<&'a Key> {
    let level = seen
        .shape
        .layout
        .logical(plan.output)
        .map_or(LogicalLevel(1), |(level, _)| level);
    let pieces = seen.shape.pieces(level, &seen.state.limits, &seen.tree);
    let (low, high) = &plan.range;
    seen.state
        .guards
        .for_intervals(pieces)
        .filter(|key| *key > low && *key <= high)
        .collect()
}

fn starts<'a>(inputs: &[&'a File], guards: &BTreeSet<&'a Key>) -> Vec<&'a Key> {
    let all: BTreeSet<&Key> = inputs
        .iter()
        .map(|file| &file.smallest)
        .chain(guards.iter().copied())
        .collect();
    all.into_iter().collect()
}

/// What lies behind each start, up to the next one.
#[derive(Clone, Copy, Default)]
struct Weight {
    bytes: f64,
    entries: f64,
    deletions: f64,
}

impl Weight {
    fn add(&mut self, other: &Weight) {
        self.bytes += other.bytes;
        self.entries += other.entries;
        self.deletions += other.deletions;
    }

    fn file(&self, number: u64, smallest: &Key, largest: &Key, purged: bool) -> File {
        let deletions = if purged { 0 } else { self.deletions as u64 };
        File {
            number,
            size: (self.bytes.round() as u64).max(1),
            smallest: smallest.clone(),
            largest: largest.clone(),
            entries: self.entries as u64,
            deletions,
        }
    }
}

fn weights(inputs: &[&File], starts: &[&Key]) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); starts.len()];
    for file in inputs {
        let first = starts.partition_point(|start| **start < file.smallest);
        let behind = starts.partition_point(|start| **start <= file.largest);
        let share = 1.0 / (behind - first) as f64;
        let part = Weight {
            bytes: file.size as f64 * share,
            entries: file.entries as f64 * share,
            deletions: file.deletions as f64 * share,
        };
        weights[first..behind]
            .iter_mut()
            .for_each(|weight| weight.add(&part));
    }
    weights
}

/// The largest known key of an output whose last interval begins at `start`.
fn last_key<'a>(start: &'a Key, next: Option<&Key>, ends: &BTreeSet<&'a Key>) -> &'a Key {
    ends.iter()
        .rev()
        .find(|end| next.is_none_or(|next| **end < next))
        .copied()
        .filter(|end| *end > start)
        .unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lissom_core::RunLimits;
    use lissom_core::shape::RunLimit;
    use lissom_core::testing::drawing::parse;
    use lissom_core::testing::{numbered_files, small_shape};

    fn state() -> TreeState {
        TreeState::new(RunLimits::uniform(RunLimit::ONE))
    }

    fn plain(levels: Vec<Vec<File>>) -> Tree {
        Tree::new(levels).expect("legal")
    }

    /// `count` files of 100 bytes with numbers from `first`.
    fn run(first: u64, count: u64) -> Vec<File> {
        let mut files = numbered_files(count);
        for file in &mut files {
            file.number += first;
        }
        files
    }

    #[test]
    fn one_large_run_only_moves() {
        let empty = Vec::new;
        let tree = plain(vec![
            empty(),
            empty(),
            empty(),
            empty(),
            empty(),
            empty(),
            run(0, 500),
        ]);
        let found = forecast(&small_shape(), &tree, &state(), 2, false).expect("at rest");
        assert_eq!((found.merges, found.merged_bytes), (0, 0));
        assert!(found.moves > 0, "{found:?}");
    }

    #[test]
    fn a_tree_at_rest_wants_nothing() {
        for tree in [plain(vec![run(0, 3)]), Tree::default()] {
            let found = forecast(&small_shape(), &tree, &state(), 2, false).expect("at rest");
            assert!(found.is_nothing(), "{found:?}");
        }
    }

    /// They are merges there, and a run waits for longer before it goes to its seat.
    #[test]
    fn no_move_is_foreseen_where_moves_rewrite() {
        let foreseen = |slot: u16, moves_rewrite: bool| {
            let run = "0-9:2000 10-19:2000 20-29:2000 30-39:2000";
            let seen = parse(&format!("2.{slot}: {run}")).expect("a drawing");
            forecast(&seen.shape, &seen.tree, &seen.state, 2, moves_rewrite).expect("at rest")
        };
        let moved = foreseen(2, false);
        assert_eq!((moved.moves, moved.merged_bytes), (1, 0));
        let merged = foreseen(2, true);
        assert_eq!((merged.moves, merged.merged_bytes), (0, 8_000));
        let left = foreseen(3, true);
        assert!(left.is_nothing(), "{left:?}");
    }

    #[test]
    fn a_merge_of_everything_reads_every_byte_at_least_once() {
        let mut levels = vec![Vec::new(); 7];
        levels[0] = run(1_000, 2);
        levels[5] = run(2_000, 40);
        levels[6] = run(3_000, 400);
        let tree = plain(levels);
        let mut all = state();
        all.ask_compact_all(true);
        let found = forecast(&small_shape(), &tree, &all, 1, false).expect("at rest");
        assert!(found.merged_bytes >= 4_000, "{found:?}");
        assert!(found.largest_merge_bytes <= tree.total_bytes());
    }

    #[test]
    fn merges_keep_every_byte_and_every_key_range() {
        let mut levels = vec![Vec::new(); 7];
        levels[5] = run(2_000, 40);
        levels[6] = run(3_000, 400);
        let tree = plain(levels);
        let mut seen = Observation::quiet(small_shape(), tree.clone(), state(), 1);
        seen.state.ask_compact_all(true);
        let mut next = 10_000;
        for _ in 0..10_000 {
            let planned = planner::plan(&seen);
            seen.state = planned.state;
            let Some(plan) = planned.plans.first() else {
                break;
            };
            seen.tree = executed(&seen, plan, &mut next).expect("legal");
        }
        assert_eq!(seen.tree.runs().count(), 1);
        assert!(seen.tree.total_bytes().abs_diff(tree.total_bytes()) < 500);
        let run = seen.tree.runs().next().expect("one run");
        let files = seen.tree.files(run);
        assert_eq!(files[0].smallest, Key::from("00000"));
        assert_eq!(files[files.len() - 1].largest, Key::from("03999"));
    }
}
