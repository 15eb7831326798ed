//! RocksDB's counters of the current thread, by physical level.

use std::marker::PhantomData;

use super::raw;

/// Counts of one physical level.
///
/// A file that was moved keeps counting its filter and its blocks under the level
/// at which RocksDB opened it, until it is opened anew; keys found count under the
/// level where the file lies.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// Physical level.
    pub level: u64,
    /// Point reads that a filter kept from a file.
    pub bloom_filter_useful: u64,
    /// Point reads that a filter let pass.
    pub bloom_filter_full_positive: u64,
    /// Point reads that a filter let pass and that found their key.
    pub bloom_filter_full_true_positive: u64,
    /// Keys found here.
    pub user_key_return_count: u64,
    /// Blocks found in the cache.
    pub block_cache_hit_count: u64,
    /// Blocks read from files.
    pub block_cache_miss_count: u64,
}

impl std::ops::AddAssign<&LevelCounts> for LevelCounts {
    /// Adds what the same level counted in another stretch of work.
    fn add_assign(&mut self, more: &LevelCounts) {
        self.bloom_filter_useful += more.bloom_filter_useful;
        self.bloom_filter_full_positive += more.bloom_filter_full_positive;
        self.bloom_filter_full_true_positive += more.bloom_filter_full_true_positive;
        self.user_key_return_count += more.user_key_return_count;
        self.block_cache_hit_count += more.block_cache_hit_count;
        self.block_cache_miss_count += more.block_cache_miss_count;
    }
}

/// Counts over all levels. RocksDB's names; bytes where the name says so.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // perf_context.h describes each field
pub struct Totals {
    pub block_cache_hit_count: u64,
    pub block_read_count: u64,
    pub block_read_byte: u64,
    pub data_block_read_byte: u64,
    pub index_block_read_count: u64,
    pub filter_block_read_count: u64,
    pub get_from_memtable_count: u64,
    pub seek_on_memtable_count: u64,
    pub seek_child_seek_count: u64,
    pub internal_key_skipped_count: u64,
    pub internal_delete_skipped_count: u64,
    pub bloom_sst_hit_count: u64,
    pub bloom_sst_miss_count: u64,
    pub get_read_bytes: u64,
    pub iter_read_bytes: u64,
}

/// What was counted; kept by the caller, who may use it again and again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Over all levels.
    pub totals: Totals,
    /// By level, ascending; only levels that counted something.
    pub levels: Vec<LevelCounts>,
}

/// Counting on the current thread, from [`Sample::begin`] until it is dropped.
///
/// An application may use RocksDB's perf context beside it: nothing of its own is
/// reset or lost, and the thread's perf level is restored.
pub struct Sample {
    // The counters belong to the thread: neither Send nor Sync.
    this_thread: PhantomData<*const ()>,
}

impl Sample {
    /// Starts counting. `None` where this thread is counting already (or where
    /// memory has run out).
    pub fn begin() -> Option<Self> {
        // SAFETY: touches only state of this thread.
        let began = unsafe { raw::lissom_perf_begin() } != 0;
        began.then_some(Self {
            this_thread: PhantomData,
        })
    }

    /// Ends counting, and puts what was counted since the start into `counts`.
    pub fn end(self, counts: &mut Counts) {
        let mut capacity = counts.levels.capacity().max(16);
        loop {
            counts.levels.clear();
            counts.levels.reserve(capacity);
            // SAFETY: there is room for `capacity` rows, which are plain numbers;
            // the sample is still active, for `self` is alive.
            let count = unsafe {
                raw::lissom_perf_read(&raw mut counts.totals, counts.levels.as_mut_ptr(), capacity)
            };
            if count <= capacity {
                // SAFETY: the call wrote the first `count` rows.
                unsafe { counts.levels.set_len(count) };
                return;
            }
            capacity = count;
        }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        // SAFETY: touches only state of this thread, on which the sample began.
        unsafe { raw::lissom_perf_end() };
    }
}
