//! The table in `docs/ROCKSDB_FEATURES.md` and the tests name the same things, and the
//! sentences that it quotes are those that the tests read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What stands for a value in a quoted sentence.
const PLACEHOLDERS: [&str; 6] = ["NAME", "N", "STYLE", "OPERATOR", "PATH", "DIRECTORY"];

/// A value has no more bytes than this: a path of a temporary directory is the longest.
const LONGEST_VALUE: usize = 80;

const ADOPTING: &str = "\n## What `lissom adopt` refuses\n";

fn engine() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn table() -> String {
    read(&engine().join("../../docs/ROCKSDB_FEATURES.md"))
}

/// The rows of the table, and those of what adopting refuses.
fn rows() -> (Vec<String>, Vec<String>) {
    let text = table();
    let (features, rest) = text.split_once(ADOPTING).expect("a section on adopting");
    let (adopting, rest) = rest.split_once("\n## ").expect("a section after it");
    let rows = |text: &str| {
        let rows = text.lines().filter(|line| line.starts_with('|'));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut features = rows(features);
    features.extend(rows(rest));
    (features, rows(adopting))
}

/// The sentences that a row quotes.
fn sentences(row: &str) -> impl Iterator<Item = &str> {
    quoted(row).filter(|words| words.split(' ').count() > 3)
}

fn tests() -> PathBuf {
    engine().join("tests/features")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What is quoted and looks like `file::test`.
fn named_in(table: &str) -> BTreeSet<String> {
    quoted(table)
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
    tests.retain(|test| !test.starts_with("table::"));
    tests
}

/// Whether a text says a sentence, with any values in place of NAME and the like, and
/// anything in place of `...` at its ends.
pub fn says(text: &str, sentence: &str) -> bool {
    let pieces = pieces(sentence);
    let Some((first, rest)) = pieces.split_first() else {
        return false;
    };
    text.match_indices(first.as_str()).any(|(at, found)| {
        let mut left = &text[at + found.len()..];
        rest.iter().all(|piece| {
            let gap = left.find(piece.as_str());
            let Some(gap) = gap.filter(|gap| *gap <= LONGEST_VALUE) else {
                return false;
            };
            left = &left[gap + piece.len()..];
            true
        })
    })
}

/// What a sentence says between its placeholders.
fn pieces(sentence: &str) -> Vec<String> {
    let characters: Vec<char> = sentence.trim_matches('.').chars().collect();
    let mut pieces = vec![String::new()];
    for word in characters.chunk_by(|a, b| a.is_alphanumeric() == b.is_alphanumeric()) {
        let word: String = word.iter().collect();
        if PLACEHOLDERS.contains(&word.as_str()) {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push_str(&word);
        }
    }
    let pieces = pieces.iter().map(|piece| piece.trim().to_owned());
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// A program's text with its strings on one line each, as they read.
fn strings_joined(text: &str) -> String {
    let joined = text.split("\\\n").map(str::trim_start);
    joined.collect::<String>().replace("\\\"", "\"")
}

#[test]
fn every_test_stands_in_the_table() {
    let named = named_in(&table());
    let tests = tests_in(&tests());
    assert!(tests.len() > 60, "{tests:?}");
    assert_eq!(named, tests, "left: the table, right: the tests");
}

/// The tests hold what they read against what is said, so a sentence that they hold is one
/// that is said.
#[test]
fn every_sentence_is_one_that_a_test_of_its_row_reads() {
    let mut read_by_tests = 0;
    for row in rows().0 {
        let named = named_in(&row);
        let files: BTreeSet<&str> = named
            .iter()
            .filter_map(|it| it.split("::").next())
            .collect();
        let tests: String = files
            .iter()
            .map(|file| strings_joined(&read(&tests().join(format!("{file}.rs")))))
            .collect();
        for sentence in sentences(&row) {
            assert!(
                says(&tests, sentence),
                "no test of its row reads: {sentence}"
            );
            read_by_tests += 1;
        }
    }
    assert!(read_by_tests > 20, "{read_by_tests} sentences");
}

#[test]
fn every_sentence_about_adopting_is_one_that_it_says() {
    let source = strings_joined(&read(&engine().join("src/adopt/refusal.rs")));
    let adopting = rows().1;
    let told: Vec<&str> = adopting.iter().flat_map(|row| sentences(row)).collect();
    assert!(told.len() >= 12, "{told:?}");
    for sentence in told {
        assert!(says(&source, sentence), "nobody says: {sentence}");
    }
}

#[test]
fn a_sentence_is_said_with_any_values() {
    let sentence = "it has N paths in \"NAME\", and that is ...";
    assert!(says(
        "well: it has 2 paths in \"x y\", and that is bad",
        sentence
    ));
    assert!(!says(
        "it has 2 paths in \"x y\", and this is bad",
        sentence
    ));
    assert!(!says("it has 2 and that is bad", sentence));
    let far = format!("it has {} paths in \"\", and that is", "2".repeat(100));
    assert!(!says(&far, sentence));
    assert!(!says("anything", "..."));
}
