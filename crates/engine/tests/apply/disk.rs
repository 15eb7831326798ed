//! A disk that is full in the middle of a copy.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use lissom::apply::Applier;

use super::data::{contents, make, refusal, wanted};
use super::small_disk::SmallDisk;

const OPTIONS: &str = "[CFOptions \"default\"]\ncompaction_pri=kOldestLargestSeqFirst\n";

/// To the last page.
fn fill(path: &Path) {
    let mut file = File::create(path).expect("made");
    while file.write_all(&[1; 4096]).is_ok() {}
}

#[test]
#[ignore = "mounts a small disk, for which it must be root"]
fn a_full_disk_stops_the_copy_and_with_space_again_it_goes_on() {
    let Some(disk) = SmallDisk::new(96) else {
        return;
    };
    let path = disk.path().join("data");
    make(&path, 20_000);
    let before = contents(&path);
    let ballast = disk.path().join("ballast");
    let error = Applier::new(&path, wanted(OPTIONS))
        .rewrite(true)
        .apply(&mut |_| {
            if !ballast.exists() {
                fill(&ballast);
            }
        })
        .expect_err("no space")
        .to_string();
    assert!(error.contains("free some space"), "{error}");
    assert!(error.contains("is as it was"), "{error}");
    std::fs::remove_file(&ballast).expect("removed");
    assert_eq!(contents(&path), before);
    Applier::new(&path, wanted(OPTIONS))
        .rewrite(true)
        .apply(&mut |_| ())
        .expect("it goes on");
    assert_eq!(contents(&path), before);
}

#[test]
#[ignore = "mounts a small disk, for which it must be root"]
fn a_copy_that_does_not_fit_is_not_begun() {
    let Some(disk) = SmallDisk::new(24) else {
        return;
    };
    let path = disk.path().join("data");
    make(&path, 20_000);
    let before = contents(&path);
    let error = refusal(&path, OPTIONS);
    assert!(error.contains("free some space"), "{error}");
    let names = std::fs::read_dir(disk.path()).expect("readable").count();
    assert!(names <= 2, "no data were copied");
    assert_eq!(contents(&path), before);
}
