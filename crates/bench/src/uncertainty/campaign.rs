//! All experiments on the engine: 15 expected workloads, two tunings each, kept in
//! one file that an interrupted campaign goes on from.

use std::fs;
use std::path::{Path, PathBuf};

use lissom::core::cost_model::{ExpectedWorkload, expected_workloads};
use lissom::core::filters::FilterAllocation;
use lissom::core::robust::{Expectation, Tuned};
use serde::{Deserialize, Serialize};

use super::engine::{SessionCost, experiment};
use super::sessions::{divergence, sessions};
use crate::error::{BenchError, Place, Result};
use crate::run::{Program, boot, hold, replace};

/// The published system has 10 bits of memory and a smallest buffer of 1 MiB for
/// each 10 M entries: trees of fewer entries keep both in proportion, so that they
/// have as many levels.
const PUBLISHED_ENTRIES: f64 = 10e6;

/// Fewer entries have no smallest buffer in that proportion.
const LEAST_ENTRIES: u64 = 10;

/// More entries, or queries of a workload, end in no lifetime.
const MOST_COUNTED: u64 = 1_000_000_000_000;

/// Sessions are drawn before they are run, and more workloads might not fit the memory.
const MOST_WORKLOADS: u64 = 10_000;

const RESULTS: &str = "engine.json";

/// What is measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CampaignPlan {
    /// Entries to load, of 1 KB.
    pub entries: u64,
    /// Workloads in a session. Endure has 5.
    pub workloads: usize,
    /// Queries of a workload. Endure has 200,000.
    pub queries: u64,
    /// Seed of sessions and operations.
    pub seed: u64,
}

/// Which of two tunings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TuningKind {
    /// Best for the expected workload.
    Nominal,
    /// Of the least worst case.
    Robust,
}

/// One experiment.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Experiment {
    /// The expected workload's name.
    pub workload: String,
    /// Which tuning.
    pub kind: TuningKind,
    /// The divergence of its sessions, computed before it was measured.
    pub rho: f64,
    /// The tuning, among those that the tree can hold.
    pub tuned: Tuned,
    /// What the sessions cost.
    pub sessions: Vec<SessionCost>,
    /// Digits that tell under which start of a machine it was measured; absent in older files, and
    /// where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
    /// The program that measured it; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

/// What was measured so far.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Campaign {
    /// What is measured.
    pub plan: CampaignPlan,
    /// The experiments that ended.
    pub experiments: Vec<Experiment>,
}

impl CampaignPlan {
    /// Whether there is something to measure, and an end to it.
    ///
    /// # Errors
    /// A sentence that says what to give.
    pub fn check(&self) -> Result<()> {
        let workloads = self.workloads as u64;
        let counts = [
            ("entries", self.entries, LEAST_ENTRIES, MOST_COUNTED),
            ("workloads in a session", workloads, 1, MOST_WORKLOADS),
            ("queries of a workload", self.queries, 1, MOST_COUNTED),
        ];
        for (what, count, least, most) in counts {
            if !(least..=most).contains(&count) {
                return Err(BenchError::new(format!(
                    "a campaign cannot have {count} {what}: give from {least} to {most}"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn expectation(&self, expected: &ExpectedWorkload, rho: f64) -> Expectation {
        let share = self.entries as f64 / PUBLISHED_ENTRIES;
        Expectation {
            divergence: rho,
            min_buffer_bytes: ((1 << 20) as f64 * share) as u64,
            scan_entries: 0,
            filters: FilterAllocation::Monkey,
            ..Expectation::new(expected.workload, self.entries, 1024, self.entries * 10 / 8)
        }
    }
}

/// Runs what a campaign lacks, as `program`, and saves it after each experiment. `tell`
/// hears what begins.
///
/// # Errors
/// A plan that measures nothing, as [`CampaignPlan::check`] says; when results of another plan
/// lie in the directory, or an experiment fails.
pub fn run_campaign(
    plan: &CampaignPlan,
    program: &Program,
    out: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Campaign> {
    plan.check()?;
    fs::create_dir_all(out).place(out.display())?;
    let _held = hold(out)?;
    let file = out.join(RESULTS);
    let mut campaign = load(&file, plan)?;
    for expected in expected_workloads() {
        let sessions = sessions(&expected.workload, plan.workloads, plan.seed)?;
        let rho = divergence(&expected.workload, &sessions)?;
        for kind in [TuningKind::Nominal, TuningKind::Robust] {
            let done = |it: &Experiment| it.workload == expected.name && it.kind == kind;
            if campaign.experiments.iter().any(done) {
                continue;
            }
            let allowed = if kind == TuningKind::Robust { rho } else { 0.0 };
            let expectation = plan.expectation(&expected, allowed);
            let tuned = expectation
                .tune_held()
                .map_err(|error| BenchError::new(error.to_string()))?;
            tell(&format!("{} {kind:?}: {}", expected.name, tuned.tuning));
            let database = Database::new(out.join("database"))?;
            let costs = experiment(
                &database.0,
                &expectation,
                &tuned,
                &sessions,
                plan.queries,
                plan.seed,
            )?;
            campaign.experiments.push(Experiment {
                workload: expected.name.to_owned(),
                kind,
                rho,
                tuned,
                sessions: costs,
                boot: boot(),
                program: Some(program.clone()),
            });
            save(&file, &campaign)?;
        }
    }
    Ok(campaign)
}

/// A directory that is gone before and after.
struct Database(PathBuf);

impl Database {
    fn new(path: PathBuf) -> Result<Database> {
        if path.exists() {
            fs::remove_dir_all(&path).place(path.display())?;
        }
        Ok(Database(path))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // What is left is removed before the next experiment.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn load(file: &Path, plan: &CampaignPlan) -> Result<Campaign> {
    if !file.exists() {
        return Ok(Campaign {
            plan: plan.clone(),
            experiments: Vec::new(),
        });
    }
    let text = fs::read_to_string(file).place(file.display())?;
    let campaign: Campaign = serde_json::from_str(&text).place(file.display())?;
    if campaign.plan != *plan {
        return Err(BenchError::new(format!(
            "{} holds results of another plan: give another directory, or remove it",
            file.display()
        )));
    }
    Ok(campaign)
}

fn save(file: &Path, campaign: &Campaign) -> Result<()> {
    let text = serde_json::to_vec(campaign).place(file.display())?;
    replace(file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_without_a_measurement_or_an_end_is_refused() {
        let plan = |entries, workloads, queries| CampaignPlan {
            entries,
            workloads,
            queries,
            seed: 1,
        };
        assert_eq!(plan(1_000_000, 5, 200_000).check(), Ok(()));
        for (plan, words) in [
            (plan(0, 5, 1), "0 entries: give from 10 to 1000000000000"),
            (plan(u64::MAX, 5, 1), "entries: give from 10"),
            (
                plan(10, 0, 1),
                "0 workloads in a session: give from 1 to 10000",
            ),
            (
                plan(10, usize::MAX, 1),
                "workloads in a session: give from 1",
            ),
            (plan(10, 5, 0), "0 queries of a workload: give from 1"),
        ] {
            let refused = plan.check().expect_err(words).to_string();
            assert!(refused.contains(words), "{refused}");
        }
    }

    #[test]
    fn a_smaller_tree_has_as_many_levels() {
        let expected = expected_workloads()[7];
        let levels = |entries| {
            let plan = CampaignPlan {
                entries,
                workloads: 1,
                queries: 1,
                seed: 1,
            };
            let tuned = plan.expectation(&expected, 1.0).tune_held();
            let tuned = tuned.expect("a tuning");
            (tuned.levels, tuned.tuning.size_ratio, tuned.tuning.policy)
        };
        assert_eq!(levels(1_000_000), levels(10_000_000));
    }
}
