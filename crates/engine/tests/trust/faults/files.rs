//! Table files that do not read back as they were written.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lissom::{Db, Settings};

use crate::support::{eventually, key, load, settle, small, value};

/// Flips bits in the file's first data block.
fn damage(file: &Path) {
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(file)
        .expect("writable");
    let mut bytes = [0; 64];
    file.seek(SeekFrom::Start(100)).expect("long enough");
    file.read_exact(&mut bytes).expect("long enough");
    bytes.iter_mut().for_each(|byte| *byte ^= 0x55);
    file.seek(SeekFrom::Start(100)).expect("long enough");
    file.write_all(&bytes).expect("written");
}

fn some_file(db: &Db, directory: &Path, in_level0: bool) -> (u64, PathBuf) {
    let files = db.live_files().expect("a list of files");
    let file = files
        .iter()
        .find(|file| (file.level == 0) == in_level0)
        .expect("a file");
    let name = file.name.trim_start_matches('/');
    let number = name.trim_end_matches(".sst").parse().expect("a number");
    (number, directory.join(name))
}

fn is_named(db: &Db, number: u64) -> bool {
    let unreadable = db.health().unreadable;
    unreadable
        .get("default")
        .is_some_and(|files| files.contains(&number))
}

/// Keys whose value is not what it should be: none may be wrong, some may fail.
fn failing(db: &Db, numbers: std::ops::Range<u64>, version: u64) -> usize {
    numbers
        .filter(|number| match db.get(key(*number)) {
            Ok(found) => {
                assert_eq!(found, Some(value(*number, version)), "key {number}");
                false
            }
            Err(error) => {
                let text = error.to_string();
                assert_eq!(error.kind(), lissom::ErrorKind::Corrupt, "{text}");
                true
            }
        })
        .count()
}

#[test]
fn a_damaged_block_below_level_0_loses_its_own_keys_only() {
    let place = crate::scratch();
    let (number, path) = {
        let db = Db::open(place.path(), small("fixed-1")).expect("opened");
        load(&db, 0..12_000, 1);
        settle(&db);
        some_file(&db, place.path(), false)
    };
    let good = std::fs::read(&path).expect("readable");
    damage(&path);
    {
        let db = Db::open(place.path(), small("fixed-1")).expect("opened");
        load(&db, 20_000..60_000, 1);
        db.flush().expect("a flush");
        eventually("the file is named", || is_named(&db, number));
        settle(&db);
        assert_eq!(db.health().background_error, None);
        // One block of some 4 KiB, of values of 200 bytes.
        let lost = failing(&db, 0..12_000, 1);
        assert!((1..=40).contains(&lost), "{lost} keys fail");
        assert_eq!(failing(&db, 20_000..60_000, 1), 0);
    }
    // Restored from a backup, it is merged like all others.
    std::fs::write(&path, good).expect("restored");
    let db = Db::open(place.path(), small("fixed-1")).expect("opened");
    assert_eq!(failing(&db, 0..12_000, 1), 0);
    db.autopilot().forget_unreadable("default").expect("asked");
    db.autopilot().compact("default").expect("asked");
    settle(&db);
    assert!(db.health().unreadable.is_empty());
    assert_eq!(
        failing(&db, 0..12_000, 1) + failing(&db, 20_000..60_000, 1),
        0
    );
}

#[test]
fn a_damaged_block_in_level_0_is_named_and_loses_its_own_keys_only() {
    let place = crate::scratch();
    // Hardly any false positives, or reads of other keys meet the block too.
    let settings = Settings {
        bloom_bits_per_key: 60.0,
        ..small("fixed-1")
    };
    let open = || Db::open(place.path(), settings.clone()).expect("opened");
    let (number, path) = {
        let db = open();
        load(&db, 0..12_000, 1);
        settle(&db);
        db.autopilot().compact("default").expect("asked");
        settle(&db);
        db.autopilot().pause();
        load(&db, 12_000..12_100, 1);
        db.flush().expect("a flush");
        some_file(&db, place.path(), true)
    };
    let good = std::fs::read(&path).expect("readable");
    damage(&path);
    let mut written = 12_100;
    // L0 cannot be merged without the file. Writes go on as long as there is
    // room, and then are refused with its name; so again after a reopening.
    for life in 0..2 {
        let db = open();
        let refused = loop {
            match db.put(key(written), value(written, 1)) {
                Ok(()) => written += 1,
                Err(error) => break error.to_string(),
            }
            assert!(written < 200_000, "life {life}: nobody meets the damage");
        };
        assert!(refused.contains(&format!("{number:06}.sst")), "{refused}");
        assert!(
            refused.contains("restore the file that it names"),
            "{refused}"
        );
        // By the autopilot or by RocksDB's brake, whoever came first.
        let error = db.health().background_error.expect("a report");
        assert!(!error.recoverable, "{error:?}");
        assert!(
            error.message.contains(&format!("{number:06}.sst")),
            "{error:?}"
        );
        assert_eq!(failing(&db, 0..12_000, 1), 0);
        let lost = failing(&db, 12_000..12_100, 1);
        assert!((1..=40).contains(&lost), "{lost} keys fail");
        assert_eq!(failing(&db, 12_100..written, 1), 0);
    }
    std::fs::write(&path, good).expect("restored");
    let db = open();
    db.autopilot().forget_unreadable("default").expect("asked");
    settle(&db);
    assert!(db.health().unreadable.is_empty());
    assert_eq!(failing(&db, 0..written, 1), 0);
}
