//! What was asked for, as a whole.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ArgMatches;
use lissom_search::export::Format;
use lissom_search::objective::{Constraint, Objective};
use lissom_search::record::Target;
use lissom_search::search::{Sampling, Setup, TimePoints};
use lissom_search::space::Parameter;
use lissom_trials::session::Plan;
use lissom_trials::{Settings, Template, words};

use super::space;
use super::subject::Subject;
use crate::arguments::{find, get};
use crate::failure::Failure;

/// A trial without a sample for less than this is not yet called hung.
const LEAST_DEADLINE: f64 = 10.0;
/// Within less time than so many samples take, a trial that works is called hung by chance.
const LEAST_WINDOWS: u32 = 3;

/// What `lissom search` is to do.
pub struct Request {
    pub plan: Plan,
    pub settings: Settings,
    pub template: Template,
    /// What trials read.
    pub format: Format,
    /// What the best configuration is written as.
    pub out_format: Format,
    /// What runs the workload, if there is one.
    pub system: Option<String>,
    pub out: PathBuf,
    pub log: PathBuf,
    pub report: PathBuf,
    /// The program that runs trials on other machines, if one is to.
    pub runner: Option<Vec<String>>,
    /// Trials that run at once, if it was said.
    pub workers: Option<usize>,
    /// Whether an interrupted search is left as it is.
    pub anew: bool,
    pub json: bool,
    /// Bytes that a trial's directory may come to hold; absent of a program of one's
    /// own.
    pub disk_bytes: Option<u64>,
    /// Bytes on the disk that all trials share.
    pub shared_bytes: u64,
    /// What all trials have beside their configurations.
    pub shared: Vec<Parameter>,
    /// What one should know of the way it is done: sentences.
    pub notes: Vec<String>,
}

impl Request {
    /// What was given on the command line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(given: &ArgMatches) -> Result<Request, Failure> {
        let source = space::source(given)?;
        let runner = runner(given)?;
        let out: PathBuf = get(given, "out");
        let beside = |name: &str| out.with_file_name(name);
        let directory = find(given, "directory").unwrap_or_else(|| beside("search.trials"));
        let subject = Subject::of(given, &source, runner.as_deref(), &directory)?;
        check_deadline(find(given, "deadline"), subject.window)?;
        let memory_bytes: u64 = get(given, "memory");
        let space = source.space(given, &subject)?;
        let (format, out_format) = subject.formats(&source, find(given, "format"));
        let mut facts = subject.facts.clone();
        facts.extend([format!("{memory_bytes} bytes"), format.to_string()]);
        let target = Target::built(&subject.name, &facts, &subject.build);
        // What the space varies has the last word.
        let mut shared = subject.shared.clone();
        shared.retain(|it| space.parameter(&it.name).is_none());
        let mut notes = subject.notes.clone();
        notes.extend(source.guessed(given, &subject, &space));
        let plan = Plan::new(space, target, setup(given), get(given, "repeats"));
        let longest_seconds = plan.setup.method.longest_run();
        Ok(Request {
            plan,
            settings: settings(given, memory_bytes, longest_seconds, directory),
            template: subject.template,
            system: subject.system,
            format,
            out_format,
            log: find(given, "log").unwrap_or_else(|| beside("search.jsonl")),
            report: find(given, "report").unwrap_or_else(|| beside("search.html")),
            anew: given.get_flag("new"),
            json: given.get_flag("json"),
            disk_bytes: subject.disk_bytes,
            shared_bytes: subject.shared_bytes,
            shared,
            workers: find::<u32>(given, "workers").map(|it| it as usize),
            runner,
            notes,
            out,
        })
    }
}

fn setup(given: &ArgMatches) -> Setup {
    let objective: Objective = get(given, "objective");
    let mut setup = Setup::new(objective, seconds(given, "budget"));
    let constraints = given.get_many::<Constraint>("constraint");
    setup.constraints = constraints.unwrap_or_default().cloned().collect();
    setup.seed = get(given, "seed");
    let evaluation = seconds(given, "evaluation");
    setup.method.points = if given.get_flag("full") {
        TimePoints::Fixed(vec![evaluation])
    } else {
        TimePoints::settled_within(evaluation)
    };
    setup.method.buckets = get::<u32>(given, "buckets") as usize;
    let without = given.get_many::<String>("without");
    setup.method.without = without.unwrap_or_default().cloned().collect();
    setup.method.workers = find::<u32>(given, "workers").map_or(1, |it| it as usize);
    setup.method.whole_budget = !given.get_flag("as-published");
    if let Some(how) = find::<String>(given, "further") {
        setup.method.further = match how.as_str() {
            "heuristic" => Sampling::Heuristic,
            "near" => Sampling::Near,
            _ => Sampling::Random,
        };
    }
    setup.method.setup_seconds = find(given, "setup").map_or(0.0, |it: Duration| it.as_secs_f64());
    setup
}

fn settings(
    given: &ArgMatches,
    memory_bytes: u64,
    longest_seconds: f64,
    directory: PathBuf,
) -> Settings {
    let evaluation_seconds = seconds(given, "evaluation");
    let deadline = (evaluation_seconds / 2.0).max(LEAST_DEADLINE);
    Settings {
        directory,
        evaluation_seconds,
        longest_seconds,
        memory_bytes,
        deadline_seconds: find(given, "deadline").map_or(deadline, |it: Duration| it.as_secs_f64()),
        setup_deadline_seconds: seconds(given, "setup-deadline"),
        // As soon as the search is planned, it tells how many.
        most_alive: 1,
        restart: given.get_flag("restart"),
        keep: given.get_flag("keep"),
    }
}

/// Whether trials report often enough for the deadline that was given.
fn check_deadline(deadline: Option<Duration>, window: Option<Duration>) -> Result<(), Failure> {
    let Some((deadline, window)) = deadline.zip(window) else {
        return Ok(());
    };
    let least = LEAST_WINDOWS * window;
    if deadline >= least {
        return Ok(());
    }
    Err(Failure::WrongUse(format!(
        "--deadline {deadline:?} is too short: a trial reports each {window:?}, and within less \
         than {least:?} every one may count as hung; give at least that, or a shorter --evaluation"
    )))
}

/// The words of `--runner`.
fn runner(given: &ArgMatches) -> Result<Option<Vec<String>>, Failure> {
    let words = find::<String>(given, "runner").map(|command| words(&command));
    words
        .transpose()
        .map_err(|error| Failure::WrongUse(format!("--runner: {error}")))
}

/// A length of time that has a default.
fn seconds(given: &ArgMatches, name: &str) -> f64 {
    get::<Duration>(given, name).as_secs_f64()
}

/// A file's path as a person finds it.
pub fn shown(path: &Path) -> String {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    full.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(words: &[&str]) -> Request {
        let words = ["search"].iter().chain(words);
        let given = super::super::command()
            .try_get_matches_from(words)
            .expect("legal");
        Request::of(&given).expect("legal")
    }

    #[test]
    fn trials_of_a_workload_read_the_same_whatever_the_best_is_written_as() {
        let plain = request(&["ycsb-a"]);
        assert_eq!(plain.format, Format::RocksDb);
        assert_eq!(plain.out_format, Format::RocksDb);
        let flink = request(&["ycsb-a", "--format", "flink"]);
        assert_eq!(flink.format, Format::RocksDb);
        assert_eq!(flink.out_format, Format::Flink);
        // So the one learns from the other.
        assert_eq!(flink.plan.target, plain.plan.target);
        let lissom = request(&["ycsb-a", "--space", "lissom"]);
        assert_eq!(lissom.format, Format::Json);
    }

    #[test]
    fn another_build_is_told_from_another_target() {
        let place = tempfile::tempdir().expect("a directory");
        let program = place.path().join("program");
        let target = |contents: &str, memory: &str| {
            std::fs::write(&program, contents).expect("written");
            let command = format!("{} {{options}}", program.display());
            request(&["--command", &command, "--memory", memory])
                .plan
                .target
        };
        let one = target("one", "1GiB");
        assert!(target("two", "1GiB").is_another_build_of(&one));
        assert!(!target("two", "2GiB").is_another_build_of(&one));
    }

    #[test]
    fn what_nobody_has_said_is_noted() {
        let granted = |words: &[&str]| {
            let notes = request(words).notes;
            notes.into_iter().find(|it| it.contains("for granted"))
        };
        let own = ["--command", "p {options}"];
        let note = granted(&own).expect("entries are not known");
        assert!(
            note.contains("entries=10000000, entry_bytes=1024"),
            "{note}"
        );
        assert!(
            !note.contains("cores") && !note.contains("memory"),
            "{note}"
        );
        let said = ["--constant", "entries=2e6", "--constant", "entry_bytes=7"];
        assert_eq!(granted(&[&own[..], &said[..]].concat()), None);
        assert_eq!(granted(&["ycsb-a"]), None);
        let elsewhere = granted(&["ycsb-a", "--runner", "r"]).expect("of other machines");
        assert!(elsewhere.contains("cores=4"), "{elsewhere}");
    }

    #[test]
    fn a_deadline_has_room_for_some_samples() {
        let of = |words: &[&str]| {
            let words = ["search"].iter().chain(words);
            let given = super::super::command().try_get_matches_from(words);
            Request::of(&given.expect("legal")).err()
        };
        let refused = of(&["ycsb-a", "--deadline", "3500ms"]);
        let Some(Failure::WrongUse(sentence)) = refused else {
            panic!("it is too short");
        };
        assert!(
            sentence.contains("--deadline 3.5s is too short"),
            "{sentence}"
        );
        assert!(
            sentence.contains("each 1.2s, and within less than 3.6s"),
            "{sentence}"
        );
        for legal in [
            &["ycsb-a", "--deadline", "3600ms"][..],
            &["ycsb-a", "--deadline", "1s", "--evaluation", "10s"],
            &["--command", "p {options}", "--deadline", "1ms"],
        ] {
            assert!(of(legal).is_none(), "{legal:?}");
        }
    }

    #[test]
    fn the_whole_budget_is_used_unless_it_is_to_be_as_published() {
        let whole = request(&["ycsb-a", "--further", "near"]);
        let method = &whole.plan.setup.method;
        assert!(method.whole_budget && method.further == Sampling::Near);
        assert_eq!(whole.settings.longest_seconds, 120.0);
        let full = request(&["ycsb-a", "--full"]);
        assert_eq!(full.settings.longest_seconds, 60.0, "nobody runs on");
        let published = request(&["ycsb-a", "--as-published"]);
        let method = &published.plan.setup.method;
        assert!(!method.whole_budget && method.further == Sampling::Random);
        assert_eq!(published.settings.longest_seconds, 60.0);
    }

    #[test]
    fn a_program_reads_what_was_asked_for() {
        let words = ["--command", "p {options}", "--format", "cassandra"];
        let own = request(&words);
        assert_eq!(own.format, Format::Cassandra);
        assert_eq!(own.out_format, Format::Cassandra);
    }
}
