//! Which of the merges that are due begin.

use super::Asked;
use crate::layout::LogicalLevel;
use crate::tuner::Change;

/// A level to merge.
#[derive(Clone, Debug)]
pub(in crate::tuner::learned) struct Wanted {
    pub change: Change,
    /// Its only run, or all of a full level, goes into the next one; otherwise its runs become one.
    pub goes_down: bool,
}

impl Wanted {
    /// The first and the last level that it needs.
    fn levels(&self) -> (LogicalLevel, LogicalLevel) {
        let level = self.change.level;
        (level, if self.goes_down { level.next() } else { level })
    }

    fn meets(&self, other: &Wanted) -> bool {
        let ((first, last), (from, to)) = (self.levels(), other.levels());
        first <= to && from <= last
    }
}

/// A merge for which reads have lost enough.
pub(super) struct Due {
    pub urgency: f64,
    /// It was asked for before, and is not over.
    pub is_under_way: bool,
    pub asked: Asked,
    pub wanted: Wanted,
    /// Bytes of credit without which it does not begin; absent where it needs none.
    pub claim: Option<f64>,
}

impl Due {
    /// What is said of it while it lacks credit.
    pub fn waits(self) -> Change {
        let Change { level, why } = self.wanted.change;
        let bytes = self.claim.unwrap_or(0.0);
        let why = format!(
            "{why}, and waits: max_write_amplification leaves no room for the {:.1} MB that it \
             would write",
            bytes / 1e6
        );
        Change { level, why }
    }
}

/// Those that begin or go on, and those that wait for credit; what goes on first, then the most
/// urgent.
///
/// What comes down into a level whose runs become one would be a run more of it, and spare nothing.
/// None needs a level which one before it needs: the planner would begin what comes down into a
/// level first, again and again, and never merge that level. What is more urgent has the first
/// claim to the credit, also while that does not cover it, if it `grows`: small merges would leave
/// nothing for a large one.
pub(super) fn chosen(mut due: Vec<Due>, mut credit: f64, grows: bool) -> (Vec<Due>, Vec<Due>) {
    let order = |one: &Due, other: &Due| {
        let begun = other.is_under_way.cmp(&one.is_under_way);
        begun.then(other.urgency.total_cmp(&one.urgency))
    };
    due.sort_by(order);
    let (mut begin, mut wait): (Vec<Due>, Vec<Due>) = (Vec::new(), Vec::new());
    for next in due {
        if begin.iter().any(|other| other.wanted.meets(&next.wanted)) {
            continue;
        }
        let claim = next.claim.unwrap_or(0.0);
        let is_covered = next.claim.is_none() || claim <= credit;
        if is_covered || grows {
            credit -= claim;
        }
        if is_covered {
            begin.push(next);
        } else {
            wait.push(next);
        }
    }
    (begin, wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(level: u16, urgency: f64, claim: Option<f64>) -> Due {
        Due {
            urgency,
            is_under_way: false,
            asked: Asked {
                runs: 2,
                newest: 1,
                goes_down: false,
                owed: false,
                extra: 1.0,
                left: 0.0,
            },
            wanted: Wanted {
                change: Change {
                    level: LogicalLevel(level),
                    why: "a test".into(),
                },
                goes_down: false,
            },
            claim,
        }
    }

    /// The levels that begin, and those that wait, where credit comes in.
    fn levels(due: Vec<Due>, credit: f64) -> [Vec<u16>; 2] {
        levels_where(due, credit, true)
    }

    fn levels_where(due: Vec<Due>, credit: f64, grows: bool) -> [Vec<u16>; 2] {
        let of = |due: Vec<Due>| due.iter().map(|it| it.wanted.change.level.0).collect();
        let (begin, wait) = chosen(due, credit, grows);
        [of(begin), of(wait)]
    }

    #[test]
    fn what_is_more_urgent_has_the_first_claim() {
        let all = || {
            vec![
                due(1, 2.0, Some(10.0)),
                due(3, 9.0, Some(100.0)),
                due(5, 1.0, None),
            ]
        };
        assert_eq!(levels(all(), 110.0), [vec![3, 1, 5], vec![]]);
        assert_eq!(levels(all(), 109.0), [vec![3, 5], vec![1]]);
        assert_eq!(levels(all(), 99.0), [vec![5], vec![3, 1]], "both wait");
        assert_eq!(levels(all(), f64::NEG_INFINITY), [vec![5], vec![3, 1]]);
        assert_eq!(levels(all(), f64::INFINITY), [vec![3, 1, 5], vec![]]);
    }

    #[test]
    fn where_no_credit_comes_in_what_waits_leaves_it_to_others() {
        let all = || vec![due(1, 2.0, Some(10.0)), due(3, 9.0, Some(100.0))];
        assert_eq!(levels_where(all(), 99.0, false), [vec![1], vec![3]]);
        assert_eq!(levels_where(all(), 9.0, false), [vec![], vec![3, 1]]);
        assert_eq!(levels_where(all(), 109.0, false), [vec![3], vec![1]]);
    }

    #[test]
    fn what_waits_bars_no_level_beside_it() {
        let all = || vec![due(2, 9.0, Some(100.0)), due(2, 1.0, None)];
        assert_eq!(levels(all(), 99.0), [vec![2], vec![2]]);
        assert_eq!(levels(all(), 100.0), [vec![2], vec![]]);
    }

    /// Level 1 would go down into the level that is being merged.
    #[test]
    fn what_is_under_way_is_disturbed_by_nothing_more_urgent() {
        let all = |is_under_way: bool| {
            let mut below = due(2, 1.0, None);
            below.is_under_way = is_under_way;
            let mut above = due(1, 9.0, None);
            above.wanted.goes_down = true;
            vec![above, below]
        };
        assert_eq!(levels(all(false), 0.0), [vec![1], vec![]]);
        assert_eq!(levels(all(true), 0.0), [vec![2], vec![]]);
    }

    #[test]
    fn what_waits_says_for_what() {
        let said = due(2, 1.0, Some(12_340_000.0)).waits();
        assert_eq!(said.level, LogicalLevel(2));
        assert_eq!(
            said.why,
            "a test, and waits: max_write_amplification leaves no room for the 12.3 MB that it \
             would write"
        );
    }
}
