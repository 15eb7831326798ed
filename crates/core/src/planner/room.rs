//! Whether the merges that make room for L0 wait for those below them.

use super::urgency::{self, HURRY, crowding};
use super::{allowed, can_be_read, leftovers, level0};
use crate::layout::LogicalLevel;
use crate::observation::Observation;
use crate::state::Drain;

/// Whether room for L0 has to be made and is not: then all that runs has to get on, whatever it
/// merges, for it holds a worker or a level that is needed.
///
/// L0 is due and can be read, and nothing of L0 or level 1 runs: it waits for a worker. Or level 1
/// is being drained, and no piece of that runs. Or it holds far more than it should, and its drain
/// has not begun: the level below is in the way, and not files of it that cannot be read, where no
/// merge would help.
pub fn room_waits(seen: &Observation) -> bool {
    let first = LogicalLevel(1);
    let (_, last) = seen.shape.layout.span(first);
    let is_due = || level0::merge(seen).is_some_and(|plan| can_be_read(seen, &plan));
    let level0_waits = seen.in_flight.iter().all(|job| job.top > last) && is_due();
    let mut of_level1 = seen
        .state
        .drains
        .iter()
        .filter(|drain| drain.top <= last)
        .peekable();
    let crowded = of_level1.peek().is_none()
        && crowding(seen, first) >= HURRY
        && !leftovers::is_stuck(seen, first);
    level0_waits || crowded || of_level1.any(|drain| waits(seen, drain))
}

/// Whether a drain may go on, and does not.
fn waits(seen: &Observation, drain: &Drain) -> bool {
    let runs = seen.in_flight.iter().any(|job| job.drain == Some(drain.id));
    !runs && allowed(seen, drain, urgency::drain(seen, drain)) > 0
}

#[cfg(test)]
mod tests {
    use super::super::{in_flight, plan};
    use super::*;
    use crate::schedule::{DeepOrder, Level0Order};
    use crate::state::DrainId;
    use crate::testing::{drawing::parse, small_shape};

    fn drawn(drawing: &str) -> Observation {
        parse(drawing).expect("a drawing")
    }

    /// What the planner has this drain do runs.
    fn running(mut seen: Observation, drain: u64) -> Observation {
        let plans = plan(&seen).plans;
        let piece = plans
            .iter()
            .find(|plan| plan.drain == Some(DrainId(drain)))
            .expect("a piece");
        seen.in_flight.push(in_flight(piece));
        seen
    }

    #[test]
    fn l0_waits_where_it_is_due_and_all_that_runs_is_below_level_1() {
        let trigger = small_shape().level0_file_num_compaction_trigger;
        let with = |files: u32| {
            let files: Vec<String> = (0..files).map(|_| "0-40:1".to_owned()).collect();
            let seen = drawn(&format!(
                "L0: {}
                 2.13: 0-40:4
                 3.15: 0-90:16
                 drain 2.13 -> 3.15",
                files.join(" ")
            ));
            running(seen, 1)
        };
        assert!(!room_waits(&with(trigger - 1)));
        let mut due = with(trigger);
        assert!(room_waits(&due), "there is no worker for it");
        due.level0 = Level0Order::Wait;
        assert!(!room_waits(&due), "it is to wait");
        due.level0 = Level0Order::Merge;
        due.unreadable = [1].into();
        assert!(!room_waits(&due), "no worker would help it");
        due.unreadable.clear();
        let merge = level0::merge(&due).expect("it is due");
        due.in_flight.push(in_flight(&merge));
        assert!(!room_waits(&due), "it is merged");
    }

    #[test]
    fn a_drain_of_level_1_waits_while_it_may_go_on_and_none_of_its_pieces_runs() {
        let of = |level: u16| {
            drawn(&format!(
                "{level}.13: 0-40:4
                 {}.15: 0-90:16
                 draining-full {level}.13 -> {}.15",
                level + 1,
                level + 1
            ))
        };
        assert!(room_waits(&of(1)) && !room_waits(&of(2)));
        assert!(!room_waits(&running(of(1), 1)));
        let mut held = of(1);
        held.deep = DeepOrder::AtMost(0);
        assert!(!room_waits(&held), "no worker would help it");
    }

    #[test]
    fn a_level_1_that_holds_far_too_much_waits_for_what_is_in_its_way() {
        let capacity = small_shape().capacity(LogicalLevel(1));
        let holding = |bytes: u64| drawn(&format!("1.13: 0-40:{bytes}"));
        assert!(!room_waits(&holding(2 * capacity - 1)) && room_waits(&holding(2 * capacity)));
    }

    #[test]
    fn a_level_1_of_which_nothing_can_be_drained_waits_for_no_merge() {
        let with = |more: &str| {
            room_waits(&drawn(&format!(
                "1.15: 41-49:8000
                 2.15: 0-39:8 40-50:8 51-90:8
                 {more}"
            )))
        };
        assert!(with("") && !with("unreadable 3"));
        assert!(!with("unreadable 3 \n busy 1"), "L0 is merged into it");
        assert!(with("unreadable 2"), "another one");
    }
}
