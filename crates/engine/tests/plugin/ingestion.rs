use std::path::Path;

use lissom::ffi::ingestion::PreparedFiles;
use rust_rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};
use tempfile::TempDir;

use crate::store::{LEVELS, Store, key, options};

fn write(path: &Path, keys: std::ops::Range<u32>) {
    let options = Options::default();
    let mut writer = SstFileWriter::create(&options);
    writer.open(path).expect("a file");
    for n in keys {
        writer.put(key(n), [n as u8; 100]).expect("a put");
    }
    writer.finish().expect("finished");
}

fn tables(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).expect("readable");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .count()
}

#[test]
fn prepared_files_are_part_of_the_tree_once_they_are_committed() {
    let store = Store::open(&options());
    let outside = TempDir::new().expect("a temporary directory");
    let file = outside.path().join("file");
    write(&file, 0..500);
    let options = IngestExternalFileOptions::default();
    let prepare = |path: &Path| PreparedFiles::new(store.cf(), &options, &[path]);
    let lie_there = || (tables(store.directory.path()), store.files().len());

    let prepared = prepare(&file).expect("prepared");
    assert_eq!(lie_there(), (1, 0));
    drop(prepared);
    assert_eq!(lie_there(), (0, 0), "they are removed");

    let prepared = prepare(&file).expect("prepared");
    prepared.commit().expect("committed");
    assert_eq!(lie_there(), (1, 1));
    assert_eq!(store.files_at(LEVELS as u32 - 1).len(), 1);
    store.assert_reads(0..500);
}

#[test]
fn what_cannot_be_prepared_leaves_nothing() {
    let store = Store::open(&options());
    let outside = TempDir::new().expect("a temporary directory");
    let options = IngestExternalFileOptions::default();
    let fails = |path: &Path, words: &str| {
        let prepared = PreparedFiles::new(store.cf(), &options, &[path]);
        let error = prepared.err().expect(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    fails(&outside.path().join("absent"), "No such file");
    fails(Path::new("a\0b"), "no file is named");
    assert_eq!(tables(store.directory.path()), 0);
}
