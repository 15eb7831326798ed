//! What the autopilot and its counting cost a cached point read: the same directory,
//! opened by turns as plain RocksDB with Lissom's options, driven by nobody, and as Lissom
//! with its autopilot. In the first row both collect RocksDB's tickers, in the second
//! neither has statistics, which is Lissom's default. The last row tells what the levels cost by
//! themselves: plain RocksDB with the same entries as one run in 7 levels, its default, and in that
//! directory, which has 194.
//!
//! ```text
//! cargo run --release -p lissom --example read_cost
//! ```
//!
//! A turn opens the directory, reads every key once, so that all is cached, and is then
//! timed. A round is one turn of each; who comes first changes. A ratio is that of the two
//! turns of a round. All takes some three minutes.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use lissom::{Db, Preparation, RocksDb, Settings};
use rust_rocksdb::statistics::StatsLevel;
use rust_rocksdb::{ColumnFamilyDescriptor, Options};

const ENTRIES: u64 = 100_000;
const ROUNDS: usize = 11;
const TURN: Duration = Duration::from_millis(1_500);
const READS_PER_LOOK_AT_THE_CLOCK: usize = 1_000;
const PATIENCE: Duration = Duration::from_secs(60);

type Failure = Box<dyn std::error::Error>;
type Key = [u8; 16];

fn main() -> Result<(), Failure> {
    let (directory, plain) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let (directory, plain) = (directory.path(), plain.path());
    let keys: Vec<Key> = (0..ENTRIES).map(key).collect();
    fill(directory, &keys)?;
    fill_plain(plain, &keys)?;
    println!("{}", title(["RocksDB", "Lissom"]));
    for (name, statistics) in [
        ("RocksDB's tickers", StatsLevel::ExceptHistogramOrTimers),
        ("no statistics", StatsLevel::DisableAll),
    ] {
        let settings = settings(statistics);
        let rounds = compare(&|| as_rocksdb(directory, &settings, &keys), &|| {
            as_lissom(directory, &settings, &keys)
        })?;
        println!("{}", row(name, &rounds));
    }
    let settings = settings(StatsLevel::DisableAll);
    let rounds = compare(&|| turn_of(&open_plain(plain, &settings)?, &keys), &|| {
        as_rocksdb(directory, &settings, &keys)
    })?;
    println!("\n{}", title(["7 levels", "194 levels"]));
    println!("{}", row("RocksDB, no statistics", &rounds));
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

/// The same entries as one run, in as many levels as RocksDB has by default.
fn fill_plain(directory: &Path, keys: &[Key]) -> Result<(), Failure> {
    let db = open_plain(directory, &settings(StatsLevel::DisableAll))?;
    for key in keys {
        db.put(key, [b'v'; 200])?;
    }
    db.flush()?;
    db.compact_range(None::<&[u8]>, None::<&[u8]>);
    Ok(())
}

/// Nanoseconds of a read in each round: of the one and of the other.
fn compare(
    one: &dyn Fn() -> Result<f64, Failure>,
    other: &dyn Fn() -> Result<f64, Failure>,
) -> Result<Vec<[f64; 2]>, Failure> {
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        rounds.push(if round % 2 == 0 {
            let first = one()?;
            [first, other()?]
        } else {
            let first = other()?;
            [one()?, first]
        });
    }
    Ok(rounds)
}

/// The same options, and no autopilot.
fn as_rocksdb(directory: &Path, settings: &Settings, keys: &[Key]) -> Result<f64, Failure> {
    turn_of(&open(directory, settings, |_| ())?, keys)
}

/// The same options but for the levels.
fn open_plain(directory: &Path, settings: &Settings) -> Result<RocksDb, Failure> {
    open(directory, settings, |options| options.set_num_levels(7))
}

fn open(
    directory: &Path,
    settings: &Settings,
    change: impl FnOnce(&mut Options),
) -> Result<RocksDb, Failure> {
    let mut preparation = Preparation::new(settings)?;
    let mut options = preparation.options("default", settings)?;
    options.create_if_missing(true);
    change(&mut options);
    let family = ColumnFamilyDescriptor::new("default", options.clone());
    Ok(RocksDb::open_cf_descriptors(&options, directory, [family])?)
}

fn turn_of(db: &RocksDb, keys: &[Key]) -> Result<f64, Failure> {
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

fn title([one, other]: [&str; 2]) -> String {
    format!(
        "{:<28}{one:>13}{other:>12}  the second over the first",
        "ns a read"
    )
}

fn row(name: &str, rounds: &[[f64; 2]]) -> String {
    let figure = |who: usize| {
        let [lowest, median, highest] = spread(rounds.iter().map(|round| round[who]));
        format!("{median:.0} ±{:.0}", (highest - lowest) / 2.0)
    };
    let percent = |[one, other]: &[f64; 2]| (other / one - 1.0) * 100.0;
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
