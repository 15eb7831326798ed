//! The process that is killed: writers that say what is durable, and a hand that
//! keeps the autopilot busy.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lissom::core::Transition;
use lissom::core::filters::FilterAllocation;
use lissom::{Compression, Db, Settings};
use rust_rocksdb::WriteOptions;

use super::ledger::{batch, counter_key};
use crate::random::Random;

pub const WRITERS: u64 = 3;
const TASK: &str = "LISSOM_CRASH_CHILD";

/// A process of this very program that runs [`run_if_child`] in `test`.
pub fn spawn(test: &str, path: &Path, seed: u64, life: u64) -> std::process::Child {
    let program = std::env::current_exe().expect("this program has a path");
    std::process::Command::new(program)
        .args(["--exact", test, "--nocapture", "--include-ignored"])
        .env(TASK, format!("{seed} {life} {}", path.display()))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("this program starts")
}

/// In a child: writes until it is killed, and never returns.
pub fn run_if_child() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let mut words = task.splitn(3, ' ');
    let mut number = || -> u64 {
        let word = words.next().expect("two numbers and a path");
        word.parse().expect("a number")
    };
    let (seed, life) = (number(), number());
    let path = words.next().expect("a path");
    live(Path::new(path), seed, life);
}

/// Tiny buffers and other settings in every life.
pub fn settings(random: &mut Random) -> Settings {
    Settings {
        policy: random_policy(random).parse().expect("a policy"),
        transition: random.pick(&[
            Transition::Flexible,
            Transition::Lazy,
            Transition::Greedy,
            Transition::FileGranular,
        ]),
        size_ratio: random.pick(&[2, 3, 4]),
        level_compaction_dynamic_level_bytes: random.pick(&[false, true]),
        write_buffer_size: 64 << 10,
        max_write_buffer_number: 4,
        memory_budget_bytes: 16 << 20,
        level0_file_num_compaction_trigger: random.pick(&[2, 4]),
        target_file_size_base: random.pick(&[4 << 10, 32 << 10]),
        filters: random.pick(&[FilterAllocation::Uniform, FilterAllocation::Monkey]),
        compression: vec![Compression::None],
        workers: random.within(1, 3) as usize,
        max_space_amplification: random.pick(&[1.3, 100.0]),
        mission_operations: 50,
        mission_time: Duration::from_millis(10),
        max_journal_bytes: 64 << 10,
        ..Settings::default()
    }
}

fn random_policy(random: &mut Random) -> String {
    match random.below(8) {
        0 => "lazy-leveling".into(),
        1 => "thresholds-20-80".into(),
        _ => format!("fixed-{},{}", random.within(1, 12), random.within(1, 12)),
    }
}

fn live(path: &Path, seed: u64, life: u64) -> ! {
    let mut random = Random::new(seed.wrapping_mul(31) + life);
    let db = Db::open(path, settings(&mut random)).expect("it opens after every kill");
    let db = Arc::new(db);
    say("open");
    for writer in 0..WRITERS {
        let db = db.clone();
        std::thread::spawn(move || write(&db, seed, writer));
    }
    meddle(&db, &mut random)
}

/// One line at once, so that lines of several threads do not mix.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(format!("\n{line}\n").as_bytes());
    let _ = out.flush();
}

fn write(db: &Db, seed: u64, writer: u64) {
    let mut synced = WriteOptions::default();
    synced.set_sync(true);
    let stored = db.get(counter_key(writer)).expect("a get");
    let mut count: u64 = stored.map_or(0, |text| {
        let text = String::from_utf8(text).expect("digits");
        text.parse().expect("a number")
    });
    let default = db.cf_handle("default").expect("there always is one");
    loop {
        count += 1;
        let batch = batch(seed, writer, count, &default);
        db.write_opt(&batch, &synced).expect("a write");
        say(&format!("durable {writer} {count}"));
    }
}

/// Changes limits, compacts, flushes, pins, makes and drops a second family.
fn meddle(db: &Db, random: &mut Random) -> ! {
    loop {
        std::thread::sleep(Duration::from_micros(random.within(100, 8_000)));
        match random.below(12) {
            0..5 => {
                let policy = random_policy(random).parse().expect("a policy");
                db.set_policy("default", &policy).expect("set");
            }
            5 => db.autopilot().compact("default").expect("asked"),
            6 | 7 => db.flush().expect("a flush"),
            8 => db.pin().expect("pinned"),
            9 => db.unpin().expect("unpinned"),
            10 => {
                db.autopilot().pause();
                std::thread::sleep(Duration::from_micros(random.below(4_000)));
                db.autopilot().unpause();
            }
            _ if db.family("second").is_some() => db.drop_cf("second").expect("dropped"),
            _ => {
                db.create_cf("second").expect("made");
                let family = db.family("second").expect("just made");
                for number in 0..400_u64 {
                    family
                        .put(number.to_be_bytes(), [b'x'; 300])
                        .expect("a put");
                }
            }
        }
    }
}
