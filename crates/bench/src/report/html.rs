//! The page: one file that needs no network.

use std::path::{Path, PathBuf};

use super::page_data::page_data;
use crate::error::{Place, Result};
use crate::run::{Results, replace};

/// Name of the page in the output directory.
pub const REPORT_FILE: &str = "report.html";

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPTS: [&str; 4] = [
    include_str!("page/numbers.js"),
    include_str!("page/plot.js"),
    include_str!("page/sections.js"),
    include_str!("page/main.js"),
];

/// The page with style, scripts and data inside.
pub fn report_html(results: &Results) -> String {
    let data =
        serde_json::to_string(&page_data(results)).expect("page data hold only plain values");
    // `</script>` inside a string would end the element.
    let data = data.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let title = format!("{} · Lissom bench", results.parameters.workload.name);
    PAGE.replace("{{title}}", &escape(&title))
        .replace("{{style}}", STYLE)
        .replace("{{scripts}}", &SCRIPTS.join("\n"))
        .replace("{{data}}", &data)
}

/// Writes the page into `out` and returns its path.
pub fn write_report(results: &Results, out: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(out).place(out.display())?;
    let path = out.join(REPORT_FILE);
    replace(&path, report_html(results).as_bytes())?;
    Ok(path)
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}
