//! Why a load may not leave several runs in the deepest level.
//!
//! A run of the deepest level is there until as much has come in as the data is, or until all
//! of the level is merged for the reads' sake: a second one is a bet on what will be asked for
//! in all that time. Who only writes shows nothing of that, and a load that fills the store
//! least of all. So meanwhile the model does not raise the limit of the deepest level, nor does
//! a trial; only what has served this workload before does. A load takes longer for it, in which
//! nobody waits for reads; those that follow are spared a merge of all that was loaded.

use super::Learned;
use super::learning::Part;
use super::structure::Structure;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::shape::RunLimits;
use crate::tuner::Question;

/// A smaller share of reads, against all operations, is none.
const NO_READS: f64 = 0.01;

impl Learned {
    /// Whether these limits would let the deepest level have more runs than now, on behalf of
    /// somebody who only writes.
    pub(super) fn is_blind_bet(
        &self,
        seen: &Question<'_>,
        structure: &Structure<'_>,
        limits: &RunLimits,
    ) -> bool {
        let deepest = LogicalLevel(structure.levels as u16);
        let more = limits.get(deepest) > seen.limits.get(deepest);
        more && self.learning.has(Part::Hedge) && nobody_reads(seen.mission)
    }
}

fn nobody_reads(mission: &Mission) -> bool {
    let reads = mission.operations.reads() as f64;
    reads <= NO_READS * mission.operations.total() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::OperationMix;
    use crate::shape::RunLimit;
    use crate::testing::{numbered_files, small_shape};
    use crate::tree::Tree;
    use crate::tuner::Allowance;
    use crate::tuner::learned::Learning;

    /// Whether these limits of two levels are one, over a tree of both with a run each, where so
    /// many in a hundred operations read.
    fn is_bet(tuner: &Learned, now: (u16, u16), then: (u16, u16), reads: u64) -> bool {
        let shape = small_shape();
        let mut levels = vec![Vec::new(); usize::from(shape.layout.num_levels())];
        for level in [1, 2] {
            levels[usize::from(shape.layout.span(LogicalLevel(level)).1.0)] = numbered_files(9);
        }
        let tree = Tree::new(levels).expect("runs");
        let limits = |(first, second): (u16, u16)| {
            let mut limits = RunLimits::uniform(RunLimit::clamped(second));
            limits.set(LogicalLevel(1), RunLimit::clamped(first));
            limits
        };
        let seen = Question {
            shape: &shape,
            tree: &tree,
            limits: &limits(now),
            refused: &[],
            mission: &Mission {
                operations: OperationMix {
                    gets_found: reads,
                    writes: 100 - reads,
                    ..OperationMix::default()
                },
                ..Mission::default()
            },
        };
        let structure = Structure::of(&shape, &tree).expect("levels");
        tuner.is_blind_bet(&seen, &structure, &limits(then))
    }

    #[test]
    fn who_only_writes_gets_no_more_runs_in_the_deepest_level() {
        let tuner = Learned::new(0.0);
        let is_bet = |now, then, reads| is_bet(&tuner, now, then, reads);
        assert!(is_bet((1, 1), (1, 2), 0));
        assert!(is_bet((1, 1), (1, 2), 1));
        assert!(!is_bet((1, 1), (1, 2), 2), "somebody reads");
        assert!(!is_bet((1, 1), (7, 1), 0), "it is not the deepest");
        assert!(!is_bet((1, 3), (1, 2), 0), "they are fewer");
        assert!(!is_bet((1, 3), (5, 3), 0));
    }

    #[test]
    fn who_does_not_hedge_bets() {
        let learning = Learning {
            without: [Part::Hedge].into(),
            ..Learning::default()
        };
        let tuner = Learned::with(Allowance::default(), learning);
        assert!(!is_bet(&tuner, (1, 1), (1, 2), 0));
    }
}
