//! `lissom space`: what may be tried, for programs that propose configurations
//! themselves.

use std::io::{self, BufRead};

use clap::{ArgMatches, Command};
use lissom_bench::Machine;
use lissom_search::export::{self, Format};
use lissom_search::space::{BuiltIn, Configuration, Parameter, Space};
use lissom_search::{Fingerprint, Random, SearchError};
use serde::{Deserialize, Serialize};

use super::{arguments, space};
use crate::arguments::{find, flag};
use crate::failure::{Failure, Outcome};
use crate::output;

pub const NAME: &str = "space";

pub fn command() -> Command {
    Command::new(NAME)
        .hide(true)
        .about("Prints a space of `search` as JSON, or answers questions about it")
        .long_about(
            "Prints a space of `search` as JSON: constants, parameters, rules, features, and the \
             default configuration.\n\n\
             With --answer it reads one question a line and prints one answer a line instead: \
             {\"check\": CONFIGURATION}, {\"sample\": {\"count\": N, \"seed\": N}} or \
             {\"write\": CONFIGURATION}. A configuration is an object of names and values.",
        )
        .args(arguments::space())
        .arg(flag("answer", "Answers questions from standard input"))
}

pub fn run(given: &ArgMatches) -> Outcome {
    let source = space::source(given)?;
    let cores = ("cores".to_owned(), Machine::this().cores as f64);
    let space = source.with(given, [cores])?;
    if !given.get_flag("answer") {
        return output::print_json(&Described::of(&space));
    }
    let format = find(given, "format").unwrap_or(match source.built_in {
        Some(BuiltIn::RocksDb | BuiltIn::Dremel) => Format::RocksDb,
        _ => Format::Json,
    });
    for line in io::stdin().lock().lines() {
        let line =
            line.map_err(|error| Failure::Failed(format!("cannot read standard input: {error}")))?;
        if !output::print_if_read(&answered(&space, format, &line))? {
            break;
        }
    }
    Ok(())
}

/// A space, as it is printed.
#[derive(Serialize)]
struct Described<'a> {
    name: &'a str,
    about: &'a str,
    constants: &'a [(String, f64)],
    parameters: &'a [Parameter],
    rules: Vec<String>,
    features: Vec<&'a str>,
    /// What every parameter is without a search.
    default: Configuration,
    /// Equal for spaces that allow and mean the same.
    fingerprint: Fingerprint,
}

impl<'a> Described<'a> {
    fn of(space: &'a Space) -> Described<'a> {
        let features = space.features().iter();
        Described {
            name: space.name(),
            about: space.about(),
            constants: space.constants(),
            parameters: space.parameters(),
            rules: space.rules().iter().map(ToString::to_string).collect(),
            features: features.map(|it| it.name.as_str()).collect(),
            default: space.default_configuration(),
            fingerprint: space.fingerprint(),
        }
    }
}

/// A question about a space.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    /// Which rules does it break, and what are its features?
    Check(Configuration),
    /// Configurations that satisfy all rules, drawn at random.
    Sample { count: usize, seed: u64 },
    /// The file that a trial is given.
    Write(Configuration),
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Checked {
        broken: Vec<String>,
        features: Vec<f64>,
    },
    Sampled(Vec<Configuration>),
    Written {
        text: String,
        remarks: Vec<String>,
    },
    Error(String),
}

/// The answer to a line, as a line.
fn answered(space: &Space, format: Format, line: &str) -> String {
    let answer = serde_json::from_str::<Question>(line)
        .map_err(|error| SearchError::new(format!("this is no question: {error}")))
        .and_then(|question| answer(space, format, question))
        .unwrap_or_else(|error| Answer::Error(error.to_string()));
    // Of texts, numbers and lists of them, JSON can be made.
    serde_json::to_string(&answer).unwrap_or_default() + "\n"
}

fn answer(space: &Space, format: Format, question: Question) -> lissom_search::Result<Answer> {
    match question {
        Question::Check(configuration) => {
            let broken = space.broken_rules(&configuration)?;
            Ok(Answer::Checked {
                broken: broken.iter().map(ToString::to_string).collect(),
                features: space.feature_values(&configuration)?,
            })
        }
        Question::Sample { count, seed } => {
            let sample = space.sample(count, &mut Random::new(seed))?;
            Ok(Answer::Sampled(sample))
        }
        Question::Write(configuration) => {
            let written = export::write(format, space, &configuration)?;
            Ok(Answer::Written {
                text: written.text,
                remarks: written.remarks,
            })
        }
    }
}
