//! After a load the tree has the shape that its run limits ask for.

mod common;

use common::{PATIENCE, load, runs_of, small, tree};
use lissom::Db;

/// Loads until level 1 has been full several times, and returns the most runs
/// that it ever showed while nothing was left to merge.
fn most_runs(policy: &str, size_ratio: u32) -> usize {
    let directory = tempfile::tempdir().expect("a directory");
    let mut settings = small(policy);
    settings.size_ratio = size_ratio;
    let db = Db::open(directory.path(), settings).expect("opened");
    let mut most = 0;
    for part in 0..100 {
        load(&db, part * 1_000..(part + 1) * 1_000, 1);
        assert!(db.autopilot().wait_until_idle(PATIENCE));
        most = most.max(runs_of(&tree(&db), 1));
    }
    most
}

#[test]
fn one_run() {
    assert_eq!(most_runs("fixed-1", 4), 1);
}

#[test]
fn four_runs() {
    // The last run fills the level, which drains before it is seen at rest.
    let most = most_runs("fixed-4", 4);
    assert!((3..=4).contains(&most), "{most} runs");
}

#[test]
fn ten_runs() {
    let most = most_runs("fixed-10", 10);
    assert!((9..=10).contains(&most), "{most} runs");
}
