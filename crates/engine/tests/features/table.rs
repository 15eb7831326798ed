//! The table in `docs/ROCKSDB_FEATURES.md` and the tests name the same things.

use std::collections::BTreeSet;
use std::path::Path;

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between backquotes and looks like `file::test`.
fn named_in(table: &str) -> BTreeSet<String> {
    let quoted = table.split('`').skip(1).step_by(2);
    quoted
        .filter(|words| {
            let is_word = |character: char| {
                character.is_ascii_lowercase()
                    || character.is_ascii_digit()
                    || "_:".contains(character)
            };
            words.contains("::") && words.chars().all(is_word)
        })
        .filter(|words| *words != "file::test")
        .map(str::to_owned)
        .collect()
}

fn tests_in(folder: &Path) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("an entry").path();
        let file = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = read(&path);
        let functions = text.split("#[test]\nfn ").skip(1);
        tests.extend(functions.map(|function| {
            let name = function.split('(').next().expect("a name");
            format!("{file}::{name}")
        }));
    }
    tests.remove("table::every_test_stands_in_the_table");
    tests
}

#[test]
fn every_test_stands_in_the_table() {
    let engine = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = named_in(&read(&engine.join("../../docs/ROCKSDB_FEATURES.md")));
    let tests = tests_in(&engine.join("tests/features"));
    assert!(tests.len() > 60, "{tests:?}");
    assert_eq!(named, tests, "left: the table, right: the tests");
}
