//! Cassandra 4.1 and 5.0: Table 6 of Dremel under current names and units.
//!
//! Of the table, `memtable_cleanup_threshold` is deprecated; since Cassandra 3.10 the
//! threshold is 1 / (`memtable_flush_writers` + 1), so the number of write buffers
//! gives the flush writers.

mod table;
mod yaml;

use super::Export;
use super::filter::Filter;
use super::settings::Settings;
use crate::error::Result;

const WHY: &str = "Cassandra has no such setting, or not under this compaction strategy";

/// Two parts, each under its own heading: the node's settings and the table's.
pub(super) fn write(mut settings: Settings<'_>) -> Result<Export> {
    let filter = Filter::take(&mut settings)?;
    let node = yaml::lines(&mut settings);
    let table = table::statement(&mut settings, filter);
    let text = format!(
        "# ---- for cassandra.yaml ----\n{node}\n-- ---- for cqlsh, with your own names of keyspace \
         and table ----\n{table}"
    );
    Ok(settings.export(text, WHY))
}
