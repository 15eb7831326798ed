//! What waits below L0 besides the drains that have begun.

use super::level::{View, view};
use super::start::gives_pieces;
use super::urgency::crowding;
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::shape::RunLimit;

/// What full levels owe that no drain takes yet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Waiting {
    /// Bytes that merges will read and write until no level is full.
    pub bytes: u64,
    /// Bytes that they read and write in the long run for each that comes into level 1.
    pub per_byte: f64,
    /// How far the fullest level is on its way to where its drain goes on under any order: 0 at its
    /// capacity, 1 there.
    pub crowding: f64,
}

/// What waits below L0.
///
/// From level 1 down: what a full level gives is read and written once, and with it the part of the
/// run below that it meets, keys being spread alike. It goes on from there where that fills the
/// next level. What the deepest level gives is moved into an empty one. RocksDB's estimate of
/// pending compaction bytes is the same for one run a level; here the whole of a level goes down
/// but where it [gives pieces](gives_pieces).
///
/// In the long run each byte goes down all levels, with a byte of the run below for as many bytes of
/// its own level as that holds when it is full: sum of 2 * (1 + active / capacity), the active run
/// half full on the mean (RusKey 4.1: T / 2K), but for a single run of the deepest level, which is
/// never emptied. What is overwritten on the way is not taken off.
pub fn waiting_below_level0(seen: &Observation) -> Waiting {
    let mut waiting = Waiting::default();
    let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) else {
        return waiting;
    };
    let mut from_above = 0;
    for level in (1..deepest.0).map(LogicalLevel) {
        let here = view(seen, level);
        let bytes = here.bytes() + from_above;
        from_above = given(seen, &here, bytes);
        let met = met(seen, &here, from_above as f64 / bytes.max(1) as f64);
        waiting.bytes += 2 * (from_above + met);
        let active = usual_active(seen, level.next(), deepest);
        waiting.per_byte += 2.0 * (1.0 + active / seen.shape.capacity(level) as f64);
        waiting.crowding = waiting.crowding.max(crowding(seen, level));
    }
    waiting
}

/// Of so many bytes of a level, those that it gives.
fn given(seen: &Observation, here: &View, bytes: u64) -> u64 {
    match seen.shape.is_full(here.level, bytes) {
        false => 0,
        true if gives_pieces(seen, here) => bytes - seen.shape.full_at(here.level),
        true => bytes,
    }
}

/// Bytes of the run below that such a share of a level's keys meets: none where a run of its own
/// begins.
fn met(seen: &Observation, here: &View, share: f64) -> u64 {
    let below = view(seen, here.level.next());
    let active = below.fresh.first().filter(|_| !below.sealed(seen));
    active.map_or(0, |run| (run.bytes as f64 * share) as u64)
}

/// Bytes that the run of a level which receives has on the mean.
fn usual_active(seen: &Observation, level: LogicalLevel, deepest: LogicalLevel) -> f64 {
    let runs = seen.tree.runs_of(&seen.shape.layout, level);
    let bytes: u64 = runs.iter().map(|run| seen.tree.bytes(*run)).sum();
    let limit = seen.state.limits.get(level);
    if level == deepest && limit == RunLimit::ONE {
        return bytes as f64;
    }
    let full = seen.shape.capacity(level) as f64 / f64::from(limit.get());
    full.min(bytes as f64) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::drawing::parse;

    fn of(drawing: &str) -> Waiting {
        waiting_below_level0(&parse(drawing).expect("a drawing"))
    }

    #[test]
    fn a_tree_without_a_full_level_owes_nothing() {
        assert_eq!(of(""), Waiting::default());
        assert_eq!(
            of("1.15: 0-90:9000").bytes,
            0,
            "the deepest level is moved down"
        );
        assert_eq!(of("1.15: 0-90:3000 \n 2.15: 0-90:9000").bytes, 0);
    }

    #[test]
    fn a_full_level_is_merged_with_the_run_that_receives_it() {
        let full = of("1.15: 0-90:4000 \n 2.15: 0-90:9000");
        assert_eq!(full.bytes, 2 * (4_000 + 9_000));
        let runs = of("limits 4 \n 1.14: 0-90:2000 \n 1.15: 0-90:2000 \n 2.15: 0-90:10000");
        assert_eq!(runs.bytes, 2 * 4_000, "the run below is sealed");
    }

    #[test]
    fn what_fills_the_next_level_goes_on() {
        let both = of("1.15: 0-90:4000 \n 2.15: 0-90:37000 \n 3.15: 0-90:90000");
        let from_level2 = 41_000 - 38_000;
        let met = 90_000 * from_level2 / 41_000;
        assert_eq!(both.bytes, 2 * (4_000 + 37_000) + 2 * (from_level2 + met));
    }

    #[test]
    fn what_a_drain_takes_is_told_elsewhere() {
        let drained = "2.15: 0-90:9000 \n draining-full 1.15 -> 2.15";
        assert_eq!(of(&format!("1.15: 0-90:4000 \n {drained}")).bytes, 0);
        let on_top = of(&format!("1.14: 0-90:4000 \n 1.15: 0-90:4000 \n {drained}"));
        assert!(on_top.bytes >= 2 * 4_000, "{on_top:?}");
    }

    /// Levels of 4,000 and 40,000 bytes.
    #[test]
    fn a_byte_goes_down_all_levels() {
        let of = |limits: &str| {
            let runs = "1.15: 0-90:10 \n 2.15: 0-90:40000 \n 3.15: 0-90:100000";
            of(&format!("limits {limits} \n {runs}")).per_byte
        };
        assert_eq!(of("1"), 2.0 * (1.0 + 5.0) + 2.0 * (1.0 + 2.5));
        assert_eq!(of("4"), 2.0 * (1.0 + 1.25) + 2.0 * (1.0 + 1.25));
        let shallow = parse("1.15: 0-90:4000").expect("a drawing");
        assert_eq!(
            waiting_below_level0(&shallow).per_byte,
            0.0,
            "moved, not merged"
        );
    }

    #[test]
    fn crowding_is_where_no_order_holds() {
        let with = |bytes: u64| of(&format!("1.15: 0-90:{bytes} \n 2.15: 0-90:9000")).crowding;
        assert_eq!((with(4_000), with(8_000), with(12_000)), (0.0, 0.5, 1.0));
    }
}
