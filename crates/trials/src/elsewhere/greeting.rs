//! What a runner says of itself, and what follows from it.

use serde::Deserialize;

use crate::error::{Result, TrialsError};

/// What a runner says of itself. Its version is looked at before this is read.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub(super) struct Greeting {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// Trials that it can run at once.
    pub workers: usize,
    /// Whether a trial can stand still and go on.
    pub pauses: bool,
    /// Trials that may be alive at once, by memory and disk of its machines; absent where
    /// it does not tell.
    #[serde(default)]
    pub alive: Option<usize>,
}

impl Greeting {
    /// Whether it can run anything.
    ///
    /// # Errors
    /// It cannot.
    pub fn check(&self) -> Result<()> {
        if self.workers > 0 {
            return Ok(());
        }
        Err(TrialsError::new(
            "the runner has no workers: give it machines, or trials that need less of them",
        ))
    }

    /// Why trials cannot wait for each other, of whom so many may be alive at once: a
    /// sentence. `None` if they can.
    pub fn crowded(&self, most_alive: usize) -> Option<String> {
        const INSTEAD: &str = "instead of waiting they start anew, as with --restart, which takes \
                               more time";
        if !self.pauses {
            return Some(format!("the runner cannot let trials wait: {INSTEAD}"));
        }
        let alive = self.alive.filter(|it| most_alive > *it)?;
        Some(format!(
            "{most_alive} trials may be alive at once and wait for each other, where the \
             runner's machines have room for {alive}: {INSTEAD}; give a smaller --memory or a \
             shorter --budget if they should wait"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_wait_where_there_is_room() {
        let mut greeting = Greeting {
            name: "x".to_owned(),
            workers: 2,
            pauses: true,
            alive: None,
        };
        assert_eq!(greeting.check(), Ok(()));
        assert_eq!(greeting.crowded(1_000), None, "it does not tell");
        greeting.alive = Some(8);
        assert_eq!(greeting.crowded(8), None);
        let note = greeting.crowded(9).expect("too many");
        assert!(note.contains("machines have room for 8"), "{note}");
        greeting.pauses = false;
        let note = greeting.crowded(1).expect("it cannot");
        assert!(note.contains("cannot let trials wait"), "{note}");
        greeting.workers = 0;
        let error = greeting.check().expect_err("nobody works").to_string();
        assert!(error.contains("has no workers"), "{error}");
    }
}
