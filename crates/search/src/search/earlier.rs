//! What searches before this one have measured.

use serde::{Deserialize, Serialize};

use super::order::{Placed, order};
use super::points::REACHED;
use crate::objective::{Constraint, Metrics, Objective, Standing, judge};
use crate::space::{Configuration, Point, Space};

/// A configuration that an earlier search of the same space and target has tried.
///
/// It is not believed outright, since the machine may have changed: the best of an
/// arm becomes the arm's first trial in place of the heuristic's choice, arms that
/// were good come first, what failed is not tried again, and what hung does not come first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Earlier {
    /// The configuration.
    pub configuration: Configuration,
    /// The measurement after a full evaluation, or the latest before one; absent if it failed.
    pub measured: Option<EarlierReading>,
    /// Whether it failed by its deadline. With another one, which is no part of what is
    /// measured, it may not.
    #[serde(default)]
    pub hung: bool,
}

/// What was measured of a configuration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EarlierReading {
    /// Seconds that it had run.
    pub seconds: f64,
    /// Over these seconds.
    pub metrics: Metrics,
}

/// Earlier configurations that are legal in a space, as points.
#[derive(Default)]
pub(super) struct Sorted {
    /// Those that were measured, the best first.
    pub good: Vec<Point>,
    /// Those that failed, but for their deadline.
    pub bad: Vec<Point>,
    /// Those that hung.
    pub hung: Vec<Point>,
}

/// Sorts what was tried before.
pub(super) fn sorted(
    space: &Space,
    objective: &Objective,
    constraints: &[Constraint],
    earlier: &[Earlier],
) -> Sorted {
    let mut sorted = Sorted::default();
    let mut points = Vec::new();
    let mut placed = Vec::new();
    let readings = earlier.iter().filter_map(|it| it.measured.as_ref());
    let longest = readings.map(|it| it.seconds).fold(0.0, f64::max);
    for it in earlier {
        let legal = |point: &Point| space.first_broken(point).is_none();
        let Some(point) = space.point(&it.configuration).ok().filter(legal) else {
            continue;
        };
        if it.hung {
            sorted.hung.push(point);
        } else if let Some(place) = place(it, longest, objective, constraints) {
            points.push(point);
            placed.push(place);
        }
    }
    // No reading is of more than its search's full evaluation.
    for at in order(&placed, usize::MAX) {
        let point = points[at].clone();
        match placed[at].standing {
            Standing::Failed => sorted.bad.push(point),
            _ => sorted.good.push(point),
        }
    }
    sorted
}

/// Searches let the better ones run longer, so the longest runs come first; what came
/// to the end ran about as long as the `longest`. `None` of one that was measured for
/// another objective, without the metric of this one.
fn place(
    it: &Earlier,
    longest: f64,
    objective: &Objective,
    constraints: &[Constraint],
) -> Option<Placed> {
    let Some(reading) = &it.measured else {
        return Some(Placed {
            depth: 0,
            standing: Standing::Failed,
        });
    };
    let seconds = if reading.seconds >= longest * REACHED {
        longest
    } else {
        reading.seconds
    };
    Some(Placed {
        depth: seconds.round() as usize,
        standing: judge(objective, constraints, &reading.metrics).ok()?,
    })
}
