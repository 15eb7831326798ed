//! Which failures are worth a line in the journal.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

/// What fails for so long is told again.
const AGAIN: Duration = Duration::from_secs(600);

/// What was complained of lately, by column family and sentence.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    told: HashMap<(String, String), Instant>,
}

impl Complaints {
    /// Whether nobody has complained of this within the last ten minutes.
    pub(super) fn is_news(&mut self, family: &str, sentence: &str, now: Instant) -> bool {
        self.told
            .retain(|_, at| now.saturating_duration_since(*at) < AGAIN);
        match self.told.entry((family.to_owned(), sentence.to_owned())) {
            Entry::Occupied(_) => false,
            Entry::Vacant(news) => {
                news.insert(now);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_that_come_by_turns_are_told_now_and_then() {
        let (mut complaints, start) = (Complaints::default(), Instant::now());
        let mut told = |millis: u64| {
            let now = start + Duration::from_millis(millis);
            ["this", "that"].map(|sentence| complaints.is_news("default", sentence, now))
        };
        assert_eq!(told(0), [true, true]);
        let later: Vec<_> = (1..600).map(|at| told(at * 1_000)).collect();
        assert!(later.iter().all(|news| *news == [false, false]));
        assert_eq!(told(600_000), [true, true]);
        assert_eq!(complaints.told.len(), 2);
        assert!(complaints.is_news("another", "this", start));
    }
}
