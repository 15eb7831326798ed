//! At which priority merges run, at the processors and at the device.
//!
//! A client that has waited for the device wants a processor at once. Where a merge holds it,
//! the kernel lets that go on for some milliseconds, although the client needs a fraction of
//! one: so a busy store whose processors are not full carries less, and late. At idle priority
//! a merge gives way within microseconds, and takes what is left. The same at the device: a read
//! of 4 KB waits behind a merge's megabytes, and does not where the kernel holds these back until
//! nobody else has asked for anything.
//!
//! What is left may be next to nothing. So merges run at idle priority only while they get on
//! there, and while L0 is far from its bound, by what it holds and by what is written: a merge
//! that waits holds back whatever waits for it. They come back by degrees: to the device, where
//! they lose more, from half of the bound on, to the processors from three quarters.

use std::time::Duration;

use super::Debt;

/// Merges that get less than this share of the time that they ask of the processors are
/// starved. Of a processor that others want all the time idle priority gets a third of a
/// percent.
const STARVED: f64 = 0.02;

/// Merges that ask for the processors for less than this share of their time wait for the
/// device. By themselves they do for two fifths and more.
const STILL: f64 = 0.01;

/// Merges that wait for the device for so long are starved there. The kernel would let one
/// request pass in ten seconds (`prio_aging_expire` of mq-deadline).
const STILL_FOR: Duration = Duration::from_secs(1);

/// For so long after merges were starved, or writers held back, none gives way there.
const HURRY_FOR: Duration = Duration::from_secs(2);

/// Share of what may wait in L0 from which nothing gives way at the device any more.
const HALF: f64 = 0.5;

/// The same at the processors.
const NEAR: f64 = 0.75;

/// Nor where L0 comes to its bound within so many seconds, if nothing is merged: buffers are
/// small for what is written, and what merges take now they cannot make up for in time.
const SOON: f64 = 2.0;

/// Whether somebody gives way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Priority {
    /// As anybody else.
    #[default]
    Normal,
    /// What nobody else wants is enough.
    Idle,
}

/// Priorities, and why.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PriorityOrder {
    /// At the processors, RocksDB's `CpuPriority`. Normal holds for merges that run, too; idle
    /// for those that begin.
    pub cpu: Priority,
    /// At the device, in the same way.
    pub io: Priority,
    /// Merges would give way, but are needed now, or do not get on: they give way again when
    /// that is over.
    pub called_back: bool,
    /// A sentence without a full stop.
    pub why: String,
}

impl PriorityOrder {
    /// Normal priority at both, for this reason.
    pub fn normal(why: impl Into<String>) -> PriorityOrder {
        PriorityOrder {
            why: why.into(),
            ..PriorityOrder::default()
        }
    }

    /// Idle priority at both, for this reason.
    pub fn idle(why: impl Into<String>) -> PriorityOrder {
        PriorityOrder {
            cpu: Priority::Idle,
            io: Priority::Idle,
            called_back: false,
            why: why.into(),
        }
    }

    /// Idle priority at the processors alone, for this reason.
    pub fn idle_cpu(why: impl Into<String>) -> PriorityOrder {
        PriorityOrder {
            io: Priority::Normal,
            ..PriorityOrder::idle(why)
        }
    }

    /// The same for as long as it lasts.
    #[must_use]
    pub fn called_back(self) -> PriorityOrder {
        PriorityOrder {
            called_back: true,
            ..self
        }
    }

    /// Whether merges give way anywhere.
    pub fn gives_way(&self) -> bool {
        [self.cpu, self.io].contains(&Priority::Idle)
    }

    /// Whether they do at both.
    pub fn gives_way_everywhere(&self) -> bool {
        [self.cpu, self.io] == [Priority::Idle; 2]
    }
}

/// L0 of a column family.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Level0 {
    /// Files.
    pub files: usize,
    /// Files from which on it is due.
    pub trigger: u32,
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

    /// Bytes that [wait](Debt::delayed).
    fn delayed_bytes(&self) -> f64 {
        Debt::delayed(self.files, self.bytes, self.trigger) as f64
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
    /// Of the time that a merge that gives way asked of the processors of late, the share that
    /// it got, from 0 to 1: the least of any. Absent where they asked for next to none.
    pub served: Option<f64>,
    /// Of its time since the last look, the share in which a merge that gives way at the device,
    /// and waits for it now, asked for the processors, from 0 to 1: the least of any. Absent where
    /// there is none.
    pub moving: Option<f64>,
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
    /// Since when merges wait for the device.
    still: Option<Duration>,
    /// Until when nothing gives way there.
    hurry_at_device: Option<Duration>,
}

impl WorkerPriority {
    /// What holds from now on.
    pub fn after(&mut self, moment: &Moment) -> PriorityOrder {
        let starved = moment.served.is_some_and(|served| served < STARVED);
        if starved || moment.stalled {
            self.hurry = Some((moment.at.saturating_add(HURRY_FOR), moment.stalled));
        }
        self.look_at_device(moment);
        let Some(inflow) = inflow(moment) else {
            return PriorityOrder::normal("nobody counts what is written");
        };
        if let Some(why) = near_the_bound(moment, inflow) {
            return PriorityOrder::normal(why).called_back();
        }
        let order = match self.hurry {
            Some((until, true)) if moment.at < until => {
                PriorityOrder::normal("writers were held back a moment ago")
            }
            Some((until, false)) if moment.at < until => {
                PriorityOrder::normal("the processors are full: merges would not get on")
            }
            _ if fullest(moment) >= HALF => PriorityOrder::idle_cpu(
                "L0 has half of what may wait there, and the processors have time to spare",
            ),
            _ if self.hurry_at_device.is_some_and(|until| moment.at < until) => {
                PriorityOrder::idle_cpu("merges that gave way at the device did not get on")
            }
            _ => {
                return PriorityOrder::idle("the processors have time to spare, and L0 has room");
            }
        };
        order.called_back()
    }

    fn look_at_device(&mut self, moment: &Moment) {
        if moment.moving.is_none_or(|moving| moving >= STILL) {
            self.still = None;
            return;
        }
        let since = *self.still.get_or_insert(moment.at);
        if moment.at.saturating_sub(since) >= STILL_FOR {
            self.still = None;
            self.hurry_at_device = Some(moment.at.saturating_add(HURRY_FOR));
        }
    }
}

/// The share of what may wait in L0: of the column family that has most of its own, or of all
/// together.
fn fullest(moment: &Moment) -> f64 {
    let bytes: f64 = moment.level0.iter().map(Level0::delayed_bytes).sum();
    let of_all = match moment.max_delayed_bytes {
        0 => 1.0,
        most => bytes / most as f64,
    };
    moment
        .level0
        .iter()
        .map(Level0::share)
        .fold(of_all, f64::max)
}

/// Bytes a second that are written to all column families, where somebody counts them.
fn inflow(moment: &Moment) -> Option<f64> {
    let inflow: Option<f64> = moment.level0.iter().map(|it| it.inflow).sum();
    // None where it is no number.
    inflow.filter(|inflow| *inflow >= 0.0)
}

/// Why merges may not wait for processors, if so.
fn near_the_bound(moment: &Moment, inflow: f64) -> Option<&'static str> {
    let most = moment.max_delayed_bytes as f64;
    let bytes: f64 = moment.level0.iter().map(Level0::delayed_bytes).sum();
    if fullest(moment) >= NEAR {
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
    use super::Priority::{Idle, Normal};
    use super::*;

    fn level0(files: usize, bytes: u64, inflow: f64) -> Level0 {
        Level0 {
            files,
            trigger: 0,
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
            moving: Some(0.4),
            stalled: false,
            level0: level0.to_vec(),
            max_delayed_bytes: 1_000,
        }
    }

    /// Priorities at the processors and at the device.
    fn first(moment: &Moment) -> (Priority, Priority) {
        let order = WorkerPriority::default().after(moment);
        assert!(!order.why.is_empty());
        (order.cpu, order.io)
    }

    /// What a schedule of priorities says after these milliseconds, as `change` has the moment.
    fn at(
        priority: &mut WorkerPriority,
        millis: u64,
        change: impl FnOnce(&mut Moment),
    ) -> (Priority, Priority) {
        let mut moment = moment(&[]);
        moment.at = Duration::from_millis(millis);
        change(&mut moment);
        let order = priority.after(&moment);
        (order.cpu, order.io)
    }

    #[test]
    fn merges_give_way_while_little_waits_and_come_back_by_degrees() {
        let of = |files, bytes| first(&moment(&[level0(files, bytes, 1.0)]));
        assert_eq!((of(0, 0), of(7, 499)), ((Idle, Idle), (Idle, Idle)));
        assert_eq!((of(8, 80), of(1, 500)), ((Idle, Normal), (Idle, Normal)));
        assert_eq!(of(11, 749), (Idle, Normal));
        assert_eq!(
            (of(12, 120), of(1, 750)),
            ((Normal, Normal), (Normal, Normal))
        );
        assert_eq!(first(&moment(&[])), (Idle, Idle), "no family has anything");
        let (one, other) = (level0(2, 400, 1.0), level0(12, 12, 1.0));
        let both = first(&moment(&[one, other]));
        assert_eq!(both, (Normal, Normal), "each counts");
        let both = first(&moment(&[one, one]));
        assert_eq!(both, (Normal, Normal), "and all together");
        let mut nothing_may = moment(&[]);
        nothing_may.max_delayed_bytes = 0;
        assert_eq!(first(&nothing_may), (Normal, Normal));
    }

    /// With buffers of any size: an L0 of four files has only just become due.
    #[test]
    fn an_l0_that_is_not_over_its_trigger_lets_nothing_wait() {
        let of = |files, bytes| {
            let due = Level0 {
                trigger: 4,
                ..level0(files, bytes, 1.0)
            };
            first(&moment(&[due]))
        };
        assert_eq!(of(4, 80_000), (Idle, Idle));
        assert_eq!(of(5, 100_000), (Normal, Normal));
    }

    #[test]
    fn who_is_called_back_gives_way_again_and_who_never_may_does_not() {
        let called_back = |level0| {
            let order = WorkerPriority::default().after(&moment(&[level0]));
            (order.gives_way_everywhere(), order.called_back)
        };
        assert_eq!(called_back(level0(0, 0, 1.0)), (true, false));
        for needed in [level0(8, 80, 1.0), level0(12, 120, 1.0), level0(0, 0, 81.0)] {
            assert_eq!(called_back(needed), (false, true), "{needed:?}");
        }
        let mut unknown = level0(0, 0, 0.0);
        unknown.inflow = None;
        assert_eq!(called_back(unknown), (false, false));
        let mut priority = WorkerPriority::default();
        let mut stalled = moment(&[]);
        stalled.stalled = true;
        assert!(priority.after(&stalled).called_back);
    }

    #[test]
    fn merges_do_not_give_way_where_l0_fills_within_seconds() {
        let of = |files, bytes, inflow| first(&moment(&[level0(files, bytes, inflow)])).0;
        // Room for ten files of 20 bytes; of 10, where there is none yet.
        assert_eq!((of(6, 120, 100.0), of(6, 120, 101.0)), (Idle, Normal));
        assert_eq!((of(0, 0, 80.0), of(0, 0, 81.0)), (Idle, Normal));
        // For 500 bytes in all.
        assert_eq!((of(1, 500, 250.0), of(1, 500, 251.0)), (Idle, Normal));
        assert_eq!(of(0, 0, f64::INFINITY), Normal);
        assert_eq!((of(0, 0, f64::NAN), of(0, 0, -1.0)), (Normal, Normal));
        let mut unknown = level0(0, 0, 0.0);
        unknown.inflow = None;
        let both = first(&moment(&[level0(0, 0, 0.0), unknown]));
        assert_eq!(both, (Normal, Normal));
    }

    #[test]
    fn who_was_starved_or_held_writers_back_does_not_give_way_for_a_while() {
        for stalled in [false, true] {
            let mut priority = WorkerPriority::default();
            let mut at = |millis, served, stalled| {
                at(&mut priority, millis, |moment| {
                    (moment.served, moment.stalled) = (served, stalled);
                })
            };
            assert_eq!(at(1_000, Some(0.02), false), (Idle, Idle));
            let starved = Some(if stalled { 1.0 } else { 0.019 });
            assert_eq!(at(1_100, starved, stalled), (Normal, Normal));
            assert_eq!(at(3_099, None, false), (Normal, Normal));
            assert_eq!(at(3_100, None, false), (Idle, Idle));
        }
    }

    #[test]
    fn who_waits_for_the_device_for_a_second_does_not_give_way_there_for_a_while() {
        let mut priority = WorkerPriority::default();
        let mut at = |millis, moving| at(&mut priority, millis, |moment| moment.moving = moving);
        assert_eq!(at(1_000, Some(0.009)), (Idle, Idle));
        assert_eq!(at(1_900, Some(0.0)), (Idle, Idle), "not for a second yet");
        assert_eq!(at(1_950, Some(0.01)), (Idle, Idle), "it moved");
        assert_eq!(at(2_000, Some(0.0)), (Idle, Idle));
        assert_eq!(at(2_950, None), (Idle, Idle), "none was at it");
        assert_eq!(at(3_000, Some(0.0)), (Idle, Idle));
        assert_eq!(at(4_000, Some(0.0)), (Idle, Normal));
        assert_eq!(at(5_999, Some(0.4)), (Idle, Normal));
        assert_eq!(at(6_000, Some(0.4)), (Idle, Idle));
    }

    #[test]
    fn whatever_is_told_l0_near_its_bound_never_gives_way() {
        let mut priority = WorkerPriority::default();
        for step in 0..2_000_u64 {
            let family = level0((step % 20) as usize, step * 3 % 1_500, (step % 11) as f64);
            let moment = Moment {
                at: Duration::from_millis(step * 300),
                served: Some((step % 7) as f64 / 5.0 - 0.1),
                moving: Some((step % 9) as f64 / 500.0),
                stalled: step % 13 == 0,
                ..moment(&[family])
            };
            let order = priority.after(&moment);
            let near = family.files >= 12 || family.bytes >= 750;
            assert!(!near || !order.gives_way(), "{moment:?}");
            let half = family.files >= 8 || family.bytes >= 500;
            assert!(!half || order.io == Normal, "{moment:?}");
            // Whoever gives way at the device does so at the processors.
            assert!(order.io == Normal || order.cpu == Idle, "{moment:?}");
        }
    }
}
