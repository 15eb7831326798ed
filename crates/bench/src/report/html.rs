//! The page: one file that needs no network.

use std::path::{Path, PathBuf};

use super::page_data::page_data;
use super::supplement::Supplement;
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
    page(results, None)
}

fn page(results: &Results, supplement: Option<&Supplement>) -> String {
    let data = page_data(results, supplement);
    let data = serde_json::to_string(&data).expect("page data hold only plain values");
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
    write_page(&report_html(results), out)
}

/// The same with a supplement behind the benchmark.
pub fn write_report_with(
    results: &Results,
    supplement: &Supplement,
    out: &Path,
) -> Result<PathBuf> {
    write_page(&page(results, Some(supplement)), out)
}

fn write_page(page: &str, out: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(out).place(out.display())?;
    let path = out.join(REPORT_FILE);
    replace(&path, page.as_bytes())?;
    Ok(path)
}

pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}
