//! Settings from what someone expects of the store.

use lissom_core::robust::{Expectation, Tuned};
use lissom_core::tuner::{Learning, Policy};

use super::{KIB, MIB, Settings};
use crate::error::{Error, Result};

/// Under one bit per key a filter costs more than it saves.
const LEAST_FILTER_BITS: f64 = 1.0;

/// No memtable is smaller.
const LEAST_WRITE_BUFFER: u64 = 64 * KIB;

impl Settings {
    /// These settings with the robust tuning for an expected workload: size
    /// ratio, write buffers, L0's trigger, filters and run limits; the least
    /// worst case among the tunings that the tree can hold
    /// ([`Expectation::tune_held`]). The limits hold for ever, or, with the policy
    /// `learned`, until it knows better.
    ///
    /// The model merges what the write buffers hold into level 1. Here that is
    /// `max_write_buffer_number` memtables, so L0's trigger is that number, and a
    /// memtable is that part of the model's buffer, rounded up; filter bits are
    /// rounded down.
    ///
    /// ```
    /// use lissom::Settings;
    /// use lissom::core::robust::Expectation;
    ///
    /// let workload = "z0=10,z1=40,q=10,w=40".parse()?;
    /// let expected = Expectation::new(workload, 10_000_000, 1024, 64 << 20);
    /// let settings = Settings::default().expecting(&expected)?;
    /// settings.check()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When a figure makes no sense, or the expected memory leaves no room for
    /// blocks in `memory_budget_bytes`.
    pub fn expecting(mut self, expected: &Expectation) -> Result<Settings> {
        let room = self.memory_budget_bytes.saturating_sub(MIB);
        if expected.memory_bytes > room {
            return Err(Error::fix(format!(
                "write buffers and filters of {} bytes leave no room for blocks in a memory \
                 budget of {}: raise memory_budget_bytes or lower memory_bytes",
                expected.memory_bytes, self.memory_budget_bytes
            )));
        }
        let tuned = expected
            .tune_held()
            .map_err(|error| Error::fix(error.to_string()))?;
        self.filters = expected.filters;
        self.tuned(&tuned)
    }

    /// These settings with a tuning that was found elsewhere, as
    /// [`Settings::expecting`] takes its own.
    ///
    /// # Errors
    /// When the tree cannot hold it, or a setting leaves its range.
    pub fn tuned(mut self, tuned: &Tuned) -> Result<Settings> {
        let limits = tuned
            .tuning
            .run_limits(tuned.levels)
            .map_err(|error| Error::fix(error.to_string()))?;
        let memtables = u64::from(self.max_write_buffer_number);
        let buffer_bytes = (tuned.buffer_bits / 8.0).ceil() as u64;
        self.policy = match self.policy {
            Policy::Learned(learning) => Policy::Learned(Learning {
                start: limits,
                ..learning
            }),
            _ => Policy::Fixed(limits),
        };
        self.size_ratio = tuned.tuning.size_ratio as u32;
        self.level_compaction_dynamic_level_bytes = false;
        self.write_buffer_size = buffer_bytes.div_ceil(memtables).max(LEAST_WRITE_BUFFER);
        self.level0_file_num_compaction_trigger = self.max_write_buffer_number;
        self.bloom_bits_per_key = filter_bits(tuned.tuning.filter_bits_per_entry);
        self.check()?;
        Ok(self)
    }
}

/// Whole tenths of a bit, as RocksDB prints them, and none where they are too
/// few.
pub(crate) fn filter_bits(model: f64) -> f64 {
    if model < LEAST_FILTER_BITS {
        0.0
    } else {
        (model * 10.0).floor() / 10.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is trusted.
    fn expected(workload: &str) -> Expectation {
        let workload = workload.parse().expect("shares");
        Expectation {
            divergence: 0.0,
            ..Expectation::new(workload, 10_000_000, 1024, 12_500_000)
        }
    }

    #[test]
    fn more_writes_admit_more_runs() {
        let of = |workload| {
            let settings = Settings::default().expecting(&expected(workload));
            settings
                .expect("a tuning")
                .policy
                .first_limits()
                .get(lissom_core::LogicalLevel(1))
        };
        assert!(of("z0=1,z1=1,q=1,w=97") > of("z0=33,z1=33,q=33,w=1"));
    }

    #[test]
    fn the_learner_begins_with_the_robust_limits() {
        let expected = expected("z0=1,z1=1,q=1,w=97");
        let limits = |policy: &str| {
            let settings = Settings {
                policy: policy.parse().expect("a policy"),
                ..Settings::default()
            };
            let policy = settings.expecting(&expected).expect("a tuning").policy;
            (policy.learns(), policy.first_limits())
        };
        let (learns, begins) = limits("learned");
        assert!(learns);
        assert_eq!((false, begins), limits("fixed-1"));
    }

    #[test]
    fn the_memory_is_kept() {
        for workload in ["z0=49,z1=49,q=1,w=1", "w=97,z0=1,z1=1,q=1"] {
            let expected = expected(workload);
            let settings = Settings::default().expecting(&expected).expect("a tuning");
            let filters = settings.bloom_bits_per_key * expected.entries as f64 / 8.0;
            let used = filters as u64 + settings.write_buffer_bytes();
            assert!(used <= expected.memory_bytes + 2, "{used}: {settings:?}");
        }
    }

    /// A size ratio of 2 would cost less, in 17 levels.
    #[test]
    fn no_more_levels_are_expected_than_the_tree_has() {
        let workload = "q=40,w=60".parse().expect("shares");
        let deep = Expectation {
            divergence: 0.0,
            ..Expectation::new(workload, 250_000_000, 4096, 12_500_000)
        };
        let settings = Settings::default().expecting(&deep).expect("a tuning");
        assert_eq!(settings.size_ratio, 3);
    }

    #[test]
    fn memory_beyond_the_budget_is_refused() {
        let settings = Settings {
            memory_budget_bytes: 12_500_000,
            ..Settings::default()
        };
        let error = settings
            .expecting(&expected("w=100"))
            .expect_err("too much")
            .to_string();
        assert!(error.contains("raise memory_budget_bytes"), "{error}");
    }
}
