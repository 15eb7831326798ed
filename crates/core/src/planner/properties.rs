//! What holds for every manifest, every limit and every order of events.

use proptest::prelude::*;

use crate::layout::{LogicalLevel, PhysicalLevel};
use crate::plan::Reason;
use crate::planner::with_limits;
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::{RunLimit, RunLimits, Transition};
use crate::state::Drain;
use crate::testing::{ENTRY_BYTES, Model, small_shape};

/// Entries that fill one memtable of the small shape.
const FLUSH: u32 = 10;

/// The default number of cases, unless the environment asks for another.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[derive(Clone, Debug)]
enum Step {
    /// Flush keys from here on, this far apart; deletes when set.
    Flush(u32, u32, bool),
    Plan,
    Finish(usize),
    Cancel(usize),
    Limit(u16, u16),
    Brake,
    Forget,
    CompactAll,
    Consolidate(u16),
    Abandon(u16),
    Unreadable(usize),
    Workers(usize),
    Pin(bool),
    Order(Level0Order, DeepOrder),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (0u32..400, 1u32..9, prop::bool::weighted(0.15)).prop_map(|(at, by, del)| Step::Flush(at, by, del)),
        12 => Just(Step::Plan),
        12 => any::<usize>().prop_map(Step::Finish),
        2 => any::<usize>().prop_map(Step::Cancel),
        2 => (1u16..4, 1u16..12).prop_map(|(level, runs)| Step::Limit(level, runs)),
        1 => Just(Step::Brake),
        1 => Just(Step::Forget),
        1 => Just(Step::CompactAll),
        1 => (1u16..4).prop_map(Step::Consolidate),
        1 => (1u16..4).prop_map(Step::Abandon),
        1 => any::<usize>().prop_map(Step::Unreadable),
        1 => (1usize..5).prop_map(Step::Workers),
        1 => any::<bool>().prop_map(Step::Pin),
        2 => (level0_order(), deep_order()).prop_map(|(level0, deep)| Step::Order(level0, deep)),
    ]
}

fn apply(model: &mut Model, step: &Step) {
    match step {
        Step::Flush(at, by, deleted) => {
            model.flush((0..FLUSH).map(|n| (at + n * by, *deleted)));
        }
        Step::Plan => {
            model.plan();
        }
        Step::Finish(at) => model.finish(*at),
        Step::Cancel(at) => model.cancel(*at),
        Step::Limit(level, runs) => {
            let mut limits = model.state.limits.clone();
            limits.set(LogicalLevel(*level), RunLimit::clamped(*runs));
            model.state = with_limits(&model.observation(), limits);
        }
        Step::Brake => model.brake(),
        Step::Forget => model.forget(),
        Step::CompactAll => model.state.compact_all = true,
        Step::Consolidate(level) => model.state.consolidate = vec![LogicalLevel(*level)],
        Step::Abandon(level) => model.state.abandon = vec![LogicalLevel(*level)],
        Step::Unreadable(at) => {
            let files: Vec<u64> = model.tree().iter().map(|(_, file)| file.number).collect();
            if let Some(file) = files.get(at % files.len().max(1)) {
                model.unreadable = [*file].into();
            }
        }
        Step::Workers(count) => model.workers = *count,
        Step::Pin(held) => model.pinned = *held,
        Step::Order(level0, deep) => {
            model.order.level0 = *level0;
            model.order.deep = *deep;
        }
    }
}

fn level0_order() -> impl Strategy<Value = Level0Order> {
    prop::sample::select(vec![
        Level0Order::Merge,
        Level0Order::MergeApart,
        Level0Order::Wait,
    ])
}

fn deep_order() -> impl Strategy<Value = DeepOrder> {
    prop_oneof![
        Just(DeepOrder::All),
        Just(DeepOrder::Paced),
        (0usize..3).prop_map(DeepOrder::AtMost),
    ]
}

fn transition() -> impl Strategy<Value = Transition> {
    prop::sample::select(vec![
        Transition::Flexible,
        Transition::Lazy,
        Transition::Greedy,
        Transition::FileGranular,
    ])
}

proptest! {
    // Longer: PROPTEST_CASES=5000 cargo test --release -p lissom-core
    #![proptest_config(ProptestConfig { cases: cases(48), ..ProptestConfig::default() })]

    /// Whatever happens, in whatever order: reads stay right, newer versions
    /// stay above older ones, and every plan passes the gate (both are asserted
    /// by the model).
    #[test]
    fn no_history_loses_or_reorders_data(
        steps in prop::collection::vec(step(), 1..300),
        limit in 1u16..12,
        ratio in 2u32..11,
        transition in transition(),
        bounded in any::<bool>(),
    ) {
        let mut shape = small_shape();
        shape.size_ratio = ratio;
        shape.transition = transition;
        if bounded {
            shape.max_space_amplification = 2.0;
        }
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in &steps {
            apply(&mut model, step);
            if matches!(step, Step::Brake | Step::Forget) {
                model.check();
            }
        }
        model.unreadable.clear();
        apply(&mut model, &Step::Order(Level0Order::Merge, DeepOrder::All));
        while !model.running.is_empty() {
            model.finish(0);
        }
        model.settle(2_000);
        model.check();
        let trigger = model.shape.level0_file_num_compaction_trigger as usize;
        prop_assert!(model.tree().level0().len() < trigger);
        prop_assert!(model.tree().files(PhysicalLevel::LANDING).is_empty());
        prop_assert!(model.state.drains.is_empty());
    }

    /// Under every transition pinned limits stay, whatever is drained, emptied or asked
    /// for meanwhile.
    #[test]
    fn pinned_limits_stay(
        before in prop::collection::vec(step(), 1..150),
        meanwhile in prop::collection::vec(step(), 1..150),
        limit in 1u16..12,
        transition in transition(),
    ) {
        let mut shape = small_shape();
        shape.transition = transition;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in &before {
            apply(&mut model, step);
        }
        model.pinned = true;
        let held = model.state.limits.clone();
        for step in meanwhile.iter().filter(|step| !matches!(step, Step::Pin(_))) {
            apply(&mut model, step);
            prop_assert_eq!(&model.state.limits, &held, "{:?}", step);
        }
        model.check();
    }

    /// Under the lazy transition only a level with runs may keep an old limit, and limits
    /// wait no longer than one does.
    #[test]
    fn lazy_limits_wait_for_runs_alone(
        steps in prop::collection::vec(step(), 1..300),
        limit in 1u16..12,
    ) {
        let mut shape = small_shape();
        shape.transition = Transition::Lazy;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        for step in steps.iter().filter(|step| !matches!(step, Step::Pin(_))) {
            apply(&mut model, step);
            // What is looked at before a plan is the tree of another moment.
            model.plan();
            let state = &model.state;
            let wanted = state.wanted_limits();
            let keeps = |level: &LogicalLevel| state.limits.get(*level) != wanted.get(*level);
            let keeping: Vec<_> = model.shape.layout.logical_levels().filter(keeps).collect();
            for level in &keeping {
                prop_assert!(!model.runs(level.0).is_empty(), "{}: {:?}", level, state);
            }
            prop_assert_eq!(state.waiting.is_some(), !keeping.is_empty(), "{:?}", state);
            prop_assert_eq!(state.limits.deeper, wanted.deeper);
        }
        model.check();
    }

    /// A consolidation may be given up after any of its pieces: reads stay right, no piece
    /// begins after it, and what is left is a tree like any other.
    #[test]
    fn a_consolidation_ends_after_any_piece(
        flushes in 60u32..300,
        level in 1u16..3,
        limit in 2u16..11,
        pieces in 0usize..12,
        writes_on in any::<bool>(),
    ) {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)));
        let flush = |model: &mut Model, at: u32| {
            model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 10_000, false)));
        };
        for at in 0..flushes {
            flush(&mut model, at);
            model.settle(1_000);
        }
        model.state.consolidate = vec![LogicalLevel(level)];
        model.plan();
        for _ in 0..pieces {
            model.finish(0);
            model.plan();
        }
        model.state.consolidate.clear();
        model.state.abandon = vec![LogicalLevel(level)];
        let is_merge = |drain: &Drain| matches!(drain.reason, Reason::Consolidate { .. });
        let kept = model.running.clone();
        model.plan();
        let begun = model.running.iter().filter(|plan| !kept.contains(plan));
        let on = begun.filter(|plan| matches!(plan.reason, Reason::Consolidate { .. }));
        prop_assert_eq!(on.count(), 0);
        while !model.running.is_empty() {
            model.finish(0);
        }
        model.check();
        model.plan();
        prop_assert!(!model.state.drains.iter().any(is_merge), "{:?}", model.state.drains);
        prop_assert!(model.state.abandon.is_empty());
        let more = if writes_on { 100 } else { 0 };
        for at in 0..more {
            flush(&mut model, flushes + at);
            model.plan();
            model.finish(0);
        }
        model.settle(2_000);
        model.check();
        prop_assert!(model.state.drains.is_empty());
    }

    /// Any legal manifest, with no memory of how it came about, has an
    /// admissible plan while L0 is over its trigger, and comes to rest.
    #[test]
    fn any_manifest_over_its_trigger_has_a_plan(
        runs in prop::collection::vec((1u16..194, 0u32..300, 1u32..20, 1u32..120), 0..30),
        limit in 1u16..12,
        level0 in 4usize..12,
    ) {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)));
        let mut deepest_first = runs;
        deepest_first.sort_by_key(|(level, ..)| std::cmp::Reverse(*level));
        for (level, at, by, count) in deepest_first {
            model.place(PhysicalLevel(level), (0..count).map(|n| at + n * by));
        }
        for at in 0..level0 {
            model.flush((0..FLUSH).map(|n| (at as u32 * 3 + n * 7, false)));
        }
        for _ in 0..3 {
            let planned = model.plan();
            prop_assert!(planned > 0 || !model.running.is_empty(), "no plan: {:?}", model.tree());
            while !model.running.is_empty() {
                model.finish(0);
            }
            if model.tree().level0().len() < 4 {
                break;
            }
        }
        model.settle(2_000);
        model.check();
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
        loop {
            let next = model.state.next_drain;
            model.plan();
            let begun = model.state.drains.iter().filter(|drain| drain.id.0 >= next);
            let full = begun.filter(|drain| {
                let level = LogicalLevel(1);
                matches!(drain.reason, Reason::LevelFull { level: which, .. } if which == level)
            });
            drained.extend(full.map(|_| model.runs(1).len()));
            if model.running.is_empty() {
                break;
            }
            while !model.running.is_empty() {
                model.finish(0);
            }
        }
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

/// More runs, fewer rewritten bytes.
#[test]
fn higher_limits_write_less() {
    let written = |limit| {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)));
        for at in 0..1_000u32 {
            model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
            model.settle(1_000);
        }
        model.written_bytes
    };
    let (one, three, ten) = (written(1), written(3), written(10));
    assert!(one > three && three > ten, "{one} {three} {ten}");
}

/// With guards in place, pieces of a steady tree stay within their bound.
#[test]
fn steady_pieces_stay_within_their_bound() {
    for limit in [1, 4, 10] {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)));
        let mut merged = 0;
        let mut excesses = 0;
        for at in 0..3_000u32 {
            model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
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
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(limit)));
        model.order.deep = DeepOrder::Paced;
        let mut kept = 0;
        for at in 0..3_000u32 {
            model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
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

/// The bound on space holds after every settled flush.
#[test]
fn space_stays_within_its_bound() {
    let mut shape = small_shape();
    shape.max_space_amplification = 2.0;
    let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(10)));
    for at in 0..4_000u32 {
        model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 3_000, false)));
        model.settle(1_000);
    }
    model.check();
    let live = 3_000 * ENTRY_BYTES;
    let total = model.tree().total_bytes();
    assert!(
        total <= 2 * live + model.shape.capacity(LogicalLevel(1)),
        "{total} of {live}"
    );
}

/// Deleted data goes away although nothing else is written there.
#[test]
fn tombstones_reach_the_bottom() {
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(10)));
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

/// Compacting by hand leaves one run, and the request is then done.
#[test]
fn compacting_all_leaves_one_run() {
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(7)));
    for at in 0..500u32 {
        model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
        model.settle(1_000);
    }
    model.state.compact_all = true;
    model.settle(2_000);
    model.check();
    assert_eq!(model.tree().runs().count(), 1);
    assert!(model.tree().level0().is_empty() && !model.state.compact_all);
}

/// A flush comes before every look: L0 is never seen empty.
#[test]
fn compacting_all_comes_about_while_somebody_writes() {
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(4)));
    let flush = |model: &mut Model, at: u32| {
        model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
    };
    for at in 0..500 {
        flush(&mut model, at);
        model.settle(1_000);
    }
    let runs = model.tree().runs().count();
    assert!(runs > 1, "there is nothing to merge");
    model.state.compact_all = true;
    let mut begun = false;
    for at in 500..1_000 {
        flush(&mut model, at);
        model.plan();
        model.finish(0);
        let drains = &model.state.drains;
        begun |= drains.iter().any(|drain| drain.reason == Reason::Manual);
    }
    assert!(begun, "it waits for an empty L0: {:?}", model.tree());
    assert!(!model.state.compact_all);
    model.settle(2_000);
    model.check();
}

/// Levels that are to be consolidated go down one by one, the last into one run,
/// and then nothing is left to do.
#[test]
fn consolidating_level_by_level_leaves_one_run() {
    let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(7)));
    for at in 0..270u32 {
        model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
        model.settle(1_000);
    }
    let deepest = 2;
    assert!(model.runs(1).len() + model.runs(2).len() > 2 && model.runs(3).is_empty());
    for level in [1, 2, 2] {
        model.state.consolidate = vec![LogicalLevel(level)];
        model.settle(2_000);
        model.check();
        assert!(model.runs(1).is_empty());
    }
    assert_eq!(model.runs(deepest).len(), 1);
    assert_eq!(model.tree().runs().count(), 1);
}

/// A consolidation that is given up half way has written less than a whole one, and the
/// level keeps the runs that were left.
#[test]
fn what_is_abandoned_is_not_merged() {
    let after = |pieces: Option<usize>| {
        let mut model = Model::new(small_shape(), RunLimits::uniform(RunLimit::clamped(10)));
        model.workers = 1;
        for at in 0..100u32 {
            model.flush((0..FLUSH).map(|n| ((at * 7919 + n * 104_729) % 100_000, false)));
            model.settle(1_000);
        }
        let before = model.written_bytes;
        model.state.consolidate = vec![LogicalLevel(1)];
        if let Some(pieces) = pieces {
            for _ in 0..pieces {
                model.plan();
                model.finish(0);
            }
            model.state.abandon = vec![LogicalLevel(1)];
        }
        model.settle(2_000);
        model.check();
        (model.written_bytes - before, model.runs(1).len())
    };
    let (whole, none, one) = (after(None), after(Some(0)), after(Some(1)));
    assert!(whole.0 > 0 && whole.1 == 0, "{whole:?}");
    // It is wanted still, and begins once nothing of it is under way.
    assert_eq!(none, whole, "nothing had begun");
    assert!(one.0 < whole.0 && one.1 > 0, "{one:?} {whole:?}");
}

/// A flexible change of limits rewrites nothing; a greedy one merges down.
#[test]
fn only_a_greedy_transition_acts_at_once() {
    for (transition, acts) in [
        (Transition::Flexible, false),
        (Transition::Lazy, false),
        (Transition::FileGranular, false),
        (Transition::Greedy, true),
    ] {
        let mut shape = small_shape();
        shape.transition = transition;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::ONE));
        for at in 0..20u32 {
            model.flush((0..FLUSH).map(|n| (at * 100 + n * 7, false)));
            model.settle(1_000);
        }
        model.state = with_limits(
            &model.observation(),
            RunLimits::uniform(RunLimit::clamped(10)),
        );
        assert_eq!(model.plan() > 0, acts, "{transition:?}");
    }
}
