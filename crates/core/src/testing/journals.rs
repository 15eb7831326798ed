//! Journals by hand.

use std::time::Duration;

use crate::journal::{Entry, Event, TreeSummary};
use crate::observation::{Latency, Mission, OperationMix};
use crate::tuner::Trial;

/// A line of the first opening's, as many seconds after its beginning as its number says.
pub fn entry(number: u64, event: Event) -> Entry {
    Entry {
        number,
        opening: 1,
        at: Duration::from_secs(number),
        column_family: "default".into(),
        event,
    }
}

/// The lines of a journal from a number on, one a second.
pub fn lines(from: u64, events: impl IntoIterator<Item = Event>) -> Vec<Entry> {
    let of = |(number, event)| entry(number, event);
    (from..).zip(events).map(of).collect()
}

/// A mission ended, of a tree that nobody looks at, and the tuner gave this answer.
pub fn mission(mission: Mission, trial: Trial, pinned: bool) -> Event {
    Event::Mission {
        mission: Box::new(mission),
        tree: TreeSummary::default(),
        trial,
        pinned,
        bounds: None,
        refused: Vec::new(),
    }
}

/// A mission of 100 gets that took so many microseconds each.
pub fn gets(micros: u64) -> Mission {
    Mission {
        operations: OperationMix {
            gets_found: 100,
            ..OperationMix::default()
        },
        get: Latency {
            mean: Duration::from_micros(micros),
            ..Latency::default()
        },
        ..Mission::default()
    }
}
