//! How much the planner still wants to merge.

use std::collections::BTreeSet;

use lissom_core::{File, Observation, PhysicalLevel, Plan, planner};

/// Bytes of all files that are inputs of a running or proposed merge, that a begun drain
/// takes down or rewrites in the run that receives, that were set apart from L0 and go back, or
/// that lie in L0 when it is over its trigger. What drains that have not begun will move is not
/// in it.
pub(super) fn debt_bytes(seen: &Observation, plans: &[Plan]) -> u64 {
    let drains = seen.state.drains.iter();
    let rewritten = drains.flat_map(|drain| drain.rewritten(&seen.tree));
    let inputs: BTreeSet<u64> = seen
        .in_flight
        .iter()
        .flat_map(|job| job.files.iter().copied())
        .chain(plans.iter().flat_map(Plan::files))
        .chain(rewritten.map(|file| file.number))
        .chain(planner::set_apart_files(seen))
        .collect();
    let trigger = seen.shape.level0_file_num_compaction_trigger as usize;
    let level0_due = seen.tree.level0().len() >= trigger;
    let is_due = |level: PhysicalLevel, file: &File| {
        inputs.contains(&file.number)
            || (level == PhysicalLevel::L0 && level0_due)
            || seen.state.is_drained(level, &file.smallest)
    };
    seen.tree
        .iter()
        .filter(|(level, file)| is_due(*level, file))
        .map(|(_, file)| file.size)
        .sum()
}

/// Bytes of the files in L0 that a running merge takes.
pub(super) fn level0_merging_bytes(seen: &Observation) -> u64 {
    let running = |number: u64| seen.in_flight.iter().any(|job| job.files.contains(&number));
    seen.tree.level0_bytes_of(running)
}

#[cfg(test)]
mod tests {
    use lissom_core::shape::RunLimit;
    use lissom_core::testing::{numbered_files, small_shape};
    use lissom_core::{Drain, DrainId, Reason, RunLimits, Tree, TreeState};

    use super::*;

    /// `count` files of 100 bytes with numbers from `first`, over the same keys each time.
    fn run(first: u64, count: u64) -> Vec<File> {
        let mut files = numbered_files(count);
        files.iter_mut().for_each(|file| file.number += first);
        files
    }

    fn seen(level0: u64, drained: u64, receiving: u64) -> Observation {
        let mut levels = vec![Vec::new(); 5];
        levels[0] = run(0, level0);
        levels[3] = run(1_000, drained);
        levels[4] = run(2_000, receiving);
        Observation::quiet(
            small_shape(),
            Tree::new(levels).expect("legal"),
            TreeState::new(RunLimits::uniform(RunLimit::ONE)),
            1,
        )
    }

    #[test]
    fn a_drain_owes_what_it_takes_and_what_it_rewrites() {
        let mut seen = seen(1, 3, 10);
        assert_eq!(debt_bytes(&seen, &[]), 0, "nothing was begun");
        let mut drain = Drain {
            id: DrainId(1),
            top: PhysicalLevel(3),
            target: PhysicalLevel(4),
            range: None,
            begins_run: false,
            reason: Reason::Manual,
        };
        seen.state.drains = vec![drain.clone()];
        assert_eq!(debt_bytes(&seen, &[]), 300 + 300, "three files meet three");
        let first = seen.tree.files(PhysicalLevel(3))[0].smallest.clone();
        drain.range = Some((first.clone(), first));
        seen.state.drains = vec![drain];
        assert_eq!(
            debt_bytes(&seen, &[]),
            100 + 100,
            "one file is in its range"
        );
    }

    #[test]
    fn what_was_set_apart_is_owed_while_it_waits() {
        let mut seen = seen(1, 3, 10);
        assert_eq!(debt_bytes(&seen, &[]), 0);
        seen.state.set_apart.insert(PhysicalLevel(3));
        assert_eq!(debt_bytes(&seen, &[]), 300 + 1_000);
    }

    #[test]
    fn what_is_merged_of_level_0_is_told() {
        let mut seen = seen(4, 0, 0);
        let plans = planner::plan(&seen).plans;
        assert_eq!(level0_merging_bytes(&seen), 0, "nothing has begun");
        seen.in_flight = plans.iter().map(planner::in_flight).collect();
        assert_eq!(level0_merging_bytes(&seen), 400, "{plans:?}");
    }

    #[test]
    fn level_0_owes_from_its_trigger_on() {
        let trigger = u64::from(small_shape().level0_file_num_compaction_trigger);
        assert_eq!(debt_bytes(&seen(trigger - 1, 0, 9), &[]), 0);
        assert_eq!(debt_bytes(&seen(trigger, 0, 9), &[]), trigger * 100);
    }
}
