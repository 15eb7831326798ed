//! What a search leaves: files, and words.

use lissom_search::export::{self, Format};
use lissom_trials::findings::{Findings, render};
use lissom_trials::session::record_end;
use lissom_trials::{LogFile, replace, report};
use serde::Serialize;

use super::request::{Request, shown};
use super::resumable;
use super::subject::LISSOM;
use crate::failure::{Failure, Outcome};
use crate::output;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    /// The file with the best configuration; absent if there is none.
    options: Option<String>,
    report: String,
    log: String,
    findings: &'a Findings,
}

/// Writes the best configuration and the report, prints what was found, and records the end.
/// What could not be written is said last, for it must not keep back the rest; the search has
/// not ended then, so that the same command writes it.
pub fn finish(request: &Request, mut found: Findings, log: &mut LogFile) -> Outcome {
    let shared = request.shared.iter();
    found.measured_with = shared
        .map(|it| (it.name.clone(), it.default.clone()))
        .collect();
    found.seeded = request.template.is_seeded();
    let options = write_options(request, &mut found);
    let page = report::write(&found, &request.report);
    let report = Report {
        options: matches!(options, Ok(true)).then(|| shown(&request.out)),
        report: shown(&request.report),
        log: shown(&request.log),
        findings: &found,
    };
    let printed = if request.json {
        output::print_json(&report)
    } else {
        output::print(&text(request, &report))
    };
    let written = options.and(page).and_then(|()| record_end(log, &found));
    written.map_err(|error| resumable(request, &error, &[]))?;
    printed?;
    match &found.best {
        Some(_) => Ok(()),
        None => Err(Failure::Failed(format!(
            "nothing was found: {}; the report has the causes",
            found.reason
        ))),
    }
}

/// False without a best.
fn write_options(request: &Request, found: &mut Findings) -> lissom_trials::Result<bool> {
    let Some(best) = &found.best else {
        return Ok(false);
    };
    let (format, space) = (request.out_format, &request.plan.space);
    let written = export::write_with(format, space, &best.configuration, &request.shared)?;
    let text = written.commented();
    found.notes.extend(written.remarks);
    replace(&request.out, &text)?;
    Ok(true)
}

/// Whether `lissom apply` takes the file: options of RocksDB, or settings of Lissom's.
fn applies(request: &Request) -> bool {
    match request.out_format {
        Format::RocksDb => true,
        Format::Json => request.system.as_deref() == Some(LISSOM),
        Format::Flags | Format::Flink | Format::Cassandra => false,
    }
}

fn text(request: &Request, report: &Report<'_>) -> String {
    let mut text = render(report.findings);
    if let Some(options) = &report.options {
        text += &format!("written: {options}\n");
        if applies(request) && report.findings.is_worth_applying() {
            text += &format!("apply it: lissom apply PATH {options}\n");
        }
    }
    text + &format!("report: {}\nlog: {}\n", report.report, report.log)
}
