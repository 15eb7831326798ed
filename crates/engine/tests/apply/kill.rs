//! Rewriting, taking back and finishing in a child process that is killed at random
//! instants.

use std::path::Path;

use lissom::apply::{Applier, finish, undo};
use rust_rocksdb::DB;

use super::child::{kill_until_done, start, task};
use super::contents::Contents;
use super::data::{Place, contents, make, options, recorded, wanted};
use super::instants::Instants;

const OPTIONS: &str = "[CFOptions \"default\"]\nnum_levels=5\nwrite_buffer_size=64K\n\
    [CFOptions \"second\"]\nwrite_buffer_size=64K\n";

/// What the child does; does nothing in an ordinary run of the tests.
#[test]
fn child() {
    let Some((task, path)) = task() else {
        return;
    };
    match task.as_str() {
        "apply" => {
            let applier = Applier::new(&path, wanted(OPTIONS)).rewrite(true);
            applier.apply(&mut |_| ()).map(drop)
        }
        "undo" => undo(&path, |_| true).map(drop),
        _ => finish(&path, true).map(drop),
    }
    .expect("the task is possible");
}

/// Kills a task once, at whatever instant.
fn kill_once(task: &str, place: &Place, instants: &mut Instants) {
    let mut child = start(task, &place.path());
    std::thread::sleep(instants.next() / 4);
    child.kill().expect("a child can be killed");
    child.wait().expect("a child ends");
}

/// Something is written to the copy, so that it is told from the original from then on.
fn write_to(path: &Path) -> Contents {
    let db = DB::open_cf(&options(), path, ["default", "second", "third"]).expect("it opens");
    db.put("only in", "the copy").expect("a put");
    drop(db);
    contents(path)
}

/// Whichever of them has the database's name.
fn both_are_there(place: &Place, old: &Contents, new: &Contents) {
    let found: Vec<Contents> = place.all().iter().map(|path| contents(path)).collect();
    assert_eq!(found.len(), 2, "{:?}", place.names());
    assert!(
        found.contains(old),
        "the original is lost: {:?}",
        place.names()
    );
    assert!(found.contains(new), "the copy is lost: {:?}", place.names());
    assert!(place.path().exists());
}

fn round(keys: u64, instants: &mut Instants, kills: u32) -> u32 {
    let place = Place::new();
    let path = place.path();
    make(&path, keys);
    let before = contents(&path);
    // After each kill the database is there, and holds what it held.
    let check = |killed: u32| assert_eq!(contents(&path), before, "kill {killed}");
    let killed = kill_until_done("apply", &path, instants, kills, check);
    assert_eq!(place.names(), ["data", "data.before-apply"]);
    assert_eq!(contents(&place.beside(".before-apply")), before);
    assert!(recorded(&path).contains("num_levels=5"));
    let copied = write_to(&path);
    assert_ne!(copied, before);

    kill_once("undo", &place, instants);
    both_are_there(&place, &before, &copied);
    // Done or not done: what is left to do then says which.
    match undo(&path, |_| true) {
        Ok(undone) => assert!(undone.aside.ends_with("data.undone")),
        Err(error) => assert!(
            error.to_string().contains("nothing to take back"),
            "{error}"
        ),
    }
    assert_eq!(place.names(), ["data", "data.undone"]);
    assert_eq!(contents(&path), before);
    assert_eq!(contents(&place.beside(".undone")), copied);

    kill_once("finish", &place, instants);
    assert_eq!(contents(&path), before);
    match finish(&path, true) {
        Ok(finished) => assert!(!finished.removed.is_empty()),
        Err(error) => assert!(error.to_string().contains("nothing to finish"), "{error}"),
    }
    assert_eq!(place.names(), ["data"]);
    assert_eq!(contents(&path), before);
    killed
}

#[test]
fn a_few_kills_lose_nothing() {
    let mut instants = Instants::new(3);
    let killed: u32 = (0..3).map(|_| round(8_000, &mut instants, 5)).sum();
    assert!(killed > 0, "no child was killed in time");
}

#[test]
#[ignore = "about two minutes"]
fn many_kills_lose_nothing() {
    const ENOUGH: u32 = 150;
    let mut killed = 0;
    let mut instants = Instants::new(4);
    for _ in 0..120 {
        killed += round(30_000, &mut instants, 12);
        if killed >= ENOUGH {
            return;
        }
    }
    panic!("only {killed} children were killed in time");
}
