//! What the demo measures and what it simulates, as data.

use std::path::PathBuf;

use crate::arms::Resources;
use crate::error::Result;
use crate::run::RunPlan;
use crate::simulate::SimulationPlan;
use crate::workload::load_workload;

/// Entries of what is measured: a run takes some eight seconds on two cores, and three rounds
/// of six arms fit into about two minutes.
const ENTRIES: u64 = 50_000;
const ARMS: [&str; 6] = [
    "learned",
    "thresholds-30-70",
    "fixed-1",
    "fixed-10",
    "rocksdb-leveled",
    "rocksdb-universal",
];

/// What is simulated, as large as it is shipped: sessions of many missions, in which there is
/// something to learn.
const SIMULATED: &str = "five-sessions";
/// The hull, the learner, and the same learner from far off.
const CONTENDERS: [&str; 6] = [
    "fixed-1",
    "fixed-4",
    "fixed-10",
    "lazy-leveling",
    "learned",
    "learned-from-10",
];
/// Spread of the times that the learners are told, as in `bench/measure sim-random`.
const NOISE: f64 = 0.05;
/// Where the command that repeats the simulation leaves its picture.
const OUT: &str = "bench/out/simulated";

/// What `lissom demo` measures: a changing workload in small, the store's own learner and
/// RusKey's threshold rule beside static arms; about two minutes on two cores.
pub fn demo_plan(out: PathBuf) -> Result<RunPlan> {
    let workload = load_workload("mixed-sessions")?.sized(Some(ENTRIES), 1.0)?;
    let arms = ARMS
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_>>()?;
    let mut plan = RunPlan::new(workload, arms, out)?;
    // Less memory for a smaller store, so that the tree has levels at all.
    plan.resources.write_buffer_size = 512 << 10;
    plan.resources.block_cache_size = 4 << 20;
    plan.sample_millis = 100;
    plan.settle_seconds = 30;
    Ok(plan)
}

/// What `lissom demo` simulates beside that: a workload whose sessions are long enough to
/// learn from, some seconds of CPU in all.
pub fn demo_simulation() -> Result<SimulationPlan> {
    let workload = load_workload(SIMULATED)?;
    let arms = CONTENDERS
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_>>()?;
    Ok(SimulationPlan {
        noise: NOISE,
        ..SimulationPlan::of(workload, arms, Resources::default())
    })
}

/// The command that simulates [`demo_simulation`] again, lists every change of the run limits
/// and draws them; in two lines.
pub fn demo_command(plan: &SimulationPlan) -> String {
    let arms: Vec<String> = plan.arms.iter().map(|arm| format!("--arm {arm}")).collect();
    format!(
        "lissom sim {} --noise {} --decisions --out {OUT} \\\n    {}",
        plan.workload.name,
        plan.noise,
        arms.join(" ")
    )
}
