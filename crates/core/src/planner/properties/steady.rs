//! A tree in its steady state: how many runs it holds, what it rewrites, and what it takes
//! up.

use super::{FLUSH, flush_scattered, model};
use crate::layout::LogicalLevel;
use crate::plan::Reason;
use crate::schedule::DeepOrder;
use crate::shape::{RunLimit, RunLimits};
use crate::state::Drain;
use crate::testing::{ENTRY_BYTES, Model, small_shape};

/// Merges until nothing is left to do. `full` is told, after each decision, of the drains
/// that began because the level was full.
fn settle(model: &mut Model, level: LogicalLevel, mut full: impl FnMut(&Model, &[Drain])) {
    loop {
        let next = model.state.next_drain;
        model.plan();
        let begun = model.state.drains.iter().filter(|it| it.id.0 >= next);
        let because =
            |it: &Drain| matches!(it.reason, Reason::LevelFull { level: of, .. } if of == level);
        let begun: Vec<Drain> = begun.filter(|it| because(it)).cloned().collect();
        full(model, &begun);
        if model.running.is_empty() {
            return;
        }
        while !model.running.is_empty() {
            model.finish(0);
        }
    }
}

/// The runs of level 1 whenever it was full and began to be drained, over eight fillings.
/// Between two drains it never holds more than its limit.
fn runs_when_full(ratio: u16, limit: u16) -> Vec<usize> {
    let mut shape = small_shape();
    shape.size_ratio = u32::from(ratio);
    let runs = RunLimit::new(limit).expect("a legal limit");
    let mut model = Model::new(shape, RunLimits::uniform(runs));
    let mut drained = Vec::new();
    // A merge of L0 takes four flushes, and level 1 as many merges as the ratio says.
    for at in 0..8 * 4 * u32::from(ratio) {
        // No key comes twice: 100,003 is a prime.
        model.flush((0..FLUSH).map(|n| ((at * FLUSH + n) * 7_919 % 100_003, false)));
        settle(&mut model, LogicalLevel(1), |model, begun| {
            drained.extend(begun.iter().map(|_| model.runs(1).len()));
        });
        let rest = model.runs(1).len();
        assert!(
            rest <= usize::from(limit),
            "T {ratio}, limit {limit}: {rest}"
        );
    }
    model.check();
    drained
}

/// In the steady state a level fills up with exactly as many runs as its limit says, for
/// every limit up to the size ratio.
#[test]
fn the_steady_state_shows_the_run_limit() {
    for ratio in [2, 3, 5, 8, 10, 12] {
        for limit in 1..=ratio {
            let drained = runs_when_full(ratio, limit);
            let exact = drained.iter().all(|runs| *runs == usize::from(limit));
            assert!(
                exact && drained.len() >= 3,
                "T {ratio}, limit {limit}: {drained:?}"
            );
        }
    }
}

/// Where the ratio follows the data, a level fills up with as many runs as its limit says,
/// or as the ratio has inflows.
#[test]
fn the_steady_state_of_a_fitted_ratio_shows_the_run_limit() {
    for limit in 1..=10 {
        let mut shape = small_shape();
        shape.level_compaction_dynamic_level_bytes = true;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        let (mut drained, mut as_said, mut capped) = (0, 0, 0);
        for at in 0..1_500_u32 {
            flush_scattered(&mut model, at, 1_200);
            settle(&mut model, LogicalLevel(1), |model, begun| {
                let ratio = model.observation().shape.size_ratio;
                let most = usize::from(limit).min(ratio as usize);
                if at > 300 && !begun.is_empty() {
                    drained += 1;
                    as_said += usize::from(model.runs(1).len() == most);
                    capped += usize::from(most < usize::from(limit));
                }
            });
        }
        model.check();
        assert!(
            drained > 20 && as_said * 10 >= drained * 9,
            "limit {limit}: {as_said} of {drained}"
        );
        // The highest limit is mostly over the ratio that the data need, the lowest never.
        assert!(limit > 1 || capped == 0, "{capped}");
        assert!(limit < 10 || capped * 2 > drained, "{capped} of {drained}");
    }
}

/// A level of one run above the deepest stays near its capacity, in one run: it gives up a
/// few pieces at a time, and what is merged at once does not grow with it.
#[test]
fn a_single_run_goes_down_piece_by_piece_into_the_deepest_level() {
    let mut model = model(1);
    let (level, mut drains, mut settled) = (LogicalLevel(2), 0, 0);
    let capacity = model.shape.capacity(level);
    for at in 0..6_000_u32 {
        flush_scattered(&mut model, at, 20_000);
        settle(&mut model, level, |model, begun| {
            if !model.runs(3).is_empty() {
                assert!(begun.iter().all(|it| it.range.is_some()), "{begun:?}");
                drains += begun.len();
            }
        });
        if drains > 0 {
            let runs = model.runs(2);
            assert_eq!(runs.len(), 1, "{runs:?}");
            let bytes = runs[0] * ENTRY_BYTES;
            assert!(
                (capacity * 7 / 10..=capacity).contains(&bytes),
                "{bytes} of {capacity}"
            );
            settled += 1;
        }
    }
    assert!(drains > 100 && settled > 1_000, "{drains} {settled}");
    model.check();
}

/// More runs, fewer rewritten bytes.
#[test]
fn higher_limits_write_less() {
    let written = |limit| {
        let mut model = model(limit);
        for at in 0..1_000u32 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
        }
        model.written_bytes
    };
    let (one, three, ten) = (written(1), written(3), written(10));
    assert!(one > three && three > ten, "{one} {three} {ten}");
}

/// A ratio that fits the data writes less than one that leaves the deepest level a small part
/// full, and needs no more levels; a tree that grows comes to the same levels.
#[test]
fn a_ratio_that_fits_the_data_writes_less() {
    let grown = |dynamic, keys: u32| {
        let mut shape = small_shape();
        shape.level_compaction_dynamic_level_bytes = dynamic;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::ONE));
        for at in 0..3_000u32 {
            flush_scattered(&mut model, at, keys);
            model.settle(1_000);
        }
        model.check();
        let tree = model.tree();
        let deepest = tree.deepest_occupied(&model.shape.layout);
        (model.written_bytes, deepest)
    };
    for keys in [1_000, 6_000, 12_000] {
        let ((fixed, levels), (fitted, fitted_levels)) = (grown(false, keys), grown(true, keys));
        assert!(fitted * 100 < fixed * 97, "{keys}: {fitted} {fixed}");
        assert_eq!(fitted_levels, levels, "{keys}");
    }
}

/// With guards in place, pieces of a steady tree stay within their bound.
#[test]
fn steady_pieces_stay_within_their_bound() {
    for limit in [1, 4, 10] {
        let mut model = model(limit);
        let mut merged = 0;
        let mut excesses = 0;
        for at in 0..3_000u32 {
            flush_scattered(&mut model, at, 100_000);
            loop {
                model.plan();
                if model.running.is_empty() {
                    break;
                }
                let drained = || model.running.iter().filter(|plan| plan.drain.is_some());
                merged += drained().count();
                excesses += drained().filter(|plan| plan.excess.is_some()).count();
                while !model.running.is_empty() {
                    model.finish(0);
                }
            }
        }
        assert!(
            excesses * 50 <= merged,
            "limit {limit}: {excesses} of {merged}"
        );
    }
}

/// A paced level never holds much more than its capacity, and keeps what nothing comes
/// in for; it takes in and gives the same bytes as one that is drained at once.
#[test]
fn a_paced_level_gives_as_much_as_it_takes_in() {
    for limit in [1, 4, 10] {
        let mut model = model(limit);
        model.order.deep = DeepOrder::Paced;
        let mut kept = 0;
        for at in 0..3_000u32 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
            kept += usize::from(!model.state.drains.is_empty());
            for level in 1..=2 {
                let bytes = model.runs(level).iter().sum::<u64>() * ENTRY_BYTES;
                let capacity = model.shape.capacity(LogicalLevel(level));
                assert!(bytes <= capacity * 3 / 2, "limit {limit}, {level}: {bytes}");
            }
        }
        assert!(kept > 300, "limit {limit}: drains were kept {kept} times");
        model.order.deep = DeepOrder::All;
        model.settle(1_000);
        assert!(model.state.drains.is_empty());
        model.check();
    }
}

/// The bound on space holds after every settled flush but for what L0 alone may hold, also
/// where level 1 has room for the live data several times, or once.
#[test]
fn space_stays_within_its_bound() {
    for keys in [60, 300, 3_000] {
        let mut shape = small_shape();
        shape.max_space_amplification = 2.0;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(10)));
        let live = u64::from(keys) * ENTRY_BYTES;
        let most = 2 * live + model.shape.level0_bytes();
        for at in 0..2_000u32 {
            flush_scattered(&mut model, at, keys);
            model.settle(1_000);
            let total = model.tree().total_bytes();
            assert!(total <= most, "{total} of {live} after {at} flushes");
        }
        model.check();
    }
}

/// Bytes that merges write while nothing is overwritten, under a bound on space.
fn written_while_growing(bound: f64, flushes: u32) -> u64 {
    let mut shape = small_shape();
    shape.max_space_amplification = bound;
    let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(10)));
    for at in 0..flushes {
        // No key comes twice: 100,003 is a prime.
        model.flush((0..FLUSH).map(|n| ((at * FLUSH + n) * 7_919 % 100_003, false)));
        model.settle(1_000);
    }
    model.check();
    model.written_bytes
}

/// A bound of 3 costs a tree that only grows 1.6 times its bytes, however far it grows, and
/// somewhat more or less for how levels happen to be filled.
#[test]
fn a_tree_that_only_grows_is_merged_for_its_space_a_few_times() {
    for flushes in [30, 300, 1_500] {
        let bytes = u64::from(flushes * FLUSH) * ENTRY_BYTES;
        let (bounded, free) = (
            written_while_growing(3.0, flushes),
            written_while_growing(1e9, flushes),
        );
        assert!(bounded > free, "{flushes}: {bounded} and {free}");
        assert!(
            bounded <= free + 3 * bytes,
            "{flushes}: {bounded} and {free} for {bytes}"
        );
    }
}

/// Deleted data goes away although nothing else is written there.
#[test]
fn tombstones_reach_the_bottom() {
    let mut model = model(10);
    for at in 0..300u32 {
        model.flush((0..FLUSH).map(|n| (at * FLUSH + n, false)));
        model.settle(1_000);
    }
    for at in 0..300u32 {
        model.flush((0..FLUSH).map(|n| (at * FLUSH + n, true)));
        model.settle(1_000);
    }
    model.check();
    let left: u64 = model.tree().iter().map(|(_, file)| file.entries).sum();
    assert!(left < 600, "{left} entries left of 6000");
}

/// Writes come faster than level 1 is drained: its runs heap up. Pieces of what has been cut
/// meanwhile stay near their bound.
#[test]
fn pieces_of_an_overfull_level_stay_near_their_bound() {
    for limit in [1, 4] {
        let mut shape = small_shape();
        shape.level_compaction_dynamic_level_bytes = true;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        let (mut merged, mut excess, mut fullest) = (0, 0, 0);
        for at in 0..1_200u32 {
            for part in 0..4 {
                flush_scattered(&mut model, 4 * at + part, 20_000);
            }
            model.plan();
            if at > 400 {
                let bound = model.shape.piece_bytes(model.tree().total_bytes());
                let drained = model.running.iter().filter(|plan| plan.drain.is_some());
                for plan in drained {
                    merged += 1;
                    excess += usize::from(plan.input_bytes > bound * 3 / 2);
                }
                fullest = fullest.max(model.runs(1).len());
            }
            model.finish(0);
        }
        assert!(
            fullest > 2 * usize::from(limit),
            "{fullest}: nothing heaps up"
        );
        assert!(
            merged > 300 && excess * 50 <= merged,
            "{limit}: {excess} of {merged}"
        );
    }
}
