//! Opening, writing, reading, reopening; and what is refused.

mod common;

use common::{key, load, settle, small, value};
use lissom::{Db, ErrorKind, Settings};

#[test]
fn what_is_written_is_read_also_after_a_reopening() {
    let directory = tempfile::tempdir().expect("a directory");
    {
        let db = Db::open(directory.path(), small("fixed-2")).expect("opened");
        load(&db, 0..20_000, 1);
        db.delete(key(7)).expect("deleted");
        settle(&db);
        let pieces = &db.statistics().expect("statistics").families["default"].pieces.clone();
        assert!(pieces.merged > 0, "{pieces:?}");
        assert_eq!((pieces.mismatched, pieces.failed), (0, 0), "{pieces:?}");
    }
    let db = Db::open(directory.path(), small("fixed-2")).expect("reopened");
    for number in 0..20_000 {
        let expected = (number != 7).then(|| value(number, 1));
        assert_eq!(db.get(key(number)).expect("a get"), expected, "{number}");
    }
    let mut count = 0;
    db.scan("", usize::MAX, |_, _| count += 1).expect("a scan");
    assert_eq!(count, 19_999);
}

fn refused(settings: Settings, words: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let error = Db::open(directory.path(), settings).err().expect(words);
    assert_eq!(error.kind(), ErrorKind::Fix);
    assert!(error.to_string().contains(words), "{error}");
    let left = std::fs::read_dir(directory.path()).expect("readable").count();
    assert_eq!(left, 0, "nothing is written before settings are checked");
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_written() {
    let with = |change: fn(&mut Settings)| {
        let mut settings = small("fixed-1");
        change(&mut settings);
        settings
    };
    refused(with(|s| s.size_ratio = 101), "size_ratio is 101");
    refused(with(|s| s.workers = 0), "workers is 0");
    refused(
        with(|s| s.max_space_amplification = 1.0),
        "max_space_amplification is 1: choose a number of at least 1.1",
    );
}
