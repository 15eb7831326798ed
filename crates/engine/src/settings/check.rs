//! Legal ranges. One sentence for each mistake.

use lissom_core::filters::FilterAllocation;
use lissom_core::tuner::Policy;

use super::{KIB, MIB, Settings, workers};
use crate::error::{Error, Result};

/// What RocksDB still adds to without overflow, as where it shares a cache out among shards.
const MOST_BYTES: u64 = i64::MAX as u64;

/// A petabyte: planning multiplies it by the files of a piece.
const MOST_FILE_BYTES: u64 = 1 << 50;

impl Settings {
    /// Whether every setting is in its range.
    ///
    /// # Errors
    /// [`ErrorKind::Fix`](crate::ErrorKind::Fix) with the first setting that is
    /// not, what it is, and what it may be.
    pub fn check(&self) -> Result<()> {
        self.check_tree()?;
        self.check_level0()?;
        self.check_schedule()?;
        self.check_memory()?;
        self.check_work()?;
        self.check_records()?;
        check_filters(&self.policy, self.filters)
    }

    fn check_tree(&self) -> Result<()> {
        within("size_ratio", u64::from(self.size_ratio), 2, 100)?;
        within(
            "target_file_size_base",
            self.target_file_size_base,
            4 * KIB,
            MOST_FILE_BYTES,
        )?;
        at_least("max_files", self.max_files, 100)?;
        if !(self.max_space_amplification >= 1.1 && self.max_space_amplification.is_finite()) {
            return Err(illegal(
                "max_space_amplification",
                self.max_space_amplification,
                "a number of at least 1.1",
            ));
        }
        if !(self.tombstone_share > 0.0 && self.tombstone_share <= 1.0) {
            return Err(illegal(
                "tombstone_share",
                self.tombstone_share,
                "a share above 0 and at most 1",
            ));
        }
        within("block_size", self.block_size, 512, 16 * MIB)?;
        if self.compression.is_empty() {
            return Err(illegal(
                "compression",
                "empty",
                "at least one entry; the last one holds for all deeper levels",
            ));
        }
        Ok(())
    }

    fn check_level0(&self) -> Result<()> {
        let trigger = self.level0_file_num_compaction_trigger;
        let slowdown = self.level0_slowdown_writes_trigger;
        at_least("level0_file_num_compaction_trigger", u64::from(trigger), 1)?;
        at_least(
            "level0_slowdown_writes_trigger",
            u64::from(slowdown),
            u64::from(trigger) + 1,
        )?;
        within(
            "level0_stop_writes_trigger",
            u64::from(self.level0_stop_writes_trigger),
            u64::from(slowdown),
            1 << 20,
        )
    }

    fn check_schedule(&self) -> Result<()> {
        if let Some(files) = self.max_level0_files {
            within(
                "max_level0_files",
                u64::from(files),
                u64::from(self.level0_file_num_compaction_trigger),
                u64::from(self.level0_slowdown_writes_trigger) - 1,
            )?;
        }
        at_least("max_delayed_bytes", self.max_delayed_bytes, 1)?;
        if let Some(rate) = self.device_bytes_per_second {
            at_least("device_bytes_per_second", rate, MIB)?;
        }
        if let Some(rate) = self.full_load_bytes_per_second {
            at_least("full_load_bytes_per_second", rate, 64 * KIB)?;
        }
        within(
            "schedule_interval in milliseconds",
            self.schedule_interval.as_millis() as u64,
            100,
            60_000,
        )
    }

    fn check_memory(&self) -> Result<()> {
        within(
            "write_buffer_size",
            self.write_buffer_size,
            64 * KIB,
            64 << 30,
        )?;
        within(
            "max_write_buffer_number",
            u64::from(self.max_write_buffer_number),
            2,
            1_000,
        )?;
        within(
            "memory_budget_bytes",
            self.memory_budget_bytes,
            self.write_buffer_bytes() + MIB,
            MOST_BYTES,
        )?;
        if !(0.0..=100.0).contains(&self.bloom_bits_per_key) {
            return Err(illegal(
                "bloom_bits_per_key",
                self.bloom_bits_per_key,
                "a number from 0 to 100",
            ));
        }
        Ok(())
    }

    fn check_work(&self) -> Result<()> {
        within("workers", self.workers as u64, 1, workers::MOST as u64)?;
        within(
            "max_subcompactions",
            u64::from(self.max_subcompactions),
            1,
            64,
        )?;
        within(
            "compaction_readahead_size",
            self.compaction_readahead_size,
            4 * KIB,
            64 * MIB,
        )?;
        within(
            "writable_file_max_buffer_size",
            self.writable_file_max_buffer_size,
            4 * KIB,
            64 * MIB,
        )?;
        let rate = self.delete_rate_bytes_per_second;
        if (1..MIB).contains(&rate) {
            let range = format!("0 or at least {MIB}");
            return Err(illegal("delete_rate_bytes_per_second", rate, &range));
        }
        self.rate_limit_bytes_per_second
            .map_or(Ok(()), check_rate_limit)
    }

    fn check_records(&self) -> Result<()> {
        check_exploration(self.exploration)?;
        check_write_amplification(self.max_write_amplification)?;
        at_least("mission_operations", self.mission_operations, 1)?;
        within(
            "mission_time in milliseconds",
            self.mission_time.as_millis() as u64,
            10,
            3_600_000,
        )?;
        at_least("max_journal_bytes", self.max_journal_bytes, 64 * KIB)
    }
}

/// Whether a policy is for a tree with such filters: at open, and when it is set.
///
/// # Errors
/// As [`Settings::check`].
pub(crate) fn check_filters(policy: &Policy, filters: FilterAllocation) -> Result<()> {
    if policy.filters().is_none_or(|needed| needed == filters) {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the policy {policy} is for Monkey's filters, and the setting filters is uniform: set it \
         to monkey, or leave -monkey out of the policy, which then goes by the filters"
    )))
}

/// Whether a learner may be told to explore so much: at open, and in a replay.
///
/// # Errors
/// As [`Settings::check`].
pub(crate) fn check_exploration(share: f64) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    let range = "a share of the missions from 0 to 1";
    Err(illegal("exploration", share, range))
}

/// Whether what a learner has merged for the reads' sake may be bounded so: at open, and in a
/// replay.
///
/// # Errors
/// As [`Settings::check`].
pub(crate) fn check_write_amplification(bound: Option<f64>) -> Result<()> {
    match bound {
        Some(times) if !(times >= 0.0 && times.is_finite()) => Err(illegal(
            "max_write_amplification",
            times,
            "a number of at least 0, or leave it absent for no bound",
        )),
        _ => Ok(()),
    }
}

/// Whether a rate limit is in its range: at open, and when it is changed. Under much
/// less a memtable takes hours to flush, and all writes wait for it.
///
/// # Errors
/// As [`Settings::check`].
pub(crate) fn check_rate_limit(bytes_per_second: u64) -> Result<()> {
    within(
        "rate_limit_bytes_per_second",
        bytes_per_second,
        64 * KIB,
        MOST_BYTES,
    )
}

fn at_least(name: &str, value: u64, least: u64) -> Result<()> {
    if value >= least {
        Ok(())
    } else {
        Err(illegal(name, value, &format!("at least {least}")))
    }
}

fn within(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(illegal(name, value, &format!("from {least} to {most}")))
    }
}

fn illegal(name: &str, value: impl std::fmt::Display, legal: &str) -> Error {
    Error::fix(format!("the setting {name} is {value}: choose {legal}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::workers_under;
    use super::*;
    use crate::apply::SettingsText;

    fn says(change: impl FnOnce(&mut Settings), sentence: &str) {
        let mut settings = Settings::default();
        change(&mut settings);
        let error = settings.check().expect_err(sentence).to_string();
        assert_eq!(error, sentence);
    }

    #[test]
    fn the_defaults_are_legal() {
        Settings::default().check().expect("legal defaults");
    }

    #[test]
    fn each_mistake_names_the_setting_and_its_range() {
        says(
            |settings| settings.size_ratio = 1,
            "the setting size_ratio is 1: choose from 2 to 100",
        );
        says(
            |settings| settings.max_space_amplification = f64::NAN,
            "the setting max_space_amplification is NaN: choose a number of at least 1.1",
        );
        says(
            |settings| settings.level0_slowdown_writes_trigger = 4,
            "the setting level0_slowdown_writes_trigger is 4: choose at least 5",
        );
        says(
            |settings| settings.memory_budget_bytes = 0,
            "the setting memory_budget_bytes is 0: choose from 135266304 to 9223372036854775807",
        );
        says(
            |settings| settings.memory_budget_bytes = u64::MAX,
            "the setting memory_budget_bytes is 18446744073709551615: choose from \
             135266304 to 9223372036854775807",
        );
        says(
            |settings| settings.target_file_size_base = u64::MAX / 25,
            "the setting target_file_size_base is 737869762948382064: choose from \
             4096 to 1125899906842624",
        );
        says(
            |settings| settings.rate_limit_bytes_per_second = Some(1),
            "the setting rate_limit_bytes_per_second is 1: choose from 65536 to 9223372036854775807",
        );
        says(
            |settings| settings.delete_rate_bytes_per_second = 1,
            "the setting delete_rate_bytes_per_second is 1: choose 0 or at least 1048576",
        );
        says(
            |settings| settings.full_load_bytes_per_second = Some(0),
            "the setting full_load_bytes_per_second is 0: choose at least 65536",
        );
        says(
            |settings| settings.schedule_interval = Duration::from_millis(99),
            "the setting schedule_interval in milliseconds is 99: choose from 100 to 60000",
        );
        says(
            |settings| settings.exploration = 1.5,
            "the setting exploration is 1.5: choose a share of the missions from 0 to 1",
        );
        says(
            |settings| settings.max_write_amplification = Some(f64::INFINITY),
            "the setting max_write_amplification is inf: choose a number of at least 0, or leave \
             it absent for no bound",
        );
        says(
            |settings| settings.workers = 0,
            "the setting workers is 0: choose from 1 to 64",
        );
        says(
            |settings| settings.compression.clear(),
            "the setting compression is empty: choose at least one entry; the last one holds for all deeper levels",
        );
    }

    #[test]
    fn what_merges_for_reads_may_write_is_a_number_or_not_bounded() {
        for legal in [None, Some(0.0), Some(0.5), Some(1e9)] {
            check_write_amplification(legal).expect("legal");
        }
        for odd in [f64::NAN, -1.0, f64::INFINITY] {
            check_write_amplification(Some(odd)).expect_err("no bound");
        }
    }

    #[test]
    fn a_policy_for_monkeys_filters_is_refused_without_them() {
        let sentence = "the policy lerp-monkey is for Monkey's filters, and the setting filters \
                        is uniform: set it to monkey, or leave -monkey out of the policy, which \
                        then goes by the filters";
        let policy = |name: &str| name.parse::<Policy>().expect("a policy");
        says(|settings| settings.policy = policy("lerp-monkey"), sentence);
        for name in ["lerp", "lerp-monkey", "learned"] {
            let settings = Settings {
                policy: policy(name),
                filters: FilterAllocation::Monkey,
                ..Settings::default()
            };
            settings.check().expect("Monkey's filters serve all");
        }
        let wanted = SettingsText::parse("{\"policy\": \"lerp-monkey\"}");
        let wanted = wanted.expect("legal beside some filters");
        let uniform = Settings::default();
        assert_eq!(
            wanted.over(&uniform).expect_err("uniform").to_string(),
            sentence
        );
        let monkey = Settings {
            filters: FilterAllocation::Monkey,
            ..uniform
        };
        assert_eq!(wanted.over(&monkey).expect("legal").filters, monkey.filters);
    }

    #[test]
    fn rocksdb_gets_room_for_all_workers() {
        for workers in 1..=64 {
            let settings = Settings {
                workers,
                ..Settings::default()
            };
            let jobs = settings.max_background_jobs();
            assert_eq!(workers_under(jobs), workers);
            assert!(jobs >= workers + 2);
        }
    }
}
