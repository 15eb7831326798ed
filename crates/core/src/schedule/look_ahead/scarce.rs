//! Where the users leave less than merges of L0 need: what waits in L0 is merged once instead of several
//! times.

use super::foreseen::figures;
use super::{FLUSHES, Foreseen, Level0Order, LookAhead, ROOM, Seen, at_least};

impl LookAhead {
    /// Whether L0 waits, at which rate what has begun goes on, and why.
    pub(super) fn with_too_little(
        &self,
        seen: &Seen,
        foreseen: Option<Foreseen>,
        left: u64,
    ) -> (Level0Order, u64, String) {
        let Some(foreseen) = foreseen else {
            let why = "the load is high and its end cannot be foreseen: L0 is merged by itself, \
                       with what the users leave";
            return (Level0Order::MergeApart, left, why.into());
        };
        let debt = &seen.debt;
        let merging = debt.level0_merging_bytes.min(debt.level0_bytes);
        let remaining = foreseen.high.as_secs_f64();
        let expected = (debt.level0_bytes - merging) as f64 + self.usual() * remaining;
        let (mergeable, most) = (self.mergeable(seen, &foreseen), self.may_be_there(seen));
        let repayable = mergeable.min(most);
        let figures = figures(&foreseen, [expected, mergeable, most], merging > 0);
        if expected <= repayable && debt.is_filled_to(ROOM) {
            let why = "in one column family few more files may wait: L0 is merged by itself";
            return (Level0Order::MergeApart, left, format!("{figures}; {why}"));
        }
        if expected <= repayable {
            return (Level0Order::Wait, left, format!("{figures}: L0 waits"));
        }
        let why = format!("{figures}: what is too much is merged by itself meanwhile");
        // A merge that is slowed down holds its files for longer, and all that come meanwhile.
        if merging > 0 || debt.level0_held_up {
            return (Level0Order::MergeApart, left, why);
        }
        // Each byte is read and written once when it is merged by itself; flushes take
        // their part of the rate before, by what users write now if that is more than
        // usual. What drains have begun shares it: without its part level 1 would fill, and
        // L0 could not be merged at all.
        let inflow = self.flushed(seen);
        let moved = expected - repayable + debt.deep_bytes as f64;
        let rate = inflow + 2.0 * moved / remaining.max(1.0);
        let rate = rate.max(FLUSHES * inflow).min(left as f64);
        (Level0Order::MergeApart, at_least(seen, rate), why)
    }

    /// Bytes of L0 that the low phase can merge.
    fn mergeable(&self, seen: &Seen, foreseen: &Foreseen) -> f64 {
        let rate = self.speed_at_low_load(seen, 1);
        foreseen.low.as_secs_f64() * rate / self.work.per_byte()
    }

    /// Bytes that L0 may have: what may wait, and what is there before anything does.
    fn may_be_there(&self, seen: &Seen) -> f64 {
        let debt = &seen.debt;
        let due = debt.level0_bytes.saturating_sub(debt.level0_delayed_bytes);
        let bytes = self.bounds.max_delayed_bytes as f64 + due as f64;
        let files = self.bounds.max_level0_files as f64;
        let by_files = self.file_bytes.map_or(f64::INFINITY, |each| each * files);
        ROOM * bytes.min(by_files)
    }
}
