//! What a search found, as one page that needs no network.

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::error::{Result, TrialsError};
use crate::files::replace;
use crate::findings::Findings;

// The pages of benchmarks and searches look and count alike.
const PAGE: &str = include_str!("../../../bench/src/report/page/page.html");
const STYLES: [&str; 2] = [
    include_str!("../../../bench/src/report/page/style.css"),
    include_str!("page/search.css"),
];
const SCRIPTS: [&str; 6] = [
    include_str!("../../../bench/src/report/page/numbers.js"),
    include_str!("../../../bench/src/report/page/plot.js"),
    include_str!("page/words.js"),
    include_str!("page/pictures.js"),
    include_str!("page/tables.js"),
    include_str!("page/main.js"),
];

/// The page with style, scripts and data inside.
///
/// # Errors
/// A number that JSON cannot hold.
pub fn page(findings: &Findings) -> Result<String> {
    let data = serde_json::to_string(findings).map_err(|error| {
        TrialsError::new(format!(
            "the findings cannot be written into a page: {error}; report this"
        ))
    })?;
    // `</script>` inside a text would end the element.
    let data = data.replace("</", "<\\/").replace("<!--", "<\\u0021--");
    let title = format!("{} on {} · Lissom search", findings.space, findings.target);
    // The data come last, so that nothing in them is taken for a place of the page.
    let parts = [
        ("{{style}}", STYLES.join("\n")),
        ("{{scripts}}", SCRIPTS.join("\n")),
        ("{{title}}", escaped(&title)),
        ("{{data}}", data),
    ];
    let mut page = PAGE.to_owned();
    for (place, part) in parts {
        page = page.replacen(place, &part, 1);
    }
    Ok(page)
}

/// Writes the page, as a whole or not at all.
///
/// # Errors
/// It cannot be written there.
pub fn write(findings: &Findings, path: &Path) -> Result<()> {
    replace(path, &page(findings)?)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
        .replace('{', "&#123;")
}
