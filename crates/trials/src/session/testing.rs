//! Trials in virtual time, and a book in memory.

use std::collections::BTreeMap;

use lissom_search::objective::metrics::THROUGHPUT;
use lissom_search::objective::{Metrics, Objective};
use lissom_search::record::{Event, Log, Target, encode};
use lissom_search::search::{Cause, Measurement, Outcome, Setup, TimePoints, TrialId};
use lissom_search::space::{Configuration, Constants, Setting, Space, SpaceFile};

use super::{Book, Job, Observer, Plan, Trials};
use crate::error::{Result, TrialsError};

/// What each program tells of its configuration.
pub const NOTE: &str = "px is used as it is";

/// Two whole numbers from 0 to 99, one feature each.
pub fn space() -> Space {
    let mut text = "name = \"small\"\nabout = \"A test.\"\nheuristic = \"x\"\n".to_owned();
    for name in ["x", "y"] {
        text += &format!(
            "[[parameter]]\nname = \"p{name}\"\nkind = \"integer\"\nrange = [0, 99]\n\
             default = 50\nchange = \"reopen\"\nsource = \"a test\"\n\
             [[feature]]\nname = \"{name}\"\nexpression = \"p{name}\"\nsource = \"a test\"\n"
        );
    }
    let file = SpaceFile::parse(&text).expect("reads");
    file.with(&Constants::new()).expect("is legal")
}

pub fn plan(budget: f64, evaluation: f64, rounds: u32) -> Plan {
    let mut setup = Setup::new(Objective::Throughput, budget);
    setup.method.samples = 200;
    setup.method.whole_budget = false;
    setup.method.points = TimePoints::settled_within(evaluation);
    Plan::new(space(), Target::new("a test", ["facts"]), setup, rounds)
}

pub fn number(configuration: &Configuration, name: &str) -> f64 {
    let setting = configuration.get(name).and_then(Setting::number);
    setting.expect(name)
}

/// More is better, up to 1,100 at px = py = 99; below px = 10 it crashes.
pub fn throughput(configuration: &Configuration) -> std::result::Result<f64, Cause> {
    let (x, y) = (number(configuration, "px"), number(configuration, "py"));
    if x < 10.0 {
        return Err(Cause::Crash);
    }
    Ok(110.0 + 5.0 * (x + y))
}

/// Runs trials in virtual time, one second of set-up each and some more.
#[derive(Default)]
pub struct Virtual {
    pub clock: f64,
    /// Seconds of set-up beside the one.
    pub more_setup: f64,
    /// So many starts load what the others find, in so many seconds more.
    pub loading: (usize, f64),
    pub runs: BTreeMap<TrialId, Run>,
    /// Labels of what was started, in order.
    pub started: Vec<String>,
    /// What the operations of a label were drawn from.
    pub seeds: BTreeMap<String, u64>,
    /// The most trials that ran at once.
    pub most: usize,
    /// What is reported instead of throughput.
    pub metric: Option<&'static str>,
    /// Runs of such labels are lost so often.
    pub losing: BTreeMap<String, u32>,
    /// What repeats whose labels end so reach instead; `None` of those that crash.
    pub again: BTreeMap<&'static str, Option<f64>>,
    /// Runs of such labels never report.
    pub hanging: Vec<&'static str>,
    /// Whether no trial ever reports.
    pub silent: bool,
    /// Whether every trial hangs.
    pub broken: bool,
    /// Whether trials begin anew when they go on.
    pub restarts: bool,
    /// The most trials that were stopped at once.
    pub most_stopped: usize,
    /// How often everything was stopped.
    pub halts: u32,
    /// How often another search began.
    pub begun: u32,
    /// How often a search ended.
    pub ended: u32,
}

pub struct Run {
    job: Job,
    reached: f64,
    set_up: f64,
    /// When it reports; absent while it waits.
    ends: Option<f64>,
}

impl Virtual {
    fn outcome(&mut self, trial: TrialId) -> Outcome {
        let run = self.runs.get_mut(&trial).expect("it runs");
        if let Some(left) = self.losing.get_mut(&run.job.label).filter(|it| **it > 0) {
            *left -= 1;
            let why = "a test".to_owned();
            return Outcome::Lost { why };
        }
        let is_first = run.reached == 0.0;
        run.reached = run.job.until;
        let is_repeat = run.job.label.starts_with("repeat-");
        let mut again = self.again.iter().filter(|_| is_repeat);
        let reached = match again.find(|(end, _)| run.job.label.ends_with(**end)) {
            _ if self.broken => Err(Cause::Hang),
            Some((_, value)) => value.ok_or(Cause::Crash),
            None => throughput(&run.job.configuration),
        };
        match reached {
            Err(cause) => Outcome::Failed {
                cause,
                detail: "a test".to_owned(),
            },
            Ok(value) => {
                let name = self.metric.unwrap_or(THROUGHPUT);
                let metrics = Metrics::new([(name.to_owned(), value)].into());
                Outcome::Measured {
                    seconds: run.job.until,
                    setup_seconds: if is_first { run.set_up } else { 0.0 },
                    metrics: metrics.expect("finite"),
                    series: Vec::new(),
                    notes: vec![NOTE.to_owned()],
                }
            }
        }
    }

    fn running(&self) -> usize {
        self.runs.values().filter(|it| it.ends.is_some()).count()
    }
}

impl Trials for Virtual {
    fn seconds(&self) -> f64 {
        self.clock
    }

    fn start(&mut self, job: &Job) -> Result<()> {
        let (loads, seconds) = self.loading;
        let is_loading = self.started.len() < loads;
        let set_up = 1.0 + self.more_setup + if is_loading { seconds } else { 0.0 };
        self.started.push(job.label.clone());
        self.seeds.insert(job.label.clone(), job.seed);
        let run = Run {
            job: job.clone(),
            reached: 0.0,
            set_up,
            ends: (!self.hanging.contains(&job.label.as_str()))
                .then_some(self.clock + set_up + job.until),
        };
        self.runs.insert(job.trial, run);
        self.most = self.most.max(self.running());
        Ok(())
    }

    fn go_on(&mut self, trial: TrialId, until: f64) -> Result<()> {
        let run = self.runs.get_mut(&trial).expect("it was started");
        run.job.until = until;
        run.set_up = if run.reached == 0.0 {
            1.0 + self.more_setup
        } else {
            0.0
        };
        run.ends = Some(self.clock + run.set_up + until - run.reached);
        self.most = self.most.max(self.running());
        Ok(())
    }

    fn search_begins(&mut self) -> Result<()> {
        self.begun += 1;
        Ok(())
    }

    fn search_ended(&mut self) {
        self.ended += 1;
    }

    fn may_end(&mut self, trial: TrialId) {
        let run = self.runs.get_mut(&trial).filter(|_| self.restarts);
        if let Some(run) = run {
            run.reached = 0.0;
        }
    }

    fn stop_many(&mut self, trials: &[TrialId]) {
        let before = self.runs.len();
        self.runs.retain(|trial, _| !trials.contains(trial));
        self.most_stopped = self.most_stopped.max(before - self.runs.len());
    }

    fn restarts(&self) -> bool {
        self.restarts
    }

    fn halt(&mut self) {
        self.halts += 1;
    }

    /// An hour passes until it does.
    fn proceed(&mut self) {
        self.clock += 3_600.0;
        for run in self.runs.values_mut() {
            run.ends = run.ends.map(|it| it + 3_600.0);
        }
    }

    fn poll(&mut self) -> Result<Vec<Measurement>> {
        let ends = self
            .runs
            .iter()
            .filter_map(|(id, run)| Some((*id, run.ends?)));
        let first = ends.min_by(|one, other| one.1.total_cmp(&other.1));
        let Some((trial, ends)) = first.filter(|_| !self.silent) else {
            self.clock += 1.0;
            return Ok(Vec::new());
        };
        self.clock = self.clock.max(ends);
        let outcome = self.outcome(trial);
        match outcome {
            Outcome::Measured { .. } => {
                self.runs.get_mut(&trial).expect("it runs").ends = None;
            }
            _ => self.stop(trial),
        }
        Ok(vec![Measurement { trial, outcome }])
    }
}

/// A book in memory that fails to take some events, the first one being 0.
#[derive(Default)]
pub struct Pages {
    pub events: Vec<Event>,
    /// Attempts so far.
    pub attempts: usize,
    /// Which attempts fail.
    pub failing: std::ops::Range<usize>,
}

impl Pages {
    pub fn log(&self) -> Log {
        let lines = self.events.iter();
        let text: String = lines.map(|it| encode(it).expect("numbers")).collect();
        Log::parse(&text).expect("whole lines")
    }
}

impl Book for Pages {
    fn append(&mut self, event: &Event) -> Result<()> {
        self.attempts += 1;
        if self.failing.contains(&(self.attempts - 1)) {
            return Err(TrialsError::new("the disk is full"));
        }
        self.events.push(event.clone());
        Ok(())
    }
}

/// Interrupts after so many looks; sees what is shown.
pub struct Watch {
    pub looks: std::cell::Cell<u32>,
    pub seen: Vec<String>,
    /// Stands still when so many looks are left.
    pub suspending: Option<u32>,
}

impl Watch {
    pub fn for_looks(looks: u32) -> Watch {
        Watch {
            looks: std::cell::Cell::new(looks),
            seen: Vec::new(),
            suspending: None,
        }
    }
}

impl Observer for Watch {
    fn interrupts(&self) -> bool {
        let left = self.looks.get();
        self.looks.set(left.saturating_sub(1));
        left == 0
    }

    fn suspends(&self) -> bool {
        self.suspending.is_some_and(|it| self.looks.get() <= it)
    }

    fn stand_still(&mut self) {
        self.suspending = None;
    }

    fn sees(&mut self, progress: &str) {
        self.seen.push(progress.to_owned());
    }
}
