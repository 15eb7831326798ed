//! When to compact: the load is measured once per interval, the schedule gives an
//! order, and the order is held to.

mod meter;
mod probe;
mod processors;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use lissom_core::journal::Event;
use lissom_core::schedule::{
    Conditions, Debt, DebtBounds, Eager, FullLoad, Load, LoadModel, Order, Phase, Schedule,
    ScheduleKind, Seen, Work,
};

use self::meter::Meter;
use super::memory::Memory;
use super::shared::Shared;
use crate::error::Result;
use crate::files::probe as file;
use crate::settings::Settings;

/// What the schedule has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// A rate that differs by less is the same.
const SAME_RATE: f64 = 0.1;

/// A rate holds this long: the limiter grants a quota anew with each change.
const RATE_HOLDS: Duration = Duration::from_millis(200);

/// The device before anything was measured: DLC's disk.
const UNKNOWN_DEVICE: f64 = 350e6;

/// How the schedule stands.
#[derive(Clone, PartialEq, Debug)]
pub struct ScheduleReport {
    /// The schedule's name.
    pub schedule: String,
    /// What holds now.
    pub order: Order,
    /// What the tree owed when the order was given.
    pub debt: Debt,
    /// How long catching up would take now, beside the present users; absent when
    /// they leave nothing of the device.
    pub catch_up: Option<Duration>,
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
    device: f64,
    due: Instant,
    saved: Instant,
    work: Work,
    /// The rate that was set last, and when.
    rate: (Option<u64>, Instant),
}

impl Scheduler {
    pub(super) fn new(shared: &Shared, memory: &mut Memory) -> Scheduler {
        let kind = shared.settings.schedule;
        let bounds = shared.settings.debt_bounds();
        let mut schedule = kind.schedule_within(&bounds, full_load(&shared.settings));
        let stored = memory.schedule();
        if stored.name == schedule.name()
            && let Err(why) = schedule.restore(&stored.state)
        {
            shared.journal.note("", why);
        }
        let now = Instant::now();
        Scheduler {
            due: now + interval(shared, schedule.as_ref()),
            meter: Meter::new(shared, now, schedule.needs_processors()),
            total: Load::default(),
            device: device(shared, memory, kind),
            schedule,
            bounds,
            saved: now,
            work: Work::default(),
            rate: (None, now),
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
        conditions.device_bytes_per_second = self.device;
        let seen = Seen {
            load,
            conditions,
            debt: debt(shared),
        };
        self.work.learn(&load);
        self.total = self.total.then(&load);
        let wanted = self.ask(shared, &seen);
        let order = seen.debt.bounded(&self.bounds, wanted);
        self.tell(shared, &seen, &order);
        self.set_rate(shared, order.bytes_per_second, now)?;
        if now.duration_since(self.saved) >= SAVE_EVERY {
            self.save(memory, now)?;
        }
        Ok(())
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
        let (last, at) = self.rate;
        let same = match (last, rate) {
            (Some(last), Some(rate)) => {
                let change = (rate as f64 - last as f64).abs();
                change <= SAME_RATE * last as f64 || now.duration_since(at) < RATE_HOLDS
            }
            (last, rate) => last == rate,
        };
        if !same {
            limit.order(rate)?;
            self.rate = (rate, now);
        }
        Ok(())
    }

    /// Shows the order; the journal gets what is new.
    fn tell(&self, shared: &Shared, seen: &Seen, order: &Order) {
        let client = LoadModel::CacheAdditions.client(&seen.load, &seen.conditions);
        let work = self.work.per_byte();
        let catch_up = seen.debt.catch_up(&seen.conditions, client, work);
        let report = ScheduleReport {
            schedule: self.schedule.name(),
            order: order.clone(),
            debt: seen.debt,
            catch_up,
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
                },
            );
        }
    }

    fn save(&mut self, memory: &mut Memory, now: Instant) -> Result<()> {
        self.saved = now;
        let state = self.schedule.state();
        if state.is_null() {
            // Another schedule's knowledge may lie there.
            return Ok(());
        }
        memory.keep_schedule(self.schedule.name(), state)
    }

    /// Saves what was learned, at the end.
    pub(super) fn rest(&mut self, memory: &mut Memory) -> Result<()> {
        self.save(memory, Instant::now())
    }
}

/// How often a schedule is asked: its own interval is in the proportion to DLC's second.
fn interval(shared: &Shared, schedule: &dyn Schedule) -> Duration {
    let seconds = shared.settings.schedule_interval.as_secs_f64();
    schedule.interval().mul_f64(seconds)
}

/// The load that fills the machine: as set, and what users have of the processors beside
/// the workers.
fn full_load(settings: &Settings) -> FullLoad {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    FullLoad {
        bytes_per_second: settings.full_load_bytes_per_second.map(|rate| rate as f64),
        ..FullLoad::beside(settings.workers, processors)
    }
}

/// What all column families owe.
fn debt(shared: &Shared) -> Debt {
    let mut debt = Debt::default();
    for family in shared.families.read().values() {
        let view = family.view.lock();
        debt.level0_files = debt.level0_files.max(view.tree.level0_files);
        debt.level0_bytes += view.tree.level0_bytes;
        debt.deep_bytes += view.deep_bytes;
    }
    debt
}

/// What the device can do: as set, as known, or as measured now.
fn device(shared: &Shared, memory: &mut Memory, kind: ScheduleKind) -> f64 {
    // An open before this one may have been killed while it measured.
    if let Err(error) = file::clear(&shared.directory) {
        shared.complain("", error.to_string());
    }
    if let Some(known) = shared.settings.device_bytes_per_second {
        return known as f64;
    }
    if kind == ScheduleKind::Eager {
        return UNKNOWN_DEVICE;
    }
    if let Some(known) = memory.schedule().device_bytes_per_second {
        return known as f64;
    }
    let measured = probe::bytes_per_second(&shared.directory);
    let text = match measured {
        Ok(rate) => match memory.keep_device(rate) {
            Ok(()) => format!("the device does {} MB/s", rate / 1_000_000),
            Err(error) => error.to_string(),
        },
        Err(ref error) => format!(
            "the device's speed cannot be measured ({error}); it is held for {} MB/s: set \
             device_bytes_per_second",
            UNKNOWN_DEVICE / 1e6
        ),
    };
    shared.journal.note("", text);
    measured.map_or(UNKNOWN_DEVICE, |rate| rate as f64)
}
