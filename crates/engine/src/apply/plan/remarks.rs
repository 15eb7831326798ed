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
    let hides_keys = match row.name.as_str() {
        "prefix_extractor" => row.new != "nullptr",
        "prefix_seek_opt_in_only" => row.new == "false",
        _ => false,
    };
    hides_keys.then(|| {
        format!(
            "with {}={} in {} a scan may pass over stored keys of other prefixes than the one it \
             begins at: a program that loads the OPTIONS file must set \
             ReadOptions::total_order_seek where a scan crosses prefixes",
            row.name, row.new, row.section
        )
    })
}
