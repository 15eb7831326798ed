//! After a load the tree has the shape that its run limits ask for.

mod common;

use common::{load, runs_of, settle, small, tree};
use lissom::Db;

/// Loads until level 1 has been full several times, and returns the most runs
/// that it ever showed.
fn most_runs(policy: &str) -> usize {
    let directory = tempfile::tempdir().expect("a directory");
    let db = Db::open(directory.path(), small(policy)).expect("opened");
    let mut most = 0;
    for part in 0..60 {
        load(&db, part * 1_200..(part + 1) * 1_200, 1);
        settle(&db);
        most = most.max(runs_of(&tree(&db), 1));
    }
    println!("{policy}: {:?}", tree(&db));
    most
}

#[test]
fn one_run() {
    assert_eq!(most_runs("fixed-1"), 1);
}

#[test]
fn four_runs() {
    assert_eq!(most_runs("fixed-4"), 4);
}
