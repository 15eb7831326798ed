//! What counting costs a cached point read: the same directory, read through
//! Lissom's handle and through RocksDB's own, in turns of 1,000 reads; then
//! against statistics turned off.
//!
//! ```text
//! cargo run --release -p lissom --example read_cost
//! ```

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use lissom::{Db, Settings};
use rust_rocksdb::statistics::StatsLevel;

const ENTRIES: u64 = 100_000;
const READS_PER_TURN: usize = 1_000;
const ROUNDS: usize = 30;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let keys: Vec<[u8; 16]> = (0..ENTRIES).map(key).collect();
    fill(directory.path(), &keys)?;
    println!("reads                                ns/read, median of turns");
    for statistics in [StatsLevel::ExceptHistogramOrTimers, StatsLevel::DisableAll] {
        let db = Db::open(directory.path(), settings(statistics))?;
        let [own, rocks] = compare(&db, &keys)?;
        println!("statistics {statistics:?}");
        println!("  RocksDB's handle                   {rocks:8.0}");
        println!(
            "  Lissom's handle                    {own:8.0}  {:+.2} %",
            (own / rocks - 1.0) * 100.0
        );
    }
    Ok(())
}

fn settings(statistics: StatsLevel) -> Settings {
    Settings {
        memory_budget_bytes: 512 << 20,
        write_buffer_size: 8 << 20,
        statistics,
        ..Settings::default()
    }
}

/// Spread over the key space in the order of reading.
fn key(number: u64) -> [u8; 16] {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = [0; 16];
    key.copy_from_slice(format!("{spread:016x}").as_bytes());
    key
}

fn fill(directory: &Path, keys: &[[u8; 16]]) -> Result<(), Failure> {
    let db = Db::open(directory, settings(StatsLevel::DisableAll))?;
    for key in keys {
        db.put(key, [b'v'; 200])?;
    }
    db.flush()?;
    Ok(())
}

/// Medians of Lissom's handle and of RocksDB's. The autopilot's threads, which
/// have nothing to compact, run beside both.
fn compare(db: &Db, keys: &[[u8; 16]]) -> Result<[f64; 2], Failure> {
    let rocks = db.rocksdb();
    let mut turns = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        for (at, chunk) in keys.chunks(READS_PER_TURN).enumerate() {
            for key in chunk {
                black_box(rocks.get(key)?);
            }
            let first = (round + at) % 2;
            for who in [first, 1 - first] {
                let begun = Instant::now();
                for key in chunk {
                    if who == 0 {
                        black_box(db.get(key)?);
                    } else {
                        black_box(rocks.get(key)?);
                    }
                }
                turns[who].push(begun.elapsed().as_nanos() as f64 / chunk.len() as f64);
            }
        }
    }
    Ok(turns.map(|mut turns| {
        turns.sort_by(f64::total_cmp);
        turns[turns.len() / 2]
    }))
}
