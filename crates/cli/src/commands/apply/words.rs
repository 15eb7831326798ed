//! Plans, what came of them, and questions, in words.

use lissom::apply::{
    Applied, Changes, How, Outcome, Phase, Plan, Progress, Removed, Row, Taken, Undone,
};
use lissom::inspect::{bytes, plural};

use super::table::{Line, notes, table};

/// How far a rebuild is.
pub fn status(progress: Progress) -> String {
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

/// What each option of a plan takes.
pub fn foreseen(plan: &Plan) -> String {
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
    text += &format!("{}\n", summary(plan));
    text
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

fn summary(plan: &Plan) -> String {
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

/// What became of each option.
pub fn described(applied: &Applied) -> String {
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
            "the old directory is {}: `lissom apply PATH --finish` removes it, `lissom apply PATH \
             --undo` takes it back\n",
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

fn count(number: u64, one: &str, more: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {more}"),
    }
}

/// A directory that is gone.
pub fn removed(removed: &Removed) -> String {
    format!(
        "removed {} ({})\n",
        removed.path.display(),
        bytes(removed.bytes)
    )
}

/// Where everything is after a rebuild was taken back.
pub fn taken_back(undone: &Undone) -> String {
    format!(
        "{} is as it was before; the copy is {}, and `lissom apply PATH --finish` removes it\n",
        undone.path.display(),
        undone.aside.display()
    )
}

/// Whether a rebuild is to be taken back that has changed since.
pub fn question(changes: Changes) -> String {
    let happened = match changes.writes {
        Some(writes) if writes > 0 => format!("has taken {}", plural(writes, "write")),
        _ => "was opened, and may have been changed,".to_owned(),
    };
    format!(
        "The rebuilt database {happened} since; this would stay in the copy. Take the old one \
         back?"
    )
}
