//! `lissom apply`

mod arguments;
mod table;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use lissom::apply::{Applied, Applier, Plan, Wanted, finish, undo};
use lissom::control::ask_to_apply;

use crate::arguments::{find, get};
use crate::failure::{Failure, Outcome};
use crate::output::{self, StatusLine};

pub use arguments::command;

/// How long a running store may take for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

pub fn run(given: &ArgMatches) -> Outcome {
    lissom::open_files::raise_limit();
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
    let applied = applier.apply(&mut |progress| line.show(&words::status(progress)));
    drop(line);
    report(given, &applied?)
}

fn foresee(given: &ArgMatches, plan: &Plan) -> Outcome {
    if given.get_flag("json") {
        return output::print_json(plan);
    }
    output::print(&words::foreseen(plan))
}

fn report(given: &ArgMatches, applied: &Applied) -> Outcome {
    if given.get_flag("json") {
        output::print_json(applied)?;
    } else {
        output::print(&words::described(applied))?;
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

fn end(given: &ArgMatches, directory: &Path) -> Outcome {
    let finished = finish(directory, given.get_flag("yes"))?;
    if given.get_flag("json") {
        output::print_json(&finished)?;
    } else {
        output::print(
            &finished
                .removed
                .iter()
                .map(words::removed)
                .collect::<String>(),
        )?;
    }
    match finished.kept.first() {
        None => Ok(()),
        Some(kept) => Err(Failure::Failed(format!(
            "{} was not removed: it has changed since the rebuild, as by being opened for writing, \
             and nothing else has what was written to it then; --finish --yes removes it",
            kept.display()
        ))),
    }
}

fn take_back(given: &ArgMatches, directory: &Path) -> Outcome {
    let yes = given.get_flag("yes");
    let mut unasked = None;
    let undone = undo(directory, |changes| {
        let question = words::question(changes);
        output::confirm(&question, "--yes to take it back", yes).unwrap_or_else(|failure| {
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
    output::print(&words::taken_back(&undone))
}
