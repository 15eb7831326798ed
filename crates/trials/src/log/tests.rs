//! The log on the disk.

use std::fs;

use lissom_search::record::{Begin, Event};
use lissom_search::search::{Decision, Measurement, Outcome, Search};

use super::*;
use crate::session::testing;

fn begin() -> (Search, Event) {
    let plan = testing::plan(1_000.0, 60.0, 0);
    let search = Search::new(&plan.space, plan.setup, &[]).expect("legal");
    let begin = Event::Begin(Box::new(Begin::of(&search, plan.target)));
    (search, begin)
}

/// A search, its first decision, and that its trial was lost.
fn events() -> Vec<Event> {
    let (mut search, begin) = begin();
    let decision: Decision = search.ask(0.0);
    let trial = decision.trial().expect("a start");
    let why = "a test, in two words: naïve, größer".to_owned();
    let measurement = Measurement {
        trial,
        outcome: Outcome::Lost { why },
    };
    let decision = Event::Decision { at: 0.0, decision };
    let measurement = Event::Measurement {
        at: 1.0,
        measurement,
    };
    vec![begin, decision, measurement]
}

fn written(path: &Path) {
    let (mut file, log) = LogFile::open(path).expect("a new log");
    assert!(log.searches.is_empty());
    for event in events() {
        file.append(&event).expect("room");
    }
}

fn refused(path: &Path) -> String {
    LogFile::open(path).expect_err("refused").to_string()
}

#[test]
fn what_is_appended_is_there_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    written(&path);
    let (mut file, log) = LogFile::open(&path).expect("readable");
    assert_eq!(log.searches.len(), 1);
    assert_eq!(log.searches[0].events, events()[1..]);
    file.append(&Event::End { at: 2.0 }).expect("room");
    drop(file);
    let (_, log) = LogFile::open(&path).expect("readable");
    assert!(log.searches[0].has_ended());
}

/// As where the disk is full and the file cannot be cut either.
#[test]
fn what_a_failed_line_has_left_goes_before_the_next() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    written(&path);
    let (mut file, _) = LogFile::open(&path).expect("readable");
    let mut left = fs::OpenOptions::new().append(true).open(&path);
    let left = left.as_mut().expect("writable");
    left.write_all(b"{\"event\":\"meas").expect("room");
    file.append(&Event::End { at: 2.0 }).expect("room");
    drop(file);
    let (_, log) = LogFile::open(&path).expect("readable");
    assert!(log.searches[0].has_ended());
}

#[test]
fn a_line_that_was_cut_off_anywhere_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    written(&path);
    let whole = fs::read(&path).expect("there");
    let before = whole[..whole.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .expect("three lines")
        + 1;
    for end in before..whole.len() {
        fs::write(&path, &whole[..end]).expect("writable");
        let (mut file, log) = LogFile::open(&path).expect("mended");
        // Only the line break is missing from the longest.
        let kept = if end == whole.len() - 1 { 2 } else { 1 };
        assert_eq!(log.searches[0].events.len(), kept, "{end}");
        file.append(&Event::End { at: 2.0 }).expect("room");
        drop(file);
        let (_, log) = LogFile::open(&path).expect("whole lines");
        assert_eq!(log.searches[0].events.len(), kept + 1, "{end}");
    }
}

#[test]
fn what_is_no_log_is_a_sentence_and_stays_as_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    for (bytes, says) in [
        (
            &b"name = \"x\"\n"[..],
            "line 1 of the search log: it is damaged",
        ),
        (
            &b"{}\n\xff\xfe\n{}\n"[..],
            "line 2 of the search log is no text",
        ),
        (&b"precious"[..], "it is no search log"),
        (&b"{\"key\": 1"[..], "it is no search log"),
        (
            &b"{\"event\":\"begin\",\"version\":99}\n"[..],
            "written in another format (version 99",
        ),
    ] {
        fs::write(&path, bytes).expect("writable");
        let error = refused(&path);
        assert!(
            error.contains(says) && error.contains("search.jsonl"),
            "{error}"
        );
        assert_eq!(fs::read(&path).expect("there"), bytes);
    }
    let error = refused(directory.path());
    assert!(error.starts_with("cannot open"), "{error}");
    let error = refused(&directory.path().join("missing/search.jsonl"));
    assert!(error.contains("check the path"), "{error}");
}

#[test]
fn a_first_line_that_was_cut_off_is_removed() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    for begun in [
        "",
        "{",
        "{\"event\":\"beg",
        "{\"event\":\"begin\",\"version\":1",
    ] {
        fs::write(&path, begun).expect("writable");
        let (mut file, log) = LogFile::open(&path).expect("mended");
        assert!(log.searches.is_empty());
        file.append(&events()[0]).expect("room");
        drop(file);
        let (_, log) = LogFile::open(&path).expect("readable");
        assert_eq!(log.searches.len(), 1, "{begun}");
    }
}

#[test]
fn two_searches_cannot_have_one_log() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("search.jsonl");
    let (file, _) = LogFile::open(&path).expect("a new log");
    assert!(refused(&path).contains("another search writes"));
    drop(file);
    LogFile::open(&path).expect("free again");
}

#[test]
fn a_full_disk_is_a_sentence_and_leaves_whole_lines() {
    // Every write to this device fails as on a full disk.
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let file = File::options().append(true).open(full).expect("a device");
    let mut log = LogFile {
        path: full.to_owned(),
        file,
        length: 0,
    };
    let error = log.append(&events()[0]).expect_err("full").to_string();
    assert!(error.contains("cannot write /dev/full"), "{error}");
    assert!(error.contains("the free space"), "{error}");
    assert_eq!(log.length, 0);
}
