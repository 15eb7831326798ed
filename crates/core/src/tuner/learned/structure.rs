//! What run limits make of a tree: how many runs a read meets, how often a byte is
//! rewritten, and what a scan passes beside what it returns.
//!
//! A level above the deepest fills from none to K runs and is drained, so after its
//! T inflows in turn a read meets (K + 1) / 2 - K / T of them on average, and an
//! inflow is merged with half of what its run will hold: (T / K + 1) / 2 rewrites
//! (RusKey 4.3, with whole inflows). But where it and the deepest one hold one run each it gives up
//! a few pieces at a time and stays full (`may_give_pieces`): each inflow is merged with all of
//! it, T + 1 rewrites. The deepest level holds the data itself. With
//! one run each inflow rewrites all of it, and as long as the run that holds the data
//! is not sealed; with several it grows until it is full or the bound on space is met,
//! and then all of it is merged. Where the size ratio follows the data, what comes in makes the
//! level larger, and it is full only under the largest ratio. With one run the level holds the data alone,
//! whatever lies in it now, and the ratio is that of the data.
//!
//! A scan passes the bytes that are newer than the oldest run, each by its weight
//! ([`super::passing`]). A level above the deepest that is drained is half full on average, whatever
//! its limit is: its runs cost a scan a seek each, and no entry. The deepest level holds nothing
//! newer with one run; with several it holds half of what it has room for.
//!
//! A scan reads ahead in every run ([`readahead`]): of a run that holds much of what it returns
//! it takes more reads than of a small one, but fewer than of two that share as much.

use super::passing;
use crate::cost_model::readahead;
use crate::layout::LogicalLevel;
use crate::planner::{SPACE_SHARE, may_give_pieces};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::tree::Tree;

/// A tree as the model sees it.
#[derive(Clone, Debug)]
pub(super) struct Structure<'a> {
    shape: &'a Shape,
    /// Occupied logical levels.
    pub levels: usize,
    /// Bytes of the data: of the oldest run.
    data: f64,
    /// Bytes of all other runs and of L0.
    newer: f64,
    /// What a scan passes in one of those, in bytes of the data.
    weight: f64,
    /// Entries of the data in a block.
    per_block: f64,
    /// What may come in beside the data before all of it is merged.
    room: f64,
    /// The tree when half of that has come in.
    grown: Shape,
    /// The tree when the deepest level holds nothing but the data.
    merged: Shape,
}

/// What a vector of limits means.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Shaped {
    /// Runs that a read meets, by level, on average.
    pub runs: Vec<f64>,
    /// Bytes that compactions write for each byte of L0's, by level.
    pub rewritten: Vec<f64>,
    /// The same in all.
    pub rewrites: f64,
    /// Bytes that are newer than the oldest run, by level, on average.
    pub newer: Vec<f64>,
}

/// The same of one level.
struct Level {
    runs: f64,
    rewrites: f64,
    /// Bytes that are newer than the oldest run.
    newer: f64,
}

impl<'a> Structure<'a> {
    /// `None` for a tree without a level below L0.
    pub fn of(shape: &'a Shape, tree: &Tree) -> Option<Structure<'a>> {
        let deepest = tree.deepest_occupied(&shape.layout)?;
        let oldest = tree.runs().next_back()?;
        let data = tree.bytes(oldest);
        let room = room(shape, deepest, data.max(1));
        let in_deepest = tree.runs_of(&shape.layout, deepest).into_iter();
        let in_deepest: u64 = in_deepest.map(|run| tree.bytes(run)).sum();
        let above = tree.total_bytes().saturating_sub(in_deepest);
        Some(Structure {
            shape,
            levels: usize::from(deepest.0),
            data: data.max(1) as f64,
            newer: tree.total_bytes().saturating_sub(data) as f64,
            weight: passing::weight(tree, oldest),
            per_block: passing::per_block(tree, oldest),
            room: room as f64,
            grown: of_bytes(shape, deepest, data + room / 2),
            merged: of_bytes(shape, deepest, data + above),
        })
    }

    pub fn shape(&self) -> &Shape {
        self.shape
    }

    /// Bytes of the data: of the oldest run.
    pub fn data(&self) -> f64 {
        self.data
    }

    /// Bytes that come into each level at once, level 1 first.
    pub fn inflows(&self) -> Vec<f64> {
        let levels = (1..=self.levels).map(|at| LogicalLevel(at as u16));
        levels
            .map(|level| self.shape.inflow(level) as f64)
            .collect()
    }

    /// Bytes that come in while the last level but one fills once; while level 1 does in
    /// a tree of one level.
    pub fn turnover(&self) -> f64 {
        let last_but_one = self.levels.saturating_sub(1).max(1);
        self.shape.capacity(LogicalLevel(last_but_one as u16)) as f64
    }

    /// Bytes that come in while a run of a level is there, on average: half of what
    /// fills the level, or of the data in the deepest. The first level is at 0.
    pub fn life(&self, at: usize) -> f64 {
        let whole = if at + 1 >= self.levels {
            self.data
        } else {
            self.shape.capacity(LogicalLevel(at as u16 + 1)) as f64
        };
        0.5 * whole
    }

    /// What a scan passes for each entry that it returns, beside that one, where so many
    /// bytes are newer than the oldest run. A tree over its bound on space is merged: where it
    /// is far over it, it grows, and what it holds more are new keys.
    pub fn passed(&self, newer: f64) -> f64 {
        let bound = (self.shape.max_space_amplification - 1.0).max(0.0);
        (newer / self.data).min(bound) * self.weight
    }

    /// The same in the tree as it is.
    pub fn passed_now(&self) -> f64 {
        self.passed(self.newer)
    }

    /// The same in L0, which is half full on average.
    pub fn passed_in_level0(&self) -> f64 {
        self.passed(0.5 * self.shape.level0_bytes() as f64)
    }

    /// The same in a level, the first at 0, under limits that mean this.
    pub fn passed_in(&self, shaped: &Shaped, at: usize) -> f64 {
        self.passed(shaped.newer[at])
    }

    /// Reads that a scan of so many entries takes of a run of so many bytes. It holds as much
    /// of what is returned as its bytes are of the data's.
    pub fn reads(&self, bytes: f64, entries: f64) -> f64 {
        let share = (bytes / self.data).min(1.0);
        readahead::reads(1.0 + entries * share / self.per_block)
    }

    /// The same of L0, so many files of which are there.
    pub fn reads_of_level0(&self, files: f64, entries: f64) -> f64 {
        files * self.reads(self.shape.write_buffer_size as f64, entries)
    }

    /// The same of a level, the first at 0, under limits that mean this.
    pub fn reads_in(&self, shaped: &Shaped, at: usize, entries: f64) -> f64 {
        let of_data = f64::from(u8::from(at + 1 == self.levels));
        let others = (shaped.runs[at] - of_data).max(0.0);
        let each = shaped.newer[at] / others.max(1.0);
        of_data * self.reads(self.data, entries) + others * self.reads(each, entries)
    }

    /// The mean number of runs and rewrites, and what is newer than the data, under these limits.
    pub fn under(&self, limits: &RunLimits) -> Shaped {
        let mut shaped = Shaped {
            runs: Vec::with_capacity(self.levels),
            rewritten: Vec::with_capacity(self.levels),
            rewrites: 0.0,
            newer: Vec::with_capacity(self.levels),
        };
        for at in 1..=self.levels {
            let number = LogicalLevel(at as u16);
            let limit = limits.get(number);
            let level = if at == self.levels {
                self.deepest(number, limit)
            } else if may_give_pieces(limits, number, Some(LogicalLevel(self.levels as u16))) {
                self.always_full(number)
            } else {
                self.above_the_deepest(number, limit)
            };
            shaped.runs.push(level.runs);
            shaped.rewritten.push(level.rewrites);
            shaped.rewrites += level.rewrites;
            shaped.newer.push(level.newer);
        }
        shaped
    }

    fn above_the_deepest(&self, level: LogicalLevel, limit: RunLimit) -> Level {
        let ratio = f64::from(self.shape.size_ratio);
        let limit = f64::from(limit.get()).min(ratio);
        Level {
            runs: f64::midpoint(limit, 1.0) - limit / ratio,
            rewrites: f64::midpoint(ratio / limit, 1.0),
            newer: 0.5 * self.shape.capacity(level) as f64,
        }
    }

    fn always_full(&self, level: LogicalLevel) -> Level {
        Level {
            runs: 1.0,
            rewrites: f64::from(self.shape.size_ratio) + 1.0,
            newer: self.shape.capacity(level) as f64,
        }
    }

    fn deepest(&self, level: LogicalLevel, limit: RunLimit) -> Level {
        let inflow = self.merged.inflow(level) as f64;
        // The run of the data takes every inflow until it is sealed, which it never is
        // under limits that leave it room for more than the data.
        let sealed = self.merged.sealed_at(level, limit, 0, 0) as f64;
        if limit == RunLimit::ONE || self.data < sealed {
            return Level {
                runs: 1.0,
                rewrites: self.data / inflow + 1.0,
                newer: 0.0,
            };
        }
        let limit = f64::from(limit.get()).min(f64::from(self.shape.size_ratio));
        let room = self.room.max(inflow);
        let (capacity, inflow) = (
            self.grown.capacity(level) as f64,
            self.grown.inflow(level) as f64,
        );
        let run = capacity / limit;
        // The new data is merged within its runs, and in the end with the rest.
        let within = f64::midpoint(run.min(room) / inflow, 1.0);
        let whole = (self.data + room) / room;
        Level {
            runs: 1.0 + (room / run).max(1.0) / 2.0,
            rewrites: within + whole,
            newer: 0.5 * room,
        }
    }
}

/// Bytes that come into the deepest level beside the data before they are merged with it: for the
/// bound on space, or since the level is full. Where the size ratio follows the data the level grows
/// with them.
fn room(shape: &Shape, deepest: LogicalLevel, data: u64) -> u64 {
    let bound = SPACE_SHARE * (shape.max_space_amplification - 1.0).max(0.0) * data as f64;
    let full = widest(shape).capacity(deepest).saturating_sub(data);
    full.min(bound as u64)
}

/// The shape of a tree of so many bytes.
fn of_bytes(shape: &Shape, deepest: LogicalLevel, bytes: u64) -> Shape {
    if shape.largest_size_ratio == 0 {
        return shape.clone();
    }
    widest(shape).fitted_to(bytes, Some(deepest))
}

/// The shape under the largest ratio that it may grow to.
fn widest(shape: &Shape) -> Shape {
    Shape {
        size_ratio: shape.size_ratio.max(shape.largest_size_ratio),
        ..shape.clone()
    }
}

#[cfg(test)]
#[path = "structure_tests.rs"]
mod tests;
