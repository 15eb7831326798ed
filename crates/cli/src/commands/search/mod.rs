//! `lissom search`

mod arguments;
mod build;
mod check;
mod described;
mod device;
mod elsewhere;
mod output;
mod request;
mod space;
mod subject;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{ArgMatches, Command};
use lissom_search::export;
use lissom_search::record::Log;
use lissom_search::search::Search;
use lissom_search::space::Configuration;
use lissom_trials::findings::Findings;
use lissom_trials::session::{Observer, Opening, Session, Trials, most_alive, most_started};
use lissom_trials::{
    Demand, LogFile, Room, Runner, Suspension, TrialsError, Writer, admit, asked_to_end,
    clear_leftovers,
};

use crate::failure::{Failure, Outcome};
use crate::output::{StatusLine, note, remark};
use check::{check, unsaid};
use request::Request;

pub use described::{NAME as SPACE, command as space_command, run as run_space};

pub fn command() -> Command {
    Command::new("search")
        .about("Finds a configuration by experiment, and says how sure it is")
        .long_about(
            "Finds a configuration by experiment (Dremel): tries configurations on a workload or on \
             a program of your own, stops the worse half early and lets the better half run on, and \
             repeats the best against the runner-up and the default.\n\n\
             Writes an OPTIONS file, a report, and a log of everything measured; an interrupted \
             search goes on with the same command, and later searches learn from the log. \
             docs/search.md has the protocol of a program of your own.",
        )
        .args(arguments::subject())
        .args(arguments::space())
        .args(arguments::sought())
        .args(arguments::spent())
        .args(arguments::method())
        .args(arguments::elsewhere())
        .args(arguments::bounds())
        .args(arguments::files())
        .arg(crate::arguments::json())
}

pub fn run(given: &ArgMatches) -> Outcome {
    let mut request = Request::of(given)?;
    let wrong_use = |error: TrialsError| Failure::WrongUse(error.to_string());
    let planned = check(&request).map_err(wrong_use)?;
    let lying = clear(&request)?;
    let restarts = make_room(&mut request, &planned, lying).map_err(wrong_use)?;
    let unsaid = unsaid(&request).map_err(wrong_use)?;
    request.notes.extend(unsaid);
    request.notes.iter().for_each(|it| remark(it));
    restarts.iter().for_each(|it| note(it));
    request.notes.extend(restarts);
    let asked = asked_to_end()?;
    let (mut log, recorded) = LogFile::open(&request.log)?;
    let found = search(&mut request, &mut log, &recorded, asked)?;
    output::finish(&request, found, &mut log)
}

/// Removes what a search that was killed has left: it would be missing from the room there is.
/// Bytes of what was loaded for all trials, which needs no room any more.
fn clear(request: &Request) -> lissom_trials::Result<u64> {
    let settings = &request.settings;
    match request.runner {
        // Trials lie on other machines, and what the runner has left ends when the next starts.
        Some(_) => Ok(0),
        None => {
            let search = request.plan.identity();
            clear_leftovers(&settings.directory, settings.keep, &search)
        }
    }
}

/// Whether memory and disk have room for all that may be alive at once, where so many bytes of
/// what trials share lie there already. Where they have not, trials do not wait, and a sentence
/// says so.
fn make_room(
    request: &mut Request,
    search: &Search,
    lying: u64,
) -> lissom_trials::Result<Option<String>> {
    if request.runner.is_some() {
        // Of other machines only the runner can tell, as soon as it runs.
        return Ok(None);
    }
    let settings = &mut request.settings;
    settings.most_alive = most_alive(search);
    let demand = Demand {
        most_alive: settings.most_alive,
        most_started: most_started(search),
        workers: request.plan.setup.method.workers,
        memory_bytes: settings.memory_bytes,
        disk_bytes: request.disk_bytes,
        shared_bytes: request.shared_bytes.saturating_sub(lying),
        restart: settings.restart,
        keep: settings.keep,
    };
    let crowded = admit(&demand, &Room::of(&settings.directory))?;
    settings.restart |= crowded.is_some();
    Ok(crowded)
}

fn search(
    request: &mut Request,
    log: &mut LogFile,
    recorded: &Log,
    asked: Arc<AtomicBool>,
) -> lissom_trials::Result<Findings> {
    let open = |request: &Request| Opening::of(&request.plan, recorded, request.anew);
    // What another search has loaded goes for none but one that can begin; how many trials run at
    // once elsewhere only the runner tells.
    let is_here = request.runner.is_none();
    let here = is_here.then(|| open(request)).transpose()?;
    let mut trials = trials(request, recorded, &asked)?;
    let opening = here.map_or_else(|| open(request), Ok)?;
    let notes = opening.notes().to_vec();
    notes.iter().for_each(|it| note(it));
    let mut watching = Watching {
        asked,
        suspension: Suspension::listen()?,
        line: StatusLine::new(),
    };
    let found = Session::run(&request.plan, opening, trials.as_mut(), log, &mut watching);
    let remarks = trials.remarks().to_vec();
    let mut found = found.map_err(|error| resumable(request, &error, &remarks))?;
    found.cautions.extend(crowded(request));
    found.notes.extend(request.notes.iter().cloned());
    found.notes.extend(notes);
    found.notes.extend(remarks);
    Ok(found)
}

/// What trials that run at once do to each other on one machine.
fn crowded(request: &Request) -> Option<String> {
    let workers = request.plan.setup.method.workers;
    (request.runner.is_none() && workers > 1).then(|| {
        format!(
            "{workers} trials ran at once on this machine and took its processors, its disk and \
             its memory from each other, so that the search may have chosen what suffers least \
             from that; repeats and ablations ran alone"
        )
    })
}

/// What runs the trials: this machine, or the runner that was asked for.
fn trials(
    request: &mut Request,
    recorded: &Log,
    asked: &AtomicBool,
) -> lissom_trials::Result<Box<dyn Trials>> {
    if let Some(runner) = request.runner.clone() {
        let trials = elsewhere::start(request, &runner, recorded, asked)?;
        return Ok(Box::new(trials));
    }
    let runner = Runner::new(
        request.settings.clone(),
        request.template.clone(),
        writer(request),
        request.plan.identity(),
    )?;
    Ok(Box::new(runner))
}

/// Turns configurations into files of the chosen format. What it cannot express is
/// said of the best, at the end.
fn writer(request: &Request) -> Writer {
    let (format, space) = (request.format, request.plan.space.clone());
    Box::new(move |configuration: &Configuration| {
        export::write(format, &space, configuration).map(|it| it.text)
    })
}

/// A search that was begun is not lost.
fn resumable(request: &Request, error: &TrialsError, remarks: &[String]) -> TrialsError {
    let remarks: String = remarks.iter().map(|it| format!("; {it}")).collect();
    TrialsError::new(format!(
        "{error}; what was measured stands in {}, and the same command goes on from \
         there{remarks}",
        request.log.display()
    ))
}

/// The person at the terminal.
struct Watching {
    asked: Arc<AtomicBool>,
    suspension: Suspension,
    line: StatusLine,
}

impl Observer for Watching {
    fn interrupts(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    fn suspends(&self) -> bool {
        self.suspension.is_asked()
    }

    fn stand_still(&mut self) {
        self.suspension.stop_here();
    }

    fn sees(&mut self, progress: &str) {
        self.line.show(progress);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_that_share_a_machine_are_a_caution() {
        let crowded = |more: &[&str]| {
            let words = ["search", "--command", "p {options}"];
            let given = command().try_get_matches_from(words.iter().chain(more));
            let Ok(request) = Request::of(&given.expect("legal")) else {
                panic!("{more:?} is legal");
            };
            super::crowded(&request)
        };
        let sentence = crowded(&["--workers", "2"]).expect("two at once");
        assert!(sentence.starts_with("2 trials ran at once"), "{sentence}");
        assert_eq!(crowded(&["--workers", "1"]), None);
        assert_eq!(crowded(&[]), None);
        assert_eq!(crowded(&["--workers", "2", "--runner", "r"]), None);
    }
}
