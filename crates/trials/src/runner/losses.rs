//! Trials that were lost, and how often that is forgiven.

use std::collections::BTreeMap;

use lissom_search::search::{Cause, Outcome};

/// How often what bears such a label was lost. Repeats have a trial's number again, but
/// labels of their own.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Losses(BTreeMap<String, u32>);

impl Losses {
    /// Another loss, or a crash of what was lost more often than is forgiven.
    pub fn count(&mut self, label: &str, why: String, forgiven: u32) -> Outcome {
        let losses = self.0.entry(label.to_owned()).or_default();
        *losses += 1;
        if *losses <= forgiven {
            return Outcome::Lost { why };
        }
        Outcome::Failed {
            cause: Cause::Crash,
            detail: format!("{why}, in attempt {losses}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_forgiven_but_not_for_ever() {
        let mut losses = Losses::default();
        let mut count = |label: &str| losses.count(label, "a flood".to_owned(), 2);
        let lost = Outcome::Lost {
            why: "a flood".to_owned(),
        };
        assert_eq!(
            (count("trial-1"), count("trial-1")),
            (lost.clone(), lost.clone())
        );
        let crashed = Outcome::Failed {
            cause: Cause::Crash,
            detail: "a flood, in attempt 3".to_owned(),
        };
        assert_eq!(count("trial-1"), crashed);
        assert_eq!(count("trial-2"), lost, "each for itself");
    }
}
