//! A process is killed at random instants. Nothing that was acknowledged with a
//! synced log is lost, what is there is a prefix of what each writer wrote, and
//! the tree goes on.
//!
//! Of the disk's own cache nothing can be said here: a kill does not take the
//! power away.

pub mod child;
mod ledger;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use lissom::Db;
use lissom::core::journal::TreeSummary;
use lissom::core::{Layout, PhysicalLevel};

use self::child::WRITERS;
use self::ledger::{Ledger, counter_key, prefix};
use crate::PATIENCE;
use crate::random::Random;

/// One directory that goes through many lives.
struct Victim<'a> {
    test: &'static str,
    path: &'a Path,
    seed: u64,
    ledgers: Vec<Ledger>,
    random: Random,
    /// Lives that were ended before the database was open.
    early: u32,
}

impl Victim<'_> {
    fn new<'a>(test: &'static str, path: &'a Path, seed: u64) -> Victim<'a> {
        Victim {
            test,
            path,
            seed,
            ledgers: (0..WRITERS).map(|w| Ledger::new(seed, w)).collect(),
            random: Random::new(seed),
            early: 0,
        }
    }

    /// Starts a process, kills it, and returns the last batch that each writer
    /// called durable.
    fn live_and_die(&mut self, life: u64) -> Vec<u64> {
        let mut child = child::spawn(self.test, self.path, self.seed, life);
        let out = child.stdout.take().expect("a pipe");
        let (opened, wait) = std::sync::mpsc::channel();
        let listener = std::thread::spawn(move || listen(out, &opened));
        let before_open = self.random.percent(15);
        if before_open {
            self.early += 1;
            std::thread::sleep(Duration::from_micros(self.random.below(60_000)));
        } else {
            // An end of the pipe before that is a child that could not open.
            let _ = wait.recv_timeout(PATIENCE);
            std::thread::sleep(Duration::from_micros(self.random.within(5_000, 500_000)));
        }
        let still_alive = child.try_wait().expect("a child").is_none();
        child.kill().expect("a child");
        let output = child.wait_with_output().expect("a dead child");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(
            still_alive && !complaints.contains("panicked"),
            "life {life} of seed {} did not go well: {complaints}",
            self.seed
        );
        listener.join().expect("a listener")
    }

    /// Opens what is left and compares it with what was said.
    fn check(&mut self, life: u64, durable: &[u64]) {
        let place = format!("seed {}, life {life}", self.seed);
        let settings = child::settings(&mut self.random);
        let trigger = settings.level0_file_num_compaction_trigger as usize;
        let db = Db::open(self.path, settings).unwrap_or_else(|error| panic!("{place}: {error}"));
        for (writer, ledger) in self.ledgers.iter_mut().enumerate() {
            let found = count(&db, writer as u64);
            let least = durable[writer].max(ledger.count);
            assert!(
                found >= least,
                "{place}: writer {writer} lost batches {} to {least}",
                found + 1
            );
            assert!(
                found <= least + 1,
                "{place}: writer {writer} was at most in batch {}, not {found}",
                least + 1
            );
            ledger.advance_to(found);
            compare(&db, writer as u64, ledger, &place);
        }
        // Life goes on: it writes, settles, and says the same again.
        db.put("after", life.to_be_bytes()).expect("a put");
        db.flush().expect("a flush");
        assert!(
            db.autopilot().wait_until_idle(PATIENCE),
            "{place}: it does not settle: {:#?}",
            db.health()
        );
        check_tree(&db, trigger, &place);
        for (writer, ledger) in self.ledgers.iter().enumerate() {
            compare(&db, writer as u64, ledger, &place);
        }
    }

    /// What a crash may leave of files that are not the data's.
    fn spoil(&mut self) {
        let state = self.path.join("LISSOM");
        let bytes = fs::read(&state).unwrap_or_default();
        match self.random.below(10) {
            0 => fs::write(&state, &bytes[..bytes.len() / 2]).expect("writable"),
            1 if bytes.len() > 100 => {
                let at = self.random.within(60, bytes.len() as u64 - 2) as usize;
                let mut torn = bytes;
                torn[at] ^= 0x04;
                fs::write(&state, torn).expect("writable");
            }
            2 => fs::write(&state, "").expect("writable"),
            3 => fs::write(self.path.join("LISSOM.tmp"), "half a st").expect("writable"),
            4 => fs::write(self.path.join("LISSOM-JOURNAL"), "{\"num").expect("writable"),
            _ => {}
        }
    }
}

/// Reads what a child says until it is dead.
fn listen(out: impl std::io::Read, opened: &std::sync::mpsc::Sender<()>) -> Vec<u64> {
    let mut durable = vec![0; WRITERS as usize];
    // A torn last line says nothing.
    for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["open"] => {
                let _ = opened.send(());
            }
            ["durable", writer, count] => {
                let writer: usize = writer.parse().expect("a writer");
                durable[writer] = count.parse().expect("a batch");
            }
            _ => {}
        }
    }
    durable
}

fn count(db: &Db, writer: u64) -> u64 {
    let stored = db.get(counter_key(writer)).expect("a get");
    stored.map_or(0, |text| {
        let text = String::from_utf8(text).expect("digits");
        text.parse().expect("a number")
    })
}

fn compare(db: &Db, writer: u64, ledger: &Ledger, place: &str) {
    let prefix = prefix(writer);
    let mut expected = ledger.entries.iter();
    let mut wrong = None;
    db.scan(&prefix, usize::MAX, |k, v| {
        if k.starts_with(&prefix) && wrong.is_none() {
            let next = expected.next().map(|(k, v)| (&k[..], &v[..]));
            if next != Some((k, v)) {
                wrong = Some(format!("{} instead of {}", show(Some((k, v))), show(next)));
            }
        }
    })
    .expect("a scan");
    let missing = expected.next().map(|(k, v)| (&k[..], &v[..]));
    let wrong = wrong.or_else(|| missing.map(|entry| format!("no {}", show(Some(entry)))));
    let count = ledger.count;
    assert_eq!(
        wrong, None,
        "{place}: writer {writer} after {count} batches"
    );
}

fn show(entry: Option<(&[u8], &[u8])>) -> String {
    entry.map_or("nothing".into(), |(k, v)| {
        let start = &v[..v.len().min(12)];
        format!(
            "{}={}",
            String::from_utf8_lossy(k),
            String::from_utf8_lossy(start)
        )
    })
}

fn check_tree(db: &Db, trigger: usize, place: &str) {
    for name in db.cf_names() {
        let handle = db.cf_handle(&name).expect("a family");
        let seen = lissom::observe::observe(&handle).expect("a legal tree");
        let (level0, landed) = (
            seen.tree.level0().len(),
            seen.tree.files(PhysicalLevel::LANDING).len(),
        );
        assert!(
            level0 < trigger && landed == 0,
            "{place}: {name} rests with {level0} files in L0 and {landed} on the landing level: \
             {:#?}, remembering {}",
            TreeSummary::of(&seen.tree, &Layout::V1),
            fs::read_to_string(db.path().join("LISSOM")).unwrap_or_default()
        );
    }
    let health = db.health();
    assert!(
        health.running && health.background_error.is_none() && health.unreadable.is_empty(),
        "{place}: {health:?}"
    );
}

fn kill(test: &'static str, seed: u64, kills: u64) {
    let place = crate::scratch();
    let path = place.path().join("db");
    let mut victim = Victim::new(test, &path, seed);
    let begun = Instant::now();
    for life in 1..=kills {
        let durable = victim.live_and_die(life);
        victim.check(life, &durable);
        victim.spoil();
    }
    let batches: u64 = victim.ledgers.iter().map(|ledger| ledger.count).sum();
    println!(
        "{kills} kills ({} before the open), {batches} batches, {:?}",
        victim.early,
        begun.elapsed()
    );
    assert!(batches > kills, "the child hardly wrote: {batches} batches");
}

#[test]
fn ten_kills_lose_nothing() {
    child::run_if_child();
    kill("crash::ten_kills_lose_nothing", 1, 10);
}

#[test]
#[ignore = "takes 2 to 4 minutes"]
fn two_hundred_kills_lose_nothing() {
    child::run_if_child();
    for seed in 2..6 {
        kill("crash::two_hundred_kills_lose_nothing", seed, 55);
    }
}
