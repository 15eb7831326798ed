//! The merge of everything into one run, which somebody has asked for.
//!
//! A drain holds the levels that it takes runs from to its end: what comes in meanwhile has the
//! slots above these and no more. One drain of all runs would hold level 1 for all that time, and
//! writers would be held back once its slots are taken. So where somebody may write it goes level by
//! level, each level into a new run of the next, and in the end the runs of the deepest one become
//! one. The longer a part takes, the deeper lies what it holds, and the more fits in above that.
//! It rewrites each level but the deepest once more, all of them a small part of the data. That L0
//! is empty at some moment tells nothing: it mostly is, once it has been merged.
//!
//! What cannot be read stays where it is, and the rest goes on.

use super::level::view;
use super::seating;
use super::start::{Begin, begin, for_level, for_seats};
use super::urgency::{HURRY, crowding};
use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::Reason;

/// Begins it or its next part, once nothing else runs and what lay in L0 when it was asked for
/// has been merged.
pub(super) fn begin_all(now: &mut Observation) {
    let newest = now.tree.newest_in_level0();
    let asked_at = &mut now.state.compact_all_after;
    let after = *asked_at.get_or_insert(newest.unwrap_or(0));
    if newest.is_some_and(|newest| newest > after) {
        now.state.compact_all_by_levels();
    }
    if !is_quiet(now, after) {
        return;
    }
    let Some(from) = now.state.compact_all_from else {
        merge_from(now, LogicalLevel(1));
        return;
    };
    match occupied(now, from)[..] {
        [level, ..] if seats_first(now, level) => {}
        [level, into, ..] => lower(now, level, into),
        _ => merge_from(now, from),
    }
}

/// While it waits, levels that hold far more than they should are drained all the same: it may
/// wait for long where somebody writes without end.
pub(super) fn begin_crowded(now: &mut Observation) {
    for level in now.shape.layout.logical_levels().rev() {
        if crowding(now, level) >= HURRY
            && let Some(begun) = for_level(now, level)
        {
            begin(now, begun);
        }
    }
}

/// Whether nothing runs, and all that L0 holds is newer than this file. It need not be empty:
/// under writes without end it never is. What cannot be read there stays, and is not waited for.
fn is_quiet(seen: &Observation, after: u64) -> bool {
    let is_stuck = |place| !seating::is_readable(seen, place);
    let (level0, landing) = (PhysicalLevel::L0, PhysicalLevel::LANDING);
    seen.drains_begin
        && seen.state.drains.is_empty()
        && seen.in_flight.is_empty()
        && (is_stuck(level0) || seen.tree.level0().iter().all(|file| file.number > after))
        && (is_stuck(landing) || seen.tree.files(landing).is_empty())
}

/// The levels that hold runs, from this one on.
fn occupied(seen: &Observation, from: LogicalLevel) -> Vec<LogicalLevel> {
    let layout = &seen.shape.layout;
    let levels = layout.logical_levels().filter(|level| *level >= from);
    levels
        .filter(|level| !seen.tree.runs_of(layout, *level).is_empty())
        .collect()
}

/// Whether runs of a level go to their seats first: what comes in meanwhile needs slots above
/// them.
fn seats_first(seen: &Observation, level: LogicalLevel) -> bool {
    seating::moves_within(seen, level) || for_seats(seen, level).is_some()
}

/// The runs of a level become a new one of the next that holds any, so that none there is
/// rewritten.
fn lower(now: &mut Observation, level: LogicalLevel, into: LogicalLevel) {
    let below = view(now, into);
    let target = below.free_slot(now).or_else(|| below.receiver(now));
    let runs = now.tree.runs_of(&now.shape.layout, level);
    if let Some((top, target)) = runs.first().copied().zip(target) {
        begin(now, by_hand(top, target));
        now.state.compact_all_from = Some(into);
    }
}

/// The last part, or all of it: the runs of a level and of all below become one.
fn merge_from(now: &mut Observation, from: LogicalLevel) {
    now.state.compact_all = false;
    now.state.compact_all_after = None;
    now.state.compact_all_from = None;
    let layout = now.shape.layout;
    let is_left = |run: &PhysicalLevel| layout.logical(*run).is_some_and(|(at, _)| at >= from);
    let runs: Vec<_> = now.tree.runs().filter(is_left).collect();
    if let [top, .., target] = runs[..] {
        begin(now, by_hand(top, target));
    }
}

fn by_hand(top: PhysicalLevel, target: PhysicalLevel) -> Begin {
    Begin {
        top,
        target,
        range: None,
        reason: Reason::Manual,
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;
    use crate::testing::drawing::{parse, show};

    /// The drain that begins next, and whether more follow, where what lay above a level is in it.
    fn next(runs: &str, from: u16) -> (String, bool) {
        let came = begun(&format!("L0: 0-9 \n {runs}"), Some(from));
        let quiet = begun(runs, Some(from));
        assert_eq!(came, quiet, "L0 may be empty for a moment");
        quiet
    }

    /// The same of all that is drawn, of which L0 has come since.
    fn begun(runs: &str, from: Option<u16>) -> (String, bool) {
        let mut seen = parse(&format!("{runs} \n compact all")).expect("a drawing");
        seen.state.compact_all_after = Some(0);
        seen.state.compact_all_from = from.map(LogicalLevel);
        let planned = plan(&seen);
        let told = show(&seen, &planned);
        let begun = told.lines().find(|line| line.starts_with("begin"));
        let begun = begun.unwrap_or_default().to_owned();
        (begun, planned.state.compact_all)
    }

    #[test]
    fn where_somebody_writes_each_level_becomes_a_run_of_the_next() {
        let whole = "3.14: 0-99:5000 \n 3.15: 0-99:50000";
        let first = format!("1.14: 0-99:500 \n 1.15: 0-99:500 \n {whole}");
        let begins = "begin 1.14 -> 3.13: asked for by hand";
        assert_eq!(next(&first, 1), (begins.to_owned(), true));
        let last = format!("1.15: 0-99:400 \n 3.13: 0-99:1000 \n {whole}");
        let begins = "begin 3.13 -> 3.15: asked for by hand";
        assert_eq!(next(&last, 3), (begins.to_owned(), false), "no newer run");
    }

    #[test]
    fn whoever_asks_is_alone_until_somebody_writes() {
        let runs = "1.14: 0-99:500 \n 1.15: 0-99:500 \n 2.15: 0-99:5000";
        let begins = "begin 1.14 -> 2.15: asked for by hand";
        assert_eq!(begun(runs, None), (begins.to_owned(), false));
        let came = format!("L0: 0-9 \n {runs}");
        let begins = "begin 1.14 -> 2.14: asked for by hand";
        assert_eq!(begun(&came, None), (begins.to_owned(), true));
    }

    #[test]
    fn what_cannot_be_read_is_not_waited_for() {
        for above in ["landing: 0-9:5", "L0: 0-9"] {
            let drawn = format!(
                "{above} \n 1.14: 0-99:500 \n 2.15: 0-99:5000 \n unreadable 1 \n compact all"
            );
            let mut seen = parse(&drawn).expect("a drawing");
            seen.state.compact_all_after = Some(1);
            let told = show(&seen, &plan(&seen));
            let begins = "begin 1.14 -> 2.15: asked for by hand";
            assert!(told.contains(begins), "{above}: {told}");
        }
    }

    #[test]
    fn runs_go_to_their_seats_before_they_are_held() {
        let runs = "1.2: 0-99:500 \n 1.3: 0-99:500 \n 2.15: 0-99:5000";
        assert_eq!(next(runs, 1), (String::new(), true));
    }
}
