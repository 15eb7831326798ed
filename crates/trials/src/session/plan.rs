//! How the budget is shared between the search and the verdict.

use lissom_search::Fingerprint;
use lissom_search::record::Target;
use lissom_search::search::{Search, Setup};
use lissom_search::space::{Configuration, Space};
use lissom_search::verdict::{Contender, repeats_seconds, rounds_within};

/// The best, the runner-up and the default.
const CONTENDERS: usize = 3;
/// The most of the budget that is kept for repeats and ablations.
const MOST_RESERVED: f64 = 1.0 / 3.0;
/// Parameters whose contribution is measured by a run, if there is time.
const ABLATIONS: usize = 8;
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
    /// A plan that keeps time for `rounds` rounds of repeats and some ablations: as long as
    /// full evaluations if a third of the budget suffices for them, and nothing that a single
    /// trial would lack.
    pub fn new(space: Space, target: Target, mut setup: Setup, rounds: u32) -> Plan {
        let (evaluation, set_up) = (setup.method.points.longest(), setup.method.setup_seconds);
        let spare = setup.budget_seconds - evaluation - set_up;
        setup.method.reserve_seconds = kept(&setup, rounds, set_up, spare);
        Plan {
            space,
            target,
            setup,
            rounds,
        }
    }

    /// Equal for searches of one space and target: what one of them has loaded for its trials is
    /// what the others would load.
    pub fn identity(&self) -> Fingerprint {
        let parts = [self.space.fingerprint(), self.target.fingerprint.clone()];
        Fingerprint::of(parts.map(|it| it.to_string()))
    }

    /// What should be kept for repeats, now that trials have shown what they take before
    /// they run: nothing if no repeats would fit, or no other trial beside them.
    pub fn reserve(&self, search: &Search, now: f64) -> f64 {
        let set_up = search.setup_estimate();
        let (shortest, longest) = self.bounds(search);
        let spare = self.setup.budget_seconds - now - set_up - shortest;
        let seconds = kept(&self.setup, self.rounds, set_up, spare);
        let bounds = (shortest, longest);
        match share(self.rounds, CONTENDERS, seconds, set_up, bounds) {
            Some(_) => seconds,
            None => 0.0,
        }
    }

    /// How contenders are repeated in the time that is left: all rounds, as long as the best
    /// ran in the search, and shorter if need be, but not so short that trials were not even
    /// compared by then.
    pub fn repeats(
        &self,
        search: &Search,
        contenders: &[(Contender, Configuration)],
        left: f64,
    ) -> Option<Repeats> {
        let set_up = set_up_of(search, contenders);
        let bounds = self.bounds(search);
        share(self.rounds, contenders.len(), left, set_up, bounds)
    }

    /// The shortest and the longest repeat: what shows only behind a full evaluation, the
    /// search may have seen.
    fn bounds(&self, search: &Search) -> (f64, f64) {
        let evaluation = self.setup.method.points.longest();
        let first = search.points().and_then(|points| points.first());
        let best = search.best().and_then(|it| search.trial(it));
        let longest = best.map_or(evaluation, |it| it.reached().max(evaluation));
        (first.copied().unwrap_or(evaluation), longest)
    }
}

/// Seconds for repeats and ablations as long as full evaluations, at most a third of the
/// budget and `spare`.
fn kept(setup: &Setup, rounds: u32, set_up: f64, spare: f64) -> f64 {
    let evaluation = setup.method.points.longest();
    let repeats = repeats_seconds(CONTENDERS, rounds, evaluation, set_up);
    let ablations = if rounds == 0 { 0 } else { ABLATIONS };
    let wanted = repeats + repeats_seconds(ablations, 1, evaluation, set_up);
    (wanted * MARGIN)
        .min(setup.budget_seconds * MOST_RESERVED)
        .min(spare)
        .max(0.0)
}

/// What contenders take before they run, on average, but not less than other trials: one may
/// write data anew that the others have linked.
fn set_up_of(search: &Search, contenders: &[(Contender, Configuration)]) -> f64 {
    let estimate = search.setup_estimate();
    let shown = |configuration: &Configuration| {
        let mut trials = search.trials().iter();
        let trial = trials.find(|it| it.configuration == *configuration)?;
        trial.typical_set_up()
    };
    let each = contenders.iter().map(|(_, it)| shown(it));
    let all: f64 = each.map(|it| it.unwrap_or(estimate)).sum();
    (all / contenders.len().max(1) as f64).max(estimate)
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

#[cfg(test)]
mod tests {
    use lissom_search::objective::Metrics;
    use lissom_search::search::{Measurement, Outcome, TimePoints};
    use lissom_search::verdict::contenders;

    use super::*;
    use crate::session::testing;

    fn reserve(budget: f64, rounds: u32) -> f64 {
        let plan = testing::plan(budget, 60.0, rounds);
        plan.setup.method.reserve_seconds
    }

    #[test]
    fn a_third_of_the_budget_at_most_is_kept_for_repeats() {
        assert!((reserve(1_200.0, 3) - 400.0).abs() < 1e-9);
        assert_eq!(reserve(3_600.0, 3), 17.0 * 60.0 * MARGIN);
        assert_eq!(reserve(3_600.0, 0), 0.0);
        assert_eq!(reserve(80.0, 3), 20.0, "one trial comes first");
        assert_eq!(reserve(60.0, 3), 0.0);
    }

    /// A plan of 1,200 s, and its search after a trial that took 90 s to load, and others of
    /// these set-ups and throughputs.
    fn after(others: &[(f64, f64)]) -> (Plan, Search) {
        let plan = testing::plan(1_200.0, 60.0, 3);
        let mut setup = plan.setup.clone();
        setup.method.points = TimePoints::Fixed(vec![20.0, 40.0, 60.0]);
        let mut search = Search::new(&plan.space, setup, &[]).expect("legal");
        run_one(&mut search, 20.0, 90.0, 1.0);
        for (set_up, throughput) in others {
            run_one(&mut search, 20.0, *set_up, *throughput);
        }
        (plan, search)
    }

    /// Starts a trial, which runs for so many seconds behind its set-up.
    fn run_one(search: &mut Search, seconds: f64, setup_seconds: f64, throughput: f64) {
        let trial = search.ask(0.0).trial().expect("a start");
        let metrics = [("throughput".to_owned(), throughput)];
        let outcome = Outcome::Measured {
            seconds,
            setup_seconds,
            metrics: Metrics::new(metrics.into()).expect("finite"),
            series: Vec::new(),
            notes: Vec::new(),
        };
        search
            .tell(Measurement { trial, outcome })
            .expect("it runs");
    }

    #[test]
    fn set_up_counts_as_soon_as_it_is_known() {
        let reserve = |set_up: f64, now: f64| {
            let (plan, search) = after(&[(set_up, 0.5)]);
            plan.reserve(&search, now)
        };
        assert!((reserve(0.0, 20.0) - 400.0).abs() < 1e-9);
        // 9 times 20 and 23 s.
        assert!((reserve(23.0, 43.0) - 400.0).abs() < 1e-9);
        assert_eq!(reserve(24.0, 44.0), 0.0, "no repeats fit into a third");
        // Another trial of 20 and 20 s comes first.
        assert_eq!(reserve(20.0, 780.0), 380.0);
        assert_eq!(reserve(20.0, 1_100.0), 0.0);
    }

    #[test]
    fn repeats_run_as_long_as_the_best_did() {
        let (plan, mut search) = after(&[]);
        let seconds = |search: &Search| {
            let again = contenders(search).expect("measured");
            let repeats = plan.repeats(search, &again, 1_000.0);
            repeats.map(|it| it.seconds)
        };
        assert_eq!(seconds(&search), Some(60.0), "a full evaluation");
        run_one(&mut search, 75.0, 0.0, 2.0);
        assert_eq!(seconds(&search), Some(75.0));
    }

    #[test]
    fn repeats_have_time_for_the_set_ups_of_those_who_are_repeated() {
        // Another trial takes 10 s; of these the third one is the best.
        let (plan, search) = after(&[(30.0, 2.0), (0.0, 3.0), (10.0, 0.5)]);
        assert_eq!(search.setup_estimate(), 10.0);
        let three = contenders(&search).expect("measured");
        assert_eq!(three.len(), 3);
        let repeats = plan.repeats(&search, &three, 9.0 * 50.0 * MARGIN);
        // 0, 30 and, of the default, which was the first trial, 10 s.
        let wanted = 50.0 - 40.0 / 3.0;
        let seconds = repeats.expect("there is time").seconds;
        assert!((seconds - wanted).abs() < 1e-9, "{seconds}");
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
