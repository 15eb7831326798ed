use lissom::ffi::filter::LevelBloom;
use lissom::ffi::perf::{Counts, Sample};
use lissom::ffi::statistics::Statistics;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::statistics::{Histogram, Ticker};

use crate::store::{LEVELS, Store, key, options};

fn count(work: impl FnOnce()) -> Counts {
    let mut counts = Counts::default();
    let sample = Sample::begin().expect("this thread counts nothing yet");
    work();
    sample.end(&mut counts);
    counts
}

/// Even keys at level 4, multiples of three in level 0.
fn two_levels() -> Store {
    let bloom = LevelBloom::new(&[12.0; LEVELS]).expect("valid bits");
    let mut options = options();
    bloom.install(&mut options).expect("the policy fits");
    let store = Store::open(&options);
    store.flush((0..2000).filter(|n| n % 2 == 0));
    store.compact(0, 4, false).expect("compaction");
    store.flush((0..2000).filter(|n| n % 3 == 0));
    // A file's first reader counts under the level it was opened at; open both
    // where they lie.
    let store = store.reopen(&options);
    // RocksDB does not count an empty memtable.
    store.db.put("z", "z").expect("put");
    store
}

#[test]
fn reads_are_counted_under_their_level() {
    let store = two_levels();
    let found_above = count(|| store.assert_reads([3, 9, 6].into_iter()));
    assert_eq!(found_above.levels.len(), 1, "{found_above:?}");
    assert_eq!(found_above.levels[0].level, 0);
    assert_eq!(found_above.levels[0].user_key_return_count, 3);
    assert_eq!(found_above.levels[0].bloom_filter_full_true_positive, 3);
    assert_eq!(found_above.totals.get_from_memtable_count, 3);
    assert_eq!(found_above.totals.get_read_bytes, 300);

    let found_below = count(|| store.assert_reads([2, 4, 8].into_iter()));
    let levels: Vec<_> = found_below.levels.iter().map(|l| l.level).collect();
    assert_eq!(levels, [0, 4]);
    assert_eq!(found_below.levels[0].user_key_return_count, 0);
    assert_eq!(
        found_below.levels[0].bloom_filter_useful
            + found_below.levels[0].bloom_filter_full_positive,
        3
    );
    assert_eq!(found_below.levels[1].user_key_return_count, 3);
    assert_eq!(found_below.levels[1].bloom_filter_full_true_positive, 3);

    let absent = count(|| {
        for n in (0..400).map(|n| n * 6 + 1).filter(|n| *n < 1900) {
            assert_eq!(store.db.get(key(n)).expect("get"), None);
        }
    });
    let asked = (0..400).map(|n| n * 6 + 1).filter(|n| *n < 1900).count() as u64;
    for level in &absent.levels {
        assert_eq!(
            level.bloom_filter_useful + level.bloom_filter_full_positive,
            asked,
            "{level:?}"
        );
        assert!(level.bloom_filter_useful > asked * 9 / 10, "{level:?}");
        assert_eq!(level.user_key_return_count, 0);
    }
    assert_eq!(absent.levels.len(), 2);
}

#[test]
fn only_what_happened_in_between_is_counted() {
    let store = two_levels();
    let first = count(|| store.assert_reads([3].into_iter()));
    store.assert_reads([3, 9].into_iter());
    let second = count(|| store.assert_reads([3].into_iter()));
    assert_eq!(
        first.levels[0].user_key_return_count,
        second.levels[0].user_key_return_count
    );
    assert_eq!(second.totals.get_from_memtable_count, 1);
    assert!(first.totals.block_read_count > 0, "{first:?}");
    assert_eq!(second.totals.block_read_count, 0, "the block is cached");
    assert!(second.levels[0].block_cache_hit_count > 0);
    assert_eq!(count(|| ()), Counts::default());
}

#[test]
fn an_application_keeps_its_own_perf_context() {
    let store = two_levels();
    set_perf_stats(PerfStatsLevel::Disable);
    let counts = count(|| store.assert_reads([3].into_iter()));
    assert_eq!(counts.totals.get_from_memtable_count, 1);
    let mut context = PerfContext::default();
    let before = context.metric(PerfMetric::GetFromMemtableCount);
    store.assert_reads([3].into_iter());
    assert_eq!(
        context.metric(PerfMetric::GetFromMemtableCount),
        before,
        "counting is off again"
    );
    set_perf_stats(PerfStatsLevel::EnableTime);
    context.reset();
    store.assert_reads([3].into_iter());
    count(|| store.assert_reads([3].into_iter()));
    assert_eq!(context.metric(PerfMetric::GetFromMemtableCount), 2);
    let mut counts = Counts::default();
    let sample = Sample::begin().expect("this thread counts nothing yet");
    store.assert_reads([3, 9].into_iter());
    context.reset();
    store.assert_reads([3].into_iter());
    sample.end(&mut counts);
    assert_eq!(counts.totals.get_from_memtable_count, 1);
    set_perf_stats(PerfStatsLevel::EnableCount);
}

#[test]
fn a_thread_counts_once_at_a_time() {
    let outer = Sample::begin().expect("this thread counts nothing yet");
    assert!(Sample::begin().is_none());
    assert!(
        std::thread::spawn(|| Sample::begin().is_some())
            .join()
            .expect("no panic"),
        "another thread counts for itself"
    );
    drop(outer);
    assert!(Sample::begin().is_some());
}

#[test]
fn more_levels_than_expected_are_all_returned() {
    let store = Store::open(&options());
    for level in 1..LEVELS as u32 {
        store.flush(0..10);
        store
            .compact(0, LEVELS as u32 - level, false)
            .expect("compaction");
    }
    let store = store.reopen(&options());
    let counts = count(|| assert_eq!(store.db.get(key(10)).expect("get"), None));
    assert_eq!(counts.levels, [], "the keys end at 9");
    let counts = count(|| assert_eq!(store.db.get("key000005x").expect("get"), None));
    assert_eq!(counts.levels.len(), LEVELS - 1, "{counts:?}");
    assert!(counts.levels.is_sorted_by_key(|level| level.level));
}

#[test]
fn statistics_are_read_through_the_database() {
    let mut options = options();
    options.enable_statistics();
    let store = Store::open(&options);
    store.flush(0..500);
    store.assert_reads(0..500);
    let statistics = Statistics::of(store.cf())
        .expect("the layout fits")
        .expect("they are on");
    for ticker in Ticker::iter() {
        assert_eq!(
            statistics.ticker(*ticker).expect("a ticker"),
            options.get_ticker_count(*ticker),
            "{}",
            ticker.name()
        );
    }
    assert_eq!(statistics.ticker(Ticker::NumberKeysRead), Ok(500));
    assert_eq!(statistics.ticker(Ticker::NumberKeysWritten), Ok(500));
    let gets = statistics.histogram(Histogram::DbGet).expect("a histogram");
    assert_eq!(gets.count, 500);
    assert!(gets.median > 0.0 && gets.max >= gets.percentile99);
    assert!(statistics.level() > 0);
    drop(store);
    assert_eq!(statistics.ticker(Ticker::NumberKeysRead), Ok(500));
}

#[test]
fn a_database_without_statistics_has_none() {
    let store = Store::open(&options());
    assert!(
        Statistics::of(store.cf())
            .expect("the layout fits")
            .is_none()
    );
}
