//! Drawing a tree for a terminal of 80 columns: data in, text out.

mod bar;
mod flexible;
mod heading;
mod paint;
mod plain;
mod wrap;

#[cfg(test)]
mod tests;

pub use bar::{bytes, plural};
pub use paint::Style;

use super::Inspection;
use super::portrait::TreePortrait;

/// Columns of the widest line.
pub(crate) const WIDTH: usize = 80;

/// Draws what an inspection found. Ends with a line break; colours only if the
/// style has them.
pub fn draw(seen: &Inspection, style: &Style) -> String {
    let mut text = heading::directory(seen, style);
    for family in &seen.families {
        text.push('\n');
        text += &heading::family(family, style);
        text.push('\n');
        text += &match &family.tree {
            TreePortrait::Lissom(tree) => flexible::draw(tree, style),
            TreePortrait::Rocksdb(tree) => plain::draw(tree, family.bytes, style),
        };
    }
    if let Some(owed) = &seen.owed {
        text += &heading::owed(owed);
    }
    if !seen.limits.is_empty() {
        text += &heading::limits(&seen.limits, style);
    }
    if !seen.decisions.is_empty() {
        text += &heading::decisions(&seen.decisions, style);
    }
    text
}
