//! A limit one run higher or lower.

use crate::shape::RunLimit;

/// The limit `by` runs higher, from 1 to `most`. One that is higher already, as it may be where
/// the size ratio has fallen, is not raised, and comes back by such steps alone.
pub(super) fn stepped(limit: RunLimit, by: i32, most: u32) -> RunLimit {
    let now = i32::from(limit.get());
    let most = i32::try_from(most).unwrap_or(i32::MAX).max(now);
    RunLimit::clamped((now + by).clamp(1, most) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_above_the_most_is_lowered_by_no_step_but_one_downwards() {
        let step = |limit, by| stepped(RunLimit::clamped(limit), by, 7).get();
        assert_eq!([step(6, 1), step(7, 1), step(1, -1)], [7, 7, 1]);
        assert_eq!([step(8, 1), step(8, 0), step(8, -1)], [8, 8, 7]);
        assert_eq!([step(10, 1), step(10, -1)], [10, 9]);
    }
}
