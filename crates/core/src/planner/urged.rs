//! What has become urgent since it began.

use super::urgency::{is_awaited, is_hurried};
use crate::observation::Observation;
use crate::state::{Drain, DrainId};

/// Drains of which a piece runs and matters more than its plan may have said: reads have asked for
/// what it stands in the way of, or its level has filled, while it ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Urged {
    /// As [`Plan::awaited`](crate::Plan::awaited).
    pub awaited: Vec<DrainId>,
    /// As [`Plan::hurried`](crate::Plan::hurried).
    pub hurried: Vec<DrainId>,
}

/// What is urgent now of what runs. A piece that gives way takes seconds, and would let whoever
/// has come to wait for it wait as long.
pub fn urged(seen: &Observation) -> Urged {
    let runs = |drain: &&Drain| seen.in_flight.iter().any(|job| job.drain == Some(drain.id));
    let those = |is: &dyn Fn(&Drain) -> bool| {
        let running = seen.state.drains.iter().filter(runs);
        running.filter(|drain| is(drain)).map(|it| it.id).collect()
    };
    Urged {
        awaited: those(&|drain| is_awaited(seen, drain)),
        hurried: those(&|drain| is_hurried(seen, drain)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{in_flight, plan};
    use super::*;
    use crate::layout::LogicalLevel;
    use crate::testing::drawing::parse;
    use crate::testing::small_shape;

    /// A piece of a drain of level 2, which holds so much, runs.
    fn running(bytes: u64) -> Observation {
        let drawing = format!(
            "2.13: 0-40:{bytes}
             3.15: 0-90:16
             drain 2.13 -> 3.15"
        );
        let mut seen = parse(&drawing).expect("a drawing");
        let plans = plan(&seen).plans;
        seen.in_flight.extend(plans.iter().map(in_flight));
        assert_eq!(seen.in_flight.len(), 1);
        seen
    }

    #[test]
    fn a_piece_that_runs_is_awaited_once_reads_want_what_it_stands_in_the_way_of() {
        let wanted = |level: u16| {
            let mut seen = running(4);
            seen.state.consolidate.push(LogicalLevel(level));
            urged(&seen)
        };
        assert_eq!(urged(&running(4)), Urged::default());
        assert_eq!(wanted(2).awaited, [DrainId(1)]);
        assert_eq!(wanted(4), Urged::default());
        let mut still = running(4);
        still.in_flight.clear();
        still.state.consolidate.push(LogicalLevel(2));
        assert_eq!(urged(&still), Urged::default(), "nothing of it runs");
    }

    #[test]
    fn a_piece_that_runs_is_in_a_hurry_once_its_level_holds_far_too_much() {
        let capacity = small_shape().capacity(LogicalLevel(2));
        let hurried = |bytes: u64| !urged(&running(bytes)).hurried.is_empty();
        assert!(!hurried(2 * capacity - 1) && hurried(2 * capacity));
    }
}
