//! Which drains end, and which wishes with them.

use super::level::view;
use super::piece;
use super::start::{Begin, for_reads, wanted_by_reads};
use super::urgency;
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::plan::Reason;
use crate::shape::RunLimit;
use crate::state::Drain;

/// A drain ends when no source file is left; also when all that are left cannot be merged
/// without one that cannot be read, and nobody else compacts; and between two pieces when
/// nobody wants it to go on. Each piece leaves a legal tree behind, so what is left of the
/// sources are runs as before.
pub(super) fn end(now: &mut Observation) {
    // Once one has ended nobody may want another to go on.
    while end_those_over(now) {}
    drop_wishes(now);
}

/// Whether any has ended.
fn end_those_over(now: &mut Observation) -> bool {
    let over = |drain: &Drain| {
        let running = || now.in_flight.iter().any(|job| job.drain == Some(drain.id));
        // No other job of the planner's stands in the way of its pieces.
        let blocked = || {
            !now.unreadable.is_empty()
                && !now.in_flight.iter().any(|job| job.foreign)
                && piece::pieces(now, drain, 1).is_empty()
        };
        !running() && (!piece::has_sources(now, drain) || is_unwanted(now, drain) || blocked())
    };
    let (ended, left): (Vec<Drain>, Vec<Drain>) = now
        .state
        .drains
        .iter()
        .cloned()
        .partition(|drain| over(drain));
    // What was asked for while it went on was asked for the runs that it took.
    let over: Vec<LogicalLevel> = ended.iter().filter_map(|it| took(now, it)).collect();
    now.state.consolidate.retain(|level| !over.contains(level));
    now.state.push_down.retain(|level| !over.contains(level));
    let merged = |level: &LogicalLevel| Reason::Consolidate { level: *level };
    now.state
        .abandon
        .retain(|level| left.iter().any(|drain| drain.reason == merged(level)));
    now.state.drains = left;
    !ended.is_empty()
}

/// The level whose runs a drain that has ended took, for reads or because it was full.
fn took(now: &Observation, ended: &Drain) -> Option<LogicalLevel> {
    match ended.reason {
        Reason::Consolidate { level } => Some(level),
        Reason::LevelFull { level, .. } if !piece::has_sources(now, ended) => Some(level),
        _ => None,
    }
}

/// Several runs become one, and only a single run goes down, for a full level is drained without a
/// wish: one that the level at rest does not fit will not begin, and nothing waits for it. Nor for
/// one that is refused.
fn drop_wishes(now: &mut Observation) {
    let wanted = now.state.consolidate.iter().chain(&now.state.push_down);
    let refused = wanted.copied().filter(|level| is_refused(now, *level));
    let refused: Vec<LogicalLevel> = refused.collect();
    let fits = |level: &LogicalLevel, several: bool| {
        let here = view(now, *level);
        let as_asked = !here.at_rest() || (here.fresh.len() > 1) == several;
        as_asked && !refused.contains(level)
    };
    let (mut merged, mut down) = (now.state.consolidate.clone(), now.state.push_down.clone());
    merged.retain(|level| fits(level, true));
    down.retain(|level| fits(level, false));
    now.state.consolidate = merged;
    now.state.push_down = down;
    now.state.refused.extend(refused);
}

/// Whether what a tuner wants of a level might begin now, and may not. Its files have no common
/// cuts, as those of a run that came down as it was: reads can do without a merge of all that these
/// span. Or files that cannot be read leave nothing of it: of a level at rest no job holds any.
/// What is drained in any case is not refused, for the wish has its drain hurry.
fn is_refused(seen: &Observation, level: LogicalLevel) -> bool {
    let here = view(seen, level);
    let fails = |merge: Begin| !merge.gives(seen) || !is_cut(seen, &merge);
    here.at_rest() && !here.is_drained_anyway(seen) && for_reads(seen, &here).is_some_and(fails)
}

/// Whether no piece of a merge is larger than it should be.
fn is_cut(seen: &Observation, merge: &Begin) -> bool {
    let pieces = piece::pieces(seen, &merge.probe(), usize::MAX);
    pieces.iter().all(|piece| piece.excess.is_none())
}

/// Whether nobody wants a drain to go on: it begins no piece any more.
pub(super) fn is_unwanted(seen: &Observation, drain: &Drain) -> bool {
    seen.state.is_abandoned(drain) || gives_way(seen, drain) || leads_elsewhere(seen, drain)
}

/// Whether the drain of a full level would lead into a run of its own if it began now: the run
/// limit below was raised since, so that the run that receives counts as sealed even without what
/// the drain has brought. What is left would rewrite that run for nothing. Not where the
/// drain has begun that run: each piece would leave one of its own.
fn leads_elsewhere(seen: &Observation, drain: &Drain) -> bool {
    let Reason::LevelFull { level, bytes, .. } = drain.reason else {
        return false;
    };
    let Some((target, _)) = seen.shape.layout.logical(drain.target) else {
        return false;
    };
    if target == level || drain.begins_run || seen.state.limits.get(target) == RunLimit::ONE {
        return false;
    }
    let mut below = view(seen, target);
    let newest = below.fresh.first_mut();
    let Some(receiver) = newest.filter(|run| run.physical == drain.target) else {
        return false;
    };
    let brought = bytes.saturating_sub(drain.bytes_left(&seen.tree));
    receiver.bytes = receiver.bytes.saturating_sub(brought);
    below.sealed(seen) && below.free_slot(seen).is_some() && urgency::for_space(seen, drain) <= 0.0
}

/// Whether the drain of a full level ends between two pieces: the level is full no more, nothing
/// comes into it, and what is left of its runs is wanted as one, and can be. That rewrites them
/// alone, where the drain rewrites what they meet below, several times as much; it begins again
/// when the level is full. One that the bound on space needs goes on, and one that has begun the
/// run that it leads into: that may be the tree's oldest, and has to grow before the bound is kept.
fn gives_way(seen: &Observation, drain: &Drain) -> bool {
    let Reason::LevelFull { level, .. } = drain.reason else {
        return false;
    };
    let bytes = seen.tree.level_bytes(&seen.shape.layout, level);
    if !seen.state.consolidate.contains(&level)
        || drain.begins_run
        || seen.shape.is_full(level, bytes)
        || urgency::is_hurried(seen, drain)
        || urgency::for_space(seen, drain) > 0.0
    {
        return false;
    }
    let mut without = seen.clone();
    without.state.drains.retain(|it| it.id != drain.id);
    let here = view(&without, level);
    here.at_rest()
        && here.fresh.len() > 1
        && wanted_by_reads(&without, &here).is_some_and(|merge| is_cut(&without, &merge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawing::parse;

    /// Into its level came what another drain brought, which has nothing left to bring.
    #[test]
    fn a_drain_ends_with_the_one_that_kept_it_going() {
        let drawing = "
            limits 4
            2.14: 0-40:4
            2.15: 0-90:4
            3.15: 0-90:64
            draining-full 2.15 -> 3.15
            drain 1.13 -> 2.14";
        let mut seen = parse(drawing).expect("a drawing");
        seen.state.consolidate = vec![LogicalLevel(2)];
        let kept = &mut seen.clone();
        assert!(end_those_over(kept));
        assert_eq!(kept.state.drains.len(), 1, "nobody knew yet");
        end(&mut seen);
        assert_eq!(seen.state.drains, []);
        assert_eq!(seen.state.consolidate, [LogicalLevel(2)]);
    }

    /// What it has brought is the oldest run, of which the tree would be many times.
    #[test]
    fn a_drain_that_has_begun_the_run_below_goes_on() {
        let drawing = "
            limits 4
            2.14: 0-40:4
            2.15: 0-90:4
            3.15: 0-90:64
            draining-full 2.14 -> 3.15";
        let mut seen = parse(drawing).expect("a drawing");
        seen.state.consolidate = vec![LogicalLevel(2)];
        let ends = |seen: &Observation| end_those_over(&mut seen.clone());
        assert!(ends(&seen));
        seen.state.drains[0].begins_run = true;
        assert!(!ends(&seen));
    }
}
