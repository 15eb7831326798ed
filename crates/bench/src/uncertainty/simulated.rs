//! The campaign in the simulator, at sizes that no engine here could hold.
//!
//! The same tunings, sessions and settings as on the engine, operations in proportion
//! to the entries. A read costs the blocks that it fetched; what merges wrote they are
//! taken to have read as well.

use std::fmt::Write as _;

use lissom::Settings;
use lissom::core::cost_model::{Workload, expected_workloads};
use lissom::core::robust::Expectation;
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
}

/// Simulates all expected workloads under both tunings, size by size; `tell` hears
/// which.
///
/// # Errors
/// When a tuning cannot be held, which the search sees to.
pub fn simulate_campaign(
    plan: &CampaignPlan,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<SimulatedSize>> {
    let mut all = Vec::new();
    for entries in SIZES {
        let plan = CampaignPlan {
            entries,
            queries: (plan.queries as f64 * entries as f64 / plan.entries as f64) as u64,
            ..plan.clone()
        };
        let mut gains = Vec::new();
        for expected in expected_workloads() {
            tell(&format!("{entries} entries, {}", expected.name));
            let sessions = sessions(&expected.workload, plan.workloads, plan.seed)?;
            let rho = divergence(&expected.workload, &sessions)?;
            let cost = |rho| ios(&plan, &plan.expectation(&expected, rho), &sessions);
            gains.push(cost(0.0)? / cost(rho)? - 1.0);
        }
        all.push(SimulatedSize { entries, gains });
    }
    Ok(all)
}

/// The mean of the sessions' I/Os per query.
fn ios(plan: &CampaignPlan, expected: &Expectation, planned: &[UncertainSession]) -> Result<f64> {
    let tuned = expected
        .tune_held()
        .map_err(|error| BenchError::new(error.to_string()))?;
    let settings = settings(expected, &tuned)?;
    let scenario = Scenario {
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
    };
    let outcome = simulate(&scenario).map_err(|error| BenchError::new(error.to_string()))?;
    Ok(mean_ios(&outcome, expected.block_bytes as f64))
}

fn mean_ios(outcome: &Outcome, block_bytes: f64) -> f64 {
    let sessions = outcome.sessions.iter().map(|session| {
        let merged = session.flush_bytes + 2.0 * session.compaction_bytes;
        session.block_reads + merged / block_bytes / session.operations.max(1.0)
    });
    sessions.sum::<f64>() / outcome.sessions.len().max(1) as f64
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
        operations: plan.queries * planned.workloads.len() as u64,
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
    let _ = write!(text, "  {:8}", "won");
    for size in seen {
        let won = size.gains.iter().filter(|gain| **gain >= 0.0).count();
        let _ = write!(text, "{won:>12}");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_without_filters_reads_more_where_reads_come() {
        let plan = CampaignPlan {
            entries: 200_000,
            workloads: 1,
            queries: 2_000,
            seed: 1,
        };
        let writes = expected_workloads()[4];
        let planned = sessions(&writes.workload, 1, 1).expect("sessions");
        let expected = plan.expectation(&writes, 0.0);
        let cost = |expected: &Expectation| ios(&plan, expected, &planned).expect("simulated");
        let nominal = cost(&expected);
        let robust = cost(&plan.expectation(&writes, 2.0));
        assert!(nominal > 0.0 && robust > 0.0);
        assert!(robust < nominal, "{robust} {nominal}");
    }
}
