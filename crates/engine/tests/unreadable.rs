//! A file that compactions cannot read: writes go on, the file is left alone,
//! and the health report names it.

mod common;

use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use common::{key, load, settle, small, value};
use lissom::Db;

/// Some file below L0.
fn a_deep_file(db: &Db, directory: &Path) -> (u64, PathBuf) {
    let files = db.live_files().expect("a list of files");
    let file = files.iter().find(|file| file.level > 0).expect("a run");
    let name = file.name.trim_start_matches('/');
    let number = name.trim_end_matches(".sst").parse().expect("a number");
    (number, directory.join(name))
}

fn damage(file: &Path) {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .open(file)
        .expect("writable");
    file.seek(SeekFrom::Start(100)).expect("long enough");
    file.write_all(&[0xff; 64]).expect("written");
}

#[test]
fn writes_go_on_beside_a_damaged_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let (number, path) = {
        let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
        load(&db, 0..12_000, 1);
        settle(&db);
        a_deep_file(&db, directory.path())
    };
    damage(&path);
    let named = |db: &Db| {
        let unreadable = db.health().unreadable;
        unreadable
            .get("default")
            .is_some_and(|files| files.contains(&number))
    };
    {
        let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
        load(&db, 20_000..60_000, 1);
        settle(&db);
        let health = db.health();
        assert!(named(&db), "{health:?}");
        assert_eq!(health.background_error, None);
        assert_eq!(db.get(key(50_000)).expect("a get"), Some(value(50_000, 1)));
        let pieces = db.statistics().expect("statistics").families["default"]
            .pieces
            .clone();
        assert!(pieces.failed < 10, "retries are bounded: {pieces:?}");
    }
    let db = Db::open(directory.path(), small("fixed-1")).expect("opened");
    load(&db, 60_000..70_000, 1);
    settle(&db);
    assert!(named(&db), "it is remembered");
    let journal = std::fs::read_to_string(directory.path().join("LISSOM-JOURNAL")).expect("there");
    assert!(journal.contains("are left out of compactions"));
}
