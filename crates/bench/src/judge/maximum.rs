//! What a closed loop carries.

use super::figure::median;
use crate::arms::{ArmName, FullLoads};
use crate::run::{ArmRun, Results, SessionRecord};
use crate::workload::Session;

/// Share of the maximum at which schedules are told that the machine is full. By DLC's
/// limits a load is then high over 0.69 of the maximum and low under 0.41 of it.
const FULL: f64 = 0.8;

/// Bytes of a data block, in every arm.
const BLOCK_BYTES: f64 = 4096.0;

/// What an arm carries, and so every arm that carries no less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Maximum {
    /// Operations per second.
    pub operations: f64,
    /// What the users of that arm move at that rate, as load models see it, times 0.8; absent
    /// where blocks were not counted.
    pub full_load: Option<FullLoads>,
}

/// The median over whole rounds of the arm `of`, or of the slowest one, in the sessions that
/// are `wanted`; in the one of them in which it carries least. `None` without such an arm,
/// session or round.
pub fn maximum(
    results: &Results,
    of: Option<&ArmName>,
    wanted: impl Fn(&Session) -> bool,
) -> Option<Maximum> {
    let parameters = &results.parameters;
    let runs: Vec<&ArmRun> = results.whole_rounds().collect();
    let entry_bytes = parameters.workload.entry_bytes();
    let mut found: Vec<Maximum> = Vec::new();
    for (number, session) in parameters.workload.sessions.iter().enumerate() {
        if !wanted(session) {
            continue;
        }
        let arms = parameters.arms.iter();
        for arm in arms.filter(|arm| of.is_none_or(|of| of == *arm)) {
            let own = runs.iter().filter(|run| run.arm == *arm);
            let records = own.filter_map(|run| run.sessions.get(number));
            let records: Vec<&SessionRecord> = records.collect();
            found.extend(carried(&records, entry_bytes));
        }
    }
    found
        .into_iter()
        .min_by(|one, other| one.operations.total_cmp(&other.operations))
}

/// What one arm carried in one session.
fn carried(records: &[&SessionRecord], entry_bytes: f64) -> Option<Maximum> {
    let by_second = |of: &dyn Fn(&SessionRecord) -> Option<f64>| {
        let rates = records
            .iter()
            .map(|it| Some(of(it)? / it.seconds.max(1e-9)));
        median(&rates.collect::<Option<Vec<f64>>>()?)
    };
    let operations = by_second(&|it| Some(it.operations as f64))?;
    let moved = by_second(&|it| {
        let blocks = it.counters.data_blocks_read?;
        Some(blocks as f64 * BLOCK_BYTES + it.user_bytes as f64)
    });
    Some(Maximum {
        operations,
        full_load: moved.map(|moved| FullLoads {
            cache_additions: least(FULL * moved),
            operations: least(FULL * operations * entry_bytes),
        }),
    })
}

/// No less than a store's settings take.
fn least(bytes_per_second: f64) -> u64 {
    (bytes_per_second as u64).max(64 << 10)
}
