//! When to compact: the load is measured once per interval, the schedule gives an
//! order, and the order is held to.

mod device;
mod meter;
mod probe;
mod processors;
#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lissom_core::journal::Event;
use lissom_core::schedule::{
    Conditions, Debt, DebtBounds, Eager, Estimate, FullLoad, LEAST_INTERVAL, Load, Order, Phase,
    PriorityOrder, PriorityOrders, Schedule, ScheduleKind, Seen,
};

pub(super) use self::device::keep_given as keep_given_device;
use self::meter::Meter;
pub(crate) use self::probe::bytes_per_second as device_rate;
use super::check;
use super::memory::Memory;
use super::shared::Shared;
use crate::error::Result;
use crate::events::holds_writers_back;
use crate::settings::Settings;

/// What the schedule has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// A rate that differs by less is the same.
const SAME_RATE: f64 = 0.1;

/// A rate holds this long: the limiter grants a quota anew with each change.
const RATE_HOLDS: Duration = Duration::from_millis(200);

/// How the schedule stands.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleReport {
    /// The schedule's name.
    pub schedule: String,
    /// What holds now.
    pub order: Order,
    /// What the tree owed when the order was given.
    pub debt: Debt,
    /// How long catching up would take now, beside the present users, by the mean of the last
    /// seconds, and by what merges were seen to move ([`Estimate`]); absent when the users
    /// leave nothing of the device, and when its speed is not known.
    pub catch_up: Option<Duration>,
    /// Whether the device's speed is known: given in the settings, or measured. Where it is
    /// not, `conditions` have that of DLC's disk.
    pub device_is_known: bool,
    /// Bytes a second that RocksDB's flushes and compactions are held to at this moment: the
    /// order's rate, to within 10 %, or the user's bound, whichever is lower. Absent when
    /// there is no limit.
    pub rate_limit_bytes_per_second: Option<u64>,
    /// The priorities at which merges begin, those that make room for L0 and the others, what is
    /// left of that to those of both that reads wait for, and why; those that run are called back
    /// from idle priority, and none is sent there.
    pub priority: PriorityOrders,
    /// The load of all intervals since the autopilot began.
    pub load: Load,
    /// What the machine and the data were like when the order was given.
    pub conditions: Conditions,
}

impl ScheduleReport {
    pub(super) fn before(kind: ScheduleKind) -> ScheduleReport {
        ScheduleReport {
            schedule: kind.to_string(),
            order: Order::all(Phase::Low, "nothing was seen of the load yet"),
            debt: Debt::default(),
            catch_up: None,
            device_is_known: false,
            rate_limit_bytes_per_second: None,
            priority: PriorityOrder::normal("nothing was seen yet").into(),
            load: Load::default(),
            conditions: Conditions::default(),
        }
    }
}

/// The planner thread's schedule.
pub(super) struct Scheduler {
    schedule: Box<dyn Schedule>,
    bounds: DebtBounds,
    meter: Meter,
    /// All that the meter has told.
    total: Load,
    /// What the schedule was last shown.
    seen: Seen,
    /// Absent while nobody knows what the device does.
    device: Option<f64>,
    due: Instant,
    saved: Instant,
    estimate: Estimate,
    /// Merges have ended since the estimate was saved.
    has_merged: bool,
    /// The rate that was set at the last look, which may have ended since.
    rate: Option<u64>,
    /// When a rate was set last.
    rate_set: Instant,
}

impl Scheduler {
    pub(super) fn new(shared: &Shared, memory: &mut Memory) -> Scheduler {
        let kind = shared.settings.schedule;
        let bounds = shared.settings.debt_bounds();
        let full = full_load(&shared.settings);
        let mut schedule = kind.schedule_in(&bounds, full, shared.settings.schedule_interval);
        let stored = memory.schedule();
        if stored.name == schedule.name()
            && let Err(why) = schedule.restore(&stored.state)
        {
            shared.journal.note("", why);
        }
        let estimate = Estimate::kept(stored.merges);
        let now = Instant::now();
        let interval = interval(shared, schedule.as_ref());
        let looks_at_them = schedule.needs_processors() && background_is_known(shared);
        let of_processors = looks_at_them.then_some(interval);
        Scheduler {
            due: now + interval,
            meter: Meter::new(shared, now, of_processors),
            total: Load::default(),
            seen: Seen {
                load: Load::default(),
                conditions: Conditions::default(),
                debt: Debt::default(),
            },
            device: device::bytes_per_second(shared, memory, kind),
            schedule,
            bounds,
            saved: now,
            estimate,
            has_merged: false,
            rate: None,
            rate_set: now,
        }
    }

    /// How long until it wants to look again.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now)
    }

    /// The order that holds now; a new one when the interval is over.
    pub(super) fn order(&mut self, shared: &Shared, memory: &mut Memory) -> Order {
        let now = Instant::now();
        if now >= self.due {
            self.due = now + interval(shared, self.schedule.as_ref());
            if let Err(error) = self.look(shared, memory, now) {
                shared.complain("", error.to_string());
            }
        }
        shared.schedule.lock().order.clone()
    }

    fn look(&mut self, shared: &Shared, memory: &mut Memory, now: Instant) -> Result<()> {
        let (load, mut conditions) = self.meter.read(shared, now);
        conditions.device_bytes_per_second = self.device.unwrap_or(device::UNKNOWN);
        conditions.workers = shared.settings.workers;
        conditions.merges_give_way = shared.priorities.all_give_way();
        let seen = Seen {
            load,
            conditions,
            debt: debt(shared),
        };
        self.estimate.learn(&load, &conditions, self.rate);
        self.has_merged |= load.compacted_micros > 0;
        self.total = self.total.then(&load);
        self.seen = seen;
        let wanted = self.ask(shared, &seen);
        let mut order = seen.debt.bounded(&self.bounds, wanted);
        // After a background error RocksDB takes writes again once running merges have ended.
        let writers_wait =
            || holds_writers_back(&shared.db) || shared.events.background_error().is_some();
        if order.bytes_per_second.is_some() && writers_wait() {
            order.bytes_per_second = None;
        }
        self.tell(shared, &seen, &order);
        self.set_rate(shared, order.bytes_per_second, now)?;
        self.rate = shared.ordered_rate();
        if now.duration_since(self.saved) >= SAVE_EVERY {
            self.save(memory, now)?;
        }
        Ok(())
    }

    /// L0 may have come to its bound since the schedule was asked, which is as often as its
    /// interval says and no sooner. Then the order that holds is bounded at once, and its
    /// rate ends. Whether it was.
    pub(super) fn keep_bound(&mut self, shared: &Shared) -> bool {
        let debt = debt(shared);
        if !debt.is_at(&self.bounds) {
            return false;
        }
        let held = shared.schedule.lock().order.clone();
        if held.at_bound {
            return false;
        }
        let order = debt.bounded(&self.bounds, held);
        let seen = Seen { debt, ..self.seen };
        self.tell(shared, &seen, &order);
        if let Err(error) = self.set_rate(shared, order.bytes_per_second, Instant::now()) {
            shared.complain("", error.to_string());
        }
        true
    }

    /// A schedule that panics is replaced by one that cannot.
    fn ask(&mut self, shared: &Shared, seen: &Seen) -> Order {
        let asked = catch_unwind(AssertUnwindSafe(|| self.schedule.order(seen)));
        asked.unwrap_or_else(|_| {
            shared.complain(
                "",
                "the schedule panicked: all is merged when it is due".into(),
            );
            self.schedule = Box::new(Eager);
            self.schedule.order(seen)
        })
    }

    fn set_rate(&mut self, shared: &Shared, rate: Option<u64>, now: Instant) -> Result<()> {
        let Some(limit) = &shared.rate_limit else {
            return Ok(());
        };
        // Somebody else may have ended it.
        let same = match (limit.ordered(), rate) {
            (Some(last), Some(rate)) => {
                let change = (rate as f64 - last as f64).abs();
                change <= SAME_RATE * last as f64 || now.duration_since(self.rate_set) < RATE_HOLDS
            }
            (last, rate) => last == rate,
        };
        if !same {
            limit.order(rate)?;
            self.rate_set = now;
        }
        Ok(())
    }

    /// Shows the order; the journal gets what is new.
    fn tell(&self, shared: &Shared, seen: &Seen, order: &Order) {
        let catch_up = self.catch_up(seen);
        let device_is_known = self.device.is_some();
        let report = ScheduleReport {
            schedule: self.schedule.name(),
            order: order.clone(),
            debt: seen.debt,
            catch_up,
            device_is_known,
            // Both are looked up when they are asked for: they change after this.
            rate_limit_bytes_per_second: None,
            priority: shared.priorities.orders(),
            load: self.total,
            conditions: seen.conditions,
        };
        let before = std::mem::replace(&mut *shared.schedule.lock(), report);
        if !before.order.is_like(order) {
            shared.journal.write(
                "",
                Event::Schedule {
                    order: order.clone(),
                    load: seen.load,
                    debt: seen.debt,
                    catch_up,
                    device_is_known,
                },
            );
        }
    }

    /// How long catching up would take; unknown where the device is.
    fn catch_up(&self, seen: &Seen) -> Option<Duration> {
        self.device?;
        self.estimate.catch_up(&seen.debt, &seen.conditions)
    }

    fn save(&mut self, memory: &mut Memory, now: Instant) -> Result<()> {
        self.saved = now;
        let state = self.schedule.state();
        let has_merged = std::mem::take(&mut self.has_merged);
        if state.is_null() && !has_merged {
            return Ok(());
        }
        memory.keep_schedule(self.schedule.name(), state, self.estimate.merges())
    }

    /// Saves what was learned, at the end.
    pub(super) fn rest(&mut self, memory: &mut Memory) -> Result<()> {
        self.save(memory, Instant::now())
    }
}

/// Flushes are held to the rate, too, and writers to the flushes: where they are held back it
/// ends, and the next look, which has seen what they write, orders another.
pub(super) fn free_writers(shared: &Shared) {
    if shared.ordered_rate().is_some() && holds_writers_back(&shared.db) {
        shared.end_rate();
    }
}

/// How often a schedule is asked: its own interval is in the proportion to DLC's second, as
/// far as turns of the planner are worth their work.
fn interval(shared: &Shared, schedule: &dyn Schedule) -> Duration {
    let seconds = shared.settings.schedule_interval.as_secs_f64();
    schedule.interval().mul_f64(seconds).max(LEAST_INTERVAL)
}

/// The load that fills the machine: as set, and what users have of the processors beside
/// the workers.
fn full_load(settings: &Settings) -> FullLoad {
    FullLoad {
        bytes_per_second: settings.full_load_bytes_per_second.map(|rate| rate as f64),
        ..FullLoad::beside(settings.workers, processors::available())
    }
}

/// Whether what merges have of the processors can be told from what users have. Threads that merges
/// start end with them, often between two looks.
fn background_is_known(shared: &Shared) -> bool {
    let families = shared.families.read();
    let in_parallel = |name: &String| check::compresses_in_parallel(&shared.db, name);
    if shared.settings.max_subcompactions <= 1 && !families.keys().any(in_parallel) {
        return true;
    }
    let why = "merges start threads of their own (max_subcompactions, parallel_threads), and what \
               users have of the processors is not known: the schedule goes by the device alone";
    shared.journal.note("", why);
    false
}

/// What all column families owe.
fn debt(shared: &Shared) -> Debt {
    let mut debt = Debt::default();
    for family in shared.families.read().values() {
        let own_bound = family.hooks.settings.debt_bounds().max_level0_files;
        let trigger = family.level0_trigger();
        // Where rounds fail nobody looks, and L0 fills all the same.
        let (files, bytes) = family.level0_now();
        let view = family.view.lock();
        debt.level0_files = debt.level0_files.max(files);
        debt.level0_bytes += bytes;
        debt.level0_delayed_bytes += Debt::delayed(files, bytes, trigger);
        debt.level0_at_own_bound |= files >= own_bound;
        let share = files as f64 / own_bound.max(1) as f64;
        debt.level0_share = Some(debt.level0_share.map_or(share, |it| it.max(share)));
        debt.level0_merging_bytes += view.level0_merging_bytes;
        debt.level0_held_up |= view.level0_held_up;
        debt.deep_bytes += view.deep_bytes;
        debt.add_waiting(&view.waiting);
    }
    debt
}
