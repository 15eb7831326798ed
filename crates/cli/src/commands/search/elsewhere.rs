//! Trials on other machines: what is agreed with the runner before the search begins.

use std::sync::atomic::{AtomicBool, Ordering};

use lissom_search::record::Log;
use lissom_search::search::Search;
use lissom_trials::session::{interrupted_workers, most_alive};
use lissom_trials::{Elsewhere, Patience};

use super::request::Request;
use super::writer;
use crate::output::{note, remark};

/// Starts the runner, and has as many trials run at once as it can.
pub fn start(
    request: &mut Request,
    runner: &[String],
    recorded: &Log,
    asked: &AtomicBool,
) -> lissom_trials::Result<Elsewhere> {
    let mut trials = Elsewhere::open(
        request.settings.clone(),
        request.template.clone(),
        writer(request),
        runner,
        request.workers,
        Patience::default(),
        &|| asked.load(Ordering::SeqCst),
    )?;
    let before = interrupted_workers(&request.plan, recorded).filter(|_| !request.anew);
    let (workers, at_once) = workers(request.workers, trials.workers(), before);
    request.plan.setup.method.workers = workers;
    let search = Search::new(&request.plan.space, request.plan.setup.clone(), &[])?;
    let crowded = trials.admit(most_alive(&search));
    let told = [at_once, unlooked(trials.name())];
    told.iter().for_each(|it| remark(it));
    crowded.iter().for_each(|it| note(it));
    request.notes.extend(told.into_iter().chain(crowded));
    Ok(trials)
}

/// How many trials run at once, and that in words: as many as are wanted and the runner
/// has workers. An interrupted search keeps to its own number, or it would be another
/// one; what the runner has no worker for waits there for its turn.
fn workers(wanted: Option<usize>, has: usize, before: Option<usize>) -> (usize, String) {
    let most = wanted.unwrap_or(usize::MAX);
    let has_so_many = match has {
        1 => "the runner has 1 worker".to_owned(),
        more => format!("the runner has {more} workers"),
    };
    match before.filter(|it| *it <= most && *it != most.min(has)) {
        Some(before) => (
            before,
            format!(
                "{has_so_many}, and the search that was interrupted goes on with {before}, as it \
                 began"
            ),
        ),
        None => {
            let workers = most.min(has);
            (
                workers,
                format!("{has_so_many}; trials that run at once: {workers}"),
            )
        }
    }
}

/// What is not looked at, since it is on other machines.
fn unlooked(runner: &str) -> String {
    let runner = if runner.is_empty() {
        String::new()
    } else {
        format!(" ({runner})")
    };
    format!(
        "the trials run elsewhere{runner}: what memory and disk are free there is for the runner \
         to know, and machines that differ are compared as if they were alike"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_number_of_workers_counts() {
        let count = |wanted, has, before| workers(wanted, has, before).0;
        assert_eq!(count(None, 3, None), 3);
        assert_eq!(count(Some(2), 3, None), 2);
        assert_eq!(count(Some(5), 3, None), 3);
        let (_, note) = workers(Some(5), 1, None);
        assert_eq!(note, "the runner has 1 worker; trials that run at once: 1");
    }

    #[test]
    fn an_interrupted_search_keeps_its_workers() {
        let (count, note) = workers(None, 1, Some(2));
        assert_eq!(count, 2, "a machine less");
        assert!(note.contains("goes on with 2, as it began"), "{note}");
        assert_eq!(workers(None, 3, Some(2)).0, 2, "a machine more");
        let (count, note) = workers(Some(1), 3, Some(2));
        assert_eq!(count, 1, "fewer were asked for, which is another search");
        assert!(!note.contains("as it began"), "{note}");
    }
}
