//! How sure one can be of what a search found.
//!
//! - [`contenders()`] and [`repeats()`]: best, runner-up and default are run again, by
//!   turns, as data that a runner carries out within the search's reserve.
//! - [`choice()`]: who is believed after them, which need not be the search's best.
//! - [`judge_repeats()`]: medians, spreads, and how likely chance alone is.
//! - [`ablations()`]: the best with one parameter at a time set back, to be run.
//! - [`estimates()`]: what each parameter seems to be worth by the search's own
//!   trials, for nothing.

mod ablation;
mod choice;
mod estimate;
mod figure;
mod follow_up;
mod judge;
mod repeats;
mod rounds;
#[cfg(test)]
mod tests;

pub use ablation::{Ablated, Ablation, Ablations, ablations, contribution};
pub use choice::{Choice, choice};
pub(crate) use choice::{Lengths, is_refuted};
pub use estimate::{Estimate, estimates};
pub use figure::{Figure, medians};
pub use follow_up::FollowUp;
pub use judge::{
    Comparison, GoalVerdict, LEAST_ROUNDS, Repeated, Standing, Verdict, judge_repeats,
};
pub use repeats::{
    Contender, MOST_ROUNDS, Repeat, contenders, default_among, repeats, repeats_seconds,
    rounds_within,
};
