//! L0 merged by itself: it costs no more than it must, and goes on for ever.

use proptest::prelude::*;

use super::histories::cases;
use super::steps::{limit, ratio};
use super::{flush_scattered, model};
use crate::schedule::{DeepOrder, Level0Order};
use crate::shape::{RunLimit, RunLimits, Shape};
use crate::testing::{Model, small_shape};

/// Bytes that merges write while level 1 takes in seven inflows of the ten that it holds, with
/// a limit of one run.
fn written(order: Level0Order) -> u64 {
    let mut model = model(1);
    model.order.level0 = order;
    for at in 0..28 {
        flush_scattered(&mut model, at, 100_000);
        model.settle(1_000);
    }
    model.check();
    model.written_bytes
}

/// While there are slots nothing is rewritten but what was flushed.
#[test]
fn merging_level_0_by_itself_writes_each_byte_once() {
    let (apart, merged) = (
        written(Level0Order::MergeApart),
        written(Level0Order::Merge),
    );
    // 28 memtables of 100 bytes; keys that come twice are written once.
    assert!((2_500..=2_800).contains(&apart), "{apart}");
    assert!(merged > 2 * apart, "{merged} {apart}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(24), ..ProptestConfig::default() })]

    /// Slots get few long before a level is full where the ratio is high. L0 is merged
    /// whenever it is due all the same, under an order that never changes.
    #[test]
    fn merging_level_0_by_itself_never_comes_to_a_stop(
        limit in limit(),
        ratio in ratio(),
        paced in any::<bool>(),
    ) {
        let shape = Shape { size_ratio: ratio, ..small_shape() };
        let trigger = shape.level0_file_num_compaction_trigger as usize;
        let mut model = Model::new(shape, RunLimits::uniform(RunLimit::clamped(limit)));
        model.order.level0 = Level0Order::MergeApart;
        model.order.deep = if paced { DeepOrder::Paced } else { DeepOrder::All };
        for at in 0..200 {
            flush_scattered(&mut model, at, 100_000);
            model.settle(1_000);
            let files = model.tree().level0().len();
            prop_assert!(files < trigger, "{} files after {} flushes", files, at + 1);
        }
        model.check();
    }
}
