//! Cutting a drain into pieces.
//!
//! A piece begins at the smallest key that is left and takes, in key order, as
//! many source files as fit the bound together with all that RocksDB adds to
//! them. Where runs share their cut points, nothing is added but whole guard
//! intervals of the target. Where they do not, each older run adds the files
//! that reach over the piece's end; a newer run's file that is left behind
//! stays above, where it belongs.

use std::collections::BTreeSet;
use std::ops::Range;

use super::urgency::{self, is_awaited};
use crate::key::Key;
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::{Excess, Input, Plan, PlanKind, Reason};
use crate::state::Drain;
use crate::tree::File;

/// At most `most` pieces of a drain that can run now, in key order.
pub(super) fn pieces(seen: &Observation, drain: &Drain, most: usize) -> Vec<Plan> {
    let pieces = cut(seen, drain, None, most);
    pieces.into_iter().map(|piece| piece.plan).collect()
}

/// The keys of the pieces of a drain that could run now and begin behind `behind`, or from
/// the start if there are none; of so many pieces, or as many as there are.
pub(super) fn range(
    seen: &Observation,
    drain: &Drain,
    behind: Option<&Key>,
    most: usize,
) -> Option<(Key, Key)> {
    let mut pieces = cut(seen, drain, behind, most);
    if pieces.is_empty() {
        pieces = cut(seen, drain, None, most);
    }
    let (first, last) = (pieces.first()?, pieces.last()?);
    Some((first.seeds.0.clone(), last.seeds.1.clone()))
}

/// One merge of a drain.
struct Piece {
    /// Smallest keys of the first and of the last source file that was asked for.
    seeds: (Key, Key),
    plan: Plan,
}

fn cut(seen: &Observation, drain: &Drain, behind: Option<&Key>, most: usize) -> Vec<Piece> {
    let runs = Runs::of(seen, drain);
    let mut pieces: Vec<Piece> = Vec::new();
    let mut after = behind.cloned();
    while pieces.len() < most {
        let Some(first) = runs.next_seed(drain, after.as_ref()) else {
            break;
        };
        let job = seen
            .in_flight
            .iter()
            .find(|job| job.files.contains(&first.number));
        if let Some(job) = job {
            after = Some(job.range.1.clone().max(first.largest.clone()));
            continue;
        }
        let closed = runs.grow(seen, drain, &first.smallest);
        if !runs.readable(seen, &closed) {
            // What begins behind the file may be merged without it.
            after = Some(first.smallest.clone());
            continue;
        }
        let plan = runs.plan(seen, drain, &closed);
        after = Some(plan.range.1.clone());
        if is_clear(seen, &plan, &pieces) {
            let seeds = (first.smallest.clone(), closed.last_seed);
            pieces.push(Piece { seeds, plan });
        }
    }
    pieces
}

/// Whether any source file of a drain is left.
pub(super) fn has_sources(seen: &Observation, drain: &Drain) -> bool {
    Runs::of(seen, drain).next_seed(drain, None).is_some()
}

fn bound(seen: &Observation) -> u64 {
    seen.shape.piece_bytes(seen.tree.total_bytes())
}

/// Whether nothing that runs or was accepted before stands against a plan.
fn is_clear(seen: &Observation, plan: &Plan, accepted: &[Piece]) -> bool {
    let running = accepted.iter().map(|piece| super::in_flight(&piece.plan));
    let clear = |job: &crate::observation::InFlight| !crate::validate::conflicts(job, plan);
    seen.in_flight.iter().all(clear) && running.into_iter().all(|job| clear(&job))
}

/// The runs of a drain, newest first, the target last.
struct Runs<'a> {
    levels: Vec<(PhysicalLevel, &'a [File])>,
    target: PhysicalLevel,
}

/// A set of files that RocksDB adds nothing to.
struct Closed {
    /// By run, indices into its files.
    taken: Vec<Range<usize>>,
    bytes: u64,
    /// Smallest key of the last file that was asked for.
    last_seed: Key,
    /// Nothing but target files was added to what was asked for.
    tight: bool,
    /// Neighbours were added because they share a boundary key.
    shared_boundary: bool,
}

impl<'a> Runs<'a> {
    fn of(seen: &'a Observation, drain: &Drain) -> Runs<'a> {
        let mut levels: Vec<_> = seen
            .tree
            .runs_within(drain.top, drain.target)
            .into_iter()
            .map(|level| (level, seen.tree.files(level)))
            .collect();
        if levels
            .last()
            .is_none_or(|(level, _)| *level != drain.target)
        {
            levels.push((drain.target, &[]));
        }
        Runs {
            levels,
            target: drain.target,
        }
    }

    fn sources(&self) -> &[(PhysicalLevel, &'a [File])] {
        &self.levels[..self.levels.len() - 1]
    }

    /// The source file with the smallest first key behind `after`, within the
    /// drain's range.
    fn next_seed(&self, drain: &Drain, after: Option<&Key>) -> Option<&'a File> {
        let low = drain.range.as_ref().map(|(low, _)| low);
        self.sources()
            .iter()
            .filter_map(|(_, files)| {
                let at = files.partition_point(|file| {
                    after.is_some_and(|key| file.smallest <= *key)
                        || low.is_some_and(|key| file.smallest < *key)
                });
                files.get(at)
            })
            .filter(|file| drain.has_in_range(&file.smallest))
            .min_by_key(|file| &file.smallest)
    }

    /// The closed set that begins at `start` and holds as many source files as
    /// the bound allows, at least one, and ends before a file that cannot be read. A
    /// set that leaves no file behind is preferred if it is not much smaller.
    fn grow(&self, seen: &Observation, drain: &Drain, start: &Key) -> Closed {
        let mut best = self.close(start, start);
        if !self.readable(seen, &best) {
            // Nor are those that hold it: a whole run may be barred, and is asked about file by
            // file.
            return best;
        }
        let bound = bound(seen);
        let mut seeds: Vec<&Key> = self
            .sources()
            .iter()
            .flat_map(|(_, files)| files.iter().map(|file| &file.smallest))
            .filter(|key| *key >= start && drain.has_in_range(key))
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        let mut best_tight: Option<Closed> = best.tight.then(|| self.close(start, start));
        for until in seeds.into_iter().skip(1) {
            let next = self.close(start, until);
            if next.bytes > bound || !self.readable(seen, &next) {
                break;
            }
            if next.tight {
                best_tight = Some(self.close(start, until));
            }
            best = next;
        }
        match best_tight {
            Some(tight) if tight.bytes >= best.bytes / 4 => tight,
            _ => best,
        }
    }

    /// All source files that begin within `[start, until]`, and what RocksDB
    /// adds to them.
    fn close(&self, start: &Key, until: &Key) -> Closed {
        let mut closed = Closed {
            taken: Vec::with_capacity(self.levels.len()),
            bytes: 0,
            last_seed: until.clone(),
            tight: true,
            shared_boundary: false,
        };
        let mut range: Option<(&Key, &Key)> = None;
        for (level, files) in &self.levels {
            let seeds = if *level == self.target {
                0..0
            } else {
                files.partition_point(|file| file.smallest < *start)
                    ..files.partition_point(|file| file.smallest <= *until)
            };
            let overlapping = match range {
                Some((low, high)) => {
                    files.partition_point(|file| file.largest < *low)
                        ..files.partition_point(|file| file.smallest <= *high)
                }
                None => 0..0,
            };
            let hull = hull(&seeds, &overlapping);
            let clean = clean_cut(files, hull.clone());
            closed.shared_boundary |= clean.len() != hull.len();
            closed.tight &= *level == self.target || clean.len() == seeds.len();
            if let Some(taken) = files.get(clean.clone()).filter(|taken| !taken.is_empty()) {
                closed.bytes += taken.iter().map(|file| file.size).sum::<u64>();
                let (low, high) = (&taken[0].smallest, &taken[taken.len() - 1].largest);
                range = Some(match range {
                    Some((least, most)) => (least.min(low), most.max(high)),
                    None => (low, high),
                });
            }
            closed.taken.push(clean);
        }
        closed
    }

    /// The files of a closed set.
    fn taken(&self, closed: &Closed) -> impl Iterator<Item = &File> {
        self.levels
            .iter()
            .zip(&closed.taken)
            .flat_map(|((_, files), taken)| &files[taken.clone()])
    }

    fn readable(&self, seen: &Observation, closed: &Closed) -> bool {
        seen.unreadable.is_empty()
            || self
                .taken(closed)
                .all(|file| !seen.unreadable.contains(&file.number))
    }

    fn plan(&self, seen: &Observation, drain: &Drain, closed: &Closed) -> Plan {
        let inputs: Vec<Input> = self
            .levels
            .iter()
            .zip(&closed.taken)
            .filter(|(_, taken)| !taken.is_empty())
            .map(|((level, files), taken)| Input {
                level: *level,
                files: files[taken.clone()]
                    .iter()
                    .map(|file| file.number)
                    .collect(),
            })
            .collect();
        let excess = (closed.bytes > bound(seen)).then_some(if closed.shared_boundary {
            Excess::SharedBoundaries
        } else {
            Excess::NoCommonCuts
        });
        Plan {
            kind: kind(seen, &inputs, self.target, self.taken(closed)),
            output: self.target,
            output_file_size: output_file_size(seen, self.target),
            range: range_of(self.taken(closed)).unwrap_or_else(|| (Key::from(b""), Key::from(b""))),
            input_bytes: closed.bytes,
            drain: Some(drain.id),
            excess,
            awaited: is_awaited(seen, drain),
            hurried: urgency::is_hurried(seen, drain),
            reason: drain.reason.clone(),
            inputs,
        }
    }
}

/// Files that meet nothing move as they are, unless they are small for
/// their new place or full of tombstones, or moves rewrite.
pub(super) fn kind<'f>(
    seen: &Observation,
    inputs: &[Input],
    target: PhysicalLevel,
    files: impl Iterator<Item = &'f File>,
) -> PlanKind {
    let (mut bytes, mut count, mut clean) = (0, 0, true);
    for file in files {
        bytes += file.size;
        count += 1;
        clean &= file.deletion_share() < seen.shape.tombstone_share;
    }
    let [input] = inputs else {
        return PlanKind::Merge;
    };
    let same = seen.shape.compression_class(input.level) == seen.shape.compression_class(target);
    let large = bytes >= count * (output_file_size(seen, target) / 2);
    if same && clean && large && !seen.moves_rewrite {
        PlanKind::Move
    } else {
        PlanKind::Merge
    }
}

/// The smallest range that holds both.
fn hull(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

/// Widens a range of files by neighbours that share a boundary key.
fn clean_cut(files: &[File], mut range: Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return range;
    }
    while range.start > 0 && files[range.start - 1].largest >= files[range.start].smallest {
        range.start -= 1;
    }
    while range.end < files.len() && files[range.end].smallest <= files[range.end - 1].largest {
        range.end += 1;
    }
    range
}

fn range_of<'f>(files: impl Iterator<Item = &'f File>) -> Option<(Key, Key)> {
    let mut range = None;
    for file in files {
        file.widen(range.get_or_insert_with(|| file.range()));
    }
    range
}

fn output_file_size(seen: &Observation, output: PhysicalLevel) -> u64 {
    let level = seen
        .shape
        .layout
        .logical(output)
        .map_or(LogicalLevel(1), |(level, _)| level);
    let total = seen.tree.total_bytes();
    seen.shape
        .output_file_size(level, &seen.state.limits, total)
}

/// A merge of the given files, which must be closed, outside any drain. `None`
/// without files.
pub(super) fn describe(
    seen: &Observation,
    files: &BTreeSet<u64>,
    output: PhysicalLevel,
    reason: Reason,
) -> Option<Plan> {
    let mut inputs: Vec<Input> = Vec::new();
    let chosen = || {
        seen.tree
            .iter()
            .filter(|(_, file)| files.contains(&file.number))
    };
    for (level, file) in chosen() {
        match inputs.last_mut() {
            Some(input) if input.level == level => input.files.push(file.number),
            _ => inputs.push(Input {
                level,
                files: vec![file.number],
            }),
        }
    }
    Some(Plan {
        kind: PlanKind::Merge,
        inputs,
        output,
        output_file_size: output_file_size(seen, output),
        range: range_of(chosen().map(|(_, file)| file))?,
        input_bytes: chosen().map(|(_, file)| file.size).sum(),
        drain: None,
        excess: None,
        awaited: false,
        hurried: false,
        reason,
    })
}
