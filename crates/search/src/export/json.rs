//! One JSON object.

use std::collections::BTreeMap;

use super::Export;
use super::settings::Settings;
use crate::error::{Result, SearchError};
use crate::space::Setting;

/// Names and values, sorted by name.
pub(super) fn write(mut settings: Settings<'_>) -> Result<Export> {
    let all = settings.take_where(|_| true);
    let sorted: BTreeMap<&str, &Setting> = all
        .iter()
        .map(|(it, setting)| (it.name.as_str(), setting))
        .collect();
    let text = serde_json::to_string_pretty(&sorted).map_err(|error| {
        SearchError::new(format!(
            "the configuration is no JSON: {error}; report this"
        ))
    })?;
    Ok(settings.export(text + "\n", ""))
}
