//! What is measured: a workload, or a program of the user's.

use std::path::Path;
use std::time::Duration;

use clap::ArgMatches;
use lissom_bench::trial::{Limits, System, shared};
use lissom_bench::{Machine, SHIPPED, load_workload};
use lissom_search::export::Format;
use lissom_search::space::{BuiltIn, Parameter};
use lissom_trials::Template;

use super::space::{CORES, Source, memory};
use super::{build, device};
use crate::arguments::{find, get};
use crate::failure::Failure;

/// The program that runs a workload's trials on other machines, found on the `PATH` there.
const PROGRAM: &str = "lissom";
/// The system whose settings are no options of RocksDB.
pub const LISSOM: &str = "lissom";
/// A store may hold so many times the bytes of its entries, while it merges them.
const SPACE_AMPLIFICATION: f64 = 2.0;
const GIB: f64 = (1 << 30) as f64;
/// Windows of a full evaluation. Some must lie in a fifth of it, which tells whether a
/// trial has settled.
const WINDOWS: u32 = 50;
/// A trial looks at the clock not much more often.
const SHORTEST_WINDOW: Duration = Duration::from_millis(50);

/// What is measured.
pub struct Subject {
    /// For sentences.
    pub name: String,
    /// Everything on which measurements depend.
    pub facts: Vec<String>,
    /// Those of them that tell builds of the program apart.
    pub build: Vec<String>,
    /// What it knows of a space's constants.
    pub constants: Vec<(String, f64)>,
    /// Bytes that a trial's directory may come to hold; absent of a program of one's
    /// own.
    pub disk_bytes: Option<u64>,
    /// Bytes on the disk that all trials share.
    pub shared_bytes: u64,
    /// The child's command line.
    pub template: Template,
    /// What one should know of it: sentences.
    pub notes: Vec<String>,
    /// What runs the workload, if there is one.
    pub system: Option<String>,
    /// What all trials of a workload have beside their configurations.
    pub shared: Vec<Parameter>,
    /// How often a trial of a workload reports; a program of one's own is not known.
    pub window: Option<Duration>,
}

impl Subject {
    /// What was given on the command line; it is measured on this machine, with its data
    /// under `directory`, or wherever `runner` runs it.
    pub fn of(
        given: &ArgMatches,
        space: &Source,
        runner: Option<&[String]>,
        directory: &Path,
    ) -> Result<Subject, Failure> {
        let mut subject = match find::<String>(given, "command") {
            Some(command) => Subject::program(&command)?,
            None => Subject::workload(given, space, runner.is_some())?,
        };
        match runner {
            None => subject.is_measured_here(directory),
            Some(runner) => subject.facts.extend(runner.iter().cloned()),
        }
        Ok(subject)
    }

    fn is_measured_here(&mut self, directory: &Path) {
        let machine = Machine::this();
        self.facts.extend([
            machine.processor,
            format!("{} cores", machine.cores),
            // A kernel takes a little more or less of it.
            format!("{:.0} GiB of memory", machine.memory_bytes as f64 / GIB),
        ]);
        self.facts.extend(device::under(directory));
        let program = self.template.words().first();
        let build = program.and_then(|it| build::of(it));
        self.facts.extend(build.clone());
        self.build.extend(build);
        let cores = (CORES.to_owned(), machine.cores as f64);
        self.constants.push(cores);
    }

    fn program(command: &str) -> Result<Subject, Failure> {
        let template = Template::parse(command).map_err(wrong)?;
        let program = template.words().first().cloned().unwrap_or_default();
        Ok(Subject {
            name: program,
            facts: template.words().to_vec(),
            build: Vec::new(),
            constants: Vec::new(),
            disk_bytes: None,
            shared_bytes: 0,
            template,
            notes: Vec::new(),
            system: None,
            shared: Vec::new(),
            window: None,
        })
    }

    fn workload(given: &ArgMatches, space: &Source, elsewhere: bool) -> Result<Subject, Failure> {
        let (name, notes) = workload_name(given, elsewhere)?;
        let entries = find::<u64>(given, "entries");
        let workload = load_workload(&name)
            .and_then(|workload| workload.sized(entries, 1.0))
            .map_err(wrong)?;
        let system = find(given, "system").unwrap_or_else(|| match space.built_in {
            Some(BuiltIn::Lissom) => LISSOM.to_owned(),
            _ => "rocksdb".to_owned(),
        });
        let program = if elsewhere {
            PROGRAM.to_owned()
        } else {
            this_program()?
        };
        let words = words(given, &program, &name, &system);
        let data = workload.entries as f64 * workload.entry_bytes();
        let version = format!("lissom {}", env!("CARGO_PKG_VERSION"));
        let mut facts = vec![
            workload.fingerprint(),
            format!("{} threads", find::<u32>(given, "threads").unwrap_or(1)),
            system.clone(),
            version.clone(),
            "a prepared data set".to_owned(),
        ];
        let limits = limits(given, &system);
        facts.extend(
            limits
                .memory
                .map(|it| format!("a memory budget of {it} bytes")),
        );
        Ok(Subject {
            name: workload.name.clone(),
            facts,
            build: vec![version],
            constants: vec![
                ("entries".to_owned(), workload.entries as f64),
                ("entry_bytes".to_owned(), workload.entry_bytes()),
            ],
            // The conversion saturates.
            disk_bytes: Some((data * SPACE_AMPLIFICATION) as u64),
            shared_bytes: data as u64,
            template: Template::of(words).map_err(wrong)?,
            notes,
            shared: shared(system.parse::<System>().map_err(wrong)?, &limits),
            system: Some(system),
            window: Some(window(given)),
        })
    }

    /// What trials read, and what the best is written as, where `asked` was asked for:
    /// trials of a workload read what their system does.
    pub fn formats(&self, space: &Source, asked: Option<Format>) -> (Format, Format) {
        let own = self.format(space);
        match &self.system {
            Some(_) => (own, asked.unwrap_or(own)),
            None => (asked.unwrap_or(own), asked.unwrap_or(own)),
        }
    }

    /// How configurations are written unless it is said otherwise.
    fn format(&self, space: &Source) -> Format {
        let of_rocksdb = matches!(
            (self.system.as_deref(), space.built_in),
            (Some("rocksdb"), _) | (None, Some(BuiltIn::RocksDb | BuiltIn::Dremel))
        );
        if of_rocksdb {
            Format::RocksDb
        } else {
            Format::Json
        }
    }
}

/// The workload's name as a trial is told it, and what one should know of that.
fn workload_name(given: &ArgMatches, elsewhere: bool) -> Result<(String, Vec<String>), Failure> {
    let name: String = get(given, "workload");
    if name == "random" {
        let name = format!("random:{}", get::<u64>(given, "seed"));
        return Ok((name, Vec::new()));
    }
    let shipped = SHIPPED.iter().any(|(it, _)| *it == name);
    if !elsewhere || shipped || !Path::new(&name).exists() {
        return Ok((name, Vec::new()));
    }
    let path = Path::new(&name).canonicalize().map_err(|error| {
        Failure::WrongUse(format!(
            "cannot find the workload {name}: {error}; check its path"
        ))
    })?;
    let path = path.display().to_string();
    let note = format!("the runner's machines read the workload from {path}: put it there");
    Ok((path, vec![note]))
}

/// Where this program lies.
fn this_program() -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::Failed(format!(
            "cannot find this program to start trials: {error}; start it by its full path"
        ))
    })?;
    match program.to_str() {
        Some(program) => Ok(program.to_owned()),
        None => Err(Failure::Failed(format!(
            "this program lies in {}, which is no text: move it",
            program.display()
        ))),
    }
}

/// What all trials share, as `lissom trial` is told by its command line. Lissom divides one
/// budget among what stock RocksDB has options for.
fn limits(given: &ArgMatches, system: &str) -> Limits {
    Limits {
        direct_io: true,
        rate_limit: None,
        // The conversion saturates.
        memory: (system == LISSOM).then(|| memory(given).round() as u64),
        base: None,
    }
}

/// The time that a sample of a trial covers.
fn window(given: &ArgMatches) -> Duration {
    (get::<Duration>(given, "evaluation") / WINDOWS).max(SHORTEST_WINDOW)
}

/// The command line of the program's own child.
fn words(given: &ArgMatches, program: &str, workload: &str, system: &str) -> Vec<String> {
    let window = format!("{}ms", window(given).as_millis());
    let fixed = [
        program,
        "trial",
        "--workload",
        workload,
        "--system",
        system,
        "--options",
        "{options}",
        "--directory",
        "{directory}",
        // One load for all trials, which begin with its files.
        "--prepared",
        "{shared}",
        "--seconds",
        "{seconds}",
        "--operations-seed",
        "{seed}",
        "--window",
        window.as_str(),
    ];
    let mut words: Vec<String> = fixed.map(str::to_owned).to_vec();
    if let Some(entries) = find::<u64>(given, "entries") {
        words.extend(["--entries".to_owned(), entries.to_string()]);
    }
    if let Some(threads) = find::<u32>(given, "threads") {
        words.extend(["--threads".to_owned(), threads.to_string()]);
    }
    if let Some(bytes) = limits(given, system).memory {
        words.extend(["--memory".to_owned(), bytes.to_string()]);
    }
    words
}

fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::WrongUse(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a trial, from those of a search.
    fn words_of(system: &str, more: &[&str]) -> Vec<String> {
        let command = super::super::command();
        let arguments = ["search", "ycsb-a"].iter().chain(more);
        let given = command.try_get_matches_from(arguments).expect("legal");
        words(&given, "lissom", "ycsb-a", system)
    }

    /// The word behind an argument.
    fn behind<'a>(words: &'a [String], name: &str) -> Option<&'a str> {
        let place = words.iter().position(|it| it == name)?;
        words.get(place + 1).map(String::as_str)
    }

    #[test]
    fn a_trial_of_lissom_has_the_memory_of_its_space() {
        let twice = ["--constant", "memory=1MiB", "--constant", "memory=2MiB"];
        let cases: [(&[&str], &str); 4] = [
            (&[], "201326592"),
            (&["--memory", "1GiB"], "805306368"),
            (&["--constant", "memory=100MiB"], "104857600"),
            (&twice, "2097152"),
        ];
        for (more, bytes) in cases {
            let words = words_of(LISSOM, more);
            assert_eq!(behind(&words, "--memory"), Some(bytes), "{more:?}");
            assert_eq!(behind(&words, "--system"), Some(LISSOM));
        }
    }

    #[test]
    fn options_of_rocksdb_say_themselves_what_they_take() {
        let words = words_of("rocksdb", &["--threads", "3", "--entries", "2M"]);
        assert_eq!(behind(&words, "--memory"), None);
        assert_eq!(behind(&words, "--threads"), Some("3"));
        assert_eq!(behind(&words, "--entries"), Some("2000000"));
        assert_eq!(behind(&words, "--window"), Some("1200ms"));
        assert_eq!(behind(&words, "--options"), Some("{options}"));
        assert_eq!(behind(&words, "--operations-seed"), Some("{seed}"));
    }
}
