//! What the autopilot and its counting cost a cached point read: the same directory,
//! opened by turns as plain RocksDB with Lissom's options, driven by nobody, and as Lissom
//! with its autopilot. In the first row both collect RocksDB's tickers, in the second
//! neither has statistics, which is Lissom's default.
//!
//! ```text
//! cargo run --release -p lissom --example read_cost
//! ```
//!
//! A turn opens the directory, reads every key once, so that all is cached, and is then
//! timed. A round is one turn of each; who comes first changes. A ratio is that of the two
//! turns of a round. All takes less than two minutes.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use lissom::{Db, Preparation, RocksDb, Settings};
use rust_rocksdb::ColumnFamilyDescriptor;
use rust_rocksdb::statistics::StatsLevel;

const ENTRIES: u64 = 100_000;
const ROUNDS: usize = 11;
const TURN: Duration = Duration::from_millis(1_500);
const READS_PER_LOOK_AT_THE_CLOCK: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(60);

type Failure = Box<dyn std::error::Error>;
type Key = [u8; 16];

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let keys: Vec<Key> = (0..ENTRIES).map(key).collect();
    fill(directory.path(), &keys)?;
    println!("ns a read                         RocksDB      Lissom  Lissom's over RocksDB's");
    for (name, statistics) in [
        ("RocksDB's tickers", StatsLevel::ExceptHistogramOrTimers),
        ("no statistics", StatsLevel::DisableAll),
    ] {
        let rounds = compare(directory.path(), &settings(statistics), &keys)?;
        println!("{}", row(name, &rounds));
    }
    println!(
        "\nMedians of {ROUNDS} rounds; ± is half the range over the rounds, in brackets are \
         the lowest\nand the highest of the rounds' ratios."
    );
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
fn key(number: u64) -> Key {
    let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut key = [0; 16];
    key.copy_from_slice(format!("{spread:016x}").as_bytes());
    key
}

/// One run, so that the autopilot has nothing to compact while others read.
fn fill(directory: &Path, keys: &[Key]) -> Result<(), Failure> {
    let db = Db::open(directory, settings(StatsLevel::DisableAll))?;
    for key in keys {
        db.put(key, [b'v'; 200])?;
    }
    db.flush()?;
    db.autopilot().compact("default")?;
    if !db.autopilot().wait_until_idle(PATIENCE) {
        return Err("the autopilot does not come to rest".into());
    }
    Ok(())
}

/// Nanoseconds of a read in each round: of RocksDB's and of Lissom's.
fn compare(directory: &Path, settings: &Settings, keys: &[Key]) -> Result<Vec<[f64; 2]>, Failure> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        let lissom_first = round % 2 == 1;
        let before = if lissom_first {
            Some(as_lissom(directory, settings, keys)?)
        } else {
            None
        };
        let rocksdb = as_rocksdb(directory, settings, keys)?;
        let lissom = match before {
            Some(took) => took,
            None => as_lissom(directory, settings, keys)?,
        };
        rounds.push([rocksdb, lissom]);
    }
    Ok(rounds)
}

/// The same options, and no autopilot.
fn as_rocksdb(directory: &Path, settings: &Settings, keys: &[Key]) -> Result<f64, Failure> {
    let mut preparation = Preparation::new(settings)?;
    let options = preparation.options("default", settings)?;
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    let db = RocksDb::open_cf_descriptors(&options, directory, [family])?;
    turn(keys, |key| Ok(db.get(key)?))
}

fn as_lissom(directory: &Path, settings: &Settings, keys: &[Key]) -> Result<f64, Failure> {
    let db = Db::open(directory, settings.clone())?;
    turn(keys, |key| Ok(db.get(key)?))
}

/// Nanoseconds of a read, once all is cached.
fn turn(
    keys: &[Key],
    get: impl Fn(&Key) -> Result<Option<Vec<u8>>, Failure>,
) -> Result<f64, Failure> {
    for key in keys {
        if get(key)?.is_none() {
            return Err(format!("the key {} is missing", String::from_utf8_lossy(key)).into());
        }
    }
    let begun = Instant::now();
    let mut reads = 0;
    for chunk in keys.chunks(READS_PER_LOOK_AT_THE_CLOCK).cycle() {
        for key in chunk {
            black_box(get(key)?);
        }
        reads += chunk.len();
        if begun.elapsed() >= TURN {
            break;
        }
    }
    Ok(begun.elapsed().as_nanos() as f64 / reads as f64)
}

fn row(name: &str, rounds: &[[f64; 2]]) -> String {
    let figure = |who: usize| {
        let [lowest, median, highest] = spread(rounds.iter().map(|round| round[who]));
        format!("{median:.0} ±{:.0}", (highest - lowest) / 2.0)
    };
    let percent = |[rocksdb, lissom]: &[f64; 2]| (lissom / rocksdb - 1.0) * 100.0;
    let [lowest, median, highest] = spread(rounds.iter().map(percent));
    format!(
        "{name:<28}{:>13}{:>12}  {median:+.2} % ({lowest:+.2} to {highest:+.2} %)",
        figure(0),
        figure(1)
    )
}

/// The lowest, the median and the highest; at least one value.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [
        values[0],
        values[values.len() / 2],
        values[values.len() - 1],
    ]
}
