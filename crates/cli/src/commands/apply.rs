//! `lissom apply`

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use lissom::apply::{
    Applied, Applier, Changes, How, Outcome, Phase, Plan, Progress, Removed, Row, Section, Taken,
    Wanted, finish, undo,
};
use lissom::control::ask_to_apply;

use crate::arguments::{find, flag, get, json, path};
use crate::failure::{Failure, Outcome as Ending};
use crate::output::{self, StatusLine, bytes, plural};

/// How long a running store may take for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Columns of a terminal.
const WIDTH: usize = 80;

pub fn command() -> Command {
    Command::new("apply")
        .about("Applies an OPTIONS file, or settings of Lissom's, to a database")
        .long_about(
            "Applies an OPTIONS file, or settings of Lissom's, to a database.\n\n\
             OPTIONS is a file as RocksDB and `lissom search --out` write it, all of it or a \
             part, or a JSON object of Lissom's settings. Each option is decided on by itself, \
             with a reason. What takes effect by reopening is recorded by opening and closing \
             the directory, which no other process may have open. With --running the process \
             that has a store of Lissom's open is asked instead, for what can be changed while \
             reads and writes go on.\n\n\
             What needs a rebuild is not changed without --rewrite. With it all data are \
             written anew, into a directory beside it; both are compared, then exchanged in \
             one step. It may be killed at any instant: the same command goes on. The old \
             directory stays as PATH.before-apply: --finish removes it, --undo takes it back. \
             A store of Lissom's is not rebuilt, since it rewrites files as it merges them; \
             settings that hold from its next open on are recorded, for the program to open it \
             with.\n\n\
             --yes answers the question of --undo, and lets --finish remove a copy that was \
             written to before it was taken away.\n\n\
             Exit code 1 when an option could not be changed. What the directory does not keep, \
             as block_cache of RocksDB or workers of Lissom, is for the program that opens the \
             database to set, and counts as no failure.",
        )
        .arg(path())
        .arg(
            Arg::new("options")
                .value_name("OPTIONS")
                .required_unless_present_any(["finish", "undo"])
                .conflicts_with_all(["finish", "undo"])
                .value_parser(value_parser!(PathBuf))
                .help("File with options or settings"),
        )
        .arg(flag(
            "dry-run",
            "Says what each option takes, and does nothing",
        ))
        .arg(flag(
            "rewrite",
            "Rewrites all data, for options that existing files must have or fit",
        ))
        .arg(
            flag("running", "Asks the process that has the store open")
                .conflicts_with_all(["dry-run", "rewrite"]),
        )
        .arg(
            flag("finish", "Removes the old directory of a rebuild")
                .conflicts_with_all(["undo", "dry-run", "rewrite", "running"]),
        )
        .arg(
            flag("undo", "Takes the old directory of a rebuild back")
                .conflicts_with_all(["dry-run", "rewrite", "running"]),
        )
        .arg(flag(
            "yes",
            "Takes it back, or removes it, even if the rebuilt one was written to",
        ))
        .arg(json())
}

pub fn run(given: &ArgMatches) -> Ending {
    let directory: PathBuf = get(given, "path");
    if given.get_flag("finish") {
        return end(given, &directory);
    }
    if given.get_flag("undo") {
        return take_back(given, &directory);
    }
    // `requires` would be dropped, since OPTIONS cannot be used with --undo.
    if given.get_flag("yes") {
        return Err(Failure::WrongUse(
            "--yes goes with --undo or --finish".into(),
        ));
    }
    let file: PathBuf = find(given, "options")
        .ok_or_else(|| Failure::WrongUse("give a file with options or settings".into()))?;
    let wanted = Wanted::read(&file)?;
    if given.get_flag("running") {
        let text = fs::read_to_string(&file).map_err(|error| {
            Failure::Failed(format!(
                "cannot read {}: {error}; check the path",
                file.display()
            ))
        })?;
        return report(given, &ask_to_apply(&directory, &text, PATIENCE)?);
    }
    let applier = Applier::new(&directory, wanted).rewrite(given.get_flag("rewrite"));
    if given.get_flag("dry-run") {
        return foresee(given, &applier.plan()?);
    }
    let mut line = StatusLine::new();
    let applied = applier.apply(&mut |progress| line.show(&status(progress)));
    drop(line);
    report(given, &applied?)
}

fn status(progress: Progress) -> String {
    let doing = match progress.phase {
        Phase::Copying => "copied",
        Phase::Checking => "compared",
    };
    format!(
        "{doing} {} in {}",
        bytes(progress.bytes),
        count(progress.entries, "entry", "entries")
    )
}

fn foresee(given: &ArgMatches, plan: &Plan) -> Ending {
    if given.get_flag("json") {
        return output::print_json(plan);
    }
    let mut text = format!("{}\n", plan.directory);
    let rows = plan.rows.iter().filter(|row| row.how != How::Unchanged);
    text += &table(rows.map(|row| Line {
        row,
        new: &row.new,
        how: row.how.to_string(),
        why: why(row),
    }));
    text += &notes(&plan.remarks);
    if let Some(space) = &plan.rebuild {
        text += &format!(
            "space for the copy: up to {}, free {}\n",
            bytes(space.needed_bytes),
            bytes(space.free_bytes)
        );
    }
    text += &format!("{}\n", foreseen(plan));
    output::print(&text)
}

fn why(row: &Row) -> String {
    match row.for_new_files {
        true => format!(
            "{}; files that exist keep theirs until they are compacted, or rewritten by --rewrite",
            row.why
        ),
        false => row.why.clone(),
    }
}

fn foreseen(plan: &Plan) -> String {
    if plan.is_done() {
        return "every option is as it should be".into();
    }
    let parts: Vec<String> = [
        (How::RunTime, "changes", "change", "at run time"),
        (How::Reopening, "changes", "change", "at reopening"),
        (How::Rebuild, "needs", "need", "a rebuild (--rewrite)"),
        (How::Impossible, "cannot", "cannot", "be changed"),
        (How::Ignored, "means", "mean", "nothing to RocksDB 11.12"),
        (
            How::Unkept,
            "is",
            "are",
            "for the program that opens the database to set",
        ),
        (How::Unchanged, "is", "are", "so already"),
    ]
    .into_iter()
    .filter(|(how, ..)| plan.count(*how) > 0)
    .map(|(how, one, more, what)| match plan.count(how) {
        1 => format!("1 {one} {what}"),
        number => format!("{number} {more} {what}"),
    })
    .collect();
    let all = match &plan.rebuild {
        Some(_) => "; all data will be written anew",
        None => "",
    };
    format!(
        "of {} {}{all}",
        plural(plan.rows.len() as u64, "option"),
        parts.join(", ")
    )
}

fn report(given: &ArgMatches, applied: &Applied) -> Ending {
    if given.get_flag("json") {
        output::print_json(applied)?;
    } else {
        output::print(&describe(applied))?;
    }
    let left = applied.left().count() as u64;
    match left {
        0 => Ok(()),
        _ => Err(Failure::Failed(format!(
            "{} not changed, for the reasons given",
            match left {
                1 => "1 option was".to_owned(),
                more => format!("{more} options were"),
            }
        ))),
    }
}

fn describe(applied: &Applied) -> String {
    let mut text = format!("{}\n", applied.directory);
    let outcomes = applied
        .outcomes
        .iter()
        .filter(|outcome| outcome.taken != Taken::Already);
    text += &table(outcomes.map(outcome_line));
    if let Some(rebuilt) = &applied.rebuilt {
        for family in &rebuilt.families {
            text += &format!(
                "column family {}: {} ({}) in both directories, checksum {}\n",
                family.name,
                count(family.entries, "entry", "entries"),
                bytes(family.bytes),
                family.checksum
            );
        }
        text += &format!(
            "the old directory is {}: `lissom apply --finish` removes it, --undo takes it back\n",
            rebuilt.before
        );
    }
    text += &notes(&applied.remarks);
    let changed = applied.count(Taken::Changed) + applied.count(Taken::Adjusted);
    let already = applied.count(Taken::Already);
    let unkept = match applied.count(Taken::Unkept) {
        0 => String::new(),
        more => format!(", {more} for the program that opens the database to set"),
    };
    text += &format!(
        "{} changed, {already} so before, {} left as before{unkept}\n",
        plural(changed as u64, "option"),
        applied.left().count()
    );
    text
}

fn outcome_line(outcome: &Outcome) -> Line<'_> {
    let row = &outcome.row;
    let (new, how) = match outcome.taken {
        Taken::Adjusted => (
            outcome.now.as_deref().unwrap_or(&row.new),
            "changed otherwise".to_owned(),
        ),
        Taken::Changed | Taken::Already => (row.new.as_str(), "changed".to_owned()),
        Taken::Left => (row.new.as_str(), "not changed".to_owned()),
        Taken::Unkept => (row.new.as_str(), row.how.to_string()),
    };
    Line {
        row,
        new,
        how,
        why: outcome.why.clone(),
    }
}

/// One option of a table.
struct Line<'a> {
    row: &'a Row,
    new: &'a str,
    how: String,
    why: String,
}

/// Options below the names of their sections.
fn table<'a>(lines: impl Iterator<Item = Line<'a>>) -> String {
    let mut text = String::new();
    let mut section: Option<&Section> = None;
    for line in lines {
        if section != Some(&line.row.section) {
            section = Some(&line.row.section);
            text += &format!("{}\n", line.row.section);
        }
        let old = line.row.old.as_deref().unwrap_or("not recorded");
        text += &format!(
            "  {}: {} -> {}, {}\n",
            line.row.name,
            shown(old),
            shown(line.new),
            line.how
        );
        text += &wrap(&line.why, "      ");
    }
    text
}

fn shown(value: &str) -> &str {
    match value {
        "" => "empty",
        other => other,
    }
}

fn notes(remarks: &[String]) -> String {
    remarks
        .iter()
        .map(|remark| wrap(&format!("note: {remark}"), ""))
        .collect()
}

/// Words in lines that fit a terminal.
fn wrap(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let wider = indent.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && wider > WIDTH {
            lines += &format!("{indent}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines += &format!("{indent}{line}\n");
    }
    lines
}

fn count(number: u64, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {more}"),
    }
}

fn end(given: &ArgMatches, directory: &Path) -> Ending {
    let finished = finish(directory, given.get_flag("yes"))?;
    if given.get_flag("json") {
        output::print_json(&finished)?;
    } else {
        let line = |removed: &Removed| {
            format!(
                "removed {} ({})\n",
                removed.path.display(),
                bytes(removed.bytes)
            )
        };
        output::print(&finished.removed.iter().map(line).collect::<String>())?;
    }
    match finished.kept.first() {
        None => Ok(()),
        Some(kept) => Err(Failure::Failed(format!(
            "{} was not removed: nothing else has what was written to it before --undo took it \
             away; --finish --yes removes it",
            kept.display()
        ))),
    }
}

fn take_back(given: &ArgMatches, directory: &Path) -> Ending {
    let mut unasked = None;
    let undone = undo(directory, |changes| {
        output::confirm(&question(changes), given.get_flag("yes")).unwrap_or_else(|failure| {
            unasked = Some(failure);
            false
        })
    });
    if let Some(failure) = unasked {
        return Err(failure);
    }
    let undone = undone?;
    if given.get_flag("json") {
        return output::print_json(&undone);
    }
    output::print(&format!(
        "{} is as it was before; the copy is {}, and `lissom apply --finish` removes it\n",
        undone.path.display(),
        undone.aside.display()
    ))
}

fn question(changes: Changes) -> String {
    let happened = match changes.writes {
        Some(writes) if writes > 0 => format!("has taken {}", plural(writes, "write")),
        _ => "was opened, and may have been changed,".to_owned(),
    };
    format!(
        "The rebuilt database {happened} since; this would stay in the copy. Take the old one \
         back?"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped() {
        let text = "word ".repeat(40);
        let lines = wrap(&text, "    ");
        assert!(lines.lines().count() > 2);
        for line in lines.lines() {
            assert!(
                line.starts_with("    word") && line.len() <= WIDTH,
                "{line}"
            );
        }
        assert_eq!(wrap("", "  "), "");
    }
}
