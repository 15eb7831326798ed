//! Shows results: a table for the terminal and a page for the browser.

mod convergence;
mod exports;
mod grid;
mod headroom;
mod html;
mod labels;
mod level0;
mod limits;
mod offered;
mod over_rounds;
mod page_data;
mod parts;
mod pictures;
mod supplement;
mod table;
mod tenths;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod words;
mod work;

use crate::judge::{Verdict, judge};
use crate::run::Results;

pub(crate) use convergence::{LEAST_MISSIONS, NEAR_NOTE, TOO_SHORT, near_title};
pub use exports::{Exporting, Exports, TABLE_FILE, publish_exports, write_exports};
pub(crate) use grid::Grid;
pub(crate) use html::escape;
pub use html::{REPORT_FILE, report_html, write_report, write_report_with};
pub use pictures::write_offered_pictures;
pub use supplement::Supplement;
pub use table::render_table;
pub(crate) use words::{figure, figure_with};

/// The verdict in the results, or one made anew.
fn verdict_of(results: &Results) -> Verdict {
    let anew = || judge(&results.parameters, &results.runs);
    results.verdict.clone().unwrap_or_else(anew)
}
