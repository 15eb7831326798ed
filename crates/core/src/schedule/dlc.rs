//! DLC (EDBT 2021): L0 waits while the load is high, and catches up when it is low.

use std::time::Duration;

use super::{
    Debt, DebtBounds, DeepOrder, FullLoad, Level0Order, LoadModel, Order, Phase, PhaseLimits,
    Phases, Schedule, Seen, leftover,
};

/// What waits at high load.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Delay {
    /// Every merge of L0.
    #[default]
    Full,
    /// Merges of L0 into level 1; within L0 they go on, by
    /// [`Level0Order::MergeApart`].
    Part,
}

/// What happens when too much waits and the load stays high.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Burst {
    /// All of L0 is merged into level 1.
    #[default]
    Full,
    /// What was flushed since is merged by itself; after four times all of L0.
    Part,
}

/// L0 files at which a burst begins (section 4).
const BURST_FILES: usize = 20;

/// Bursts of parts before one of all.
const PARTS: u32 = 4;

/// Under the threshold a burst goes on until L0 is this share of it.
const BURST_ENDS: f64 = 0.5;

/// Share of the bytes that may wait, or of the files that may in one column family, at which a
/// burst begins.
const BURST_SHARE: f64 = 0.9;

/// The schedule.
#[derive(Clone, Debug)]
pub struct Dlc {
    delay: Delay,
    burst: Burst,
    phases: Phases,
    full: FullLoad,
    /// A burst is under way.
    bursting: bool,
    /// Bursts of parts since the last of all.
    parts: u32,
    /// L0 files at which a burst begins; less where less may wait.
    burst_files: usize,
    /// Bytes that wait in L0 at which a burst begins.
    burst_bytes: u64,
}

impl Dlc {
    /// A schedule that keeps to these bounds by itself: a burst begins at 20 files, or
    /// two under the bound, or at nine tenths of the bytes, or of a column family's own files.
    pub fn new(delay: Delay, burst: Burst, bounds: &DebtBounds, full: FullLoad) -> Dlc {
        Dlc {
            delay,
            burst,
            phases: Phases::new(PhaseLimits::default()),
            full,
            bursting: false,
            parts: 0,
            burst_files: BURST_FILES
                .min(bounds.max_level0_files.saturating_sub(2))
                .max(1),
            burst_bytes: (BURST_SHARE * bounds.max_delayed_bytes as f64) as u64,
        }
    }

    /// Begins and ends bursts.
    fn note_burst(&mut self, debt: &Debt) {
        let files = debt.level0_files;
        let too_much = files >= self.burst_files
            || debt.level0_delayed_bytes >= self.burst_bytes
            || debt.is_filled_to(BURST_SHARE);
        if !self.bursting && too_much {
            self.bursting = true;
            let whole = self.burst == Burst::Full || self.parts >= PARTS;
            self.parts = if whole { 0 } else { self.parts + 1 };
        }
        let few = BURST_ENDS * self.burst_files as f64;
        let little = BURST_ENDS * self.burst_bytes as f64;
        let calm = files as f64 <= few
            && debt.level0_delayed_bytes as f64 <= little
            && !debt.is_filled_to(BURST_ENDS);
        if self.bursting && !too_much && calm {
            self.bursting = false;
        }
    }

    fn at_high_load(&mut self, seen: &Seen) -> (Level0Order, String) {
        self.note_burst(&seen.debt);
        if self.bursting {
            // A full burst has just set the count of parts back.
            let (level0, what) = if self.parts == 0 {
                (Level0Order::Merge, "all of L0 is merged")
            } else {
                (Level0Order::MergeApart, "what was flushed since is merged")
            };
            return (
                level0,
                format!("the load stays high and too much waits in L0: {what}"),
            );
        }
        match self.delay {
            Delay::Full => (Level0Order::Wait, "the load is high: L0 waits".into()),
            Delay::Part => (
                Level0Order::MergeApart,
                "the load is high: L0 is merged by itself only".into(),
            ),
        }
    }
}

impl Schedule for Dlc {
    fn name(&self) -> String {
        let delay = match self.delay {
            Delay::Full => "dlc",
            Delay::Part => "dlc-part",
        };
        let burst = match self.burst {
            Burst::Full => "",
            Burst::Part => "-burst-part",
        };
        format!("{delay}{burst}")
    }

    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn order(&mut self, seen: &Seen) -> Order {
        let model = LoadModel::CacheAdditions;
        let share = self.full.share(model, &seen.load, &seen.conditions);
        let phase = self.phases.after(share);
        let rate = Some(leftover(seen, share));
        if phase == Phase::Low {
            (self.bursting, self.parts) = (false, 0);
            return Order {
                bytes_per_second: rate,
                ..Order::all(phase, "the load is low: everything goes on")
            };
        }
        let (level0, why) = self.at_high_load(seen);
        Order {
            level0,
            deep: DeepOrder::AtMost(1),
            bytes_per_second: rate,
            phase,
            at_bound: false,
            why,
        }
    }
}
