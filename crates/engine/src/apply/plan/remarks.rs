//! What a change means for programs that open the database.

use super::{How, Row};

/// A sentence for each change that a program must know of. The rows are those of a
/// closed directory of plain RocksDB.
pub(in crate::apply) fn remarks(rows: &[Row]) -> Vec<String> {
    rows.iter()
        .filter(|row| matches!(row.how, How::Reopening | How::Rebuild))
        .filter_map(remark)
        .collect()
}

fn remark(row: &Row) -> Option<String> {
    let is_first = row.old.as_deref().is_none_or(|old| old == "nullptr");
    (row.name == "prefix_extractor" && is_first).then(|| {
        format!(
            "with prefix_extractor in {} a scan passes over stored keys of other prefixes: a \
             program that loads the OPTIONS file must set ReadOptions::total_order_seek where a \
             scan crosses prefixes",
            row.section
        )
    })
}
