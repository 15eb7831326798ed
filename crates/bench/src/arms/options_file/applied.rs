//! Whether RocksDB uses what it was given: it writes down what it uses, in an OPTIONS
//! file of its own, at each open.

use std::path::Path;

use lissom_search::export::OptionsFile;
use lissom_search::export::options_file::title;
use lissom_search::space::Section;

use crate::arms::options_files;
use crate::error::{BenchError, Place, Result};

/// What RocksDB reads and never writes (`kDontSerialize` in its sources).
const UNWRITTEN: [(Section, &str); 2] = [
    (Section::Table, "block_cache"),
    (Section::Db, "rate_limiter_bytes_per_sec"),
];

/// What RocksDB says that it uses.
///
/// # Errors
/// It wrote nothing down, or what cannot be read.
pub(crate) fn used(directory: &Path) -> Result<OptionsFile> {
    let Some(path) = options_files(directory).pop() else {
        return Err(BenchError::new(
            "RocksDB left no OPTIONS file: free some space on its disk",
        ));
    };
    let text = std::fs::read_to_string(&path).place(path.display())?;
    OptionsFile::parse(&text).place(path.display())
}

/// Compares what was asked with what is used. A setting that RocksDB adjusts, as it
/// does where two contradict each other, gives a sentence.
///
/// # Errors
/// The first setting that RocksDB does not use at all, as those that it only keeps for
/// old files.
pub(crate) fn compare(asked: &OptionsFile, used: &OptionsFile) -> Result<Vec<String>> {
    let mut remarks = Vec::new();
    for it in asked.settings() {
        if UNWRITTEN.contains(&(it.section, it.name.as_str())) {
            continue;
        }
        let Some(value) = used.get(it.section, &it.name) else {
            return Err(BenchError::new(format!(
                "RocksDB does not name {} among what it uses in [{}]: remove it, or write it as \
                 RocksDB's own OPTIONS files do",
                it.name,
                title(it.section)
            )));
        };
        if is_plain(&it.value) && !same(&it.value, value) {
            remarks.push(format!(
                "RocksDB uses {}={value} where the OPTIONS file says {}",
                it.name, it.value
            ));
        }
    }
    Ok(remarks)
}

/// A number, a boolean or a word; how RocksDB writes objects and structures differs
/// from how it reads them.
fn is_plain(value: &str) -> bool {
    !value.contains(['{', ':', '\\', '/']) && !value.is_empty()
}

fn same(asked: &str, used: &str) -> bool {
    let numbers = number(asked).zip(number(used));
    let truths = truth(asked).zip(truth(used));
    asked == used
        || numbers.is_some_and(|(asked, used)| asked == used)
        || truths.is_some_and(|(asked, used)| asked == used)
}

/// A number with RocksDB's units, which are powers of 1024.
pub(super) fn number(text: &str) -> Option<f64> {
    let factor = match text.chars().next_back()? {
        'k' | 'K' => 1024.0,
        'm' | 'M' => 1024.0_f64.powi(2),
        'g' | 'G' => 1024.0_f64.powi(3),
        't' | 'T' => 1024.0_f64.powi(4),
        _ => return text.parse().ok(),
    };
    let digits = text.get(..text.len() - 1)?;
    digits.parse::<f64>().ok().map(|number| number * factor)
}

pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(settings: &[(Section, &str, &str)]) -> OptionsFile {
        let mut file = OptionsFile::default();
        for (section, name, value) in settings {
            file.set(*section, name, *value);
        }
        file
    }

    #[test]
    fn equal_values_may_be_spelled_differently() {
        let asked = file(&[
            (Section::Cf, "write_buffer_size", "64M"),
            (Section::Cf, "max_bytes_for_level_multiplier", "10"),
            (Section::Cf, "optimize_filters_for_hits", "1"),
            (Section::Table, "filter_policy", "bloomfilter:10:false"),
            (Section::Table, "block_cache", "8388608"),
            (
                Section::Cf,
                "compaction_options_universal",
                "{size_ratio=3;}",
            ),
        ]);
        let used = file(&[
            (Section::Cf, "write_buffer_size", "67108864"),
            (Section::Cf, "max_bytes_for_level_multiplier", "10.000000"),
            (Section::Cf, "optimize_filters_for_hits", "true"),
            (Section::Table, "filter_policy", "bloomfilter:10"),
            (
                Section::Cf,
                "compaction_options_universal",
                "{size_ratio=3;stop_style=x;}",
            ),
        ]);
        let remarks = compare(&asked, &used).unwrap();
        assert!(remarks.is_empty(), "{remarks:?}");
    }

    #[test]
    fn what_is_adjusted_is_remarked() {
        let asked = file(&[(Section::Db, "bytes_per_sync", "0")]);
        let used = file(&[(Section::Db, "bytes_per_sync", "1048576")]);
        assert_eq!(
            compare(&asked, &used).unwrap(),
            ["RocksDB uses bytes_per_sync=1048576 where the OPTIONS file says 0"]
        );
    }

    #[test]
    fn what_is_not_used_is_an_error() {
        let asked = file(&[(Section::Cf, "soft_rate_limit", "0.5")]);
        let sentence = compare(&asked, &OptionsFile::default())
            .unwrap_err()
            .to_string();
        assert!(
            sentence.contains("soft_rate_limit among what it uses in [CFOptions \"default\"]"),
            "{sentence}"
        );
    }
}
