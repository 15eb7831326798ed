//! The campaign in the simulator, at sizes that no engine here could hold.
//!
//! The same tunings, sessions and settings as on the engine, operations in proportion
//! to the entries. A read costs the blocks that it fetched; what merges wrote they are
//! taken to have read as well. Each session waits until nothing is left to merge.

use std::fmt::Write as _;

use lissom::Settings;
use lissom::core::cost_model::{Tuning, Workload, expected_workloads};
use lissom::core::robust::{Expectation, Tuned};
use lissom_sim::{Machine, Mix, Outcome, Popularity, Scenario, Session, StoreModel, simulate};
use serde::Serialize;

use super::campaign::CampaignPlan;
use super::engine::settings;
use super::sessions::{UncertainSession, divergence, sessions};
use crate::error::{BenchError, Result};
use crate::simulate::store_of;

/// Entries of the trees that are compared.
const SIZES: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

/// Mean entries of a scan: 0 to 2 blocks of four.
const SCANNED: f64 = 4.0;

/// Robust against nominal tuning at one size.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SimulatedSize {
    /// Entries in the tree.
    pub entries: u64,
    /// Gain in throughput over the six sessions by I/Os, for each expected workload.
    pub gains: Vec<f64>,
    /// For each of them, whether both tunings are the same.
    pub of_one_tuning: Vec<bool>,
}

impl SimulatedSize {
    /// Workloads for which the robust tuning won against another, those for which it lost, and the
    /// rest.
    fn standing(&self) -> [usize; 3] {
        let pairs = self.gains.iter().zip(&self.of_one_tuning);
        let others = pairs.filter(|(_, alike)| !**alike);
        let gains: Vec<f64> = others.map(|(gain, _)| *gain).collect();
        let won = gains.iter().filter(|gain| **gain > 0.0).count();
        let lost = gains.iter().filter(|gain| **gain < 0.0).count();
        [won, lost, self.gains.len() - won - lost]
    }
}

/// Simulates all expected workloads under both tunings, size by size; `tell` hears
/// which.
///
/// # Errors
/// A plan that measures nothing, as [`CampaignPlan::check`] says, or of which nothing is left at
/// the smallest size; when a tuning cannot be held, which the search sees to.
pub fn simulate_campaign(
    plan: &CampaignPlan,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<SimulatedSize>> {
    plan.check()?;
    let sizes = SIZES.map(|entries| over(plan, entries));
    sizes.into_iter().map(|plan| size(&plan?, tell)).collect()
}

/// The same over so many entries, operations in proportion.
fn over(plan: &CampaignPlan, entries: u64) -> Result<CampaignPlan> {
    let queries = (plan.queries as f64 * entries as f64 / plan.entries as f64) as u64;
    if queries == 0 {
        return Err(BenchError::new(format!(
            "{} queries over {} entries are less than one over {entries}: give more queries, or \
             fewer entries",
            plan.queries, plan.entries
        )));
    }
    Ok(CampaignPlan {
        entries,
        queries,
        ..plan.clone()
    })
}

fn size(plan: &CampaignPlan, tell: &mut dyn FnMut(&str)) -> Result<SimulatedSize> {
    let (mut gains, mut of_one_tuning) = (Vec::new(), Vec::new());
    for expected in expected_workloads() {
        tell(&format!("{} entries, {}", plan.entries, expected.name));
        let sessions = sessions(&expected.workload, plan.workloads, plan.seed)?;
        let rho = divergence(&expected.workload, &sessions)?;
        let arm = |rho| Arm::of(plan, &plan.expectation(&expected, rho), &sessions);
        let (nominal, robust) = (arm(0.0)?, arm(rho)?);
        gains.push(nominal.ios() / robust.ios() - 1.0);
        of_one_tuning.push(nominal.tuning == robust.tuning);
    }
    Ok(SimulatedSize {
        entries: plan.entries,
        gains,
        of_one_tuning,
    })
}

/// What came of one tuning.
struct Arm {
    tuning: Tuning,
    outcome: Outcome,
    block_bytes: f64,
}

impl Arm {
    fn of(
        plan: &CampaignPlan,
        expected: &Expectation,
        planned: &[UncertainSession],
    ) -> Result<Arm> {
        let tuned = expected
            .tune_held()
            .map_err(|error| BenchError::new(error.to_string()))?;
        let scenario = scenario(plan, expected, &tuned, planned)?;
        Ok(Arm {
            tuning: tuned.tuning,
            outcome: simulate(&scenario).map_err(|error| BenchError::new(error.to_string()))?,
            block_bytes: expected.block_bytes as f64,
        })
    }

    /// The mean of the sessions' I/Os per query.
    fn ios(&self) -> f64 {
        let sessions = self.outcome.sessions.iter().map(|session| {
            let merged = session.flush_bytes + 2.0 * session.compaction_bytes;
            session.block_reads + merged / self.block_bytes / session.operations.max(1.0)
        });
        sessions.sum::<f64>() / self.outcome.sessions.len().max(1) as f64
    }
}

fn scenario(
    plan: &CampaignPlan,
    expected: &Expectation,
    tuned: &Tuned,
    planned: &[UncertainSession],
) -> Result<Scenario> {
    let settings = settings(expected, tuned)?;
    Ok(Scenario {
        store: store(expected, &settings),
        machine: Machine::default(),
        entries: expected.entries,
        warm_updates: 0.0,
        sessions: planned.iter().map(|it| session(it, plan)).collect(),
        allowance: settings.allowance(),
        policy: settings.policy,
        frozen: false,
        schedule: settings.schedule,
        noise: 0.0,
        slow_noise: 0.0,
        timed_one_in: 1,
        seed: plan.seed,
    })
}

/// No memory for data blocks.
fn store(expected: &Expectation, settings: &Settings) -> StoreModel {
    let (block, entry) = (expected.block_bytes as f64, expected.entry_bytes as f64);
    StoreModel {
        memory_budget_bytes: 0.0,
        ..store_of(settings, expected.filters, block, entry)
    }
}

/// The mean of a session's workloads, which follow one another quickly.
fn session(planned: &UncertainSession, plan: &CampaignPlan) -> Session {
    let count = planned.workloads.len().max(1) as f64;
    let mean = |at: usize| {
        let shares = planned.workloads.iter().map(Workload::shares);
        shares.map(|shares| shares[at]).sum::<f64>() / count
    };
    Session {
        name: planned.kind.name().into(),
        operations: plan.queries.saturating_mul(planned.workloads.len() as u64),
        mix: Mix {
            get_absent: mean(0),
            get_present: mean(1),
            scan: mean(2),
            put: mean(3),
            ..Mix::default()
        },
        keys: Popularity::Uniform,
        scan_length: SCANNED,
        rate: None,
        policy: None,
        settles: true,
    }
}

/// Sizes as columns, expected workloads as rows.
pub fn render_simulated(seen: &[SimulatedSize]) -> String {
    let mut text =
        "gain of the robust tuning over six sessions, simulated I/Os, %\n  entries ".to_owned();
    for size in seen {
        let _ = write!(text, "{:>12}", size.entries);
    }
    text.push('\n');
    for (at, expected) in expected_workloads().iter().enumerate() {
        let _ = write!(text, "  {:8}", expected.name);
        for size in seen {
            let gain = size.gains.get(at).copied().unwrap_or(f64::NAN);
            let _ = write!(text, "{:>+12.1}", 100.0 * gain);
        }
        text.push('\n');
    }
    for (at, name) in ["won", "lost", "alike"].into_iter().enumerate() {
        let _ = write!(text, "  {name:8}");
        for size in seen {
            let _ = write!(text, "{:>12}", size.standing()[at]);
        }
        text.push('\n');
    }
    text + "alike: the same tuning twice, or no difference\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> CampaignPlan {
        CampaignPlan {
            entries: 200_000,
            workloads: 1,
            queries: 2_000,
            seed: 1,
        }
    }

    /// The tuning of the workload of writes for such a divergence, after one workload a session.
    fn arm_of_writes(rho: f64) -> Arm {
        let writes = expected_workloads()[4];
        let planned = sessions(&writes.workload, 1, 1).expect("sessions");
        let expected = plan().expectation(&writes, rho);
        Arm::of(&plan(), &expected, &planned).expect("simulated")
    }

    #[test]
    fn a_tree_without_filters_reads_more_where_reads_come() {
        let [nominal, robust] = [0.0, 2.0].map(|rho| arm_of_writes(rho).ios());
        assert!(nominal > 0.0 && robust > 0.0);
        assert!(robust < nominal, "{robust} {nominal}");
    }

    /// All writes are of new keys, so that flushes write what users wrote.
    #[test]
    fn every_session_pays_for_what_it_wrote() {
        for session in arm_of_writes(0.0).outcome.sessions {
            let (written, flushed) = (session.user_bytes, session.flush_bytes);
            assert!(written > 0.0, "{session:?}");
            assert!((flushed / written - 1.0).abs() < 1e-6, "{session:?}");
        }
    }

    #[test]
    fn a_tuning_against_itself_is_told_and_gains_nothing() {
        let small = CampaignPlan {
            entries: 20_000,
            queries: 200,
            ..plan()
        };
        let seen = size(&small, &mut |_| {}).expect("simulated");
        let alike: Vec<f64> = seen
            .gains
            .iter()
            .zip(&seen.of_one_tuning)
            .filter(|(_, alike)| **alike)
            .map(|(gain, _)| *gain)
            .collect();
        assert!(!alike.is_empty() && alike.len() < 15, "{seen:?}");
        assert!(alike.iter().all(|gain| *gain == 0.0), "{seen:?}");
    }

    #[test]
    fn a_tuning_against_itself_neither_wins_nor_loses() {
        let size = |gains: [f64; 4]| SimulatedSize {
            entries: 1_000_000,
            gains: gains.to_vec(),
            of_one_tuning: vec![false, false, true, true],
        };
        let text = render_simulated(&[size([0.1, -0.1, 0.0, 0.0]), size([0.2, 0.1, 0.0, 0.0])]);
        for row in [
            "\n  won                1           2\n",
            "\n  lost               1           0\n",
            "\n  alike              2           2\n",
        ] {
            assert!(text.contains(row), "{row}{text}");
        }
    }

    #[test]
    fn a_plan_of_which_nothing_is_left_at_a_size_is_refused() {
        let refused = |plan: CampaignPlan, words: &str| {
            let error = simulate_campaign(&plan, &mut |_| {}).expect_err(words);
            assert!(error.to_string().contains(words), "{error}");
        };
        let none = CampaignPlan {
            entries: 0,
            ..plan()
        };
        refused(none, "0 entries");
        let few = CampaignPlan {
            entries: 1_000_000_000_000,
            ..plan()
        };
        refused(few, "less than one over 1000000");
    }
}
