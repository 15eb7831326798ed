//! What the names of an expression stand for.

use std::collections::BTreeMap;

use super::parse::RESERVED;
use super::token::{begins_name, in_name};

/// A value that a name stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// One of several words.
    Word(&'a str),
}

/// The kind of value that a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NameKind {
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// One of these words.
    Word(Vec<String>),
}

impl NameKind {
    /// For sentences.
    pub(super) fn words(&self) -> &'static str {
        match self {
            NameKind::Number => "a number",
            NameKind::Truth => "true or false",
            NameKind::Word(_) => "a choice",
        }
    }
}

/// The names that an expression may use, in the order of the values that it will be
/// evaluated with.
#[derive(Clone, Debug, Default)]
pub struct Names {
    places: BTreeMap<String, usize>,
    kinds: Vec<NameKind>,
}

impl Names {
    /// Adds a name behind the others; false, and nothing added, if it exists.
    pub fn add(&mut self, name: &str, kind: NameKind) -> bool {
        if self.places.contains_key(name) {
            return false;
        }
        self.places.insert(name.to_owned(), self.kinds.len());
        self.kinds.push(kind);
        true
    }

    /// The place of a name among the values, and its kind.
    pub fn find(&self, name: &str) -> Option<(usize, &NameKind)> {
        let place = *self.places.get(name)?;
        self.kinds.get(place).map(|kind| (place, kind))
    }

    /// All names, in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// What to write instead of an unknown name.
    pub(super) fn suggestion(&self, unknown: &str) -> String {
        let near = self.iter().min_by_key(|name| distance(name, unknown));
        match near {
            Some(name) if distance(name, unknown) <= unknown.len() / 3 => {
                format!("did you mean {name}?")
            }
            Some(_) => {
                let all: Vec<&str> = self.iter().collect();
                format!("known are {}", all.join(", "))
            }
            None => "no names are known here".to_owned(),
        }
    }
}

/// Whether a text can be a name in an expression.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(begins_name)
        && characters.all(in_name)
        && !RESERVED.contains(&text)
}

/// Changes of one character that lead from one text to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, character) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(character != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_brings_the_nearest() {
        let mut names = Names::default();
        for name in ["write_buffer_size", "block_size", "memory"] {
            assert!(names.add(name, NameKind::Number));
        }
        assert!(!names.add("memory", NameKind::Truth), "twice");
        assert_eq!(names.find("block_size"), Some((1, &NameKind::Number)));
        assert_eq!(
            names.suggestion("write_bufer_size"),
            "did you mean write_buffer_size?"
        );
        assert_eq!(
            names.suggestion("x"),
            "known are block_size, memory, write_buffer_size"
        );
    }

    #[test]
    fn names_are_letters_digits_underscores_and_dots() {
        for name in ["a", "_b", "compaction_options_universal.size_ratio"] {
            assert!(is_name(name), "{name}");
        }
        for text in ["", "1a", "a-b", "a b", "and", "true"] {
            assert!(!is_name(text), "{text}");
        }
    }
}
