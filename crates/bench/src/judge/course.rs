//! How soon an arm does as well as another one in a session.
//!
//! One interval tells little: merges come in lumps. So an arm counts as near from the
//! first point on from which all the rest of the session took it at most [`NEAR`] longer
//! than the same operations took the other.

/// What an arm may take longer and count as near, relative.
pub const NEAR: f64 = 0.05;

/// Missions by which the beginning of a session is judged: too few for a learner to have
/// noticed that the workload is another one.
pub const FIRST_MISSIONS: usize = 3;

/// A rest with a smaller share of the session's operations is too short to tell.
const REST: f64 = 0.1;

/// Shares of a session's operations that had ended, after so many seconds of it, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Course(Vec<(f64, f64)>);

impl Course {
    /// A course through points of operations and seconds since the session began, the last
    /// of them its end; `None` of a session without operations or without time.
    pub fn of(points: impl IntoIterator<Item = (f64, f64)>) -> Option<Self> {
        let points: Vec<(f64, f64)> = std::iter::once((0.0, 0.0)).chain(points).collect();
        let (all, seconds) = *points.last()?;
        let share = |(operations, at): (f64, f64)| (operations / all, at);
        (all > 0.0 && seconds > 0.0).then(|| Self(points.into_iter().map(share).collect()))
    }

    /// Seconds of the whole session.
    pub fn seconds(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, seconds)| *seconds)
    }

    /// Seconds from which on it is near another course; `None` if it did not come near, as
    /// far as the rest can tell. 0 where the whole session is.
    pub fn near(&self, other: &Self) -> Option<f64> {
        let is_near = |(share, seconds): &&(f64, f64)| {
            let rest = self.seconds() - seconds;
            *share <= 1.0 - REST && rest <= (1.0 + NEAR) * other.rest(*share)
        };
        self.0.iter().find(is_near).map(|(_, seconds)| *seconds)
    }

    /// Whether [`Course::near`] tells how soon the arm learned what served the session: not
    /// where it was near all the time, and so was the same arm `held` at its first limits, or
    /// its own `first` share of the operations. Then there was nothing to learn.
    pub fn tells(&self, other: &Self, held: Option<&Self>, first: f64) -> bool {
        let all_the_time = |course: &Self| course.near(other) == Some(0.0);
        let from_the_first = || self.taken(first) <= (1.0 + NEAR) * other.taken(first);
        !(all_the_time(self) && (from_the_first() || held.is_some_and(all_the_time)))
    }

    /// Seconds that such a share of the operations took.
    fn taken(&self, share: f64) -> f64 {
        self.seconds() - self.rest(share)
    }

    /// Seconds that were left when such a share of the operations had ended.
    fn rest(&self, share: f64) -> f64 {
        let next = self.0.partition_point(|(done, _)| *done < share);
        let (Some(after), Some(before)) = (self.0.get(next), self.0.get(next.wrapping_sub(1)))
        else {
            return if next == 0 { self.seconds() } else { 0.0 };
        };
        let part = (share - before.0) / (after.0 - before.0);
        self.seconds() - before.1 - part * (after.1 - before.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session of ten parts of a hundred operations that take so many seconds each.
    fn course(seconds: [f64; 10]) -> Course {
        let parts = (1..=10).map(|part| {
            let taken: f64 = seconds[..part].iter().sum();
            (100.0 * part as f64, taken)
        });
        Course::of(parts).expect("operations")
    }

    #[test]
    fn an_arm_is_near_from_where_the_rest_takes_as_long() {
        let best = course([1.0; 10]);
        assert_eq!(best.near(&best), Some(0.0));
        let mut late = [1.0; 10];
        late[..3].fill(2.0);
        // After three parts in 6 s; after two 9 s are left where the best takes 8.
        assert_eq!(course(late).near(&best), Some(6.0));
        assert_eq!(course([1.04; 10]).near(&best), Some(0.0));
        assert_eq!(course([1.2; 10]).near(&best), None);
        assert_eq!(course([0.5; 10]).near(&best), Some(0.0));
    }

    #[test]
    fn a_slow_part_later_on_takes_it_back() {
        let best = course([1.0; 10]);
        let mut again = [1.0; 10];
        (again[0], again[6]) = (2.0, 3.0);
        assert_eq!(
            course(again).near(&best),
            Some(10.0),
            "after the seventh part"
        );
        let mut at_last = [1.0; 10];
        at_last[9] = 3.0;
        assert_eq!(
            course(at_last).near(&best),
            None,
            "the last tenth tells nothing"
        );
    }

    #[test]
    fn who_was_near_without_learning_tells_nothing_of_learning() {
        let best = course([1.0; 10]);
        // Near all the time, though its first tenth is slow.
        let mut quick = [1.0; 10];
        quick[0] = 1.4;
        let (quick, far) = (course(quick), course([1.2; 10]));
        assert_eq!(quick.near(&best), Some(0.0));
        assert!(quick.tells(&best, None, 0.1));
        assert!(quick.tells(&best, Some(&far), 0.1));
        assert!(!quick.tells(&best, Some(&best), 0.1), "so is who is held");
        assert!(!quick.tells(&best, None, 1.0), "all are its first");
        assert!(!best.tells(&best, Some(&far), 0.1));
        assert!(far.tells(&best, Some(&best), 0.1), "a loss is told");
    }

    #[test]
    fn courses_may_have_other_points() {
        let best = Course::of([(30.0, 3.0), (1_000.0, 100.0)]).expect("operations");
        let own = Course::of([(500.0, 80.0), (1_000.0, 130.0)]).expect("operations");
        assert_eq!(own.near(&best), Some(80.0));
        assert_eq!(Course::of([]), None);
        assert_eq!(Course::of([(0.0, 3.0)]), None);
        assert_eq!(Course::of([(f64::NAN, 3.0)]), None);
    }
}
