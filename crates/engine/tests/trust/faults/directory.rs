//! Directories and settings that cannot be opened.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lissom::core::journal::{Entry, Event};
use lissom::core::tuner::Policy;
use lissom::core::{Layout, RunLimit};
use lissom::{Db, ErrorKind};
use rust_rocksdb::{DB, Options};

use crate::PATIENCE;
use crate::crash::child;
use crate::support::{key, load, settle, small, value};

fn refused(path: &Path, words: &[&str]) -> String {
    let error = Db::open(path, small("fixed-2")).err().expect("refused");
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
    assert_ne!(error.kind(), ErrorKind::Bug, "{text}");
    text
}

/// A closed database of 10,000 entries.
fn made(path: &Path) {
    made_under("fixed-2", path);
}

fn made_under(policy: &str, path: &Path) {
    let db = Db::open(path, small(policy)).expect("opened");
    load(&db, 0..10_000, 1);
    settle(&db);
}

fn whole(path: &Path) {
    let db = Db::open(path, small("fixed-2")).expect("opened");
    for number in 0..10_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

/// The tables that the tree of a closed database holds.
fn tables(path: &Path) -> Vec<PathBuf> {
    let mut options = Options::default();
    options.set_num_levels(i32::from(Layout::V1.num_levels()));
    let closed = DB::open_for_read_only(&options, path, false).expect("opened");
    let live = closed.live_files().expect("live files");
    let path_of = |name: &str| path.join(name.trim_start_matches('/'));
    live.iter().map(|file| path_of(&file.name)).collect()
}

#[test]
fn a_database_that_another_process_has_open() {
    let place = crate::scratch();
    let path = place.path().join("db");
    let mut holder = child::spawn("crash::ten_kills_lose_nothing", &path, 9, 1);
    let out = BufReader::new(holder.stdout.take().expect("a pipe"));
    let opened = out.lines().map_while(Result::ok).any(|line| line == "open");
    assert!(opened, "the other process does not open it");
    refused(&path, &["it is open already", "close it there first"]);
    holder.kill().expect("a child");
    holder.wait().expect("a child");
    Db::open(&path, small("fixed-2")).expect("free again");
}

/// RocksDB looks at a few tables at open.
#[test]
fn any_table_that_is_gone_or_cut() {
    let place = crate::scratch();
    made(place.path());
    let tables = tables(place.path());
    assert!(tables.len() > 16, "{}", tables.len());
    for table in tables {
        let bytes = fs::read(&table).expect("readable");
        let name = table.file_stem().expect("a name").to_string_lossy();
        let words = [name.trim_start_matches('0'), "restore it from a backup"];
        fs::remove_file(&table).expect("removed");
        refused(place.path(), &words);
        fs::write(&table, &bytes[..bytes.len() / 2]).expect("written");
        refused(place.path(), &words);
        fs::write(&table, &bytes).expect("restored");
    }
    whole(place.path());
}

/// Zeros where a table says that it is one.
fn without_footer(table: &[u8]) -> Vec<u8> {
    let mut bytes = table.to_vec();
    let footer = bytes.len() - 8;
    bytes[footer..].fill(0);
    bytes
}

/// The path of each file holds RocksDB's word for a lock.
#[test]
fn a_directory_under_blocks_is_open_already_or_damaged_and_never_mistaken() {
    let place = crate::scratch();
    let path = place.path().join("blocks/db");
    fs::create_dir_all(&path).expect("made");
    {
        let db = Db::open(&path, small("fixed-2")).expect("opened");
        load(&db, 0..1_000, 1);
        settle(&db);
        refused(&path, &["it is open already", "close it there first"]);
    }
    // RocksDB reads up to 16 at open.
    let tables = tables(&path);
    assert!((1..=16).contains(&tables.len()), "{}", tables.len());
    for table in tables {
        let bytes = fs::read(&table).expect("readable");
        for damage in [None, Some(without_footer(&bytes))] {
            fs::remove_file(&table).expect("removed");
            if let Some(damaged) = &damage {
                fs::write(&table, damaged).expect("written");
            }
            let text = refused(&path, &["restore it from a backup"]);
            assert!(!text.contains("open already"), "{text}");
            fs::write(&table, &bytes).expect("restored");
        }
    }
    Db::open(&path, small("fixed-2")).expect("whole again");
}

#[test]
fn a_state_file_that_is_damaged_empty_or_of_the_future() {
    let place = crate::scratch();
    made(place.path());
    let state = place.path().join("LISSOM");
    let journal = || fs::read_to_string(place.path().join("LISSOM-JOURNAL")).expect("a journal");
    for (damage, word) in [
        ("", "is damaged"),
        ("not JSON at all\n", "is damaged"),
        (
            "{\"lissom_state\":0,\"checksum\":\"\"}\n{}\n",
            "never was a format 0",
        ),
        (
            "{\"lissom_state\":1,\"checksum\":\"0\"}\n{}\n",
            "checksum does not match",
        ),
        (
            "{\"lissom_state\":7}\nwhat nobody knows yet\n",
            "has format 7",
        ),
    ] {
        fs::write(&state, damage).expect("written");
        let lines = journal().lines().count();
        whole(place.path());
        let new: Vec<String> = journal().lines().skip(lines).map(str::to_owned).collect();
        assert!(
            new.iter().any(|line| line.contains(word)),
            "{word}: {new:?}"
        );
    }
}

/// It may say what forbids an open.
#[test]
fn an_options_file_that_cannot_be_read() {
    let place = crate::scratch();
    made(place.path());
    let entries = fs::read_dir(place.path()).expect("readable");
    let files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_string_lossy().contains("OPTIONS-"))
        .collect();
    for file in &files {
        fs::write(file, "[nonsense").expect("written");
    }
    let words = ["OPTIONS file", "cannot be read", "removing that file"];
    refused(place.path(), &words);
    for file in &files {
        fs::remove_file(file).expect("removed");
    }
    whole(place.path());
}

#[test]
fn a_journal_that_cannot_be_written() {
    let place = crate::scratch();
    made(place.path());
    let journal = place.path().join("LISSOM-JOURNAL");
    fs::remove_file(&journal).expect("removed");
    fs::create_dir(&journal).expect("made");
    refused(
        place.path(),
        &["LISSOM-JOURNAL", "check the path, its permissions"],
    );
    fs::remove_dir(&journal).expect("removed");
    whole(place.path());
}

#[test]
fn a_state_file_that_cannot_be_written() {
    let place = crate::scratch();
    made(place.path());
    // Where the new state would be written, something is in the way.
    let obstacle = place.path().join("LISSOM.tmp");
    fs::create_dir(&obstacle).expect("made");
    let settings = small("fixed-4");
    let db = Db::open(place.path(), settings).expect("opened");
    load(&db, 10_000..60_000, 1);
    crate::support::eventually("trouble", || {
        let trouble = db.health().trouble.unwrap_or_default();
        trouble.contains("LISSOM") && trouble.contains("check the path")
    });
    fs::remove_dir(&obstacle).expect("removed");
    settle(&db);
    let statistics = db.statistics().expect("statistics");
    let tree = &statistics.families["default"].tree;
    assert!(tree.level0_files < 4 && tree.runs.iter().all(|run| run.level.is_some()));
    for number in (0..60_000).step_by(7) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

/// A drain that begins must be remembered, and L0 goes down without one.
#[test]
fn level_0_is_merged_while_the_state_file_cannot_be_written() {
    let place = crate::scratch();
    made_under("fixed-1", place.path());
    let obstacle = place.path().join("LISSOM.tmp");
    fs::create_dir(&obstacle).expect("made");
    let db = Db::open(place.path(), small("fixed-1")).expect("opened");
    let drains = || {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].drains
    };
    // RocksDB would merge it itself from 20 files on.
    let is_merged = || {
        let files = db.live_files().expect("a list of files");
        files.iter().filter(|file| file.level == 0).count() < 4
    };
    let written = |round: u64| 20_000 * round..20_000 * round + 1_500;
    for round in 1..=16 {
        load(&db, written(round), 1);
        db.flush().expect("a flush");
        crate::support::eventually("L0 is merged", is_merged);
    }
    let is_told = || db.health().failed_rounds.contains_key("default");
    crate::support::eventually("it is told", is_told);
    assert_eq!(drains(), 0);
    fs::remove_dir(&obstacle).expect("removed");
    settle(&db);
    assert!(drains() > 0);
    for number in (0..10_000).chain((1..=16).flat_map(written)) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

/// L0 is merged meanwhile, and what succeeds there says nothing of the file.
#[test]
fn a_state_file_that_cannot_be_written_is_told_as_long_as_that_is_so() {
    let place = crate::scratch();
    made_under("fixed-1", place.path());
    let obstacle = place.path().join("LISSOM.tmp");
    fs::create_dir(&obstacle).expect("made");
    let db = Db::open(place.path(), small("fixed-1")).expect("opened");
    let failures = || db.health().failed_rounds.get("default").copied();
    let mut next = 10_000;
    let mut write = || {
        load(&db, next..next + 1_500, 1);
        db.flush().expect("a flush");
        next += 1_500;
    };
    // Once level 1 is full, its drain has to be remembered.
    let begun = Instant::now();
    while failures().is_none() {
        assert!(begun.elapsed() < PATIENCE, "it is not told");
        write();
    }
    let merged = || {
        let statistics = db.statistics().expect("statistics");
        statistics.families["default"].pieces.merged
    };
    let mut before = 0;
    for _ in 0..8 {
        let (merges, begun) = (merged(), Instant::now());
        // How many files a write leaves in L0, and so whether they reach its trigger, is the
        // flushes' doing.
        while merged() == merges {
            assert!(begun.elapsed() < PATIENCE, "L0 is not merged");
            write();
        }
        for _ in 0..20 {
            let health = db.health();
            let rounds = health.failed_rounds.get("default").copied().unwrap_or(0);
            assert!(rounds >= before.max(1), "{rounds}, and {before} before");
            before = rounds;
            let trouble = health.trouble.unwrap_or_default();
            assert!(trouble.contains("cannot write"), "{trouble:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    crate::support::eventually("the attempts go on", || failures() > Some(before));
    fs::remove_dir(&obstacle).expect("removed");
    crate::support::eventually("it is over", || failures().is_none());
    settle(&db);
    drop(db);
    let is_of_it = |entry: &Entry| {
        let told = matches!(&entry.event, Event::Note { text } if text.contains("cannot write"));
        told && entry.column_family == "default"
    };
    let journal = crate::common::journal(place.path());
    assert_eq!(journal.iter().filter(|entry| is_of_it(entry)).count(), 1);
}

#[test]
fn run_limits_that_no_tree_can_hold() {
    let most = Layout::V1.max_run_limit();
    for runs in [0, most + 1, u16::MAX] {
        let text = RunLimit::new(runs).expect_err("no limit").to_string();
        assert!(
            text.contains(&format!("choose one from 1 to {most}")),
            "{text}"
        );
        let text = format!("fixed-{runs}")
            .parse::<Policy>()
            .expect_err("none")
            .to_string();
        assert!(
            text.contains(&format!("choose one from 1 to {most}")),
            "{text}"
        );
    }
    for name in [
        "fixed-",
        "fixed-1,,2",
        "fixed--3",
        "fixed-99999999",
        "fixed-1.5",
    ] {
        let text = name.parse::<Policy>().expect_err(name).to_string();
        assert!(text.contains("is not a number of runs"), "{text}");
    }
}
