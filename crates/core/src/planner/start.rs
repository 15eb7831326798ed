//! Which drains begin.

use super::end::end;
use super::leftovers::{drain_from, for_leftovers};
use super::level::{View, view};
use super::limits::taken_up;
use super::space::for_space;
use super::urgency::{HURRY, crowding};
use super::{besides_level0, everything, level0, piece, seating};
use crate::guards::Guards;
use crate::key::Key;
use crate::layout::{Layout, LogicalLevel, PhysicalLevel};
use crate::observation::Observation;
use crate::plan::Reason;
use crate::shape::{RunLimit, RunLimits, Transition};
use crate::state::{Drain, DrainId, TreeState};
use crate::tree::File;

/// New runs have at least this many slots while a level is drained.
const SLOTS_KEPT: u16 = 2;

/// The planner's memory after waiting limits were taken up and drains were ended and begun.
pub(super) fn drains(seen: &Observation) -> TreeState {
    let mut now = seen.clone();
    (now.state.limits, now.state.waiting) = taken_up(&now, None);
    end(&mut now);
    if now.state.compact_all {
        everything::begin_all(&mut now);
    }
    if now.state.compact_all {
        everything::begin_crowded(&mut now);
        return now.state;
    }
    if let Some(begun) = for_space(&now) {
        begin(&mut now, begun);
    }
    for level in now.shape.layout.logical_levels().rev() {
        if let Some(begun) = for_level(&now, level) {
            begin(&mut now, begun);
        }
    }
    now.state
}

/// A drain to begin, without its id.
pub(super) struct Begin {
    pub top: PhysicalLevel,
    pub target: PhysicalLevel,
    pub range: Option<(Key, Key)>,
    pub reason: Reason,
}

impl Begin {
    /// The drain that it would be, for a look at its pieces.
    pub fn probe(&self) -> Drain {
        Drain {
            id: DrainId(0),
            top: self.top,
            target: self.target,
            range: self.range.clone(),
            begins_run: false,
            reason: self.reason.clone(),
        }
    }

    /// Whether any of it could be merged now.
    pub fn has_pieces(&self, seen: &Observation) -> bool {
        !piece::pieces(seen, &self.probe(), 1).is_empty()
    }

    /// Whether files that cannot be read leave any of it to merge.
    pub fn gives(&self, seen: &Observation) -> bool {
        seen.unreadable.is_empty() || self.has_pieces(seen)
    }
}

pub(super) fn begin(now: &mut Observation, begin: Begin) {
    if !now.drains_begin {
        return;
    }
    let drain = Drain {
        id: DrainId(now.state.next_drain),
        top: begin.top,
        target: begin.target,
        range: begin.range,
        begins_run: now.tree.files(begin.target).is_empty(),
        reason: begin.reason,
    };
    let intersects =
        |top: PhysicalLevel, bottom: PhysicalLevel| top <= drain.target && drain.top <= bottom;
    let free = !now
        .in_flight
        .iter()
        .any(|job| intersects(job.top, job.output))
        && !now
            .state
            .drains
            .iter()
            .any(|other| intersects(other.top, other.target));
    // Files of tombstones follow each other, and L0 would wait for all of them. A full level is soon
    // under its capacity, since nothing comes in meanwhile.
    let tombstones = matches!(drain.reason, Reason::Tombstones { .. });
    let level0_first =
        tombstones && level0::goes_before(now, &drain) && crowding(now, LogicalLevel(1)) < HURRY;
    if !free || level0_first || piece::pieces(now, &drain, 1).is_empty() {
        return;
    }
    // What waits for a level to be merged waits while its runs go to their seats.
    if let Some((level, _)) = now.shape.layout.logical(drain.top)
        && !drain.reason.is_reseat()
    {
        now.state.forced.retain(|forced| *forced != level);
        now.state.consolidate.retain(|wanted| *wanted != level);
        now.state.push_down.retain(|wanted| *wanted != level);
        (now.state.limits, now.state.waiting) = taken_up(now, Some(level));
        if let Some((_, high)) = &drain.range {
            set_cursor(&mut now.state, level, high.clone());
        }
    }
    refresh_guards(now);
    now.state.next_drain += 1;
    now.state.drains.push(drain);
}

fn set_cursor(state: &mut TreeState, level: LogicalLevel, key: Key) {
    let at = usize::from(level.0) - 1;
    if state.cursors.len() <= at {
        state.cursors.resize(at + 1, None);
    }
    state.cursors[at] = Some(key);
}

/// Guards follow the largest run, once it is more than one piece.
fn refresh_guards(now: &mut Observation) {
    let largest = now.tree.runs().max_by_key(|run| now.tree.bytes(*run));
    if let Some(run) = largest
        && now.tree.bytes(run) > now.shape.piece_bytes(now.tree.total_bytes())
    {
        now.state.guards = Guards::build(now.tree.files(run), &now.state.guards);
    }
}

/// The drain that a level needs for itself. What is left of a tuner's wishes is not refused.
pub(super) fn for_level(seen: &Observation, level: LogicalLevel) -> Option<Begin> {
    let here = view(seen, level);
    if !here.at_rest() || here.fresh.is_empty() {
        return None;
    }
    let begun = if here.is_drained_anyway(seen) {
        in_any_case(seen, &here)
    } else {
        for_reads(seen, &here)
            .or_else(|| for_seats(seen, level))
            .or_else(|| for_tombstones(seen, &here))
    };
    begun.or_else(|| for_leftovers(seen, &here))
}

/// The drain of a level that is drained whatever a tuner wants of it.
fn in_any_case(seen: &Observation, here: &View) -> Option<Begin> {
    let level = here.level;
    if !seen.state.forced.contains(&level) {
        return for_capacity(seen, here);
    }
    let reason = Reason::Transition { level };
    drain_from(seen, here, |top| down(seen, here, top, reason.clone()))
}

/// Where moves rewrite, a run goes to its seat piece by piece, and only once new runs have
/// hardly a slot left.
pub(super) fn for_seats(seen: &Observation, level: LogicalLevel) -> Option<Begin> {
    if !seen.moves_rewrite {
        return None;
    }
    let (run, target) = seating::seat(seen, level, SLOTS_KEPT + 1)?;
    Some(Begin {
        top: run.physical,
        target,
        range: None,
        reason: Reason::Reseat { level },
    })
}

/// The run that takes a level's runs without becoming one more, sealed or not: so
/// tombstones meet what they hide. In the deepest level that is the oldest run.
fn into_existing(seen: &Observation, here: &View) -> Option<PhysicalLevel> {
    if seen.tree.deepest_occupied(&seen.shape.layout) == Some(here.level) {
        return here.fresh.last().map(|run| run.physical);
    }
    let below = view(seen, here.level.next());
    let existing = below.fresh.first().filter(|_| !below.inbound);
    existing
        .map(|run| run.physical)
        .or_else(|| below.receiver(seen))
}

/// What a tuner wants for the reads' sake, once the level's runs have their seats.
pub(super) fn for_reads(seen: &Observation, here: &View) -> Option<Begin> {
    if seating::moves_within(seen, here.level) {
        return None;
    }
    wanted_by_reads(seen, here)
}

/// What a tuner wants for the reads' sake: a level's runs become one, which rewrites no more
/// than they hold, but for runs in the slots that are kept for what comes in; or its only run
/// goes down. Where there are several by now, or one is left, it is not what was asked for.
pub(super) fn wanted_by_reads(seen: &Observation, here: &View) -> Option<Begin> {
    let asks = |levels: &[LogicalLevel]| levels.contains(&here.level);
    let (top, target) = match here.fresh[..] {
        [_, .., oldest] if asks(&seen.state.consolidate) => {
            (drainable(seen, here)?, oldest.physical)
        }
        [only] if asks(&seen.state.push_down) => (only.physical, into_existing(seen, here)?),
        _ => return None,
    };
    (top < target).then_some(Begin {
        top,
        target,
        range: None,
        reason: Reason::Consolidate { level: here.level },
    })
}

fn for_capacity(seen: &Observation, here: &View) -> Option<Begin> {
    if seating::moves_within(seen, here.level) {
        return None;
    }
    let reason = Reason::LevelFull {
        level: here.level,
        bytes: here.bytes(),
        capacity: seen.shape.capacity(here.level),
    };
    let mut begin = drain_from(seen, here, |top| down(seen, here, top, reason.clone()))?;
    if seen.shape.transition == Transition::FileGranular {
        begin.range = next_range(seen, here.level, &begin, 1);
    } else if gives_pieces(seen, here) {
        let pieces = besides_level0(seen.workers);
        begin.range = next_range(seen, here.level, &begin, pieces);
    }
    Some(begin)
}

/// Whether a full level gives up a few pieces, until it is under its capacity, rather
/// than all it has: it and the deepest level, which is the next one, hold one run each.
///
/// What merges into the deepest level rewrite depends on its size and not on how much comes
/// at once, so it may as well be little. A level between is the cheaper to merge into the
/// emptier it was left. Level 1 would keep L0 waiting for each piece.
pub(super) fn gives_pieces(seen: &Observation, here: &View) -> bool {
    may_give_pieces(&seen.state.limits, here.level, deepest(seen))
        && here.fresh.len() == 1
        && view(seen, here.level.next()).fresh.len() == 1
}

/// The same by limits and the deepest occupied level alone, whatever the levels hold now. Such a
/// level stays full.
pub(crate) fn may_give_pieces(
    limits: &RunLimits,
    level: LogicalLevel,
    deepest: Option<LogicalLevel>,
) -> bool {
    let next = level.next();
    let of_one = |level| limits.get(level) == RunLimit::ONE;
    level.0 > 1 && deepest == Some(next) && of_one(level) && of_one(next)
}

fn deepest(seen: &Observation) -> Option<LogicalLevel> {
    seen.tree.deepest_occupied(&seen.shape.layout)
}

/// The keys of the next pieces of a drain that is to begin, behind those that its level
/// gave up last.
fn next_range(
    seen: &Observation,
    level: LogicalLevel,
    begin: &Begin,
    pieces: usize,
) -> Option<(Key, Key)> {
    let cursors = &seen.state.cursors;
    let cursor = cursors.get(usize::from(level.0) - 1);
    let behind = cursor.and_then(Option::as_ref);
    piece::range(seen, &begin.probe(), behind, pieces)
}

/// The newest run of a level that a drain takes; a merge of everything takes them all.
pub(super) fn drainable(seen: &Observation, here: &View) -> Option<PhysicalLevel> {
    let runs: Vec<PhysicalLevel> = here.fresh.iter().map(|run| run.physical).collect();
    drained(&seen.shape.layout, here.level, &runs)
        .first()
        .copied()
}

/// Those of a level's runs, the newest first, that a drain takes. Runs in the lowest slots stay
/// behind if there are others, so that new runs have a slot meanwhile.
pub(crate) fn drained<'a>(
    layout: &Layout,
    level: LogicalLevel,
    runs: &'a [PhysicalLevel],
) -> &'a [PhysicalLevel] {
    let (first, _) = layout.span(level);
    let newest = runs.iter().position(|run| run.0 >= first.0 + SLOTS_KEPT);
    &runs[newest.unwrap_or(0)..]
}

/// A drain from `top` into the next level; at the deepest level, into the
/// level's own oldest run.
pub(super) fn down(
    seen: &Observation,
    here: &View,
    top: PhysicalLevel,
    reason: Reason,
) -> Option<Begin> {
    let target = if here.level == seen.shape.layout.deepest() {
        here.fresh.last().map(|run| run.physical)
    } else {
        view(seen, here.level.next()).receiver(seen)
    }?;
    (top < target).then_some(Begin {
        top,
        target,
        range: None,
        reason,
    })
}

/// A drain of files full of tombstones, as many as one piece takes. They are small, and many of
/// them lie over one file of an older run, which would be rewritten for each. Where a file that
/// cannot be read bars the way of some, others go.
fn for_tombstones(seen: &Observation, here: &View) -> Option<Begin> {
    let mut tombstones = tombstones(seen, here).peekable();
    tombstones.peek()?;
    let existing = into_existing(seen, here)?;
    tombstones.find_map(|(run, files)| {
        let (first, last) = files.first().zip(files.last())?;
        let reason = Reason::Tombstones {
            file: first.number,
            share: first.deletion_share(),
        };
        let all = Begin {
            top: run,
            target: Some(existing).filter(|target| run < *target)?,
            range: Some((first.smallest.clone(), last.largest.clone())),
            reason,
        };
        let range = Some(piece::range(seen, &all.probe(), None, 1)?);
        Some(Begin { range, ..all })
    })
}

/// The files full of tombstones, with their run, if anything older lies below for them to hide: by
/// turns all that lie side by side.
fn tombstones<'a>(
    seen: &'a Observation,
    here: &View,
) -> impl Iterator<Item = (PhysicalLevel, &'a [File])> {
    let oldest = seen.tree.runs().next_back();
    let full = |file: &File| file.deletion_share() >= seen.shape.tombstone_share;
    let runs = here.fresh.iter().map(|run| run.physical);
    runs.filter(move |run| Some(*run) < oldest)
        .flat_map(move |run| {
            let files = seen.tree.files(run);
            let beside = files.chunk_by(move |file, next| full(file) == full(next));
            let full_ones = beside.filter(move |files| files.iter().all(full));
            full_ones.map(move |files| (run, files))
        })
}
