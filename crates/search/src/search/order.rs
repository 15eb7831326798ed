//! Trials that were measured for different times in one order.

use std::collections::BTreeMap;

use super::{Search, TrialId};
use crate::objective::{Ranking, Standing, judge};

/// A trial as far as the order is concerned.
pub(super) struct Placed {
    /// How long it was measured; only trials of the same depth are compared by
    /// what they reached, since early figures are of an unsettled tree.
    pub depth: usize,
    pub standing: Standing,
}

/// Places, the best first. Those as deep as any, or of a `full` evaluation at least, come
/// first, those that keep all constraints before those that exceed them; then the others
/// likewise, since what was stopped early may only not have exceeded a constraint yet; failed
/// ones come last. Within each of these the deeper come first; then it goes by rank.
pub(super) fn order(placed: &[Placed], full: usize) -> Vec<usize> {
    let measured = placed.iter().filter(|it| it.standing != Standing::Failed);
    // Whoever runs on behind a full evaluation, the others have kept constraints to its end.
    let deepest = measured.map(|it| it.depth).max().unwrap_or(0).min(full);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, it) in placed.iter().enumerate() {
        groups.entry(it.depth).or_default().push(at);
    }
    let mut ordered = Vec::new();
    for group in groups.into_values().rev() {
        let standings: Vec<Standing> = group
            .iter()
            .map(|at| placed[*at].standing.clone())
            .collect();
        let ranked = Ranking::of(&standings).order;
        ordered.extend(ranked.into_iter().map(|place| group[place]));
    }
    // Stable: within a class deeper ones stay first.
    ordered.sort_by_key(|at| class(&placed[*at], deepest));
    ordered
}

fn class(placed: &Placed, deepest: usize) -> u8 {
    match (&placed.standing, placed.depth < deepest) {
        (Standing::Kept(_), false) => 0,
        (Standing::Exceeded(_), false) => 1,
        (Standing::Kept(_), true) => 2,
        (Standing::Exceeded(_), true) => 3,
        (Standing::Failed, _) => 4,
    }
}

impl Search {
    /// Trials that were measured and did not fail, the best first: those that passed
    /// as many time points as any, or came to the end of a full evaluation, before the others;
    /// of these the ones that keep all constraints; of these the ones that passed more points;
    /// then by the objective at the last point passed.
    pub fn order(&self) -> Vec<TrialId> {
        let points = self.points.as_deref().unwrap_or(&[]);
        let mut trials = Vec::new();
        let mut placed = Vec::new();
        for trial in self.trials.iter().filter(|it| !it.has_failed()) {
            let depth = points.iter().filter(|it| trial.has_reached(**it)).count();
            let reading = match depth.checked_sub(1) {
                Some(last) => trial.reading_at(points[last]),
                None => trial.readings.last(),
            };
            let setup = &self.setup;
            let standing = reading
                .and_then(|it| judge(&setup.objective, &setup.constraints, &it.metrics).ok());
            if let Some(standing) = standing {
                trials.push(trial.id);
                placed.push(Placed { depth, standing });
            }
        }
        let longest = self.setup.method.points.longest();
        let full = points.iter().filter(|it| **it <= longest).count();
        let order = order(&placed, full);
        order.into_iter().map(|place| trials[place]).collect()
    }

    /// The best trial; `None` before any was measured.
    pub fn best(&self) -> Option<TrialId> {
        self.order().first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_then_bounds_then_depth_then_rank() {
        let kept = |depth, value| Placed {
            depth,
            standing: Standing::Kept(vec![value]),
        };
        let exceeded = Placed {
            depth: 3,
            standing: Standing::Exceeded(0.1),
        };
        let failed = Placed {
            depth: 9,
            standing: Standing::Failed,
        };
        let placed = [
            kept(1, 99.0),
            exceeded,
            kept(3, 5.0),
            failed,
            kept(3, 7.0),
            kept(1, 3.0),
        ];
        assert_eq!(order(&placed, 3), [4, 2, 1, 0, 5, 3]);
        assert!(order(&[], 3).is_empty());
    }

    #[test]
    fn what_was_stopped_early_has_not_kept_a_bound_to_the_end() {
        let of = |depth, standing| Placed { depth, standing };
        let placed = [
            of(1, Standing::Kept(vec![50.0])),
            of(3, Standing::Exceeded(0.2)),
            of(1, Standing::Exceeded(0.1)),
            of(2, Standing::Kept(vec![40.0])),
            of(3, Standing::Exceeded(0.1)),
        ];
        assert_eq!(order(&placed, 3), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn what_ran_on_does_not_go_before_what_kept_a_bound_for_a_full_evaluation() {
        let of = |depth, standing| Placed { depth, standing };
        let placed = [
            of(4, Standing::Exceeded(0.2)),
            of(4, Standing::Exceeded(0.1)),
            of(3, Standing::Kept(vec![5.0])),
            of(2, Standing::Kept(vec![9.0])),
            of(4, Standing::Kept(vec![4.0])),
        ];
        assert_eq!(order(&placed, 3), [4, 2, 1, 0, 3]);
    }
}
