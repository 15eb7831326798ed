//! Runs trials as child processes of this machine.
//!
//! Each trial is a process group of its own with a directory of its own. While it
//! waits for others it is stopped (SIGSTOP) and keeps its memory; when it goes on
//! (SIGCONT), the first sample is dropped, since it spans the pause.

pub(crate) mod admission;
mod cgroup;
mod follow;
mod gauge;
mod leftovers;
pub(crate) mod listen;
mod live;
pub(crate) mod losses;
pub(crate) mod monitor;
pub(crate) mod place;
pub(crate) mod process;
mod scale;
mod stopwatch;
mod strays;
mod system;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use lissom_search::Fingerprint;
use lissom_search::search::{Measurement, Outcome, TrialId};
use lissom_search::space::Configuration;

use crate::error::{Result, TrialsError};
use crate::session::{Job, Trials};
use crate::template::{Filling, Template};
use follow::Follow;
use live::Live;
use losses::Losses;
use monitor::{Bounds, Finding, Monitor};
use place::{Place, Root};
use process::Process;
use scale::Scale;

pub use admission::{Demand, Room, admit};
pub use place::clear_leftovers;

/// Between two looks at the trials.
const TICK: Duration = Duration::from_millis(20);
/// Children are told to run longer than they are needed, so that none ends by its own
/// clock just before it would be stopped.
const MARGIN: f64 = 1.1;
/// The same, in seconds.
const MARGIN_SECONDS: f64 = 10.0;
/// Points of the series of a full evaluation; three must lie in a fifth of it.
const POINTS: f64 = 100.0;

/// Turns a configuration into the text of its file.
pub type Writer = Box<dyn Fn(&Configuration) -> lissom_search::Result<String>>;

/// What trials may take.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Where trials have their directories.
    pub directory: PathBuf,
    /// A full evaluation, in seconds, without set-up and pauses.
    pub evaluation_seconds: f64,
    /// The longest that a trial may run, in seconds, without set-up and pauses: a full
    /// evaluation, or longer where trials run on behind it
    /// ([`Method::longest_run`](lissom_search::search::Method::longest_run)).
    pub longest_seconds: f64,
    /// The most memory that a trial's processes may hold together, in bytes.
    pub memory_bytes: u64,
    /// Running seconds without a sample after which a trial counts as hung.
    pub deadline_seconds: f64,
    /// Seconds of set-up after which a trial counts as hung.
    pub setup_deadline_seconds: f64,
    /// Trials that may be alive at once. The first one shows whether the disk has room
    /// for so many.
    pub most_alive: usize,
    /// Whether a trial ends when it has to wait, and begins anew when it goes on.
    /// Takes less memory and more time.
    pub restart: bool,
    /// Whether directories of trials that ended are kept.
    pub keep: bool,
}

impl Settings {
    /// What a trial is held to.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            memory_bytes: self.memory_bytes,
            deadline: self.deadline_seconds,
            setup_deadline: self.setup_deadline_seconds,
            grain: self.evaluation_seconds / POINTS,
        }
    }

    /// The most seconds that a child is told to run.
    pub(crate) fn told_seconds(&self) -> f64 {
        self.longest_seconds * MARGIN + MARGIN_SECONDS
    }
}

/// Runs trials as child processes. All of them end when it is dropped.
pub struct Runner {
    settings: Settings,
    template: Template,
    writer: Writer,
    /// The identity of the search.
    search: Fingerprint,
    begun: Instant,
    runs: BTreeMap<TrialId, Run>,
    remarks: Vec<String>,
    losses: Losses,
    /// Whether a trial has shown what its directory holds.
    sized: bool,
    /// What went wrong while there were reports to give first.
    pending: Option<TrialsError>,
    /// Last, so that it is given up when no trial is left.
    root: Root,
}

/// A trial that was started and not stopped.
struct Run {
    job: Job,
    /// Absent between two attempts.
    live: Option<Live>,
    /// Running seconds that were reported.
    reported: f64,
}

impl Runner {
    /// Takes the directory, and ends and removes what an earlier search has left
    /// there. What was loaded for all trials stays for those of the same `search`
    /// ([`Plan::identity`](crate::session::Plan::identity)).
    ///
    /// # Errors
    /// The directory cannot be had, or another search has it.
    pub fn new(
        settings: Settings,
        template: Template,
        writer: Writer,
        search: Fingerprint,
    ) -> Result<Runner> {
        let root = Root::open(&settings.directory, settings.keep)?;
        let kept = if template.shares() {
            root.share(&search)?
        } else {
            None
        };
        Ok(Runner {
            settings,
            template,
            writer,
            search,
            begun: Instant::now(),
            runs: BTreeMap::new(),
            remarks: kept.as_deref().map(kept_aside).into_iter().collect(),
            losses: Losses::default(),
            sized: false,
            pending: None,
            root,
        })
    }

    /// Starts an attempt, of which `known` running seconds were reported before.
    fn begin(&self, job: &Job, known: f64) -> Result<Live> {
        let place = self.root.place(&job.label)?;
        let process = self.start_in(&place, job).inspect_err(|_| {
            let _ = place.remove();
        })?;
        let bounds = self.settings.bounds();
        let follow = self.template.writes_a_file();
        Ok(Live {
            monitor: Monitor::new(bounds, self.seconds(), job.until).again(known),
            scale: Scale::new(process.group()),
            follow: follow.then(|| Follow::new(place.metrics())),
            memory_bytes: self.settings.memory_bytes,
            begun: self.begun,
            gone: false,
            process,
            place,
        })
    }

    fn start_in(&self, place: &Place, job: &Job) -> Result<Process> {
        place.write_options(&(self.writer)(&job.configuration)?)?;
        let words = self.template.filled(&Filling {
            options: &place.options(),
            directory: &place.data(),
            metrics: &place.metrics(),
            shared: &self.root.shared(),
            trial: job.trial,
            seconds: self.settings.told_seconds(),
            seed: job.seed,
        });
        let process = Process::start(&words, &place.mark()).map_err(|error| {
            let program = words.first().map_or("", String::as_str);
            TrialsError::new(format!(
                "cannot start {program:?}: {error}; check the command"
            ))
        })?;
        process.goes_first();
        place.record(process.group())?;
        Ok(process)
    }

    fn look_at(&mut self, trial: TrialId) -> Result<Option<Outcome>> {
        let live = self.runs.get_mut(&trial).and_then(|run| run.live.as_mut());
        let Some(live) = live else {
            return Ok(None);
        };
        match live.look() {
            Finding::Fine => Ok(None),
            Finding::Reached => {
                self.look_at_disk(trial);
                Ok(Some(self.report(trial)))
            }
            Finding::Gone { why, forgiven } => {
                let outcome = self.lost(trial, why, forgiven);
                self.stop(trial);
                Ok(Some(outcome))
            }
            Finding::Failed(cause, detail) => {
                // Before its own data is gone.
                let room = admission::check_disk(self.root.path(), &detail);
                self.stop(trial);
                room?;
                Ok(Some(Outcome::Failed { cause, detail }))
            }
        }
    }

    /// A loss, or a crash of a trial that was lost too often.
    fn lost(&mut self, trial: TrialId, why: String, forgiven: u32) -> Outcome {
        let label = self
            .runs
            .get(&trial)
            .map_or("", |run| run.job.label.as_str());
        self.losses.count(label, why, forgiven)
    }

    /// Looks once whether the disk has room for all that may wait. Without it, trials
    /// do not wait from here on.
    fn look_at_disk(&mut self, trial: TrialId) {
        let live = self.runs.get(&trial).and_then(|run| run.live.as_ref());
        let Some(live) = live.filter(|_| !self.sized) else {
            return;
        };
        self.sized = true;
        if self.settings.restart || self.settings.keep {
            return;
        }
        let first = system::directory_bytes(&live.place.data());
        let crowded = admission::crowded(self.root.path(), first, self.settings.most_alive);
        if let Some(remark) = crowded {
            self.settings.restart = true;
            self.remarks.push(remark);
        }
    }

    /// Lets a trial wait that has run as long as it was told to.
    fn report(&mut self, trial: TrialId) -> Outcome {
        let run = self.runs.get_mut(&trial);
        let Some((run, mut live)) = run.and_then(|run| {
            let live = run.live.take()?;
            Some((run, live))
        }) else {
            return Outcome::Lost {
                why: "it was stopped".to_owned(),
            };
        };
        let outcome = live.pause();
        run.reported = live.seconds();
        if matches!(outcome, Outcome::Measured { .. }) {
            run.live = Some(live);
        } else {
            self.remarks.extend(live::end_all(vec![live]));
            self.runs.remove(&trial);
        }
        outcome
    }
}

impl Trials for Runner {
    fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn start(&mut self, job: &Job) -> Result<()> {
        self.stop(job.trial);
        let run = Run {
            job: job.clone(),
            live: Some(self.begin(job, 0.0)?),
            reported: 0.0,
        };
        self.runs.insert(job.trial, run);
        Ok(())
    }

    fn go_on(&mut self, trial: TrialId, until: f64) -> Result<()> {
        let Some(mut run) = self.runs.remove(&trial) else {
            return Err(TrialsError::not_here(trial));
        };
        run.job.until = until;
        match &mut run.live {
            Some(live) => live.resume(until),
            None => run.live = Some(self.begin(&run.job, run.reported)?),
        }
        self.runs.insert(trial, run);
        Ok(())
    }

    fn search_begins(&mut self) -> Result<()> {
        if self.template.shares() {
            let kept = self.root.share_anew(&self.search)?;
            self.remarks.extend(kept.as_deref().map(kept_aside));
        }
        Ok(())
    }

    fn search_ended(&mut self) {
        self.root.end();
    }

    fn may_end(&mut self, trial: TrialId) {
        let run = self.runs.get_mut(&trial).filter(|_| self.settings.restart);
        if let Some(live) = run.and_then(|run| run.live.take()) {
            self.remarks.extend(live::end_all(vec![live]));
        }
    }

    fn stop_many(&mut self, trials: &[TrialId]) {
        let runs = trials.iter().filter_map(|trial| self.runs.remove(trial));
        let lives = runs.filter_map(|run| run.live).collect();
        self.remarks.extend(live::end_all(lives));
    }

    fn restarts(&self) -> bool {
        self.settings.restart
    }

    fn halt(&mut self) {
        self.runs.values_mut().for_each(|run| {
            if let Some(live) = &mut run.live {
                live.halt();
            }
        });
    }

    fn proceed(&mut self) {
        self.runs.values_mut().for_each(|run| {
            if let Some(live) = &mut run.live {
                live.proceed();
            }
        });
    }

    fn poll(&mut self) -> Result<Vec<Measurement>> {
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let trials: Vec<TrialId> = self.runs.keys().copied().collect();
        let mut reports = Vec::new();
        for trial in trials {
            match self.look_at(trial) {
                Ok(Some(outcome)) => reports.push(Measurement { trial, outcome }),
                Ok(None) => {}
                Err(error) if reports.is_empty() => return Err(error),
                Err(error) => {
                    self.pending = Some(error);
                    break;
                }
            }
        }
        if reports.is_empty() {
            thread::sleep(TICK);
        }
        Ok(reports)
    }

    fn remarks(&self) -> &[String] {
        &self.remarks
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let runs = std::mem::take(&mut self.runs).into_values();
        live::end_all(runs.filter_map(|run| run.live).collect());
    }
}

/// That what another search has loaded was to be kept, and where it lies: a sentence.
fn kept_aside(path: &Path) -> String {
    format!(
        "what another search has loaded for its trials was kept, and lies in {} now",
        path.display()
    )
}
