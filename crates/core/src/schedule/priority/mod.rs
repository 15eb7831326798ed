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
//! they lose more, from half of the bound on, to the processors from three quarters. How fast L0
//! fills matters to those alone that make room for it. Those that reads wait for come back to the
//! device sooner: as soon as they crawl there.

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

/// Those that reads wait for crawl where they run for less than this share of their time: behind
/// a client that reads without a pause they do for some hundredths of it.
const CRAWLING: f64 = 0.2;

/// In two looks in a row, that is.
const CRAWLING_FOR: Duration = Duration::from_millis(100);

/// For so long after they crawled, none of them gives way at the device: who reads without a pause
/// goes on for a while. What a merge has asked of the device by then may wait there for seconds
/// even once it is called back, so that each time is twice as long as the one before, up to the
/// most, until it has been good for as long.
const EXPECTED_FOR: Duration = Duration::from_secs(5);
const EXPECTED_AT_MOST: Duration = Duration::from_secs(40);

/// For so long after merges were starved, or writers held back, none gives way there.
const HURRY_FOR: Duration = Duration::from_secs(2);

/// Share of what may wait in L0 from which nothing gives way at the device any more.
const HALF: f64 = 0.5;

/// The same at the processors.
const NEAR: f64 = 0.75;

/// Nor does what makes room for L0, where L0 comes to its bound within so many seconds if nothing
/// is merged: buffers are small for what is written, and what merges take now they cannot make up
/// for in time.
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

/// The priorities of merges, by what waits for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PriorityOrders {
    /// Of those that make room for L0.
    pub level0: PriorityOrder,
    /// Of the others, for which L0 does not wait: however fast it fills, they need not hurry.
    pub deep: PriorityOrder,
    /// Of those of both that reads wait for, which give way only where this does, too.
    pub awaited: PriorityOrder,
}

impl From<PriorityOrder> for PriorityOrders {
    /// The same for all.
    fn from(order: PriorityOrder) -> PriorityOrders {
        PriorityOrders {
            level0: order.clone(),
            deep: order.clone(),
            awaited: order,
        }
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
    /// The share in which one of those that reads wait for ran on a processor, in the same way.
    pub awaited_moving: Option<f64>,
    /// Writers were held back of late.
    pub stalled: bool,
    /// L0 of each column family.
    pub level0: Vec<Level0>,
    /// Bytes that may wait in all of them.
    pub max_delayed_bytes: u64,
    /// What would make room for L0 waits for merges below it.
    pub room_waits: bool,
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
    /// Since when merges that reads wait for crawl.
    crawling: Option<Duration>,
    /// Until when none of those gives way at the device, and for how long in all.
    expected: Option<(Duration, Duration)>,
}

impl WorkerPriority {
    /// What holds from now on.
    pub fn after(&mut self, moment: &Moment) -> PriorityOrders {
        let starved = moment.served.is_some_and(|served| served < STARVED);
        if starved || moment.stalled {
            self.hurry = Some((moment.at.saturating_add(HURRY_FOR), moment.stalled));
        }
        self.look_at_device(moment);
        self.look_at_awaited(moment);
        let Some(inflow) = inflow(moment) else {
            return PriorityOrder::normal("nobody counts what is written").into();
        };
        if fullest(moment) >= NEAR {
            let why = "L0 has three quarters of what may wait there";
            return PriorityOrder::normal(why).called_back().into();
        }
        let order = self.far_from_the_bound(moment);
        let orders = PriorityOrders {
            awaited: self.of_awaited(moment, &order),
            ..order.into()
        };
        if !fills_soon(moment, inflow) {
            return orders;
        }
        let why = "L0 may come to its bound within seconds";
        let level0 = PriorityOrder::normal(why).called_back();
        match moment.room_waits {
            true => level0.into(),
            false => PriorityOrders { level0, ..orders },
        }
    }

    /// What is left of an order to those that reads wait for.
    fn of_awaited(&self, moment: &Moment, order: &PriorityOrder) -> PriorityOrder {
        let expected = self.expected.is_some_and(|(until, _)| moment.at < until);
        if order.io == Priority::Normal || !expected {
            return order.clone();
        }
        let why = "reads wait for merges that did not get on while they gave way at the device";
        PriorityOrder::idle_cpu(why).called_back()
    }

    fn far_from_the_bound(&self, moment: &Moment) -> PriorityOrder {
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

    fn look_at_awaited(&mut self, moment: &Moment) {
        if moment
            .awaited_moving
            .is_none_or(|moving| moving >= CRAWLING)
        {
            self.crawling = None;
            return;
        }
        let since = *self.crawling.get_or_insert(moment.at);
        if moment.at.saturating_sub(since) >= CRAWLING_FOR {
            self.crawling = None;
            let again = self
                .expected
                .filter(|(until, length)| moment.at.saturating_sub(*until) < *length);
            let twice = |(_, length): (Duration, Duration)| (2 * length).min(EXPECTED_AT_MOST);
            let length = again.map_or(EXPECTED_FOR, twice);
            self.expected = Some((moment.at.saturating_add(length), length));
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

/// Whether L0 comes to its bound within seconds, if nothing is merged.
fn fills_soon(moment: &Moment, inflow: f64) -> bool {
    let most = moment.max_delayed_bytes as f64;
    let bytes: f64 = moment.level0.iter().map(Level0::delayed_bytes).sum();
    let fills = |it: &Level0| it.seconds() < SOON;
    moment.level0.iter().any(fills) || most - bytes < SOON * inflow
}

#[cfg(test)]
mod tests;
