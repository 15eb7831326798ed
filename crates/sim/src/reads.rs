//! What a read costs over the tree as it is.
//!
//! A get asks one sorted run after the other, newest first, until one holds the
//! key. A run is asked where its files reach; its filter lets a key that is not
//! there pass at the filter's rate. A scan begins in every run, filters or not, at
//! any key alike, and passes all versions of what it returns; what follows the first blocks
//! is read ahead ([`readahead`]).

use lissom_core::cost_model::readahead;
use lissom_core::filters::{bits_per_key, false_positive_rate};
use lissom_core::layout::{Layout, LogicalLevel, PhysicalLevel};

use crate::cache::{Group, Pool, stay};
use crate::machine::{Demand, Machine};
use crate::scenario::{Mix, StoreModel};
use crate::tree::{SimFile, SimTree};

/// Bytes of an index for each block, key and handle.
const INDEX_BYTES: f64 = 36.0;

/// One sorted run, as reads see it.
#[derive(Clone, PartialEq, Debug)]
struct Run {
    /// 0 for L0 and the landing level, which count as level 1's.
    level: usize,
    /// Share of the key space where it has files.
    reach: f64,
    /// Entries by class, and those that are no tombstones.
    entries: Vec<f64>,
    living: Vec<f64>,
    /// Share of the keys that existed before it which it names, by class.
    hides: Vec<f64>,
    total: f64,
    false_positives: f64,
}

impl Run {
    /// Of its blocks, those in which keys of a class lie.
    fn blocks_with(&self, class: usize, blocks: f64) -> f64 {
        let spread = blocks * -(-self.entries[class] / blocks.max(1e-300)).exp_m1();
        spread.min(blocks)
    }
}

/// Demands of the operations of one session, and where they come from.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Costs {
    /// A get; of present and absent keys as the mix has them.
    pub get: Demand,
    /// A scan.
    pub scan: Demand,
    /// Block reads from the device for each operation of the mix, by logical
    /// level, level 1 first.
    pub block_reads: Vec<f64>,
    /// Filter probes that ruled a run out, for each operation, by level.
    pub filter_useful: Vec<f64>,
    /// Filter probes that passed.
    pub filter_positive: Vec<f64>,
    /// Passed probes whose run held the key.
    pub filter_true_positive: Vec<f64>,
    /// Runs that hold anything.
    pub runs: usize,
}

/// What reads meet: the tree, its keys, and what is asked for.
pub struct Asked<'a> {
    /// The files.
    pub tree: &'a SimTree,
    /// Keys that exist, by class.
    pub keys: &'a [f64],
    /// Shares of the operations, by class.
    pub classes: &'a [f64],
    /// Chance that a memtable holds the newest version, by class.
    pub in_memory: &'a [f64],
    /// Kinds of operations.
    pub mix: &'a Mix,
    /// Entries that a scan returns.
    pub scan_length: f64,
}

/// The demands over the tree as it is.
pub fn costs(store: &StoreModel, machine: &Machine, asked: &Asked<'_>) -> Costs {
    let runs = runs(store, asked.tree);
    let visits = Visits::of(store, asked, &runs);
    let data = data_cache(store, &runs);
    let missed = visits.missed(data / (entries_per_block(store) * store.entry_bytes));
    let mix = asked.mix;
    let gets = mix.get_present + mix.get_absent;
    let per_get = |amount: f64| if gets > 0.0 { amount / gets } else { 0.0 };
    let per_scan = |amount: f64| {
        if mix.scan > 0.0 {
            amount / mix.scan
        } else {
            0.0
        }
    };
    // What is read ahead comes with the block before it.
    let demand = |blocks: f64, missed: f64, reads: f64, cpu: f64| Demand {
        cpu: cpu + blocks * machine.block_cpu + reads * machine.miss_cpu,
        device: reads * machine.block_read
            + (missed - reads) * store.block_bytes * machine.byte_read,
    };
    let sum = |numbers: &[f64]| numbers.iter().sum::<f64>();
    let get_cpu = machine.get_cpu + per_get(sum(&visits.probes)) * machine.probe_cpu;
    let scan_cpu = machine.scan_cpu
        + per_scan(sum(&visits.seeks)) * machine.seek_cpu
        + visits.entries_passed * machine.entry_cpu;
    let mut costs = Costs {
        get: demand(
            per_get(visits.get_blocks()),
            per_get(missed.gets),
            per_get(missed.gets),
            get_cpu,
        ),
        scan: demand(
            per_scan(sum(&visits.scan_blocks)),
            per_scan(missed.scans),
            per_scan(missed.scan_reads),
            scan_cpu,
        ),
        runs: runs.len(),
        ..Costs::default()
    };
    for (at, run) in runs.iter().enumerate() {
        let level = run.level.max(1) - 1;
        let add = |to: &mut Vec<f64>, amount: f64| {
            if to.len() <= level {
                to.resize(level + 1, 0.0);
            }
            to[level] += amount;
        };
        let passed = visits.found[at] + visits.false_positives[at];
        add(&mut costs.block_reads, missed.by_run[at]);
        add(&mut costs.filter_useful, visits.probes[at] - passed);
        add(&mut costs.filter_positive, passed);
        add(&mut costs.filter_true_positive, visits.found[at]);
    }
    costs
}

/// Sorted runs, newest first.
fn runs(store: &StoreModel, tree: &SimTree) -> Vec<Run> {
    let layout = &store.shape.layout;
    let mut runs: Vec<Run> = Vec::new();
    for file in tree.files(0) {
        runs.push(run_of(0, std::slice::from_ref(file)));
    }
    for level in 1..tree.num_levels() {
        let files = tree.files(level);
        if !files.is_empty() {
            runs.push(run_of(logical(layout, level), files));
        }
    }
    set_filters(store, &mut runs);
    runs
}

fn logical(layout: &Layout, level: usize) -> usize {
    let found = layout.logical(PhysicalLevel(level as u16));
    found.map_or(0, |(LogicalLevel(level), _)| usize::from(level))
}

fn run_of(level: usize, files: &[SimFile]) -> Run {
    let classes = files.first().map_or(0, SimFile::classes);
    let by_class = |of: fn(&SimFile, usize) -> f64| -> Vec<f64> {
        let classes = 0..classes;
        classes
            .map(|class| files.iter().map(|file| of(file, class)).sum())
            .collect()
    };
    let entries = by_class(SimFile::entries_of);
    Run {
        level,
        reach: files.iter().map(SimFile::width).sum::<f64>().min(1.0),
        total: entries.iter().sum(),
        living: by_class(SimFile::living_of),
        hides: by_class(SimFile::hides_of),
        entries,
        false_positives: 1.0,
    }
}

/// Each run's rate of false positives, by its level's bits.
fn set_filters(store: &StoreModel, runs: &mut [Run]) {
    let deepest = runs.iter().map(|run| run.level).max().unwrap_or(0).max(1);
    let mut entries = vec![0u64; deepest];
    let mut counts = vec![0u16; deepest];
    for run in runs.iter().filter(|run| run.level > 0) {
        entries[run.level - 1] += run.total as u64;
        counts[run.level - 1] += 1;
    }
    let bits = bits_per_key(store.filters, store.bloom_bits_per_key, &entries, &counts);
    for run in runs {
        let bits = bits.get(run.level.max(1) - 1).copied().unwrap_or(0.0);
        run.false_positives = false_positive_rate(bits);
    }
}

/// Memory that is left for data blocks.
fn data_cache(store: &StoreModel, runs: &[Run]) -> f64 {
    let entries: f64 = runs.iter().map(|run| run.total).sum();
    let filters = entries * store.bloom_bits_per_key / 8.0;
    let indexes = entries / entries_per_block(store) * INDEX_BYTES;
    // Memtables fill one after the other: half of them are full on average.
    let memtables =
        0.5 * store.max_write_buffer_number as f64 * store.shape.write_buffer_size as f64;
    (store.memory_budget_bytes - memtables - filters - indexes).max(0.0)
}

fn entries_per_block(store: &StoreModel) -> f64 {
    (store.block_bytes / store.entry_bytes).max(1.0)
}

/// Shares of the gets of a class's present keys, all alike, that end in each run.
///
/// A get ends where the newest version lies. A run names `hides` of the keys that were there
/// before it, one as likely as another, and its fresh keys hide nothing: so of a run's living
/// entries the product of 1 - hides over the newer runs is the newest, and these sum to `keys`.
/// Of updates alone `hides` is living / keys.
fn hits(runs: &[Run], class: usize, keys: f64) -> Vec<f64> {
    let (mut left, mut visible) = (1.0f64, 1.0f64);
    let mut hits = Vec::with_capacity(runs.len());
    for (at, run) in runs.iter().enumerate() {
        // What exists is somewhere: in the oldest run at the latest.
        let last = at + 1 == runs.len();
        let newest = visible * run.living[class] / keys.max(1e-300);
        let hit = if last { left } else { newest.min(left) };
        hits.push(hit);
        left -= hit;
        visible *= (1.0 - run.hides[class]).max(0.0);
    }
    hits
}

/// What an operation of the mix does in each run, on average.
struct Visits {
    probes: Vec<f64>,
    found: Vec<f64>,
    false_positives: Vec<f64>,
    seeks: Vec<f64>,
    scan_blocks: Vec<f64>,
    /// Reads of the device that bring a block of those.
    scan_reads: Vec<f64>,
    /// Versions that one scan passes.
    entries_passed: f64,
    /// Found blocks by run and class, with how many blocks the class lies in.
    by_class: Vec<Vec<Group>>,
    blocks: Vec<f64>,
}

impl Visits {
    fn of(store: &StoreModel, asked: &Asked<'_>, runs: &[Run]) -> Visits {
        let count = runs.len();
        let per_block = entries_per_block(store);
        let mut visits = Visits {
            probes: vec![0.0; count],
            found: vec![0.0; count],
            false_positives: vec![0.0; count],
            seeks: vec![0.0; count],
            scan_blocks: vec![0.0; count],
            scan_reads: vec![0.0; count],
            entries_passed: 0.0,
            by_class: vec![Vec::new(); count],
            blocks: runs.iter().map(|run| run.total / per_block).collect(),
        };
        visits.present(asked, runs);
        visits.absent(asked, runs);
        visits.scans(asked, runs, per_block);
        visits
    }

    fn present(&mut self, asked: &Asked<'_>, runs: &[Run]) {
        for (class, share) in asked.classes.iter().enumerate() {
            let gets = asked.mix.get_present * share * (1.0 - asked.in_memory[class]);
            let hits = hits(runs, class, asked.keys[class]);
            let mut left = gets;
            for (at, (run, hit)) in runs.iter().zip(hits).enumerate() {
                let found = gets * hit;
                let last = at + 1 == runs.len();
                let reach = if last { 1.0 } else { run.reach };
                // Who finds a key has asked for it.
                let probes = (left * reach).max(found);
                self.probes[at] += probes;
                self.found[at] += found;
                self.false_positives[at] += (probes - found) * run.false_positives;
                self.by_class[at].push(Group {
                    blocks: run.blocks_with(class, self.blocks[at]),
                    requests: found,
                });
                left -= found;
            }
        }
    }

    fn absent(&mut self, asked: &Asked<'_>, runs: &[Run]) {
        for (at, run) in runs.iter().enumerate() {
            let asks = asked.mix.get_absent * run.reach;
            self.probes[at] += asks;
            self.false_positives[at] += asks * run.false_positives;
        }
    }

    fn scans(&mut self, asked: &Asked<'_>, runs: &[Run], per_block: f64) {
        let total: f64 = runs.iter().map(|run| run.total).sum();
        let keys: f64 = asked.keys.iter().sum();
        self.entries_passed = asked.scan_length * (total / keys.max(1.0)).max(1.0);
        for (at, run) in runs.iter().enumerate() {
            let passed = self.entries_passed * run.total / total.max(1.0);
            self.seeks[at] = asked.mix.scan * run.reach;
            let blocks = run.reach + passed / per_block;
            self.scan_blocks[at] = asked.mix.scan * blocks;
            self.scan_reads[at] = asked.mix.scan * readahead::reads(blocks);
        }
    }

    fn get_blocks(&self) -> f64 {
        self.found.iter().chain(&self.false_positives).sum()
    }

    /// Block reads that the cache does not spare.
    fn missed(&self, capacity: f64) -> Missed {
        let pools: Vec<Pool> = (0..self.blocks.len())
            .map(|at| Pool {
                blocks: self.blocks[at],
                even: self.false_positives[at] + self.scan_blocks[at],
                groups: self.by_class[at].clone(),
            })
            .collect();
        let stay = stay(&pools, capacity);
        let mut missed = Missed::default();
        for (at, pool) in pools.iter().enumerate() {
            let shares = pool.misses(stay);
            let found: f64 = pool
                .groups
                .iter()
                .zip(&shares.groups)
                .map(|(group, share)| group.requests * share)
                .sum();
            let false_positives = self.false_positives[at] * shares.even;
            let scans = self.scan_blocks[at] * shares.even;
            missed.gets += found + false_positives;
            missed.scans += scans;
            missed.scan_reads += self.scan_reads[at] * shares.even;
            missed.by_run.push(found + false_positives + scans);
        }
        missed
    }
}

#[derive(Default)]
struct Missed {
    gets: f64,
    scans: f64,
    /// Reads of the device that bring the blocks of scans.
    scan_reads: f64,
    by_run: Vec<f64>,
}
