//! Merging for the reads' sake, when nobody writes.
//!
//! Without writes a change of limits has no effect, for no level fills. How long
//! reads go on alone is not known; so a level is merged once the reads since then
//! have lost as much by its runs as the merge is expected to be felt. Whatever
//! comes after, that is at most twice what foresight would have paid for this merge
//! (the rule of renting skis), as far as the model is right.

use super::cost::Cost;
use crate::layout::LogicalLevel;
use crate::observation::Mission;
use crate::tuner::{Change, Question};

/// A larger share of writes drains levels by itself.
const NO_WRITES: f64 = 0.01;

/// What reads have lost by each level's runs since writes all but ended, or since
/// the level last had fewer runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Quiet {
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    runs: f64,
    seconds: f64,
}

impl Quiet {
    /// The level to merge now, if one has paid for it.
    pub fn after(&mut self, seen: &Question<'_>, cost: &Cost) -> Option<Change> {
        if !is_quiet(seen.mission) {
            self.lost.clear();
            return None;
        }
        let deepest = seen.tree.deepest_occupied(&seen.shape.layout)?;
        let reads = seen.mission.operations.reads() as f64;
        self.lost.resize(usize::from(deepest.0), Lost::default());
        let levels = (1..=deepest.0).map(LogicalLevel);
        levels
            .filter_map(|level| {
                let (fewer, bytes) = merge(seen, level, deepest);
                let (saved, byte) = cost.of_runs(level, fewer)?;
                let lost = self.lose(level, fewer, saved * reads);
                (fewer > 0.0 && lost >= bytes * byte).then(|| (lost / (bytes * byte), level, lost, bytes * byte))
            })
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, level, lost, price)| Change {
                level,
                why: format!(
                    "reads alone have lost {lost:.1} s by its runs, a merge is felt for {price:.1} s"
                ),
            })
    }

    fn lose(&mut self, level: LogicalLevel, runs: f64, seconds: f64) -> f64 {
        let lost = &mut self.lost[usize::from(level.0) - 1];
        if runs < lost.runs {
            lost.seconds = 0.0;
        }
        lost.runs = runs;
        lost.seconds += seconds;
        lost.seconds
    }
}

fn is_quiet(mission: &Mission) -> bool {
    let mix = &mission.operations;
    let writes = mix.writes as f64 + mix.deletes as f64;
    mix.reads() > 0 && writes <= NO_WRITES * mix.reads() as f64
}

/// Runs that a merge of the level would spare, and the bytes that it would write:
/// the level's own and those of the newest run below, which takes them. Without one
/// they become a run of their own.
fn merge(seen: &Question<'_>, level: LogicalLevel, deepest: LogicalLevel) -> (f64, f64) {
    let runs = |level| seen.tree.runs_of(&seen.shape.layout, level);
    let here = runs(level);
    let own: u64 = here.iter().map(|run| seen.tree.bytes(*run)).sum();
    let below = (level < deepest).then(|| runs(level.next()));
    let taker = below.as_ref().and_then(|runs| runs.first());
    let fewer = here.len() - usize::from(taker.is_none() && !here.is_empty());
    let rewritten = taker.map_or(0, |run| seen.tree.bytes(*run));
    (fewer as f64, (own + rewritten) as f64)
}
