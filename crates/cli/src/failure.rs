//! How the program ends when it does not do what was asked.

use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// It could not be done: exit code 1.
    Failed(String),
    /// It was not asked for in a way that makes sense: exit code 2.
    WrongUse(String),
}

/// What a command ends with.
pub type Outcome = Result<(), Failure>;

impl Failure {
    /// Says why on standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Failure::Failed(sentence) => (format!("error: {sentence}\n"), 1),
            Failure::WrongUse(sentence) => {
                let hint = "For more information, try '--help'.";
                (format!("error: {sentence}\n\n{hint}\n"), 2)
            }
        };
        // Where it cannot be written, the exit code says it alone.
        let _ = io::stderr().write_all(text.as_bytes());
        ExitCode::from(code)
    }
}

impl From<lissom::Error> for Failure {
    fn from(error: lissom::Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<lissom_bench::BenchError> for Failure {
    fn from(error: lissom_bench::BenchError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<lissom_agent::Error> for Failure {
    fn from(error: lissom_agent::Error) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<lissom_trials::TrialsError> for Failure {
    fn from(error: lissom_trials::TrialsError) -> Failure {
        Failure::Failed(error.to_string())
    }
}
