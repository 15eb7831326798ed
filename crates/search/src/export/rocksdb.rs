//! An OPTIONS file of RocksDB.

use std::collections::BTreeMap;

use super::filter::Filter;
use super::settings::Settings;
use super::{Export, OptionsFile};
use crate::error::Result;
use crate::space::{Parameter, Section, Setting};

/// What stands above the sections. RocksDB's loader takes `block_cache` as the bytes
/// of an LRU cache (cache/cache.cc, `Cache::CreateFromString`) and passes it over when
/// it writes.
const HEADING: &str = "\
# RocksDB 11.12 loads this file. block_cache is read from here and kept nowhere: the
# OPTIONS files that RocksDB writes beside a database do not have it.
";

const WHY: &str = "OPTIONS files have no such setting";

/// Every parameter with a section stands there under its name; the filter policy and
/// the cache are put together.
pub(super) fn write(mut settings: Settings<'_>) -> Result<Export> {
    let mut file = OptionsFile::default();
    let filter = Filter::take(&mut settings)?;
    let cache = settings
        .text("block_cache")
        .or_else(|| settings.text("cache_size"));
    let plain = settings.take_where(|it| it.section.is_some());
    add(&mut file, &plain);
    if let Some(filter) = filter {
        file.set(Section::Table, "filter_policy", filter.policy());
    }
    if let Some(bytes) = cache {
        file.set(Section::Table, "block_cache", bytes);
    }
    Ok(settings.export(format!("{HEADING}{file}"), WHY))
}

/// `struct.member` becomes a member of `struct={...}`, where the first one stands.
fn add(file: &mut OptionsFile, settings: &[(&Parameter, Setting)]) {
    let mut nested: BTreeMap<(Section, &str), String> = BTreeMap::new();
    for (parameter, setting) in settings {
        let Some(section) = parameter.section else {
            continue;
        };
        match parameter.name.split_once('.') {
            None => file.set(section, &parameter.name, setting.to_string()),
            Some((outer, member)) => {
                let members = nested.entry((section, outer)).or_default();
                *members += &format!("{member}={setting};");
                file.set(section, outer, format!("{{{members}}}"));
            }
        }
    }
}
