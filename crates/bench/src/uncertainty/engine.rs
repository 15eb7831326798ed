//! One experiment on the engine: a tuning, loaded, through all sessions.
//!
//! As Endure measures: direct I/O, no data block cached, indexes and filters in
//! memory. A read costs the data blocks that it fetched; a session's writes cost
//! what flushes and merges read and wrote meanwhile, in blocks, until nothing is
//! left to merge. Writes are of new keys; a scan returns up to two blocks.

use std::path::Path;
use std::time::{Duration, Instant};

use lissom::core::cost_model::{Costs, OperationKind, Workload};
use lissom::core::robust::{Expectation, Tuned};
use lissom::{Compression, Db, RocksDb, Settings};
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{ReadOptions, WriteOptions};
use serde::{Deserialize, Serialize};

use super::sessions::{SessionKind, UncertainSession};
use crate::error::{BenchError, Place, Result};
use crate::generate::{Rng, mix};

/// Room for indexes and filters, and for nothing else that counts.
const METADATA_BYTES: u64 = 256 << 20;

/// How long merges may go on after a session.
const PATIENCE: Duration = Duration::from_secs(600);

/// Entries of a scan: 0 to 2 blocks of four.
const MOST_SCANNED: u64 = 8;

/// What one session cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SessionCost {
    /// What it mostly consists of.
    pub kind: SessionKind,
    /// Queries of each kind (z0, z1, q, w).
    pub queries: [u64; 4],
    /// Data blocks that the queries of each kind read; for writes, those that
    /// flushes and merges read and wrote.
    pub ios: [f64; 4],
    /// Index and filter blocks that were read all the same.
    pub metadata_ios: u64,
    /// Seconds, until nothing was left to merge.
    pub seconds: f64,
}

impl SessionCost {
    /// I/Os per query.
    pub fn ios_per_query(&self) -> f64 {
        self.ios.iter().sum::<f64>() / self.queries.iter().sum::<u64>().max(1) as f64
    }

    /// What the model expects of it, I/Os per query.
    pub fn predicted(&self, costs: &Costs) -> f64 {
        let counts = self.queries.map(|count| count as f64);
        Workload::from_counts(counts).map_or(0.0, |workload| costs.under(&workload))
    }
}

/// Settings of an experiment: the tuning, direct I/O, nothing compressed.
pub(super) fn settings(expected: &Expectation, tuned: &Tuned) -> Result<Settings> {
    let settings = Settings {
        memory_budget_bytes: METADATA_BYTES + 2 * (tuned.buffer_bits / 8.0) as u64,
        target_file_size_base: 4 << 20,
        max_space_amplification: 100.0,
        compression: vec![Compression::None],
        use_direct_reads: true,
        use_direct_io_for_flush_and_compaction: true,
        filters: expected.filters,
        ..Settings::default()
    };
    settings.tuned(tuned).place("a tuning for the engine")
}

/// Runs one experiment in a directory that does not exist yet.
pub(super) fn experiment(
    directory: &Path,
    expected: &Expectation,
    tuned: &Tuned,
    sessions: &[UncertainSession],
    queries: u64,
    seed: u64,
) -> Result<Vec<SessionCost>> {
    let db = Db::open(directory, settings(expected, tuned)?)
        .place(format!("directory {}", directory.display()))?;
    let mut run = Run::new(&db, expected, seed);
    run.load()?;
    sessions
        .iter()
        .map(|session| run.session(session, queries))
        .collect()
}

struct Run<'a> {
    db: &'a Db,
    rocksdb: &'a RocksDb,
    rng: Rng,
    /// Keys 0 to this are present.
    present: u64,
    value: Vec<u8>,
    reads: ReadOptions,
    block_bytes: f64,
}

/// A present key: even numbers, spread over the key space.
fn key(number: u64, absent: bool) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&mix(number).to_be_bytes());
    key[8..].copy_from_slice(&(2 * number + u64::from(absent)).to_be_bytes());
    key
}

impl<'a> Run<'a> {
    fn new(db: &'a Db, expected: &Expectation, seed: u64) -> Run<'a> {
        let mut reads = ReadOptions::default();
        reads.fill_cache(false);
        Run {
            db,
            rocksdb: db.rocksdb(),
            rng: Rng::new(&[seed]),
            present: expected.entries,
            value: vec![0; expected.entry_bytes.saturating_sub(16) as usize],
            reads,
            block_bytes: expected.block_bytes as f64,
        }
    }

    fn load(&mut self) -> Result<()> {
        for number in 0..self.present {
            self.put(number)?;
        }
        self.settle()
    }

    fn put(&mut self, number: u64) -> Result<()> {
        for chunk in self.value.chunks_mut(8) {
            let bits = self.rng.bits().to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
        let options = WriteOptions::default();
        Ok(self.db.put_opt(key(number, false), &self.value, &options)?)
    }

    fn settle(&self) -> Result<()> {
        self.rocksdb.flush()?;
        if self.db.autopilot().wait_until_idle(PATIENCE) {
            return Ok(());
        }
        Err(BenchError::new(format!(
            "merges did not come to rest in {} s",
            PATIENCE.as_secs()
        )))
    }

    /// Blocks that flushes and merges read and wrote so far.
    fn written_blocks(&self) -> Result<f64> {
        let statistics = self.db.statistics()?;
        let family = &statistics.families["default"];
        let bytes =
            family.total.flush_write_bytes + family.pieces.read_bytes + family.pieces.write_bytes;
        Ok(bytes as f64 / self.block_bytes)
    }

    fn session(&mut self, session: &UncertainSession, queries: u64) -> Result<SessionCost> {
        let begun = Instant::now();
        let before = self.written_blocks()?;
        set_perf_stats(PerfStatsLevel::EnableCount);
        let mut perf = PerfContext::default();
        perf.reset();
        let mut cost = SessionCost {
            kind: session.kind,
            queries: [0; 4],
            ios: [0.0; 4],
            metadata_ios: 0,
            seconds: 0.0,
        };
        for workload in &session.workloads {
            self.queries(workload, queries, &perf, &mut cost)?;
        }
        cost.metadata_ios = metadata_ios(&perf.report(true));
        set_perf_stats(PerfStatsLevel::Disable);
        drop(perf);
        self.settle()?;
        cost.ios[OperationKind::Write as usize] = self.written_blocks()? - before;
        cost.seconds = begun.elapsed().as_secs_f64();
        Ok(cost)
    }

    fn queries(
        &mut self,
        workload: &Workload,
        queries: u64,
        perf: &PerfContext,
        cost: &mut SessionCost,
    ) -> Result<()> {
        for _ in 0..queries {
            let kind = self.draw(workload);
            let before = perf.metric(PerfMetric::BlockReadCount);
            self.query(kind)?;
            cost.queries[kind as usize] += 1;
            if kind != OperationKind::Write {
                let read = perf.metric(PerfMetric::BlockReadCount) - before;
                cost.ios[kind as usize] += read as f64;
            }
        }
        Ok(())
    }

    fn draw(&mut self, workload: &Workload) -> OperationKind {
        let mut left = self.rng.unit();
        for kind in OperationKind::ALL {
            left -= workload.share(kind);
            if left < 0.0 {
                return kind;
            }
        }
        OperationKind::Write
    }

    fn query(&mut self, kind: OperationKind) -> Result<()> {
        let number = self.rng.below(self.present);
        match kind {
            OperationKind::Write => {
                self.present += 1;
                self.put(self.present - 1)
            }
            OperationKind::Scan => self.scan(number),
            OperationKind::GetAbsent => self.get(number, true),
            OperationKind::GetFound => self.get(number, false),
        }
    }

    fn get(&self, number: u64, absent: bool) -> Result<()> {
        let found = self
            .rocksdb
            .get_pinned_opt(key(number, absent), &self.reads)?
            .is_some();
        if found == absent {
            return Err(BenchError::new(format!(
                "key {number} was {} though it is {}",
                if found { "found" } else { "not found" },
                if absent { "absent" } else { "present" }
            )));
        }
        Ok(())
    }

    fn scan(&mut self, number: u64) -> Result<()> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        let mut iterator = self.rocksdb.raw_iterator_opt(options);
        iterator.seek(key(number, false));
        for _ in 0..self.rng.below(MOST_SCANNED + 1) {
            if !iterator.valid() {
                break;
            }
            iterator.next();
        }
        Ok(iterator.status()?)
    }
}

/// Index and filter blocks in RocksDB's report.
fn metadata_ios(report: &str) -> u64 {
    report
        .split(',')
        .filter_map(|part| part.trim().split_once(" = "))
        .filter(|(name, _)| matches!(*name, "index_block_read_count" | "filter_block_read_count"))
        .filter_map(|(_, count)| count.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_from_the_report() {
        let report =
            "block_read_count = 9, index_block_read_count = 2, filter_block_read_count = 3,";
        assert_eq!(metadata_ios(report), 5);
        assert_eq!(metadata_ios(""), 0);
    }

    #[test]
    fn absent_keys_lie_among_present_ones() {
        assert_ne!(key(5, false), key(5, true));
        assert_eq!(key(5, false)[..8], key(5, true)[..8]);
    }
}
