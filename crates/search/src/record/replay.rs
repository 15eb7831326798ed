//! Resumes a search from its log.

use super::line::{Event, Target};
use super::log::Log;
use crate::error::{Result, SearchError};
use crate::search::{Decision, Search};
use crate::space::Space;

/// The last search of a log as it was when the log ends, and the seconds by the
/// clock that it had taken. Its earlier measurements are those of the searches
/// before it in the same log, so it must have been begun with them
/// ([`Log::earlier`]).
///
/// Trials that were alive then ([`Search::alive`]) are still thought to be: tell
/// [`Outcome::Lost`](crate::search::Outcome::Lost) of those that are not.
///
/// # Errors
/// A log without a search, of another space or target, or one that this program
/// would have decided otherwise, with the first decision in question.
pub fn resume(log: &Log, space: &Space, target: &Target) -> Result<(Search, f64)> {
    let Some((last, before)) = log.searches.split_last() else {
        return Err(SearchError::new(
            "the search log holds no search to resume: begin one",
        ));
    };
    last.fits(space, target)?;
    let before = Log {
        searches: before
            .iter()
            .filter(|it| it.fits(space, target).is_ok())
            .cloned()
            .collect(),
        ..Log::default()
    };
    let earlier = before.earlier(space, target);
    let mut search = Search::new(space, last.begin.setup.clone(), &earlier)?;
    for event in &last.events {
        step(&mut search, event)?;
    }
    Ok((search, last.elapsed()))
}

fn step(search: &mut Search, event: &Event) -> Result<()> {
    match event {
        Event::Begin(_)
        | Event::Repeats { .. }
        | Event::Repeated { .. }
        | Event::Ablated { .. }
        | Event::InVain { .. }
        | Event::End { .. } => Ok(()),
        Event::Reserved { seconds, .. } => {
            search.reserve(*seconds);
            Ok(())
        }
        Event::Restarts { restarts, .. } => {
            search.note_restarts(*restarts);
            Ok(())
        }
        Event::Measurement { measurement, .. } => search.tell(measurement.clone()),
        Event::Decision { at, decision } => {
            let decided = search.ask(*at);
            if alike(&decided, decision) {
                return Ok(());
            }
            Err(SearchError::new(format!(
                "the search log cannot be resumed: at {at:.1} s it says \"{decision}\" where this \
                 program decides \"{decided}\"; begin a new search, which learns from this log"
            )))
        }
    }
}

/// Reasons are words, which may change from version to version.
fn alike(one: &Decision, other: &Decision) -> bool {
    one.without_reason() == other.without_reason()
}
