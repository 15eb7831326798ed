//! From nothing to a store with its data set.

use std::time::Duration;

use super::plan::TrialPlan;
use super::prepared::Prepared;
use super::system;
use crate::error::{BenchError, Place, Result};
use crate::generate::{DataShape, Partition};
use crate::run::Filling;
use crate::store::Store;

/// How long background work may go on before the trial is ready all the same.
const PATIENCE: Duration = Duration::from_secs(120);

/// A store in its starting state.
pub(super) struct Ready {
    pub(super) store: Box<dyn Store>,
    pub(super) data: DataShape,
    pub(super) partitions: Vec<Partition>,
    /// Sentences for people.
    pub(super) remarks: Vec<String>,
}

/// Opens the store, with the data set loaded or linked, does the workload's updates
/// before the first session, and lets background work end.
pub(super) fn set_up(plan: &TrialPlan) -> Result<Ready> {
    let cannot_open = |error: BenchError| error.at("cannot open");
    let contender = system::read(plan).map_err(cannot_open)?;
    let directory = &plan.directory;
    std::fs::create_dir_all(directory).place(format!("--directory {}", directory.display()))?;
    let data = DataShape::new(&plan.workload);
    let mut partitions = Partition::all(u64::from(plan.threads), &plan.workload, &data);
    let filling = filling(plan);
    let mut remarks = Vec::new();
    if let Some(place) = &plan.prepared {
        let prepared = Prepared::new(place, &filling, &data, plan.limits.direct_io);
        prepared.provide(&contender.shape(), directory)?;
        contender.take_over(directory).map_err(cannot_open)?;
    }
    let store = contender
        .open(directory, &mut remarks)
        .map_err(cannot_open)?;
    if plan.prepared.is_none() {
        filling.load(store.as_ref(), &data, &mut |_| ())?;
    }
    filling.update(store.as_ref(), &data, &mut partitions, &mut |_| ())?;
    if !store.settle(PATIENCE)? {
        remarks.push(format!(
            "background work went on for {} s after the load; the trial begins with it",
            PATIENCE.as_secs()
        ));
    }
    Ok(Ready {
        store,
        data,
        partitions,
        remarks,
    })
}

/// All trials begin at the same phase of the tree: the first round's.
fn filling(plan: &TrialPlan) -> Filling<'_> {
    Filling {
        workload: &plan.workload,
        seed: plan.seed,
        round: 0,
    }
}
