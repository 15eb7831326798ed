//! An OPTIONS file as one of RocksDB's option strings, which can be put on top of
//! options that are there already.

use lissom_search::export::OptionsFile;
use lissom_search::export::options_file::unescaped;
use lissom_search::space::Section;

use crate::error::{BenchError, Result};

/// `name=value;...`, with the table's options nested.
///
/// # Errors
/// A value that cannot stand in such a string.
pub(crate) fn option_string(file: &OptionsFile) -> Result<String> {
    let (mut options, mut table) = (String::new(), String::new());
    for it in file.settings() {
        // The nested options say it; after them it would put RocksDB's defaults back.
        if it.section == Section::Cf && it.name == "table_factory" {
            continue;
        }
        let part = format!("{}={};", it.name, plain(&it.name, &it.value)?);
        match it.section {
            Section::Table => table += &part,
            Section::Db | Section::Cf => options += &part,
        }
    }
    if !table.is_empty() {
        options += &format!("block_based_table_factory={{{table}}};");
    }
    Ok(options)
}

fn plain(name: &str, value: &str) -> Result<String> {
    let value = unescaped(value);
    let nested = value.starts_with('{') && value.ends_with('}');
    if !nested && value.contains([';', '{', '}']) {
        return Err(BenchError::new(format!(
            "the value {value:?} of {name} holds one of ; {{ }}, which cannot be handed on: \
             remove the setting"
        )));
    }
    Ok(value)
}
