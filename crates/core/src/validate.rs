//! The gate before execution: what RocksDB would do must be what was planned.

use std::collections::BTreeSet;
use std::fmt;

use crate::key::Key;
use crate::layout::PhysicalLevel;
use crate::observation::InFlight;
use crate::plan::{Input, Plan, PlanKind};
use crate::tree::{File, Tree};

/// Why a plan may not run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A file is gone or has moved: the plan is stale.
    Missing(u64),
    /// RocksDB would take other files than planned.
    OtherFiles {
        /// Files that it would add.
        added: Vec<u64>,
    },
    /// A file, or a key range of the output level, is being compacted.
    Busy,
    /// The output level lies above an input.
    Upwards,
    /// A move would meet files in its target level, or takes files of an L0 where some overlap.
    NotAMove,
    /// A plan without inputs.
    Empty,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing(file) => write!(f, "file {file} is no longer where it was"),
            Refusal::OtherFiles { added } => {
                write!(f, "RocksDB would also take files {added:?}")
            }
            Refusal::Busy => f.write_str("some of the keys are being compacted"),
            Refusal::Upwards => f.write_str("a file cannot move to a level above its own"),
            Refusal::NotAMove => f.write_str("the files of a move overlap others"),
            Refusal::Empty => f.write_str("the plan names no file"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The files that RocksDB's `CompactFiles` takes when it is given `files` and
/// `output`: in each level everything between the first and the last given
/// file, neighbours that share a boundary key, of L0 all older files, and in
/// every level down to the output all that overlaps what was taken above
/// (SanitizeCompactionInputFilesForAllLevels in RocksDB's compaction picker).
pub fn closure(tree: &Tree, files: &BTreeSet<u64>, output: PhysicalLevel) -> BTreeSet<u64> {
    let mut taken = files.clone();
    let mut range: Option<(Key, Key)> = None;
    for level in (0..=output.0).map(PhysicalLevel) {
        let all = tree.files(level);
        let overlapping = |file: &File| {
            level > PhysicalLevel::L0
                && range
                    .as_ref()
                    .is_some_and(|(low, high)| file.overlaps(low, high))
        };
        let wanted = |file: &File| taken.contains(&file.number) || overlapping(file);
        let Some(mut first) = all.iter().position(wanted) else {
            continue;
        };
        let mut last = all.iter().rposition(wanted).unwrap_or(first);
        if level == PhysicalLevel::L0 {
            if output > PhysicalLevel::L0 {
                last = all.len() - 1;
            }
        } else {
            while first > 0 && all[first - 1].largest >= all[first].smallest {
                first -= 1;
            }
            while last + 1 < all.len() && all[last + 1].smallest <= all[last].largest {
                last += 1;
            }
        }
        for file in &all[first..=last] {
            taken.insert(file.number);
            file.widen(range.get_or_insert_with(|| file.range()));
        }
    }
    taken
}

/// Checks a plan against the tree and against what runs.
///
/// # Errors
/// The first reason for which the plan may not run as it stands.
pub fn validate(tree: &Tree, in_flight: &[InFlight], plan: &Plan) -> Result<(), Refusal> {
    let files: BTreeSet<u64> = plan.files().collect();
    if files.is_empty() {
        return Err(Refusal::Empty);
    }
    check_places(tree, plan)?;
    let closure = closure(tree, &files, plan.output);
    if closure != files {
        let added = closure.difference(&files).copied().collect();
        return Err(Refusal::OtherFiles { added });
    }
    if plan.kind == PlanKind::Move && !is_move(tree, plan) {
        return Err(Refusal::NotAMove);
    }
    if in_flight.iter().any(|job| conflicts(job, plan)) {
        return Err(Refusal::Busy);
    }
    Ok(())
}

fn check_places(tree: &Tree, plan: &Plan) -> Result<(), Refusal> {
    for Input { level, files } in &plan.inputs {
        if *level > plan.output {
            return Err(Refusal::Upwards);
        }
        let there: BTreeSet<u64> = tree.files(*level).iter().map(|file| file.number).collect();
        if let Some(missing) = files.iter().find(|file| !there.contains(file)) {
            return Err(Refusal::Missing(*missing));
        }
    }
    Ok(())
}

/// Whether RocksDB moves the files of a plan (Compaction::IsTrivialMove): they meet nothing. It
/// moves none of L0 where any two files there overlap, whether the plan takes these or not.
fn is_move(tree: &Tree, plan: &Plan) -> bool {
    let [input] = &plan.inputs[..] else {
        return false;
    };
    let (low, high) = &plan.range;
    let clear = tree
        .files(plan.output)
        .iter()
        .all(|file| !file.overlaps(low, high));
    let apart = input.level > PhysicalLevel::L0 || tree.level0_is_disjoint();
    clear && apart && input.level != plan.output
}

/// Whether a running compaction and a plan may not run at the same time: they
/// share files, or they overlap both in levels and in keys.
pub fn conflicts(job: &InFlight, plan: &Plan) -> bool {
    let (low, high) = &plan.range;
    let levels = job.top <= plan.output && plan.top() <= job.output;
    let keys = job.range.0 <= *high && job.range.1 >= *low;
    (levels && keys) || plan.files().any(|file| job.files.contains(&file))
}
