//! Lissom's settings from names and values.

use lissom::core::filters::FilterAllocation;
use lissom::core::schedule::ScheduleKind;
use lissom::core::tuner::Policy;
use lissom::{Compression, Settings};
use lissom_search::space::{Configuration, Setting};

use crate::error::{BenchError, Result};
use crate::trial::plan::Limits;

/// The settings of a configuration on top of what all trials share.
///
/// # Errors
/// A setting that is unknown, of the wrong kind, or outside its range.
pub(super) fn settings(configuration: &Configuration, limits: &Limits) -> Result<Settings> {
    if limits.base.is_some() {
        return Err(BenchError::new(
            "--base is for stock RocksDB: Lissom's settings are no options of RocksDB; leave it out",
        ));
    }
    let mut settings = Settings {
        use_direct_reads: limits.direct_io,
        use_direct_io_for_flush_and_compaction: limits.direct_io,
        rate_limit_bytes_per_second: limits.rate_limit,
        ..Settings::default()
    };
    if let Some(bytes) = limits.memory {
        settings.memory_budget_bytes = bytes;
    }
    for (name, setting) in configuration.iter() {
        set(&mut settings, name, setting).map_err(|error| error.at(name))?;
    }
    settings.check().map_err(BenchError::from)?;
    Ok(settings)
}

fn set(settings: &mut Settings, name: &str, value: &Setting) -> Result<()> {
    match name {
        "policy" => settings.policy = policy(word(value)?)?,
        "size_ratio" => settings.size_ratio = count(value)?,
        "write_buffer_size" => settings.write_buffer_size = whole(value)?,
        "max_write_buffer_number" => settings.max_write_buffer_number = count(value)?,
        "memory_budget_bytes" => settings.memory_budget_bytes = whole(value)?,
        "level0_file_num_compaction_trigger" => {
            settings.level0_file_num_compaction_trigger = count(value)?;
        }
        "level0_slowdown_writes_trigger" => {
            settings.level0_slowdown_writes_trigger = count(value)?;
        }
        "level0_stop_writes_trigger" => settings.level0_stop_writes_trigger = count(value)?,
        "target_file_size_base" => settings.target_file_size_base = whole(value)?,
        "max_files" => settings.max_files = whole(value)?,
        "filters" => settings.filters = filters(word(value)?)?,
        "bloom_bits_per_key" => settings.bloom_bits_per_key = number(value)?,
        "block_size" => settings.block_size = whole(value)?,
        "compression" => settings.compression = vec![compression(word(value)?)?],
        "workers" => settings.workers = count::<u32>(value)? as usize,
        "max_subcompactions" => settings.max_subcompactions = count(value)?,
        "compaction_readahead_size" => settings.compaction_readahead_size = whole(value)?,
        "max_space_amplification" => settings.max_space_amplification = number(value)?,
        "tombstone_share" => settings.tombstone_share = number(value)?,
        "exploration" => settings.exploration = number(value)?,
        "schedule" => settings.schedule = schedule(word(value)?)?,
        _ => {
            return Err(BenchError::new(
                "this is no setting of Lissom that a trial can set: remove it",
            ));
        }
    }
    Ok(())
}

fn policy(word: &str) -> Result<Policy> {
    let policy = word.parse::<Policy>();
    policy.map_err(|error| BenchError::new(error.to_string()))
}

fn schedule(word: &str) -> Result<ScheduleKind> {
    let schedule = word.parse::<ScheduleKind>();
    schedule.map_err(|error| BenchError::new(error.to_string()))
}

fn filters(word: &str) -> Result<FilterAllocation> {
    match word {
        "uniform" => Ok(FilterAllocation::Uniform),
        "monkey" => Ok(FilterAllocation::Monkey),
        _ => Err(wrong(word, "choose uniform or monkey")),
    }
}

fn compression(word: &str) -> Result<Compression> {
    match word {
        "none" => Ok(Compression::None),
        "lz4" => Ok(Compression::Lz4),
        "zstd" => Ok(Compression::Zstd),
        _ => Err(wrong(word, "choose none, lz4 or zstd")),
    }
}

fn word(value: &Setting) -> Result<&str> {
    match value {
        Setting::Choice(word) => Ok(word),
        other => Err(wrong(other, "write a text")),
    }
}

fn number(value: &Setting) -> Result<f64> {
    value.number().ok_or_else(|| wrong(value, "write a number"))
}

/// The largest whole number that a JSON number is sure to hold: 2^53.
const LARGEST: f64 = 9_007_199_254_740_992.0;

fn whole(value: &Setting) -> Result<u64> {
    let number = number(value)?;
    if number.fract() == 0.0 && (0.0..=LARGEST).contains(&number) {
        Ok(number as u64)
    } else {
        Err(wrong(value, "write a whole number from 0 on"))
    }
}

fn count<T: TryFrom<u64>>(value: &Setting) -> Result<T> {
    T::try_from(whole(value)?).map_err(|_| wrong(value, "write a smaller number"))
}

fn wrong(value: impl std::fmt::Display, advice: &str) -> BenchError {
    BenchError::new(format!("it is {value}: {advice}"))
}

#[cfg(test)]
mod tests {
    use lissom_search::export::OptionsFile;
    use lissom_search::space::{BuiltIn, Constants};

    use super::*;

    const LIMITS: Limits = Limits {
        direct_io: false,
        rate_limit: Some(1 << 20),
        memory: Some(256 << 20),
        base: None,
    };

    #[test]
    fn every_parameter_of_the_space_is_a_setting() {
        let space = BuiltIn::Lissom.file().unwrap().with(&Constants::new());
        let space = space.unwrap();
        let configuration = space.default_configuration();
        let settings = settings(&configuration, &LIMITS).unwrap();
        assert_eq!(settings.memory_budget_bytes, 256 << 20);
        assert_eq!(settings.rate_limit_bytes_per_second, Some(1 << 20));
        assert_eq!(settings.policy.to_string(), "fixed-1");
        assert_eq!(settings.compression, [Compression::Lz4]);
    }

    #[test]
    fn options_of_rocksdb_are_refused() {
        let limits = Limits {
            base: Some(OptionsFile::default()),
            ..LIMITS
        };
        let error = settings(&Configuration::default(), &limits).unwrap_err();
        assert!(error.to_string().starts_with("--base"), "{error}");
    }

    #[test]
    fn mistakes_name_the_setting() {
        for (json, words) in [
            ("{\"size_ratio\": 1}", "size_ratio is 1"),
            ("{\"size_ratio\": 2.5}", "size_ratio: it is 2.5"),
            ("{\"size_ratio\": 1e12}", "size_ratio: it is 1000000000000"),
            ("{\"policy\": 4}", "policy: it is 4: write a text"),
            ("{\"policy\": \"best\"}", "choose fixed-K"),
            ("{\"compression\": \"lzma\"}", "compression: it is lzma"),
            ("{\"num_levels\": 4}", "num_levels: this is no setting"),
        ] {
            let configuration = serde_json::from_str(json).unwrap();
            let error = settings(&configuration, &LIMITS).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
