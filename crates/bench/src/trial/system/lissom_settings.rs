//! Lissom's settings from names and values.

use lissom::Settings;
use lissom::apply::SettingsText;
use serde_json::{Map, Value};

use crate::error::{BenchError, Place, Result};
use crate::trial::plan::Limits;

/// The settings of a JSON object on top of what all trials share.
///
/// # Errors
/// It is none; a setting that is unknown, shared by all trials, of the wrong kind, or
/// outside its range.
pub(super) fn settings(text: &str, limits: &Limits) -> Result<Settings> {
    if limits.base.is_some() {
        return Err(BenchError::new(
            "--base is for stock RocksDB: Lissom's settings are no options of RocksDB; leave it out",
        ));
    }
    let wanted = wanted(text)?;
    if wanted.sets("rate_limit_bytes_per_second") {
        return Err(BenchError::new(
            "rate_limit_bytes_per_second: all trials share it; remove it, and give --rate-limit",
        ));
    }
    let mut shared = Settings {
        use_direct_reads: limits.direct_io,
        use_direct_io_for_flush_and_compaction: limits.direct_io,
        rate_limit_bytes_per_second: limits.rate_limit,
        ..Settings::default()
    };
    if let Some(bytes) = limits.memory {
        shared.memory_budget_bytes = bytes;
    }
    Ok(wanted.over(&shared)?)
}

/// What a text sets; it may be nothing.
fn wanted(text: &str) -> Result<SettingsText> {
    let object: Map<String, Value> = serde_json::from_str(text)
        .place("the options are not one JSON object of names and values, as Lissom's are")?;
    match object.is_empty() {
        true => Ok(SettingsText::default()),
        false => Ok(SettingsText::parse(text)?),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lissom::Compression;
    use lissom_search::export::OptionsFile;
    use lissom_search::space::{BuiltIn, Constants, Setting};

    use super::*;
    use crate::trial::{System, shared};

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
        let text = serde_json::to_string(&space.default_configuration()).unwrap();
        let settings = settings(&text, &LIMITS).unwrap();
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
        let error = settings("{}", &limits).unwrap_err();
        assert!(error.to_string().starts_with("--base"), "{error}");
    }

    #[test]
    fn what_no_trial_sets_is_shared_by_all() {
        let settings = settings("{}", &LIMITS).unwrap();
        assert_eq!(settings.memory_budget_bytes, 256 << 20);
        assert_eq!(settings.size_ratio, Settings::default().size_ratio);
    }

    /// A program that opens its store with the file of what was found has the trials' store.
    #[test]
    fn what_all_share_can_be_set_instead() {
        let limits = Limits {
            direct_io: true,
            rate_limit: None,
            ..LIMITS
        };
        let shared = shared(System::Lissom, &limits).into_iter();
        let shared: BTreeMap<String, Setting> = shared.map(|it| (it.name, it.default)).collect();
        let text = serde_json::to_string(&shared).unwrap();
        let nothing = Limits {
            direct_io: false,
            memory: None,
            ..limits.clone()
        };
        let set = settings(&text, &nothing).unwrap();
        assert_eq!(set, settings("{}", &limits).unwrap());
        assert!(set.use_direct_reads && set.use_direct_io_for_flush_and_compaction);
    }

    #[test]
    fn a_trial_may_forbid_the_learner_to_explore() {
        let settings = settings("{\"policy\": \"learned\", \"exploration\": 0}", &LIMITS);
        assert_eq!(settings.unwrap().exploration, 0.0);
    }

    #[test]
    fn mistakes_name_the_setting() {
        for (text, words) in [
            ("", "the options are not one JSON object"),
            ("[]", "the options are not one JSON object"),
            ("{\"size_ratio\": 1}", "size_ratio is 1"),
            ("{\"exploration\": 1.5}", "exploration is 1.5"),
            ("{\"size_ratio\": 2.5}", "size_ratio is 2.5"),
            ("{\"size_ratio\": 1e12}", "no whole number in its range"),
            ("{\"policy\": 4}", "policy is 4, which is no text"),
            ("{\"policy\": \"best\"}", "choose fixed-K"),
            ("{\"compression\": \"lzma\"}", "compression is \"lzma\""),
            ("{\"num_levels\": 4}", "there is no setting num_levels"),
            ("{\"rate_limit_bytes_per_second\": 1000000}", "--rate-limit"),
        ] {
            let error = settings(text, &LIMITS).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
