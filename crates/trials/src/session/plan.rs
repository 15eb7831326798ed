//! How the budget is shared between the search and the verdict.

use lissom_search::record::Target;
use lissom_search::search::{Search, Setup};
use lissom_search::space::Space;
use lissom_search::verdict::{repeats_seconds, rounds_within};

/// The best, the runner-up and the default.
const CONTENDERS: usize = 3;
/// The most of the budget that is kept for repeats.
const MOST_RESERVED: f64 = 1.0 / 3.0;
/// Trials take a little longer than they run.
const MARGIN: f64 = 1.02;

/// What is searched, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What may be tried.
    pub space: Space,
    /// What is measured.
    pub target: Target,
    /// What is sought, and what may be spent on it.
    pub setup: Setup,
    /// Rounds of repeats after the search; 0 for none.
    pub rounds: u32,
}

/// How contenders are repeated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Repeats {
    /// Rounds, each holding every contender once.
    pub rounds: u32,
    /// Seconds that each runs.
    pub seconds: f64,
}

impl Plan {
    /// A plan that keeps time for `rounds` rounds of repeats: as long as full
    /// evaluations if a third of the budget suffices for them, and nothing that a
    /// single trial would lack.
    pub fn new(space: Space, target: Target, mut setup: Setup, rounds: u32) -> Plan {
        let method = &mut setup.method;
        let (evaluation, set_up) = (method.points.longest(), method.setup_seconds);
        let wanted = repeats_seconds(CONTENDERS, rounds, evaluation, set_up) * MARGIN;
        let spare = setup.budget_seconds - evaluation - set_up;
        method.reserve_seconds = wanted
            .min(setup.budget_seconds * MOST_RESERVED)
            .min(spare)
            .max(0.0);
        Plan {
            space,
            target,
            setup,
            rounds,
        }
    }

    /// How so many contenders are repeated in the time that is left: all rounds, and
    /// shorter than a full evaluation if need be, but not so short that trials were
    /// not even compared by then.
    pub fn repeats(&self, search: &Search, contenders: usize, left: f64) -> Option<Repeats> {
        let set_up = setup_seconds(search);
        let evaluation = self.setup.method.points.longest();
        let first = search.points().and_then(|points| points.first());
        let shortest = first.copied().unwrap_or(evaluation);
        share(
            self.rounds,
            contenders,
            left,
            set_up,
            (shortest, evaluation),
        )
    }
}

/// Rounds of repeats whose seconds lie between two bounds.
fn share(
    rounds: u32,
    contenders: usize,
    left: f64,
    set_up: f64,
    (shortest, longest): (f64, f64),
) -> Option<Repeats> {
    let left = left / MARGIN;
    if rounds == 0 || contenders == 0 {
        return None;
    }
    if rounds_within(left, contenders, longest, set_up) >= rounds {
        return Some(Repeats {
            rounds,
            seconds: longest,
        });
    }
    let seconds = left / (contenders as f64 * f64::from(rounds)) - set_up;
    (seconds >= shortest).then_some(Repeats { rounds, seconds })
}

/// What a trial takes before it runs: as measured, or as expected.
pub(super) fn setup_seconds(search: &Search) -> f64 {
    let measured = search.trials().iter().filter(|it| !it.readings.is_empty());
    let seconds: Vec<f64> = measured.map(|it| it.setup_seconds).collect();
    if seconds.is_empty() {
        search.setup().method.setup_seconds
    } else {
        seconds.iter().sum::<f64>() / seconds.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    fn reserve(budget: f64, rounds: u32) -> f64 {
        let plan = testing::plan(budget, 60.0, rounds);
        plan.setup.method.reserve_seconds
    }

    #[test]
    fn a_third_of_the_budget_at_most_is_kept_for_repeats() {
        assert!((reserve(1_200.0, 3) - 400.0).abs() < 1e-9);
        assert_eq!(reserve(3_600.0, 3), 9.0 * 60.0 * MARGIN);
        assert_eq!(reserve(3_600.0, 0), 0.0);
        assert_eq!(reserve(80.0, 3), 20.0, "one trial comes first");
        assert_eq!(reserve(60.0, 3), 0.0);
    }

    #[test]
    fn repeats_are_full_evaluations_if_there_is_time() {
        let of = |left| share(3, 3, left * MARGIN, 5.0, (20.0, 60.0));
        let whole = Repeats {
            rounds: 3,
            seconds: 60.0,
        };
        assert_eq!(of(586.0), Some(whole));
        assert_eq!(of(5_860.0), Some(whole));
        let shorter = of(9.0 * 30.0).expect("time for 25 s each");
        assert!((shorter.seconds - 25.0).abs() < 1e-9, "{shorter:?}");
        assert_eq!(of(9.0 * 24.0), None);
        assert_eq!(of(-1.0), None);
        assert_eq!(share(0, 3, 1e9, 0.0, (1.0, 1.0)), None);
        assert_eq!(share(3, 0, 1e9, 0.0, (1.0, 1.0)), None);
    }
}
