//! Saying what a command will do to a directory, asking, and doing it.

use clap::{Arg, ArgMatches};
use lissom::adopt::{FamilyWork, Progress, Work};
use lissom::inspect::{bytes, plural};
use serde::Serialize;

use crate::arguments::{flag, json};
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

/// Arguments of commands that rewrite files.
pub fn consent() -> [Arg; 3] {
    [
        flag("dry-run", "Says what would be done, and does nothing"),
        flag("yes", "Goes ahead without asking").conflicts_with("dry-run"),
        json(),
    ]
}

/// The sentences of one command.
pub struct Wording {
    /// When there is nothing to do.
    pub done_already: &'static str,
    /// Before the work.
    pub question: &'static str,
    /// After it.
    pub done: &'static str,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    carried_out: bool,
    work: &'a Work,
}

/// Shows the work, asks, and does it.
pub fn carry_out(
    given: &ArgMatches,
    wording: &Wording,
    work: &Work,
    act: impl FnOnce(&mut dyn FnMut(Progress)) -> lissom::Result<Work>,
) -> Outcome {
    let as_json = given.get_flag("json");
    let report = |carried_out| output::print_json(&Report { carried_out, work });
    if !as_json {
        output::print(&describe(work, wording))?;
    }
    if work.done || given.get_flag("dry-run") {
        return if as_json { report(false) } else { Ok(()) };
    }
    let instead = "--yes to go ahead, or --dry-run to look only";
    if !output::confirm(wording.question, instead, given.get_flag("yes"))? {
        return Err(Failure::Failed("not confirmed; nothing was changed".into()));
    }
    let mut line = StatusLine::new();
    act(&mut |progress| line.show(&status(progress)))?;
    drop(line);
    if as_json {
        report(true)
    } else {
        output::print(&format!("{}\n", wording.done))
    }
}

fn describe(work: &Work, wording: &Wording) -> String {
    if work.done {
        return format!("{}: {}\n", work.directory, wording.done_already);
    }
    let mut text = format!("{}\n", work.directory);
    for family in &work.families {
        text += &describe_family(family);
    }
    for remark in &work.remarks {
        text += &format!("  note: {remark}\n");
    }
    if work.needed_bytes > 0 {
        text += &format!(
            "  space for merging: up to {}, free {}\n",
            bytes(work.needed_bytes),
            bytes(work.free_bytes)
        );
    }
    text
}

fn describe_family(family: &FamilyWork) -> String {
    let FamilyWork {
        name,
        bytes: size,
        files,
        forecast,
    } = family;
    let moves = match forecast.moves {
        0 => String::new(),
        count => format!("{}, which cost nothing; ", plural(count, "move")),
    };
    let merges = match forecast.merges {
        0 => "nothing is rewritten".to_owned(),
        count => format!(
            "at most {} merged in {}, the largest of {}",
            bytes(forecast.merged_bytes),
            plural(count, "piece"),
            bytes(forecast.largest_merge_bytes)
        ),
    };
    format!(
        "  column family {name}: {} in {}\n    {moves}{merges}\n",
        bytes(*size),
        plural(*files as u64, "file")
    )
}

fn status(progress: Progress) -> String {
    format!(
        "merged {} of at most {}, {}, {}",
        bytes(progress.merged_bytes),
        bytes(progress.expected_bytes.max(progress.merged_bytes)),
        plural(progress.merges, "merge"),
        plural(progress.moves, "move")
    )
}
