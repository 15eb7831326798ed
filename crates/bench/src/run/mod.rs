//! Runs a plan: rounds of interleaved arms, one resumable file.

mod boot;
mod child;
mod event;
mod job;
mod kept;
mod load;
mod lock;
mod measure;
mod options;
mod plan;
mod program;
mod rates;
mod record;
mod results;
mod sitting;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Instant;

use self::sitting::Sitting;
use crate::arms::{ArmName, Resources};
use crate::error::{BenchError, Place, Result};
use crate::judge::judge;
use crate::workload::sha256_hex;

pub(crate) use boot::boot;
pub use child::run_arm_child;
pub use event::{Event, Progress};
pub use job::Job;
pub(crate) use job::remove_directory;
pub(crate) use load::Filling;
pub(crate) use lock::hold;
pub use plan::{DEFAULT_SPACE_BOUND, LEAST_ROUNDS, Launcher, Parameters, RunPlan};
pub use program::Program;
pub use rates::Offer;
pub use record::{ArmRun, LoadRecord, SessionRecord, Totals};
pub(crate) use results::replace;
pub use results::{Failure, Machine, RESULTS_FILE, Results};

/// Watches a plan being run.
pub trait Watcher: Send {
    /// An arm of a round begins. `number` counts from 0 to `of`, done ones included.
    fn arm_begins(&mut self, arm: &ArmName, round: u32, number: usize, of: usize);
    /// Progress within it.
    fn progress(&mut self, progress: &Progress);
    /// It has ended, and its results are on disk.
    fn arm_ended(&mut self, run: &ArmRun);
    /// An arm has ended or failed, and all results so far are on disk, judged.
    fn results_saved(&mut self, results: &Results) {
        let _ = results;
    }
}

/// Watches nothing.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Watcher for Silent {
    fn arm_begins(&mut self, _: &ArmName, _: u32, _: usize, _: usize) {}
    fn progress(&mut self, _: &Progress) {}
    fn arm_ended(&mut self, _: &ArmRun) {}
}

/// Runs what `plan` still lacks, saving after each arm, and returns all results with
/// their verdict. An arm that fails does not end the run: it stands among the failures,
/// and the next run with the same plan tries it again. With [`RunPlan::until`] it stops
/// before an arm that would end too late; [`RunPlan::left`] says what is left.
///
/// # Errors
/// A plan that cannot be run, results of other parameters or another machine, a directory that
/// another run holds, and one that cannot be written.
pub fn run(plan: &RunPlan, watcher: &mut dyn Watcher) -> Result<Results> {
    plan.check()?;
    std::fs::create_dir_all(&plan.out).place(plan.out.display())?;
    let _held = hold(&plan.out)?;
    let mut results = Results::resume(&plan.out, &plan.parameters())?;
    check_machine(plan, &results)?;
    measure_device(plan, &mut results)?;
    if !plan.left(&results).is_empty() {
        results.take_up(&plan.parameters());
    }
    let mut sitting = Sitting::begin();
    let of = plan.arms.len() * plan.rounds as usize;
    let rounds = (0..plan.rounds).flat_map(|r| plan.order(r).into_iter().map(move |arm| (r, arm)));
    for (number, (round, arm)) in rounds.enumerate() {
        if results.holds(&arm, round) {
            continue;
        }
        if !sitting.has_time_for(&arm, plan, &results) {
            break;
        }
        watcher.arm_begins(&arm, round, number, of);
        let begun = Instant::now();
        let ended = launch(plan, &job(plan, &results.machine, &arm, round)?, watcher);
        let succeeded = ended.is_ok();
        match ended {
            Ok(mut run) => {
                sitting.note(&arm, begun);
                run.sitting = Some(sitting.number());
                let failures = results.failures.iter_mut();
                let before = failures.filter(|it| it.arm == arm && it.round == round);
                before.for_each(|failure| failure.made_good = true);
                results.runs.push(run);
            }
            Err(error) => {
                let failure = Failure {
                    arm,
                    round,
                    sentence: error.to_string(),
                    made_good: false,
                };
                // The same again says nothing more.
                results.failures.retain(|it| *it != failure);
                results.failures.push(failure);
            }
        }
        save(&mut results, &plan.out)?;
        if let Some(run) = results.runs.last().filter(|_| succeeded) {
            watcher.arm_ended(run);
        }
        watcher.results_saved(&results);
    }
    save(&mut results, &plan.out)?;
    Ok(results)
}

/// Rounds of different machines are no rounds of one comparison.
fn check_machine(plan: &RunPlan, results: &Results) -> Result<()> {
    if plan.left(results).is_empty() || results.machine.is_like(&Machine::this()) {
        return Ok(());
    }
    Err(BenchError::new(format!(
        "{}: it holds runs of another machine ({}), and what is compared has to be of one; give \
         another --out",
        plan.out.join(RESULTS_FILE).display(),
        results.machine.processor
    )))
}

/// Measures the device once for all arms and rounds: a schedule that measured it for itself
/// would go by its luck in that half second.
fn measure_device(plan: &RunPlan, results: &mut Results) -> Result<()> {
    let given = plan.resources.device_bytes_per_second;
    let left = plan.left(results);
    if given.is_some() || !left.iter().any(|(_, arm)| arm.goes_by_device()) {
        return Ok(());
    }
    if results.machine.device_bytes_per_second.is_none() {
        let rate = lissom::control::device_bytes_per_second(&plan.out)?;
        results.machine.device_bytes_per_second = Some(rate);
    }
    Ok(())
}

/// Judges the results and puts them on disk.
fn save(results: &mut Results, out: &Path) -> Result<()> {
    results.verdict = Some(judge(&results.parameters, &results.runs));
    results.save(out)?;
    Ok(())
}

fn launch(plan: &RunPlan, job: &Job, watcher: &mut dyn Watcher) -> Result<ArmRun> {
    let mut report = |event: Event| {
        if let Event::Progress(progress) = event {
            watcher.progress(&progress);
        }
    };
    match &plan.launcher {
        Launcher::InProcess => job.run(&mut report),
        Launcher::Child { program, arguments } => {
            child::run_in_child(program, arguments, job, &mut report)
        }
    }
}

/// Where an arm's loads are kept: under a name of its own for each way to load, for one of
/// other data or resources must not be taken for this one's. Arms that differ in nothing but
/// the schedule share one.
fn kept_load(plan: &RunPlan, arm: &ArmName) -> Result<PathBuf> {
    let directory = plan.out.join("loads");
    std::fs::create_dir_all(&directory).place(directory.display())?;
    let how = (&plan.workload, plan.seed, &plan.resources);
    let text = serde_json::to_vec(&how).place("parameters")?;
    let name = format!("{}-{}", arm.shape().file_name(), &sha256_hex(&text)[..12]);
    Ok(directory.join(name))
}

fn job(plan: &RunPlan, machine: &Machine, arm: &ArmName, round: u32) -> Result<Job> {
    let kept_load = match plan.keep_load {
        true => Some(kept_load(plan, arm)?),
        false => None,
    };
    Ok(Job {
        workload: plan.workload.clone(),
        arm: arm.clone(),
        round,
        seed: plan.seed,
        threads: plan.threads,
        resources: Resources {
            device_bytes_per_second: (plan.resources.device_bytes_per_second)
                .or(machine.device_bytes_per_second),
            ..plan.resources.clone()
        },
        directory: plan.out.join("database"),
        kept_load,
        opens_anew: plan.opens_anew(),
        program: None,
        settings: plan.out.join("settings").join(arm.file_name()),
        sample_millis: plan.sample_millis,
        settle_seconds: plan.settle_seconds,
    })
}
