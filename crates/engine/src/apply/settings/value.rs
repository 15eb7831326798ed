//! Single settings by name.

use lissom_core::filters::FilterAllocation;
use lissom_core::schedule::ScheduleKind;
use lissom_core::tuner::Policy;
use serde_json::Value;

use crate::settings::{Compression, Settings};

/// Sets one setting. Ranges are not checked here.
///
/// # Errors
/// What the value should be: completes "which is ...".
pub(crate) fn set(settings: &mut Settings, name: &str, value: &Value) -> Result<(), String> {
    match name {
        "policy" => settings.policy = policy(value)?,
        "filters" => settings.filters = filters(value)?,
        "compression" => settings.compression = compression(value)?,
        "schedule" => settings.schedule = schedule(value)?,
        "bloom_bits_per_key" => settings.bloom_bits_per_key = number(value)?,
        "max_space_amplification" => settings.max_space_amplification = number(value)?,
        "tombstone_share" => settings.tombstone_share = number(value)?,
        "exploration" => settings.exploration = number(value)?,
        "max_write_amplification" => {
            settings.max_write_amplification = match value {
                Value::Null => None,
                times => Some(number(times)?),
            };
        }
        "size_ratio" => settings.size_ratio = whole(value)?,
        "max_write_buffer_number" => settings.max_write_buffer_number = whole(value)?,
        "level0_file_num_compaction_trigger" => {
            settings.level0_file_num_compaction_trigger = whole(value)?;
        }
        "level0_slowdown_writes_trigger" => {
            settings.level0_slowdown_writes_trigger = whole(value)?;
        }
        "level0_stop_writes_trigger" => settings.level0_stop_writes_trigger = whole(value)?,
        "level_compaction_dynamic_level_bytes" => {
            settings.level_compaction_dynamic_level_bytes = truth(value)?;
        }
        "max_subcompactions" => settings.max_subcompactions = whole(value)?,
        "workers" => settings.workers = whole(value)?,
        "idle_cpu_priority" => settings.idle_cpu_priority = truth(value)?,
        "idle_io_priority" => settings.idle_io_priority = truth(value)?,
        "write_buffer_size" => settings.write_buffer_size = whole(value)?,
        "target_file_size_base" => settings.target_file_size_base = whole(value)?,
        "max_files" => settings.max_files = whole(value)?,
        "use_direct_reads" => settings.use_direct_reads = truth(value)?,
        "use_direct_io_for_flush_and_compaction" => {
            settings.use_direct_io_for_flush_and_compaction = truth(value)?;
        }
        "block_size" => settings.block_size = whole(value)?,
        "compaction_readahead_size" => settings.compaction_readahead_size = whole(value)?,
        "writable_file_max_buffer_size" => {
            settings.writable_file_max_buffer_size = whole(value)?;
        }
        "memory_budget_bytes" => settings.memory_budget_bytes = whole(value)?,
        "rate_limit_bytes_per_second" => {
            settings.rate_limit_bytes_per_second = match value {
                Value::Null => None,
                rate => Some(whole(rate)?),
            };
        }
        _ => return Err("no setting".into()),
    }
    Ok(())
}

/// One setting as text; equal for equal values, and for what means the same beside the other
/// settings.
pub(crate) fn show(settings: &Settings, name: &str) -> String {
    match name {
        "policy" => settings.policy.over(settings.filters).to_string(),
        "filters" => match settings.filters {
            FilterAllocation::Uniform => "uniform".into(),
            FilterAllocation::Monkey => "monkey".into(),
        },
        "compression" => {
            let words: Vec<&str> = settings.compression.iter().copied().map(word).collect();
            words.join(", ")
        }
        "schedule" => settings.schedule.to_string(),
        "bloom_bits_per_key" => settings.bloom_bits_per_key.to_string(),
        "max_space_amplification" => settings.max_space_amplification.to_string(),
        "tombstone_share" => settings.tombstone_share.to_string(),
        "exploration" => settings.exploration.to_string(),
        "max_write_amplification" => settings
            .max_write_amplification
            .map_or_else(|| "none".into(), |times| times.to_string()),
        "size_ratio" => settings.size_ratio.to_string(),
        "max_write_buffer_number" => settings.max_write_buffer_number.to_string(),
        "level0_file_num_compaction_trigger" => {
            settings.level0_file_num_compaction_trigger.to_string()
        }
        "level0_slowdown_writes_trigger" => settings.level0_slowdown_writes_trigger.to_string(),
        "level0_stop_writes_trigger" => settings.level0_stop_writes_trigger.to_string(),
        "level_compaction_dynamic_level_bytes" => {
            settings.level_compaction_dynamic_level_bytes.to_string()
        }
        "max_subcompactions" => settings.max_subcompactions.to_string(),
        "workers" => settings.workers.to_string(),
        "idle_cpu_priority" => settings.idle_cpu_priority.to_string(),
        "idle_io_priority" => settings.idle_io_priority.to_string(),
        "write_buffer_size" => settings.write_buffer_size.to_string(),
        "target_file_size_base" => settings.target_file_size_base.to_string(),
        "max_files" => settings.max_files.to_string(),
        "use_direct_reads" => settings.use_direct_reads.to_string(),
        "use_direct_io_for_flush_and_compaction" => {
            settings.use_direct_io_for_flush_and_compaction.to_string()
        }
        "block_size" => settings.block_size.to_string(),
        "compaction_readahead_size" => settings.compaction_readahead_size.to_string(),
        "writable_file_max_buffer_size" => settings.writable_file_max_buffer_size.to_string(),
        "memory_budget_bytes" => settings.memory_budget_bytes.to_string(),
        "rate_limit_bytes_per_second" => settings
            .rate_limit_bytes_per_second
            .map_or_else(|| "none".into(), |rate| rate.to_string()),
        _ => String::new(),
    }
}

/// A whole number, also one that JSON writes as 4.0.
fn whole<T: TryFrom<u64>>(value: &Value) -> Result<T, String> {
    let exact = |number: f64| {
        let in_range = number >= 0.0 && number < 2.0_f64.powi(53) && number.fract() == 0.0;
        in_range.then_some(number as u64)
    };
    value
        .as_u64()
        .or_else(|| value.as_f64().and_then(exact))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| "no whole number in its range".into())
}

fn number(value: &Value) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| "no number".into())
}

fn truth(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| "neither true nor false: choose one of them".into())
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| "no text".into())
}

fn policy(value: &Value) -> Result<Policy, String> {
    text(value)?
        .parse()
        .map_err(|error| format!("no policy ({error})"))
}

fn schedule(value: &Value) -> Result<ScheduleKind, String> {
    text(value)?
        .parse()
        .map_err(|error| format!("no schedule ({error})"))
}

fn filters(value: &Value) -> Result<FilterAllocation, String> {
    match text(value)? {
        "uniform" => Ok(FilterAllocation::Uniform),
        "monkey" => Ok(FilterAllocation::Monkey),
        _ => Err("neither \"uniform\" nor \"monkey\"".into()),
    }
}

fn compression(value: &Value) -> Result<Vec<Compression>, String> {
    match value {
        Value::Array(levels) => levels.iter().map(one_compression).collect(),
        all => one_compression(all).map(|kind| vec![kind]),
    }
}

fn one_compression(value: &Value) -> Result<Compression, String> {
    match value.as_str() {
        Some("none") => Ok(Compression::None),
        Some("lz4") => Ok(Compression::Lz4),
        Some("zstd") => Ok(Compression::Zstd),
        _ => Err("none of \"none\", \"lz4\", \"zstd\", nor a list of them".into()),
    }
}

fn word(kind: Compression) -> &'static str {
    match kind {
        Compression::None => "none",
        Compression::Lz4 => "lz4",
        Compression::Zstd => "zstd",
    }
}
