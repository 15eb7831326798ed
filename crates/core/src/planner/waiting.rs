//! What waits below L0 besides the drains that have begun.

use super::level::{View, keeps_its_run, view};
use super::start::{gives_pieces, may_give_pieces};
use super::urgency::crowding;
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::shape::{RunLimit, Transition};
use crate::state::Drain;

/// What full levels owe that no drain takes yet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Waiting {
    /// Bytes that merges will read and write until no level is full.
    pub bytes: u64,
    /// Bytes that they read and write in the long run for each that comes into level 1.
    pub per_byte: f64,
    /// How far the fullest level is on its way to where its drain goes on under any order: 0 at its
    /// capacity, 1 there, or once it has hardly a slot left.
    pub crowding: f64,
}

/// What waits below L0.
///
/// From level 1 down: what a full level gives is read and written once, and with it the part of the
/// run below that it meets, keys being spread alike. It goes on from there where that fills the
/// next level, as does what a begun drain brings. The whole of a level goes down but where it gives
/// pieces. A single run of the deepest level is moved into an empty one.
///
/// In the long run each byte goes down all levels, with a byte of the run below for as many bytes of
/// its own level as that holds when it is full: sum of 2 * (1 + active / capacity), the active run
/// half full on the mean (RusKey 4.1: T / 2K), but for a single run that is never emptied. What is
/// overwritten on the way is not taken off.
pub fn waiting_below_level0(seen: &Observation) -> Waiting {
    let mut waiting = Waiting::default();
    let Some(deepest) = seen.tree.deepest_occupied(&seen.shape.layout) else {
        return waiting;
    };
    let mut from_above = 0;
    for level in (1..=deepest.0).map(LogicalLevel) {
        let here = view(seen, level);
        let is_moved = here.fresh.len() <= 1 && !seen.moves_rewrite;
        if level == deepest && is_moved {
            break;
        }
        let begun = Begun::of(seen, level);
        let bytes = (here.bytes() + from_above).saturating_sub(begun.of_range);
        let gives = given(seen, &here, bytes);
        let met = met(seen, &here, gives as f64 / bytes.max(1) as f64);
        waiting.bytes += 2 * (gives + met);
        waiting.crowding = waiting.crowding.max(crowding(seen, level).min(1.0));
        if level < deepest {
            let active = usual_active(seen, level.next(), deepest);
            let capacity = seen.shape.capacity(level).max(1);
            waiting.per_byte += 2.0 * (1.0 + active / capacity as f64);
        }
        from_above = gives + begun.left;
    }
    waiting
}

/// What begun drains take from a level into the next.
struct Begun {
    left: u64,
    /// Of that, what is of a range of its keys: the level's runs hold it still.
    of_range: u64,
}

impl Begun {
    fn of(seen: &Observation, level: LogicalLevel) -> Begun {
        let layout = &seen.shape.layout;
        let (first, last) = layout.span(level);
        let takes = |drain: &&Drain| (first..=last).contains(&drain.top) && drain.target > last;
        let mut begun = Begun {
            left: 0,
            of_range: 0,
        };
        for drain in seen.state.drains.iter().filter(takes) {
            let left = drain.bytes_left(&seen.tree);
            begun.left += left;
            if keeps_its_run(seen, level, drain) {
                begun.of_range += left;
            }
        }
        begun
    }
}

/// Of so many bytes of a level, those that it gives.
fn given(seen: &Observation, here: &View, bytes: u64) -> u64 {
    let by_files = seen.shape.transition == Transition::FileGranular;
    match seen.shape.is_full(here.level, bytes) {
        false => 0,
        true if by_files || gives_pieces(seen, here) => bytes - seen.shape.full_at(here.level),
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
    let limit = seen.state.limits.get(level);
    let full = seen.shape.capacity(level) as f64 / f64::from(limit.get());
    if level < deepest {
        let stays_full = may_give_pieces(&seen.state.limits, level, Some(deepest));
        return if stays_full { full } else { full / 2.0 };
    }
    let bytes = seen.tree.level_bytes(&seen.shape.layout, level) as f64;
    match limit {
        RunLimit::ONE => bytes,
        _ => full.min(bytes) / 2.0,
    }
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
        assert_eq!(of("1.15: 0-90:3000 \n 2.15: 0-90:9000").bytes, 0);
    }

    #[test]
    fn the_deepest_level_is_moved_down_where_it_is_one_run_that_may() {
        assert_eq!(of("1.15: 0-90:9000"), Waiting::default());
        let runs = of("limits 2 \n 1.14: 0-90:4000 \n 1.15: 0-90:4000");
        assert_eq!((runs.bytes, runs.per_byte), (2 * 8_000, 0.0));
        assert_eq!(runs.crowding, 0.5);
        assert_eq!(of("1.15: 0-90:9000 \n moves rewrite").bytes, 2 * 9_000);
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
        let below = "2.15: 0-90:37000 \n 3.15: 0-90:90000";
        let from_level2 = 41_000 - 38_000;
        let met = 90_000 * from_level2 / 41_000;
        let goes_on = 2 * (from_level2 + met);
        let both = of(&format!("1.15: 0-90:4000 \n {below}"));
        assert_eq!(both.bytes, 2 * (4_000 + 37_000) + goes_on);
        let begun = of(&format!(
            "1.15: 0-90:4000 \n {below} \n draining-full 1.15 -> 2.15"
        ));
        assert_eq!(begun.bytes, goes_on, "the rest is the drain's");
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
        assert_eq!(of("1"), 2.0 * (1.0 + 10.0) + 2.0 * (1.0 + 2.5));
        assert_eq!(of("4"), 2.0 * (1.0 + 1.25) + 2.0 * (1.0 + 1.25));
    }

    #[test]
    fn crowding_is_where_no_order_holds() {
        let with = |bytes: u64| of(&format!("1.15: 0-90:{bytes} \n 2.15: 0-90:9000")).crowding;
        assert_eq!(
            [4_000, 8_000, 12_000, 20_000].map(with),
            [0.0, 0.5, 1.0, 1.0]
        );
    }
}
