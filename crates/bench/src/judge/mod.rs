//! Judges runs: medians, spreads, ties, the hull, the headroom, and what the rules of
//! a believable benchmark forbid to claim. Pure: records in, verdict out.

mod arm;
mod cautions;
mod convergence;
#[cfg(test)]
mod convergence_tests;
mod course;
mod debt;
mod figure;
mod headroom;
#[cfg(test)]
mod interval_tests;
mod intervals;
mod level0;
#[cfg(test)]
mod load_model_tests;
mod load_models;
mod maximum;
mod offered;
mod other_rounds;
mod overload;
mod parts;
mod phase;
mod ranks;
#[cfg(test)]
mod rival_tests;
mod tenths;
#[cfg(test)]
mod tests;
mod won;

use serde::{Deserialize, Serialize};

use self::convergence::judge_convergence;
use crate::arms::ArmName;
use crate::run::{ArmRun, LEAST_ROUNDS, Parameters};

pub use arm::{ArmVerdict, SessionVerdict, closed_seconds};
pub(crate) use cautions::hull_caution;
pub use convergence::Convergence;
pub use course::{Course, FIRST_MISSIONS, NEAR};
pub use debt::debt_seconds;
pub use figure::{CLOSE, Figure, Standing, median};
pub use headroom::{BestInSession, Bound, Gap, Headroom, OtherRounds, headroom};
pub(crate) use headroom::{by_time, oracle_of};
pub use intervals::{Interval, Intervals};
pub use level0::{
    Level0Files, Level1Runs, Reads, ReadsByFiles, STEP as LEVEL0_STEP, reads_by_level0_files,
};
pub use load_models::{Bytes, MODELS, ModelError, ModelErrors, Processors, judge_load_models};
pub use maximum::maximum;
pub use offered::{Offered, Scheduled, judge_offered};
pub use overload::{Overload, judge_overload, overload_of};
pub(crate) use parts::LONG_SECONDS;
pub use parts::{Part, judge_part, parts_of};
pub use phase::PhaseShortfall;
pub use tenths::{TENTHS, Tenth, judge_tenths};
pub use won::{Won, Yardstick};

/// The judgement over all complete rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Rounds that hold all arms.
    pub complete_rounds: usize,
    /// Rules that are not met, as sentences; empty is best.
    pub cautions: Vec<String>,
    /// What write amplifications lack to be a claim, if they lack anything.
    pub write_shortfall: Option<PhaseShortfall>,
    /// How much there is to win.
    pub headroom: Option<Headroom>,
    /// What arms that are not static won of it.
    pub won: Vec<Won>,
    /// The arms in the plan's order.
    pub arms: Vec<ArmVerdict>,
    /// How soon arms that follow the workload came near the best static ones.
    pub convergence: Vec<Convergence>,
}

/// Judges `runs`. Only rounds that hold every arm of the plan count, so that all arms
/// are judged by the same rounds.
pub fn judge(parameters: &Parameters, runs: &[ArmRun]) -> Verdict {
    let rounds = complete_rounds(parameters, runs);
    let mut arms: Vec<ArmVerdict> = parameters
        .arms
        .iter()
        .filter_map(|arm| arm::judge_arm(arm, &rounds, parameters))
        .collect();
    ranks::leave_best_setting(&mut arms);
    let headroom = headroom(&arms);
    // A single round has no spread, and two hardly one: no wins, ties or losses then.
    let claims = rounds.len() >= LEAST_ROUNDS as usize;
    if claims {
        ranks::mark_best(&mut arms);
    }
    if let Some(headroom) = headroom.as_ref().filter(|_| claims) {
        let others = arms
            .iter_mut()
            .filter(|arm| arm.arm != headroom.best_static && !arm.over_space_bound);
        for arm in others {
            arm.standing = Some(arm.total_seconds.against(&headroom.best_static_seconds));
        }
    }
    let won = headroom.as_ref().map(|it| won::won(it, &arms));
    let best = headroom.as_ref().map(|it| &it.all.best_per_session[..]);
    let mut verdict = Verdict {
        complete_rounds: rounds.len(),
        cautions: Vec::new(),
        write_shortfall: phase::of_rounds(parameters, &rounds),
        convergence: judge_convergence(&parameters.arms, &rounds, best.unwrap_or_default()),
        headroom,
        won: won.unwrap_or_default(),
        arms,
    };
    verdict.cautions = cautions::cautions(parameters, &verdict, &rounds);
    verdict
}

/// The runs of each round that holds all arms, in the plan's order of arms.
pub(crate) fn complete_rounds<'a>(
    parameters: &Parameters,
    runs: &'a [ArmRun],
) -> Vec<Vec<&'a ArmRun>> {
    let last = runs.iter().map(|run| run.round).max().unwrap_or(0);
    let of_round = |round| -> Vec<&'a ArmRun> {
        let find = |arm: &ArmName| {
            runs.iter()
                .find(|run| run.round == round && run.arm == *arm)
        };
        parameters.arms.iter().filter_map(find).collect()
    };
    (0..=last)
        .map(of_round)
        .filter(|round| round.len() == parameters.arms.len())
        .collect()
}
