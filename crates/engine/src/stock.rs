//! A tuning for stock RocksDB: options, and an OPTIONS file that it loads.

use std::fs;
use std::path::{Path, PathBuf};

use lissom_core::cost_model::RunPolicy;
use lissom_core::robust::Tuned;
use rust_rocksdb::{BlockBasedOptions, DB, DBCompactionStyle, Options, UniversalCompactOptions};

use crate::error::{Error, Result};
use crate::ffi::options_file::load_latest_options;
use crate::settings::filter_bits;

/// Memtables, of which the model's write buffer consists; L0 is merged when it
/// has as many files.
const MEMTABLES: u32 = 2;

/// L0 files, or runs, past which writes slow down and stop, above the trigger:
/// as far as RocksDB's own defaults have them.
const SLOWDOWN: i32 = 16;
const STOP: i32 = 32;

/// RocksDB's options for a tuning. What the tuning does not say is RocksDB's
/// default.
///
/// *Leveling*: `max_bytes_for_level_multiplier` T over a level 1 of T - 1
/// buffers, as the model has it (Endure, section 5), with fixed level sizes.
///
/// *Tiering* is universal compaction that rests with (T - 1) * L runs, those of
/// L levels of T - 1 runs, and merges T at least; universal compaction has no
/// levels of its own, so this is near the model, not equal.
///
/// Filters have the tuning's mean in every level: one of a model with Monkey's
/// filters is not the tuning that the options make.
///
/// # Errors
/// Lazy leveling and run limits by level, which stock RocksDB does not have.
pub fn options(tuned: &Tuned) -> Result<Options> {
    let mut options = Options::default();
    options.create_if_missing(true);
    let buffer_bytes = (tuned.buffer_bits / 8.0).ceil();
    options.set_write_buffer_size((buffer_bytes / f64::from(MEMTABLES)).ceil() as usize);
    options.set_max_write_buffer_number(MEMTABLES as i32);
    set_filters(&mut options, tuned);
    match tuned.tuning.policy {
        RunPolicy::Leveling => set_leveling(&mut options, tuned, buffer_bytes),
        RunPolicy::Tiering => set_tiering(&mut options, tuned),
        RunPolicy::LazyLeveling | RunPolicy::Limits(_) => {
            return Err(Error::fix(format!(
                "stock RocksDB has no {}: open the database with Lissom, or advise among \
                 leveling and tiering",
                tuned.tuning.policy
            )));
        }
    }
    Ok(options)
}

fn set_filters(options: &mut Options, tuned: &Tuned) {
    let bits = filter_bits(tuned.tuning.filter_bits_per_entry);
    let mut table = BlockBasedOptions::default();
    if bits > 0.0 {
        table.set_bloom_filter(bits, false);
    }
    options.set_block_based_table_factory(&table);
}

fn set_leveling(options: &mut Options, tuned: &Tuned, buffer_bytes: f64) {
    let ratio = tuned.tuning.size_ratio;
    options.set_compaction_style(DBCompactionStyle::Level);
    options.set_level_compaction_dynamic_level_bytes(false);
    options.set_max_bytes_for_level_multiplier(ratio);
    options.set_max_bytes_for_level_base(((ratio - 1.0) * buffer_bytes).ceil() as u64);
    // L0, the model's levels, and one for what the tree grows.
    options.set_num_levels((tuned.levels as i32 + 2).max(7));
    set_triggers(options, MEMTABLES as i32);
}

fn set_tiering(options: &mut Options, tuned: &Tuned) {
    let ratio = tuned.tuning.size_ratio.ceil() as i32;
    let mut universal = UniversalCompactOptions::default();
    universal.set_min_merge_width(ratio);
    // Old versions may take as much as T - 1 more runs of the largest level.
    universal.set_max_size_amplification_percent(100 * ratio);
    options.set_compaction_style(DBCompactionStyle::Universal);
    options.set_universal_compaction_options(&universal);
    let runs = (ratio - 1).max(1) * tuned.levels as i32;
    set_triggers(options, runs.max(MEMTABLES as i32));
}

fn set_triggers(options: &mut Options, trigger: i32) {
    options.set_level_zero_file_num_compaction_trigger(trigger);
    options.set_level_zero_slowdown_writes_trigger(trigger + SLOWDOWN);
    options.set_level_zero_stop_writes_trigger(trigger + STOP);
}

/// Writes an OPTIONS file for a tuning, as RocksDB itself writes it: a database is
/// opened with the [`options`] in a directory beside the file, and removed again.
///
/// # Errors
/// As [`options`]; when the file stands already, or cannot be written.
pub fn write_options_file(tuned: &Tuned, file: &Path) -> Result<()> {
    if file.exists() {
        return Err(Error::fix(format!(
            "{} stands already: remove it, or give another name",
            file.display()
        )));
    }
    let options = options(tuned)?;
    let workshop = Workshop::new(file)?;
    drop(DB::open(&options, &workshop.0)?);
    let written = workshop.0.join(load_latest_options(&workshop.0)?.file_name);
    let text = fs::read_to_string(&written).map_err(|error| Error::io("read", &written, &error))?;
    fs::write(file, with_filter_bits(&text, tuned)?)
        .map_err(|error| Error::io("write", file, &error))
}

/// A filter policy that was made through the C interface is written without its
/// bits, and RocksDB then loads none.
fn with_filter_bits(text: &str, tuned: &Tuned) -> Result<String> {
    const BARE: &str = "filter_policy=bloomfilter\n";
    let bits = filter_bits(tuned.tuning.filter_bits_per_entry);
    if bits == 0.0 {
        return Ok(text.to_owned());
    }
    if !text.contains(BARE) {
        return Err(Error::bug("the OPTIONS file has no line for its filters"));
    }
    Ok(text.replace(BARE, &format!("filter_policy=bloomfilter:{bits}:false\n")))
}

/// A directory that is gone when it is dropped.
struct Workshop(PathBuf);

impl Workshop {
    fn new(file: &Path) -> Result<Workshop> {
        let mut name = file.as_os_str().to_owned();
        name.push(".making");
        let path = PathBuf::from(name);
        fs::create_dir(&path).map_err(|error| Error::io("make", &path, &error))?;
        Ok(Workshop(path))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // What is left behind is an empty database that nobody opens.
        let _ = fs::remove_dir_all(&self.0);
    }
}
