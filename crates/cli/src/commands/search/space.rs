//! What may be tried.

use clap::ArgMatches;
use lissom_search::space::{BuiltIn, Constants, Space, SpaceFile};

use super::subject::Subject;
use crate::arguments::get;
use crate::failure::Failure;

/// Of a trial's memory, what memtables, caches and filters may take together; the
/// rest is for merges, the program and the allocator.
const BUDGETED: f64 = 0.75;

/// The constant that is the number of a machine's processors.
pub const CORES: &str = "cores";
/// The constant that is what memtables, caches and filters of a trial may take together.
const MEMORY: &str = "memory";

/// Where a space comes from.
pub struct Source {
    /// Which one, if it comes with the program.
    pub built_in: Option<BuiltIn>,
    file: SpaceFile,
    /// In front of what is wrong with it.
    place: String,
}

/// The space that `--space` names.
pub fn source(given: &ArgMatches) -> Result<Source, Failure> {
    let name: String = get(given, "space");
    let built_in = BuiltIn::ALL.into_iter().find(|it| it.to_string() == name);
    let file = match built_in {
        Some(built_in) => built_in.file(),
        None => {
            read(&name).and_then(|text| SpaceFile::parse(&text).map_err(|error| error.at(&name)))
        }
    };
    Ok(Source {
        built_in,
        file: file.map_err(|error| Failure::WrongUse(error.to_string()))?,
        place: if built_in.is_some() {
            String::new()
        } else {
            format!("{name}: ")
        },
    })
}

/// Bytes that memtables, caches and filters of a trial may take together: the constant
/// `memory` as it was given, otherwise a share of what a trial may hold.
pub fn memory(given: &ArgMatches) -> f64 {
    let constants = given.get_many::<(String, f64)>("constant");
    let mut constants = constants.into_iter().flatten();
    // As in a space, the last one counts.
    match constants.rfind(|(name, _)| name == MEMORY) {
        Some((_, bytes)) => *bytes,
        None => get::<u64>(given, "memory") as f64 * BUDGETED,
    }
}

fn read(name: &str) -> lissom_search::Result<String> {
    std::fs::read_to_string(name).map_err(|error| {
        lissom_search::SearchError::new(format!(
            "--space {name} is no space of the program (rocksdb, dremel, lissom), and as a file it \
             cannot be read: {error}"
        ))
    })
}

impl Source {
    /// What the space takes for granted, since nobody has said it: a sentence.
    pub fn guessed(&self, given: &ArgMatches, subject: &Subject, space: &Space) -> Option<String> {
        let more = given.get_many::<(String, f64)>("constant");
        let more = more.into_iter().flatten();
        let known: Vec<&str> = subject
            .constants
            .iter()
            .chain(more)
            .map(|(name, _)| name.as_str())
            .chain([MEMORY])
            .collect();
        let guessed: Vec<String> = space
            .constants()
            .iter()
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        (!guessed.is_empty()).then(|| {
            format!(
                "the space takes {} for granted, since nobody has said it: give --constant \
                 NAME=VALUE for what is otherwise here",
                guessed.join(", ")
            )
        })
    }

    /// The space of a search: what its subject and the machine tell is known.
    pub fn space(&self, given: &ArgMatches, subject: &Subject) -> Result<Space, Failure> {
        let memory = (MEMORY.to_owned(), memory(given));
        self.with(given, subject.constants.iter().cloned().chain([memory]))
    }

    /// The space with its constants: those that were given, then those that are known,
    /// then its own.
    pub fn with(
        &self,
        given: &ArgMatches,
        known: impl IntoIterator<Item = (String, f64)>,
    ) -> Result<Space, Failure> {
        let declared = self.file.constants();
        let mut constants = Constants::new();
        for (name, value) in known {
            if declared.iter().any(|it| it.name == name) {
                constants = constants.with(name, value);
            }
        }
        let more = given.get_many::<(String, f64)>("constant");
        for (name, value) in more.unwrap_or_default() {
            constants = constants.with(name.as_str(), *value);
        }
        self.file
            .with(&constants)
            .map_err(|error| Failure::WrongUse(format!("{}{error}", self.place)))
    }
}
