//! What a closed loop carries.

use super::complete_rounds;
use super::figure::median;
use crate::run::{ArmRun, Results};
use crate::workload::Session;

/// Operations per second that every arm carries: of the sessions that are `wanted`, the
/// slowest arm's median over whole rounds. `None` without such a session or round.
pub fn maximum(results: &Results, wanted: impl Fn(&Session) -> bool) -> Option<f64> {
    let parameters = &results.parameters;
    let runs = complete_rounds(parameters, &results.runs).concat();
    let mut medians = Vec::new();
    for (number, session) in parameters.workload.sessions.iter().enumerate() {
        if !wanted(session) {
            continue;
        }
        for arm in &parameters.arms {
            let own = runs.iter().filter(|run| run.arm == *arm);
            let rates: Vec<f64> = own.filter_map(|run| carried(run, number)).collect();
            medians.extend(median(&rates));
        }
    }
    medians.into_iter().min_by(f64::total_cmp)
}

fn carried(run: &ArmRun, session: usize) -> Option<f64> {
    let session = run.sessions.get(session)?;
    Some(session.operations as f64 / session.seconds.max(1e-9))
}
