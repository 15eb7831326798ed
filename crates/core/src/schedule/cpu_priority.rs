//! At which priority merges run.
//!
//! A client that has waited for the device wants a processor at once. Where a merge holds it,
//! the kernel lets that go on for some milliseconds, although the client needs a fraction of
//! one: so a busy store whose processors are not full carries less, and late. At idle priority
//! a merge gives way within microseconds, and takes what is left.
//!
//! What is left may be next to nothing. So merges run at idle priority only while they get on
//! there, and while L0 is far from its bound, by what it holds and by what is written: a merge
//! that waits for processors holds back whatever waits for it, and may hold a lock of
//! RocksDB's meanwhile.

use std::time::Duration;

/// Merges that get less than this share of the time that they ask of the processors are
/// starved. Of a processor that others want all the time idle priority gets a third of a
/// percent.
const STARVED: f64 = 0.02;

/// For so long after merges were starved, or writers held back, none gives way.
const HURRY_FOR: Duration = Duration::from_secs(2);

/// Share of what may wait in L0 from which nothing gives way any more.
const NEAR: f64 = 0.75;

/// Nor where L0 comes to its bound within so many seconds, if nothing is merged: buffers are
/// small for what is written, and what merges take now they cannot make up for in time.
const SOON: f64 = 2.0;

/// RocksDB's words for the priority of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CpuPriority {
    /// As that of any other thread.
    Normal,
    /// It runs where nobody else wants the processor.
    Idle,
}

/// A priority, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PriorityOrder {
    /// Normal holds for merges that run, too; idle for those that begin.
    pub priority: CpuPriority,
    /// A sentence without a full stop.
    pub why: String,
}

impl PriorityOrder {
    /// Normal priority, for this reason.
    pub fn normal(why: impl Into<String>) -> PriorityOrder {
        PriorityOrder {
            priority: CpuPriority::Normal,
            why: why.into(),
        }
    }
}

/// L0 of a column family.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level0 {
    /// Files.
    pub files: usize,
    /// Files that may wait.
    pub max_files: usize,
    /// Bytes.
    pub bytes: u64,
    /// Bytes of a write buffer, which are those of a file where there is none.
    pub write_buffer_size: u64,
    /// Bytes a second that are written to the family. Absent where nobody counts them.
    pub inflow: Option<f64>,
}

impl Level0 {
    /// The share of what may wait.
    fn share(&self) -> f64 {
        self.files as f64 / self.max_files.max(1) as f64
    }

    /// Seconds until it is at its bound, if nothing is merged.
    fn seconds(&self) -> f64 {
        let mean = self.bytes.checked_div(self.files as u64);
        let each = mean.unwrap_or(self.write_buffer_size);
        let room = self.max_files.saturating_sub(self.files) as f64 * each as f64;
        room / self.inflow.unwrap_or(f64::INFINITY).max(1e-9)
    }
}

/// What the priority of merges goes by.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Moment {
    /// A time that never goes back.
    pub at: Duration,
    /// Of the time that merges asked of the processors of late, the share that they got, from 0
    /// to 1. Absent where they asked for next to none.
    pub served: Option<f64>,
    /// Writers were held back of late.
    pub stalled: bool,
    /// L0 of each column family.
    pub level0: Vec<Level0>,
    /// Bytes that may wait in all of them.
    pub max_delayed_bytes: u64,
}

/// Chooses the priority of merges.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WorkerPriority {
    /// Until when nothing gives way, and whether writers are the reason.
    hurry: Option<(Duration, bool)>,
}

impl WorkerPriority {
    /// What holds from now on.
    pub fn after(&mut self, moment: &Moment) -> PriorityOrder {
        let starved = moment.served.is_some_and(|served| served < STARVED);
        if starved || moment.stalled {
            self.hurry = Some((moment.at.saturating_add(HURRY_FOR), moment.stalled));
        }
        if let Some(why) = near_the_bound(moment) {
            return PriorityOrder::normal(why);
        }
        match self.hurry {
            Some((until, true)) if moment.at < until => {
                PriorityOrder::normal("writers were held back a moment ago")
            }
            Some((until, false)) if moment.at < until => {
                PriorityOrder::normal("the processors are full: merges would not get on")
            }
            _ => PriorityOrder {
                priority: CpuPriority::Idle,
                why: "the processors have time to spare, and L0 has room".into(),
            },
        }
    }
}

/// Why merges may not wait for processors, if so.
fn near_the_bound(moment: &Moment) -> Option<&'static str> {
    let most = moment.max_delayed_bytes as f64;
    let bytes: f64 = moment.level0.iter().map(|it| it.bytes as f64).sum();
    let inflow: Option<f64> = moment.level0.iter().map(|it| it.inflow).sum();
    // Also where it is no number.
    let Some(inflow) = inflow.filter(|inflow| *inflow >= 0.0) else {
        return Some("nobody counts what is written");
    };
    let is_near = |it: &Level0| it.share() >= NEAR;
    if moment.level0.iter().any(is_near) || bytes >= NEAR * most {
        return Some("L0 has three quarters of what may wait there");
    }
    let fills = |it: &Level0| it.seconds() < SOON;
    if moment.level0.iter().any(fills) || most - bytes < SOON * inflow {
        return Some("L0 may come to its bound within seconds");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDLE: CpuPriority = CpuPriority::Idle;
    const NORMAL: CpuPriority = CpuPriority::Normal;

    fn level0(files: usize, bytes: u64, inflow: f64) -> Level0 {
        Level0 {
            files,
            max_files: 16,
            bytes,
            write_buffer_size: 10,
            inflow: Some(inflow),
        }
    }

    fn moment(level0: &[Level0]) -> Moment {
        Moment {
            at: Duration::from_secs(9),
            served: Some(0.3),
            stalled: false,
            level0: level0.to_vec(),
            max_delayed_bytes: 1_000,
        }
    }

    fn first(moment: &Moment) -> CpuPriority {
        let order = WorkerPriority::default().after(moment);
        assert!(!order.why.is_empty());
        order.priority
    }

    #[test]
    fn merges_give_way_while_little_waits() {
        let of = |files, bytes| first(&moment(&[level0(files, bytes, 1.0)]));
        assert_eq!((of(0, 0), of(11, 749)), (IDLE, IDLE));
        assert_eq!((of(12, 120), of(1, 750)), (NORMAL, NORMAL));
        assert_eq!(first(&moment(&[])), IDLE, "no family has anything");
        let (one, other) = (level0(2, 400, 1.0), level0(12, 12, 1.0));
        assert_eq!(first(&moment(&[one, other])), NORMAL, "each counts");
        assert_eq!(first(&moment(&[one, one])), NORMAL, "and all together");
    }

    #[test]
    fn merges_do_not_give_way_where_l0_fills_within_seconds() {
        let of = |files, bytes, inflow| first(&moment(&[level0(files, bytes, inflow)]));
        // Room for ten files of 20 bytes; of 10, where there is none yet.
        assert_eq!((of(6, 120, 100.0), of(6, 120, 101.0)), (IDLE, NORMAL));
        assert_eq!((of(0, 0, 80.0), of(0, 0, 81.0)), (IDLE, NORMAL));
        // For 500 bytes in all.
        assert_eq!((of(1, 500, 250.0), of(1, 500, 251.0)), (IDLE, NORMAL));
        assert_eq!(of(0, 0, f64::INFINITY), NORMAL);
        assert_eq!((of(0, 0, f64::NAN), of(0, 0, -1.0)), (NORMAL, NORMAL));
        let mut unknown = level0(0, 0, 0.0);
        unknown.inflow = None;
        assert_eq!(first(&moment(&[level0(0, 0, 0.0), unknown])), NORMAL);
    }

    #[test]
    fn who_was_starved_or_held_writers_back_does_not_give_way_for_a_while() {
        for stalled in [false, true] {
            let mut priority = WorkerPriority::default();
            let mut at = |millis, served, stalled| {
                let moment = Moment {
                    at: Duration::from_millis(millis),
                    served,
                    stalled,
                    ..moment(&[])
                };
                priority.after(&moment).priority
            };
            assert_eq!(at(1_000, Some(0.02), false), IDLE);
            let starved = Some(if stalled { 1.0 } else { 0.019 });
            assert_eq!(at(1_100, starved, stalled), NORMAL);
            assert_eq!(at(3_099, None, false), NORMAL);
            assert_eq!(at(3_100, None, false), IDLE);
        }
    }

    #[test]
    fn whatever_is_told_l0_near_its_bound_never_gives_way() {
        let mut priority = WorkerPriority::default();
        for step in 0..2_000_u64 {
            let family = level0((step % 20) as usize, step * 3 % 1_500, (step % 11) as f64);
            let moment = Moment {
                at: Duration::from_millis(step * 300),
                served: Some((step % 7) as f64 / 5.0 - 0.1),
                stalled: step % 13 == 0,
                ..moment(&[family])
            };
            let order = priority.after(&moment);
            let near = family.files >= 12 || family.bytes >= 750;
            assert!(!near || order.priority == NORMAL, "{moment:?}");
        }
    }
}
