//! The one file that holds all runs: written after each arm, read when a run resumes.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::plan::Parameters;
use super::program::Program;
use super::record::ArmRun;
use crate::arms::ArmName;
use crate::distinct::distinct;
use crate::error::{BenchError, Place, Result};
use crate::judge::{Verdict, complete_rounds, judge};

/// Version of the file's form.
const FORMAT: u32 = 1;
/// Name of the file in the output directory.
pub const RESULTS_FILE: &str = "results.json";

/// All runs of one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Version of the form.
    pub format: u32,
    /// What all runs share.
    pub parameters: Parameters,
    /// The machine.
    pub machine: Machine,
    /// The judgement, for other readers of the file: this program makes it anew from the
    /// runs, so that older files are judged by the same rules.
    #[serde(skip_deserializing)]
    pub verdict: Option<Verdict>,
    /// The runs, in the order in which they ended.
    pub runs: Vec<ArmRun>,
    /// What failed and was not yet made good.
    #[serde(default)]
    pub failures: Vec<Failure>,
}

/// An arm that failed in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The arm.
    pub arm: ArmName,
    /// The round, from 0.
    pub round: u32,
    /// Why.
    pub sentence: String,
    /// The same arm has run in the round since. What failed once stays on record: it may have been
    /// a wrong answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made_good: bool,
}

impl Failure {
    /// Before the sentence.
    pub fn title(&self) -> &'static str {
        match self.made_good {
            true => "failed, and succeeded when it was run again",
            false => "failed",
        }
    }
}

/// The machine that ran it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Processors that the program may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The kernel and the numbers of its release.
    pub system: String,
    /// What the device was measured to read and write together, bytes a second, which the
    /// schedules of all arms go by; absent where no arm has one, and where it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_bytes_per_second: Option<u64>,
}

impl Machine {
    /// This machine, as Linux tells it.
    pub fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let memory = read("/proc/meminfo");
        let after = |text: &str, name: &str| -> String {
            let line = text
                .lines()
                .find(|line| line.starts_with(name))
                .unwrap_or("");
            line.split_once(':')
                .map_or(String::new(), |(_, value)| value.trim().to_string())
        };
        let kibibytes = after(&memory, "MemTotal")
            .replace(" kB", "")
            .parse::<u64>()
            .unwrap_or(0);
        Self {
            processor: after(&cpu, "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: kibibytes * 1024,
            system: system(&read("/proc/sys/kernel/osrelease")),
            device_bytes_per_second: None,
        }
    }

    /// Whether the other has the same processors, as many of them.
    pub fn is_like(&self, other: &Self) -> bool {
        (&self.processor, self.cores) == (&other.processor, other.cores)
    }
}

/// What follows the numbers of a release names who built it.
fn system(release: &str) -> String {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.');
    let numbers = &release[..end.unwrap_or(release.len())];
    format!("Linux {}", numbers.trim_end_matches('.'))
        .trim_end()
        .to_owned()
}

impl Results {
    /// Empty results.
    pub fn new(parameters: Parameters) -> Self {
        let machine = Machine::this();
        let (runs, failures) = (Vec::new(), Vec::new());
        Self {
            format: FORMAT,
            parameters,
            machine,
            verdict: None,
            runs,
            failures,
        }
    }

    /// Reads the results in `out`, or starts new ones. Results of other parameters are
    /// refused: figures of different experiments must not mix.
    pub fn resume(out: &Path, parameters: &Parameters) -> Result<Self> {
        let path = out.join(RESULTS_FILE);
        if !path.exists() {
            return Ok(Self::new(parameters.clone()));
        }
        let results = Self::read(out)?;
        match difference(&results.parameters, parameters) {
            None => Ok(results),
            Some(what) => Err(BenchError::new(format!(
                "{}: it holds runs with other {what}; give another --out, or the same parameters",
                path.display()
            ))),
        }
    }

    /// What an older file does not tell, before runs are added: they are all of one kind. Not the
    /// time to come to rest, which runs that nobody timed would be charged.
    pub(super) fn take_up(&mut self, parameters: &Parameters) {
        let own = &mut self.parameters;
        own.keep_load = own.keep_load.or(parameters.keep_load);
    }

    /// Reads the results of a directory, or of a file of any name, and judges them.
    pub fn read(path: &Path) -> Result<Self> {
        let path = if path.is_file() {
            path.to_path_buf()
        } else {
            path.join(RESULTS_FILE)
        };
        let text = fs::read(&path).place(path.display())?;
        let mut results: Self = serde_json::from_slice(&text).place(format!(
            "{} is no results file of this version; move it away",
            path.display()
        ))?;
        if results.format != FORMAT {
            return Err(BenchError::new(format!(
                "{}: format {} is not {FORMAT}; move the file away or use the program that wrote it",
                path.display(),
                results.format
            )));
        }
        results.verdict = Some(judge(&results.parameters, &results.runs));
        Ok(results)
    }

    /// The programs that made the runs, each once, in the order in which they first ran.
    pub fn programs(&self) -> Vec<&Program> {
        distinct(self.runs.iter().filter_map(|run| run.program.as_ref()))
    }

    /// Whether `arm` has run in `round`.
    pub fn holds(&self, arm: &ArmName, round: u32) -> bool {
        self.runs
            .iter()
            .any(|run| run.round == round && run.arm == *arm)
    }

    /// The runs of rounds that hold all arms, which alone are judged.
    pub fn whole_rounds(&self) -> impl Iterator<Item = &ArmRun> {
        complete_rounds(&self.parameters, &self.runs)
            .into_iter()
            .flatten()
    }

    /// Replaces the file in `out` atomically.
    pub fn save(&self, out: &Path) -> Result<PathBuf> {
        let path = out.join(RESULTS_FILE);
        let text = serde_json::to_vec(self).place(path.display())?;
        replace(&path, &text)?;
        Ok(path)
    }

    /// The same without the samples of the runs, which are most of the bytes. The verdict
    /// stays as it is; who reads them judges anew, without what only samples tell.
    pub fn slim(&self) -> Self {
        let mut slim = self.clone();
        for run in &mut slim.runs {
            run.samples.clear();
        }
        slim
    }

    /// Writes them [`slim`](Self::slim) into a file of any name, to be published.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn publish(&self, file: &Path) -> Result<()> {
        let mut text = serde_json::to_vec(&self.slim()).place(file.display())?;
        text.push(b'\n');
        fs::write(file, text).map_err(|error| {
            BenchError::new(format!(
                "cannot write {}: {error}; check the path and the free space",
                file.display()
            ))
        })
    }
}

/// Writes a file under another name and renames it, so that a reader sees all or nothing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, bytes).place(part.display())?;
    fs::rename(&part, path).place(path.display())
}

/// The first parameter that differs, named for the reader.
fn difference(old: &Parameters, new: &Parameters) -> Option<&'static str> {
    let checks = [
        (
            old.workload_fingerprint == new.workload_fingerprint,
            "workload, --entries or --scale",
        ),
        (
            old.arms == new.arms,
            "arms (each round must hold all of them, interleaved)",
        ),
        (old.seed == new.seed, "--seed"),
        (old.threads == new.threads, "--threads"),
        (old.resources == new.resources, "resources"),
        (old.space_bound == new.space_bound, "--space-bound"),
        (
            old.sample_millis == new.sample_millis,
            "interval of samples",
        ),
        (
            agree(old.keep_load, new.keep_load),
            "--keep-load (with it stores begin with cold caches)",
        ),
        (
            agree(old.settle_seconds, new.settle_seconds),
            "time in which arms may come to rest",
        ),
    ];
    checks.iter().find(|(same, _)| !same).map(|(_, what)| *what)
}

/// Whether two are the same, as far as both tell.
fn agree<T: PartialEq>(old: Option<T>, new: Option<T>) -> bool {
    old.zip(new).is_none_or(|(old, new)| old == new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_is_told_by_the_numbers_of_its_release() {
        assert_eq!(system("6.18.44-fc-v657\n"), "Linux 6.18.44");
        assert_eq!(system("4.18.0-553.el8_10.x86_64\n"), "Linux 4.18.0");
        assert_eq!(system("6.6.y"), "Linux 6.6");
        assert_eq!(system("7.0"), "Linux 7.0");
        assert_eq!(system(""), "Linux");
    }
}
