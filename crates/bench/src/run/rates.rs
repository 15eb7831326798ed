//! Offered rates as a share of what a closed loop carried.

use serde::{Deserialize, Serialize};

use super::plan::RunPlan;
use super::program::Program;
use super::results::{Machine, Results};
use crate::arms::{ArmName, Resources};
use crate::distinct::distinct;
use crate::error::{BenchError, Result};
use crate::judge::maximum;
use crate::workload::{Session, Workload};

/// What offered rates are a share of: it holds for the machine and the program that it was
/// measured with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// Operations per second that a closed loop carried.
    pub maximum: f64,
    /// Share of it that the highest rate is.
    pub share: f64,
    /// The arm that carried it; absent where it is the slowest of those that were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<ArmName>,
    /// Under which starts of a machine it was measured, where the runs told.
    pub boots: Vec<String>,
    /// The programs that measured it, where they told.
    pub programs: Vec<Program>,
}

impl RunPlan {
    /// Makes a closed loop of every session.
    pub fn close_loops(&mut self) {
        self.workload = self.workload.closed();
    }

    /// Scales the offered rates so that the highest is `share` of the maximum in
    /// `measured`: what its arm `of`, or the slowest of its arms, carried in a closed loop.
    /// Schedules are told of the load at that maximum, unless the resources say otherwise:
    /// DLC's limits are set by hand on each machine. Returns the maximum.
    ///
    /// # Errors
    /// `measured` is of other data, threads or resources, holds no such arm, no closed loop
    /// of the same operations, or no whole round; the workload offers no rate.
    pub fn offer(&mut self, measured: &Results, of: Option<&ArmName>, share: f64) -> Result<f64> {
        if !(share.is_finite() && share > 0.0) {
            return Err(BenchError::new(format!(
                "--rate-share {share}: it must be above 0, as 0.9 for nine tenths"
            )));
        }
        self.check_alike(measured)?;
        check_held(measured, of)?;
        let maximum = maximum(measured, of, |session| self.offers(session));
        let maximum = maximum.ok_or_else(|| {
            BenchError::new(format!(
                "the results given with --rates-from hold no whole round of a closed loop of \
                 the operations of workload {}; measure it with --closed-loop first",
                self.workload.name
            ))
        })?;
        self.workload = self.workload.offering(maximum.operations * share)?;
        let runs = || measured.whole_rounds();
        self.offered = Some(Offer {
            maximum: maximum.operations,
            share,
            of: of.cloned(),
            boots: distinct(runs().filter_map(|run| run.boot.clone())),
            programs: distinct(runs().filter_map(|run| run.program.clone())),
        });
        let resources = &mut self.resources;
        resources.full_load = resources.full_load.or(maximum.full_load);
        Ok(maximum.operations)
    }

    /// A maximum holds for the same data on the same resources only.
    fn check_alike(&self, measured: &Results) -> Result<()> {
        let theirs = &measured.parameters;
        // A closed loop has no schedule that could be told, and need not have every contender.
        let unscheduled = Resources {
            full_load: theirs.resources.full_load,
            device_bytes_per_second: theirs.resources.device_bytes_per_second,
            options_files: theirs.resources.options_files.clone(),
            ..self.resources.clone()
        };
        let here = &self.resources.options_files;
        let mut measured_files = theirs.resources.options_files.iter();
        let data = |it: &Workload| {
            let (entries, key, value) = (it.entries, it.key_size, it.value_size);
            (entries, key, value, it.compressible_share, it.key_order)
        };
        let checks = [
            (
                data(&theirs.workload) == data(&self.workload),
                "entries, keys or values",
            ),
            (theirs.threads == self.threads, "--threads"),
            (theirs.resources == unscheduled, "resources"),
            (
                measured_files.all(|(name, text)| here.get(name).is_none_or(|it| it == text)),
                "texts of --options",
            ),
            (measured.machine.is_like(&Machine::this()), "processors"),
        ];
        match checks.iter().find(|(same, _)| !same) {
            None => Ok(()),
            Some((_, what)) => Err(BenchError::new(format!(
                "the results given with --rates-from are of other {what}: measure the maximum \
                 with those of this run"
            ))),
        }
    }

    /// Whether a measured session has the operations of one that is offered here.
    fn offers(&self, measured: &Session) -> bool {
        let operations = |it: &Session| (it.mix, it.keys, it.scan_length);
        let mut open = self.workload.sessions.iter().filter(|it| it.is_open());
        !measured.is_open() && open.any(|it| operations(it) == operations(measured))
    }
}

/// Whether an arm that is asked for was measured.
fn check_held(measured: &Results, of: Option<&ArmName>) -> Result<()> {
    let arms = &measured.parameters.arms;
    match of.filter(|of| !arms.contains(of)) {
        None => Ok(()),
        Some(of) => {
            let names: Vec<String> = arms.iter().map(ArmName::to_string).collect();
            Err(BenchError::new(format!(
                "--maximum-of {of}: the results given with --rates-from hold {}; choose one of \
                 them, or measure the maximum of {of}",
                names.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Launcher, Silent, run};
    use crate::workload::parse_workload;

    const OFFERED: &str = r#"
name = "offered"
about = "For tests."
entries = 1000
[[session]]
name = "waves"
seconds = 2.0
rate = { periodic = { high = 400, low = 100, seconds = 1 } }
mix = { update = 1, get_present = 1 }
"#;

    fn plan(out: &std::path::Path) -> RunPlan {
        let workload = parse_workload(OFFERED, "f").unwrap();
        let arms = ["mock-a", "mock-b"].iter();
        let arms = arms.map(|name| name.parse().unwrap()).collect();
        let mut plan = RunPlan::new(workload, arms, out.to_path_buf()).unwrap();
        plan.launcher = Launcher::InProcess;
        plan.rounds = 1;
        plan
    }

    #[test]
    fn the_highest_rate_is_a_share_of_what_the_slowest_arm_carried() {
        let out = tempfile::tempdir().unwrap();
        let mut closed = plan(out.path());
        closed.close_loops();
        let measured = run(&closed, &mut Silent).unwrap();
        let offer = |of: Option<&str>, share: f64| {
            let mut offered = plan(out.path());
            let of: Option<ArmName> = of.map(|name| name.parse().unwrap());
            let maximum = offered.offer(&measured, of.as_ref(), share).unwrap();
            let highest = offered.workload.sessions[0].rate.highest().unwrap();
            assert!((highest / (share * maximum) - 1.0).abs() < 1e-9);
            maximum
        };
        let carried = |arm: &str| {
            let run = measured.runs.iter().find(|run| run.arm.to_string() == arm);
            let session = &run.unwrap().sessions[0];
            session.operations as f64 / session.seconds
        };
        let (one, other) = (carried("mock-a"), carried("mock-b"));
        assert_eq!(offer(None, 0.5), one.min(other));
        assert_eq!(offer(Some("mock-a"), 0.9), one);
        assert_eq!(offer(Some("mock-b"), 1.5), other);
    }

    #[test]
    fn schedules_are_told_of_the_load_at_the_maximum() {
        let out = tempfile::tempdir().unwrap();
        let mut closed = plan(out.path());
        closed.close_loops();
        let mut measured = run(&closed, &mut Silent).unwrap();
        let mut silent = plan(out.path());
        silent.offer(&measured, None, 0.5).unwrap();
        assert_eq!(silent.resources.full_load, None, "blocks were not counted");
        for run in &mut measured.runs {
            run.sessions[0].counters.data_blocks_read = Some(1_000_000);
        }
        let mut offered = plan(out.path());
        let maximum = offered.offer(&measured, None, 0.5).unwrap();
        let by_second = |run: &crate::run::ArmRun| {
            let session = &run.sessions[0];
            session.operations as f64 / session.seconds
        };
        let slowest = measured.runs.iter().find(|run| by_second(run) == maximum);
        let session = &slowest.unwrap().sessions[0];
        let moved = 4096e6 + session.user_bytes as f64;
        let full = offered.resources.full_load.unwrap();
        assert_eq!(
            full.cache_additions,
            (0.8 * (moved / session.seconds)) as u64
        );
        let entry = offered.workload.entry_bytes();
        assert_eq!(
            full.operations,
            ((0.8 * maximum * entry) as u64).max(64 << 10)
        );
        let of = |name: &str| offered.resources.full_load_of(name.parse().unwrap());
        assert_eq!(of("silk"), Some(full.operations));
        assert_eq!(of("dlc-part"), Some(full.cache_additions));
        assert_eq!(of("eager"), None);
        // A second offer, of the same results, is of the same experiment.
        let mut again = plan(out.path());
        again.offer(&measured, None, 0.5).unwrap();
        assert_eq!(again.resources, offered.resources);
    }

    #[test]
    fn what_the_offer_was_made_of_stays_with_the_results() {
        let out = tempfile::tempdir().unwrap();
        let mut closed = plan(out.path());
        closed.close_loops();
        assert_eq!(closed.parameters().offered, None);
        let mut measured = run(&closed, &mut Silent).unwrap();
        for (run, boot) in measured.runs.iter_mut().zip(["a", "b"]) {
            run.boot = Some(boot.to_owned());
        }
        // A round that is not whole tells nothing of the maximum.
        let mut cut = measured.runs[0].clone();
        (cut.round, cut.boot) = (1, Some("c".to_owned()));
        measured.runs.push(cut);
        let of: ArmName = "mock-b".parse().unwrap();
        let mut offered = plan(out.path());
        let maximum = offered.offer(&measured, Some(&of), 0.5).unwrap();
        let kept = offered.parameters().offered.unwrap();
        assert_eq!((kept.maximum, kept.share), (maximum, 0.5));
        assert_eq!((kept.of, kept.programs), (Some(of), Vec::new()));
        assert_eq!(kept.boots, ["a", "b"]);
    }

    #[test]
    fn a_maximum_of_something_else_is_refused() {
        let out = tempfile::tempdir().unwrap();
        let mut closed = plan(out.path());
        closed.close_loops();
        let measured = run(&closed, &mut Silent).unwrap();
        let refused = |change: &dyn Fn(&mut RunPlan), share: f64, word: &str| {
            let mut plan = plan(out.path());
            change(&mut plan);
            let error = plan.offer(&measured, None, share).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        };
        refused(&|_| (), 0.0, "--rate-share 0");
        refused(&|plan| plan.threads = 2, 0.9, "--threads");
        refused(&|plan| plan.resources.size_ratio = 4, 0.9, "resources");
        refused(&|plan| plan.workload.entries = 2000, 0.9, "entries");
        let mut elsewhere = measured.clone();
        elsewhere.machine.cores += 1;
        let refusal = plan(out.path()).offer(&elsewhere, None, 0.9);
        let sentence = refusal.unwrap_err().to_string();
        assert!(sentence.contains("processors"), "{sentence}");
        let other = |plan: &mut RunPlan| plan.workload.sessions[0].mix.scan = 1.0;
        refused(&other, 0.9, "--closed-loop");
        let unknown: ArmName = "fixed-1".parse().unwrap();
        let refusal = plan(out.path()).offer(&measured, Some(&unknown), 0.9);
        let sentence = refusal.unwrap_err().to_string();
        assert!(sentence.contains("--maximum-of fixed-1"), "{sentence}");
        assert!(sentence.contains("hold mock-a, mock-b"), "{sentence}");
    }
    #[test]
    fn a_maximum_holds_beside_an_options_file_that_it_had_not() {
        let out = tempfile::tempdir().unwrap();
        let with_file = |text: &str| {
            let mut plan = plan(out.path());
            let files = &mut plan.resources.options_files;
            files.insert("mine".to_owned(), text.to_owned());
            plan
        };
        let mut measured = {
            let mut closed = plan(out.path());
            closed.close_loops();
            run(&closed, &mut Silent).unwrap()
        };
        with_file("a").offer(&measured, None, 0.9).unwrap();
        measured.parameters.resources = with_file("b").resources;
        plan(out.path()).offer(&measured, None, 0.9).unwrap();
        let refusal = with_file("a").offer(&measured, None, 0.9);
        let sentence = refusal.unwrap_err().to_string();
        assert!(sentence.contains("texts of --options"), "{sentence}");
    }
}
