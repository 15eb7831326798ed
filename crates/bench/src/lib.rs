//! A benchmark harness that cannot flatter the store it measures.
//!
//! A [`Workload`] is data: a TOML file with sessions. A [`RunPlan`] says which arms are
//! compared on it; [`run`] runs all arms in every round, interleaved, each in a process
//! of its own, and saves one resumable file after each. [`judge`](judge::judge) turns
//! the records into a [`Verdict`]: medians with spreads, the hull of static arms, the
//! headroom, and a sentence for each rule that was not met. [`render_table`] and
//! [`write_report`] show it, [`Exporting`] after each arm. [`trial`] runs one
//! configuration for a search.

mod arms;
mod demo;
mod distinct;
mod drive;
mod durable;
mod error;
mod generate;
pub mod judge;
mod parent;
mod progress;
mod report;
mod run;
mod simulate;
mod store;
mod trajectories;
pub mod trial;
mod uncertainty;
mod workload;

pub use arms::{
    ArmName, Compression, FullLoads, LARGEST_FIXED, MockStore, Resources, StockRocksDb, open_arm,
};
pub use demo::{demo_command, demo_plan, demo_simulation, demo_supplement, render_demo};
pub use drive::{
    Clock, Driver, Latencies, LatencySummary, OpKind, Pace, Performer, ProcessUse, Sample,
    SessionOutcome, SystemClock,
};
pub use error::{BenchError, Result};
pub use generate::{
    Chooser, DataShape, DueTimes, Op, OpStream, Partition, Rng, due_count, pareto, zipf_rank,
};
pub use judge::Verdict;
pub use parent::at_end;
pub use progress::Bar;
pub use report::{
    Exporting, Exports, REPORT_FILE, Supplement, TABLE_FILE, publish_exports, render_table,
    report_html, write_exports, write_offered_pictures, write_report, write_report_with,
};
pub use run::{
    ArmRun, DEFAULT_SPACE_BOUND, Event, Failure, Job, LEAST_ROUNDS, Launcher, LoadRecord, Machine,
    Offer, Parameters, Program, Progress, RESULTS_FILE, Results, RunPlan, SessionRecord, Silent,
    Totals, Watcher, run, run_arm_child,
};
pub use simulate::{
    Calibration, Compared, ComparedTotal, Contender, Followed, MachineModel, OracleKind,
    SimulatedArm, Simulation, SimulationPlan, calibrate, compare_measured, machines_caution,
    render_calibration, render_calibrations, render_decisions, render_levels, render_simulation,
    run_simulation, write_limits,
};
pub use store::{Background, Counters, LevelShape, Shape, Store, UserLoad};
pub use trajectories::LIMITS_FILE;
pub use uncertainty::{
    Campaign, CampaignPlan, Experiment, LimitsRow, MapCell, SessionCost, SessionKind,
    SimulatedSize, SizeRow, TuningKind, UncertainSession, Uncertainty, UncertaintyPlan,
    UncertaintyRow, UncertaintySummary, UncertaintyVariants, evaluate_uncertainty,
    evaluate_variants, render_campaign, render_simulated, render_uncertainty, render_variants,
    run_campaign, simulate_campaign, write_pictures,
};
pub use workload::{
    CLOSING_SESSION, DrawnSize, Fill, FillOrder, KeyOrder, Keys, Mix, MixgraphKeys, Periodic, Rate,
    SHIPPED, Session, Size, Workload, load_workload, parse_workload, random_workload,
    sha256_of_file, shipped_hashes,
};
