use std::time::{Duration, Instant};

use lissom::ffi::rate_limit::RateLimiter;
use rust_rocksdb::{ErrorKind, SstFileManager};

use crate::store::{Store, options};

const KEYS: u32 = 60_000;

/// A database whose compactions take tens of seconds at the limiter's low rate.
fn slow(limiter: &RateLimiter) -> Store {
    let mut options = options();
    limiter.install(&mut options).expect("the layout fits");
    let store = Store::open(&options);
    store.flush(0..KEYS);
    store.flush(0..KEYS);
    limiter.set_bytes_per_second(500_000).expect("a rate");
    store
}

fn wait_until_compacting(store: &Store) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !store.files().iter().any(|file| file.being_compacted) {
        assert!(Instant::now() < deadline, "no compaction began");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_running_compaction_is_stopped_and_changes_nothing() {
    let limiter = RateLimiter::new(RateLimiter::UNLIMITED).expect("a rate");
    let store = slow(&limiter);
    let before = store.files();
    std::thread::scope(|scope| {
        let compaction = scope.spawn(|| store.compact(0, 3, false));
        wait_until_compacting(&store);
        let asked = Instant::now();
        let guard = store.cf().abort_compactions().expect("abort");
        let took = asked.elapsed();
        assert!(took < Duration::from_secs(10), "stopping took {took:?}");
        let error = compaction
            .join()
            .expect("no panic")
            .expect_err("it was stopped");
        assert_eq!(error.kind(), ErrorKind::Incomplete, "{error}");
        let again = store.compact(0, 3, false).expect_err("none are admitted");
        assert_eq!(again.kind(), ErrorKind::Incomplete, "{again}");
        assert_eq!(store.files(), before);
        // Flushes go on.
        limiter
            .set_bytes_per_second(RateLimiter::UNLIMITED)
            .expect("a rate");
        store.flush(0..10);
        let nested = store.cf().abort_compactions().expect("abort");
        drop(guard);
        assert!(store.compact(0, 3, false).is_err(), "one guard is left");
        drop(nested);
    });
    store.compact(0, 3, false).expect("compactions resume");
    assert_eq!(store.files_at(0), []);
    store.assert_reads((0..KEYS).step_by(97));
}

#[test]
fn the_rate_limit_moves_while_a_compaction_runs() {
    let limiter = RateLimiter::new(RateLimiter::UNLIMITED).expect("a rate");
    let store = slow(&limiter);
    let bytes: u64 = store.files().iter().map(|file| file.size).sum();
    std::thread::scope(|scope| {
        let compaction = scope.spawn(|| store.compact(0, 3, false));
        wait_until_compacting(&store);
        std::thread::sleep(Duration::from_millis(1500));
        assert!(!compaction.is_finished(), "the limit had no effect");
        limiter
            .set_bytes_per_second(RateLimiter::UNLIMITED)
            .expect("a rate");
        let lifted = Instant::now();
        compaction.join().expect("no panic").expect("compaction");
        let took = lifted.elapsed();
        let at_the_old_rate = Duration::from_secs(bytes / 500_000);
        assert!(
            took < at_the_old_rate / 2,
            "{took:?} of {at_the_old_rate:?}"
        );
    });
    // Flushes, and the compaction's reads and writes, all passed it.
    assert!(limiter.total_bytes() > bytes + bytes / 2);
}

#[test]
fn rates_are_kept_and_bad_ones_refused() {
    let limiter = RateLimiter::new(1_000_000).expect("a rate");
    assert_eq!(limiter.bytes_per_second(), 1_000_000);
    limiter.set_bytes_per_second(7).expect("a rate");
    assert_eq!(limiter.bytes_per_second(), 7);
    limiter.set_bytes_per_second(u64::MAX).expect("a rate");
    assert_eq!(limiter.bytes_per_second(), RateLimiter::UNLIMITED);
    let error = limiter.set_bytes_per_second(0).expect_err("no I/O at all");
    assert!(error.to_string().contains("at least 1"), "{error}");
    assert!(RateLimiter::new(0).is_err());
}

/// Where RocksDB gives it back by itself, nobody else may.
#[test]
fn space_that_a_move_reserves_stays_reserved_until_it_is_released() {
    let manager = SstFileManager::new();
    let mut options = options();
    options.set_sst_file_manager(&manager);
    let store = Store::open(&options);
    store.flush(0..500);
    store.compact(0, 3, false).expect("a merge");
    let allow = |bytes: u64| manager.set_max_allowed_space_usage(manager.get_total_size() + bytes);
    let is_reserved = || manager.is_max_allowed_space_reached_including_compactions();
    allow(1);
    assert!(!is_reserved(), "by a merge");
    allow(1 << 30);
    store.compact(3, 8, true).expect("a move");
    allow(1);
    assert!(is_reserved(), "RocksDB has mended it: do without");
    let moved: u64 = store.files_at(8).iter().map(|file| file.size).sum();
    store.cf().release_reserved_space(moved).expect("released");
    assert!(!is_reserved());
    // No more than there is.
    store.cf().release_reserved_space(moved).expect("released");
    assert!(!is_reserved());
    store.assert_reads(0..500);
}
