//! The modelled tree: files with bounds and densities, on RocksDB's levels.
//!
//! It shows itself to the planner as a manifest and carries plans out as RocksDB
//! would: inputs vanish, outputs are cut at the guards and at the plan's size.

mod cut;

use std::collections::{BTreeSet, HashSet};

use lissom_core::key::Key;
use lissom_core::layout::PhysicalLevel;
use lissom_core::plan::{Plan, PlanKind};
use lissom_core::shape::Shape;
use lissom_core::state::TreeState;
use lissom_core::testing::level_guards;
use lissom_core::tree::{File, Tree};

use self::cut::{Cutter, overlay};
use crate::content::Density;

/// A place in the key space, which reaches from 0 to 1.
pub type Place = f64;

/// Places that a key can tell apart.
const RESOLUTION: f64 = (1u64 << 52) as f64;

/// A stretch of the key space and what lies in it.
#[derive(Clone, PartialEq, Debug)]
struct Stretch {
    low: Place,
    high: Place,
    /// By class, as if the stretch reached over the whole key space.
    content: Vec<Density>,
}

impl Stretch {
    fn width(&self) -> f64 {
        self.high - self.low
    }

    fn entries(&self) -> f64 {
        self.width() * self.content.iter().map(Density::entries).sum::<f64>()
    }

    fn deletes(&self) -> f64 {
        self.width() * self.content.iter().map(|it| it.deletes).sum::<f64>()
    }
}

/// A file, which never changes.
#[derive(Clone, PartialEq, Debug)]
pub struct SimFile {
    stretch: Stretch,
    entries: f64,
    /// As the manifest shows it.
    row: File,
}

impl SimFile {
    fn new(number: u64, stretch: Stretch, entry_bytes: f64) -> SimFile {
        let entries = stretch.entries();
        // Neighbours share a bound; the largest key lies just before it.
        let last = key(stretch.high - 1.0 / RESOLUTION);
        let smallest = key(stretch.low);
        let row = File {
            number,
            size: (entries * entry_bytes).max(1.0) as u64,
            largest: last.max(smallest.clone()),
            smallest,
            entries: entries.max(1.0) as u64,
            deletions: stretch.deletes() as u64,
        };
        SimFile {
            stretch,
            entries,
            row,
        }
    }

    /// Share of the key space between its bounds.
    pub fn width(&self) -> f64 {
        self.stretch.width()
    }

    /// Classes of popularity that it tells apart.
    pub fn classes(&self) -> usize {
        self.stretch.content.len()
    }

    /// Entries of one class that are no tombstones.
    pub fn living_of(&self, class: usize) -> f64 {
        self.width() * self.stretch.content[class].living()
    }

    /// Entries of one class.
    pub fn entries_of(&self, class: usize) -> f64 {
        self.width() * self.stretch.content[class].entries()
    }

    /// Share of the keys of one class, among those that existed before, that its updates name.
    pub fn hides_of(&self, class: usize) -> f64 {
        self.width() * self.stretch.content[class].hides
    }

    /// Entries of all classes.
    pub fn entries(&self) -> f64 {
        self.entries
    }
}

/// What a compaction makes, before it is installed.
#[derive(Clone, PartialEq, Debug)]
pub struct Merged {
    outputs: Vec<SimFile>,
    /// Bytes of the inputs; 0 for a move.
    pub read_bytes: f64,
    /// The same by physical level.
    pub read_from: Vec<(PhysicalLevel, f64)>,
    /// Bytes of the outputs; 0 for a move.
    pub write_bytes: f64,
    /// Entries of the inputs.
    pub read_entries: f64,
}

/// All files by physical level: L0 newest first, the others in key order.
#[derive(Clone, PartialEq, Debug)]
pub struct SimTree {
    levels: Vec<Vec<SimFile>>,
    /// The same files, as the planner sees them.
    manifest: Tree,
    entry_bytes: f64,
    next_file: u64,
}

/// A place as 8 bytes, which sort as places do.
pub fn key(place: Place) -> Key {
    let scaled = (place.clamp(0.0, 1.0) * RESOLUTION) as u64;
    Key::from(scaled.to_be_bytes())
}

/// The place of a key that [`key`] made.
pub fn place(key: &Key) -> Place {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(key.as_bytes()) {
        *to = *from;
    }
    u64::from_be_bytes(bytes) as f64 / RESOLUTION
}

impl SimTree {
    /// An empty tree.
    pub fn new(levels: usize, entry_bytes: f64) -> SimTree {
        SimTree {
            levels: vec![Vec::new(); levels],
            manifest: Tree::default(),
            entry_bytes,
            next_file: 1,
        }
    }

    /// The files of a physical level.
    pub fn files(&self, level: usize) -> &[SimFile] {
        &self.levels[level]
    }

    /// Physical levels, empty ones included.
    pub fn num_levels(&self) -> usize {
        self.levels.len()
    }

    /// Adds a flushed memtable.
    pub fn flush(&mut self, content: Vec<Density>) {
        let whole = Stretch {
            low: 0.0,
            high: 1.0,
            content,
        };
        let file = self.file(whole);
        self.levels[0].insert(0, file);
        self.show(0);
    }

    /// Puts a run into an empty level, cut into files of at most so many bytes.
    pub fn place_run(&mut self, level: usize, content: Vec<Density>, file_bytes: f64) {
        let mut run = Cutter::new(&[], file_bytes / self.entry_bytes);
        run.push(0.0, 1.0, &content);
        self.levels[level] = self.files_of(run);
        self.show(level);
    }

    fn file(&mut self, stretch: Stretch) -> SimFile {
        self.next_file += 1;
        SimFile::new(self.next_file - 1, stretch, self.entry_bytes)
    }

    fn files_of(&mut self, run: Cutter<'_>) -> Vec<SimFile> {
        let stretches = run.stretches.into_iter();
        stretches.map(|stretch| self.file(stretch)).collect()
    }

    /// The tree as the planner sees it.
    pub fn manifest(&self) -> &Tree {
        &self.manifest
    }

    /// Brings a level of the manifest up to date.
    ///
    /// # Panics
    /// When files of a run overlap, which would be a fault of this module.
    fn show(&mut self, level: usize) {
        let rows = self.levels[level].iter().map(|file| file.row.clone());
        self.manifest
            .replace(PhysicalLevel(level as u16), rows.collect())
            .expect("files of a run follow one another");
    }

    /// Files in L0 and their bytes, as the manifest has them.
    pub fn level0(&self) -> (usize, u64) {
        let files = &self.levels[0];
        (files.len(), files.iter().map(|file| file.row.size).sum())
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> f64 {
        let files = self.levels.iter().flatten();
        files.map(SimFile::entries).sum::<f64>() * self.entry_bytes
    }

    /// What a plan would make of the tree.
    pub fn merge(&mut self, plan: &Plan, shape: &Shape, state: &TreeState) -> Merged {
        let inputs = self.inputs(plan);
        if plan.kind == PlanKind::Move {
            return Merged {
                outputs: inputs.into_iter().flatten().collect(),
                read_bytes: 0.0,
                read_from: Vec::new(),
                write_bytes: 0.0,
                read_entries: 0.0,
            };
        }
        let entries: f64 = inputs.iter().flatten().map(SimFile::entries).sum();
        let output = usize::from(plan.output.0);
        let bottom = self.levels[output + 1..].iter().all(Vec::is_empty);
        let tree = &self.manifest;
        let cuts: Vec<Place> = level_guards(&shape.fitted(tree), state, plan.output, tree)
            .iter()
            .map(place)
            .collect();
        let file_entries = plan.output_file_size as f64 / self.entry_bytes;
        let mut cutter = Cutter::new(&cuts, file_entries);
        overlay(&inputs, bottom, &mut cutter);
        let outputs = self.files_of(cutter);
        let written: f64 = outputs.iter().map(SimFile::entries).sum();
        let of_level = |(level, files): (usize, &Vec<SimFile>)| {
            let entries: f64 = files.iter().map(SimFile::entries).sum();
            (PhysicalLevel(level as u16), entries * self.entry_bytes)
        };
        let read_from = inputs
            .iter()
            .enumerate()
            .filter(|(_, files)| !files.is_empty());
        Merged {
            outputs,
            read_bytes: entries * self.entry_bytes,
            read_from: read_from.map(of_level).collect(),
            write_bytes: written * self.entry_bytes,
            read_entries: entries,
        }
    }

    /// Puts what [`SimTree::merge`] made in the place of its inputs.
    pub fn install(&mut self, plan: &Plan, merged: Merged) {
        let output = usize::from(plan.output.0);
        let mut changed = BTreeSet::from([output]);
        for input in &plan.inputs {
            let numbers: HashSet<u64> = input.files.iter().copied().collect();
            let level = usize::from(input.level.0);
            self.levels[level].retain(|file| !numbers.contains(&file.row.number));
            changed.insert(level);
        }
        let run = &mut self.levels[output];
        run.extend(merged.outputs);
        run.sort_by(|a, b| a.stretch.low.total_cmp(&b.stretch.low));
        for level in changed {
            self.show(level);
        }
    }

    /// Copies of a plan's inputs, by level.
    fn inputs(&self, plan: &Plan) -> Vec<Vec<SimFile>> {
        let mut inputs = vec![Vec::new(); self.levels.len()];
        for input in &plan.inputs {
            let numbers: HashSet<u64> = input.files.iter().copied().collect();
            let level = usize::from(input.level.0);
            let named = |file: &&SimFile| numbers.contains(&file.row.number);
            inputs[level].extend(self.levels[level].iter().filter(named).cloned());
        }
        inputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(entries: f64) -> Vec<Density> {
        vec![Density {
            fresh: entries,
            ..Density::default()
        }]
    }

    #[test]
    fn places_are_keys_in_the_same_order() {
        let places = [0.0, 1e-9, 0.25, 0.250_000_1, 1.0];
        let keys: Vec<Key> = places.iter().map(|at| key(*at)).collect();
        assert!(keys.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((place(&keys[2]) - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_run_is_cut_at_its_size_and_loses_nothing() {
        let mut tree = SimTree::new(4, 100.0);
        tree.place_run(3, fresh(1000.0), 20_000.0);
        assert_eq!(tree.files(3).len(), 5);
        assert!((tree.bytes() - 100_000.0).abs() < 1e-6);
        assert_eq!(tree.manifest().total_files(), 5);
    }
}
