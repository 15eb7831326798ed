//! `lissom workloads`

use clap::{ArgMatches, Command};
use lissom::inspect::plural;
use lissom_bench::{SHIPPED, Workload, load_workload};
use serde::Serialize;

use crate::arguments::json;
use crate::failure::Outcome;
use crate::output;

pub fn command() -> Command {
    Command::new("workloads")
        .about("Lists the workloads that come with the program")
        .arg(json())
}

#[derive(Serialize)]
struct Row {
    name: String,
    about: String,
    entries: u64,
    sessions: usize,
}

impl From<Workload> for Row {
    fn from(workload: Workload) -> Row {
        Row {
            entries: workload.entries,
            sessions: workload.sessions.len(),
            name: workload.name,
            about: workload.about,
        }
    }
}

pub fn run(given: &ArgMatches) -> Outcome {
    let mut rows = Vec::new();
    for (name, _) in SHIPPED {
        rows.push(Row::from(load_workload(name)?));
    }
    if given.get_flag("json") {
        return output::print_json(&rows);
    }
    let mut text = String::new();
    for row in &rows {
        text += &format!(
            "{:<16} {:>10} entries, {}\n{}\n",
            row.name,
            row.entries,
            plural(row.sessions as u64, "session"),
            indented(&row.about)
        );
    }
    text += "random --seed N      drawn from a seed\n";
    output::print(&text)
}

/// A sentence in lines of at most 80 columns, four of them left free.
fn indented(text: &str) -> String {
    let mut lines = vec![String::from("   ")];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + 1 + word.chars().count() > 80 {
            lines.push(format!("    {word}"));
        } else {
            lines[last] += &format!(" {word}");
        }
    }
    lines.join("\n")
}
