//! What a change of a level's run limit costs beside what the new limit saves: RusKey's
//! table 2. The paper's running text has (1 - x) for the flexible transition, where the
//! table has (x - x²); the table is right.
//!
//! No decision of Lissom's asks it: which transition is used is a setting. It stands here as
//! the specification of what each one costs, for whoever compares them; only tests call it,
//! which check the table by hand, and that a flexible transition, the default, never costs
//! more than a lazy one.

use crate::shape::Transition;

/// A level whose run limit changes, and what is done with it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LevelInTransition {
    /// The most that the level holds, bytes (C).
    pub capacity: f64,
    /// The part of it that is filled, 0 to 1 (x).
    pub fill: f64,
    /// Capacity of a level over that of the level above (T).
    pub size_ratio: f64,
    /// Bytes of an entry (E).
    pub entry: f64,
    /// Bytes of a page, the unit of the costs (B).
    pub page: f64,
    /// Rate of false positives of the level's filters (f).
    pub false_positives: f64,
    /// Lookups among the operations, 0 to 1, not 1 itself (gamma).
    pub read_share: f64,
    /// Updates that reach the level in a second (N_u).
    pub updates_per_second: f64,
    /// The level's limit before and after (K, K').
    pub limits: (f64, f64),
    /// The next level's limit; only a greedy transition looks at it.
    pub next_limit: f64,
}

/// The costs of a transition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransitionCost {
    /// I/Os at once.
    pub immediate: f64,
    /// Seconds until the new limit holds.
    pub delay: f64,
    /// I/Os more than if the new limit had held from the beginning, until the level is
    /// next empty.
    pub additional: f64,
}

impl LevelInTransition {
    /// The costs of a transition, expected over fills of the level where the table says
    /// so. `None` for the file-granular one, of which the paper tells none.
    pub fn cost(&self, transition: Transition) -> Option<TransitionCost> {
        let (half, free) = (self.capacity / 2.0, 1.0 - self.fill);
        let cost = |immediate, delay, additional| TransitionCost {
            immediate,
            delay,
            additional,
        };
        match transition {
            Transition::Greedy => {
                let rewritten = self.size_ratio * half * free / (self.page * self.next_limit);
                Some(cost(half / self.page, 0.0, rewritten))
            }
            Transition::Lazy => {
                let delay = half / (self.updates_per_second * self.entry);
                Some(cost(0.0, delay, self.lazy_additional()))
            }
            Transition::Flexible => Some(cost(0.0, 0.0, self.flexible_additional())),
            Transition::FileGranular => None,
        }
    }

    fn lazy_additional(&self) -> f64 {
        let (from, to) = self.limits;
        if to > from {
            let written = self.size_ratio * self.capacity * (1.0 - self.fill);
            written * (to - from) / (2.0 * self.page * from * to)
        } else {
            0.5 * self.read_more(1.0 - self.fill.powi(2))
        }
    }

    fn flexible_additional(&self) -> f64 {
        let (from, to) = self.limits;
        if to > from {
            0.0
        } else {
            self.read_more(self.fill - self.fill.powi(2))
        }
    }

    /// I/Os of lookups in runs that the lower limit would not have left, over such a part
    /// of the level's filling.
    fn read_more(&self, part: f64) -> f64 {
        let (from, to) = self.limits;
        let lookups = self.read_share / (self.entry * (1.0 - self.read_share));
        self.false_positives * self.capacity * part * (from - to) * lookups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: LevelInTransition = LevelInTransition {
        capacity: 1_024_000.0,
        fill: 0.5,
        size_ratio: 10.0,
        entry: 1_024.0,
        page: 4_096.0,
        false_positives: 0.01,
        read_share: 0.5,
        updates_per_second: 100.0,
        limits: (5.0, 4.0),
        next_limit: 5.0,
    };

    fn cost(level: LevelInTransition, transition: Transition) -> [f64; 3] {
        let cost = level.cost(transition).expect("the table tells it");
        [cost.immediate, cost.delay, cost.additional]
    }

    fn assert_near(found: [f64; 3], expected: [f64; 3]) {
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn a_lower_limit_by_hand() {
        assert_near(cost(LEVEL, Transition::Greedy), [125.0, 0.0, 125.0]);
        assert_near(cost(LEVEL, Transition::Lazy), [0.0, 5.0, 3.75]);
        assert_near(cost(LEVEL, Transition::Flexible), [0.0, 0.0, 2.5]);
        assert_eq!(LEVEL.cost(Transition::FileGranular), None);
    }

    #[test]
    fn a_higher_limit_costs_a_flexible_transition_nothing() {
        let level = LevelInTransition {
            limits: (4.0, 5.0),
            ..LEVEL
        };
        assert_near(cost(level, Transition::Greedy), [125.0, 0.0, 125.0]);
        // 10 * 1,024,000 / 2 * 1 / (2 * 4,096 * 20).
        assert_near(cost(level, Transition::Lazy), [0.0, 5.0, 31.25]);
        assert_near(cost(level, Transition::Flexible), [0.0; 3]);
    }

    #[test]
    fn a_flexible_transition_costs_no_more_than_a_lazy_one() {
        for fill in [0.0, 0.25, 0.5, 0.75, 1.0] {
            for limits in [(10.0, 1.0), (1.0, 10.0), (6.0, 3.0)] {
                let level = LevelInTransition {
                    fill,
                    limits,
                    ..LEVEL
                };
                let additional = |transition| cost(level, transition)[2];
                let flexible = additional(Transition::Flexible);
                assert!(flexible <= additional(Transition::Lazy) + 1e-9, "{level:?}");
            }
        }
    }
}
