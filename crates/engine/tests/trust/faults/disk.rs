//! Disks without space.

use lissom::{Db, Error, Settings};

use crate::PATIENCE;
use crate::small_disk::SmallDisk;
use crate::support::{eventually, key, load, settle, small, value};

/// Puts until it fails. Returns the number of the put that failed.
fn fill(db: &Db, from: u64) -> (u64, Error) {
    for number in from..1_000_000 {
        if let Err(error) = db.put(key(number), value(number, 1)) {
            return (number, error);
        }
    }
    panic!("a small disk takes everything");
}

#[test]
fn a_full_disk_says_so_and_with_space_again_all_goes_on() {
    let Some(disk) = SmallDisk::new(24) else {
        return;
    };
    let ballast = disk.ballast(12);
    let path = disk.path().join("db");
    // No writer may be held up while the disk is full: RocksDB 11.12 then waits
    // for itself. Its recovery flushes, for which it waits until the stopped
    // writer leaves, and that one waits for the recovery (DBImpl::DelayWrite,
    // DBImpl::ResumeImpl). So the log meets the end of the disk first.
    let settings = Settings {
        max_space_amplification: 1.5,
        max_write_buffer_number: 200,
        memory_budget_bytes: 32 << 20,
        level0_stop_writes_trigger: 1_000,
        ..small("fixed-2")
    };
    let refused = {
        let db = Db::open(&path, settings.clone()).expect("opened");
        let (refused, error) = fill(&db, 0);
        let text = error.to_string();
        assert!(text.contains("No space left"), "{text}");
        assert!(text.contains("free some space"), "{text}");
        eventually("the health report says so", || {
            let health = db.health();
            let error = health.background_error.map(|error| error.message);
            [error, health.trouble]
                .into_iter()
                .flatten()
                .any(|text| text.contains("No space left"))
        });
        for number in 0..refused {
            assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
        }
        std::fs::remove_file(&ballast).expect("removed");
        // Nobody has to ask for it.
        eventually("writes go on", || {
            db.put(key(refused), value(refused, 2)).is_ok()
        });
        load(&db, refused + 1..refused + 5_000, 1);
        assert!(
            db.autopilot().wait_until_idle(PATIENCE),
            "{:#?}",
            db.health()
        );
        settle(&db);
        eventually("all is well", || db.health().background_error.is_none());
        refused
    };
    let db = Db::open(&path, settings).expect("reopened");
    for number in (0..refused).chain(refused + 1..refused + 5_000) {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
    assert_eq!(
        db.get(key(refused)).expect("a get"),
        Some(value(refused, 2))
    );
}

#[test]
fn a_disk_that_is_full_at_open() {
    let Some(disk) = SmallDisk::new(12) else {
        return;
    };
    let path = disk.path().join("db");
    {
        let db = Db::open(&path, small("fixed-2")).expect("opened");
        load(&db, 0..10_000, 1);
        settle(&db);
    }
    // To the last page.
    let ballast = disk.path().join("ballast");
    let mut file = std::fs::File::create(&ballast).expect("made");
    while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    drop(file);
    let error = Db::open(&path, small("fixed-2")).err().expect("no space");
    let text = error.to_string();
    assert!(text.contains("free some space"), "{text}");
    std::fs::remove_file(&ballast).expect("removed");
    let db = Db::open(&path, small("fixed-2")).expect("opened");
    for number in 0..10_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}

#[test]
fn a_journal_without_space_stops_no_work() {
    let Some(disk) = SmallDisk::new(1) else {
        return;
    };
    let place = crate::scratch();
    Db::open(place.path(), small("fixed-2")).expect("opened");
    let journal = place.path().join("LISSOM-JOURNAL");
    let elsewhere = disk.path().join("journal");
    std::fs::rename(&journal, place.path().join("old-journal")).expect("moved");
    std::fs::write(&elsewhere, "").expect("made");
    let mut file = std::fs::File::create(disk.path().join("ballast")).expect("made");
    while std::io::Write::write_all(&mut file, &[1; 4096]).is_ok() {}
    std::os::unix::fs::symlink(&elsewhere, &journal).expect("linked");

    let db = Db::open(place.path(), small("fixed-2")).expect("opened");
    load(&db, 0..30_000, 1);
    settle(&db);
    let health = db.health();
    assert!(health.dropped_journal_lines > 0, "{health:?}");
    assert!(
        health.running && health.background_error.is_none(),
        "{health:?}"
    );
    let statistics = db.statistics().expect("statistics");
    assert!(statistics.families["default"].pieces.merged > 0);
    for number in 0..30_000 {
        assert_eq!(db.get(key(number)).expect("a get"), Some(value(number, 1)));
    }
}
