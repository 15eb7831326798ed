//! The thread that keeps merges at the priority that suits the moment. A thread of its own: the
//! planner may wait for a lock of RocksDB's that a merge holds.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use lissom_core::schedule::{Level0, Moment, PriorityOrder, PriorityOrders, WorkerPriority};

use super::super::shared::{Family, Shared};
use super::{Obstacles, Priorities, Worker};
use crate::ffi::thread::ThreadId;
use crate::settings::Settings;

/// Between two looks.
const EVERY: Duration = Duration::from_millis(100);

/// Between two where nothing may give way, which does not change any more.
const REST: Duration = Duration::from_secs(60);

/// Weight of what was written since the last look against all before it.
const NEWEST: f64 = 0.3;

/// Merges that asked for less of the processors between two looks tell nothing of them.
const ENOUGH: Duration = Duration::from_millis(20);

/// The life of the thread. What panics is not tried again: merges stay at normal priority.
pub(in super::super) fn keep(shared: &Shared) {
    let priorities = &shared.priorities;
    let _stays = AtEnd(priorities);
    let mut watch = Watch::default();
    let mut told = Obstacles::default();
    let mut held = None;
    let begun = Instant::now();
    while priorities.wait(if told.everywhere() { REST } else { EVERY }) {
        let obstacles = priorities.obstacles();
        if obstacles != told {
            tell(shared, &obstacles);
            told = obstacles;
        }
        // The thread stays even so: one that has ended is taken for a failure.
        let order = match told.everywhere() {
            true => PriorityOrder::normal("nothing may give way").into(),
            false => watch.look(shared, begun.elapsed()),
        };
        if held.as_ref() != Some(&order) {
            priorities.set(order.clone());
            held = Some(order);
        }
    }
}

/// The journal says what does not give way though it should.
fn tell(shared: &Shared, obstacles: &Obstacles) {
    let Settings {
        idle_cpu_priority,
        idle_io_priority,
        ..
    } = shared.settings;
    let cpu = obstacles.cpu.as_ref().filter(|_| idle_cpu_priority);
    let io = obstacles.io.as_ref().filter(|_| idle_io_priority);
    let sentence = match (cpu, io) {
        (Some(cpu), Some(_)) => format!("merges run at normal priority: {cpu}"),
        (Some(cpu), None) => format!("merges do not give way at the processors: {cpu}"),
        (None, Some(io)) => format!("merges do not give way at the device: {io}"),
        (None, None) => return,
    };
    shared.journal.note("", sentence);
}

/// Whoever cannot look any more leaves nobody at idle priority.
struct AtEnd<'a>(&'a Priorities);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.set(PriorityOrder::normal("nobody looks after them"));
    }
}

/// A worker as it was when it was last looked at.
#[derive(Clone, Copy)]
struct Seen {
    waited: Waited,
    at_device: bool,
}

/// What workers that give way had since the last look: of each, what is told by
/// [`Moment::served`], [`Moment::moving`] and [`Moment::awaited_moving`].
#[derive(Clone, Copy, Default)]
struct GotOn {
    served: Option<f64>,
    moving: Option<f64>,
    awaited_moving: Option<f64>,
}

impl GotOn {
    /// The least of each.
    fn and(self, other: GotOn) -> GotOn {
        let least = |one: Option<f64>, other: Option<f64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        GotOn {
            served: least(self.served, other.served),
            moving: least(self.moving, other.moving),
            awaited_moving: least(self.awaited_moving, other.awaited_moving),
        }
    }
}

#[derive(Default)]
struct Watch {
    decides: WorkerPriority,
    at: Duration,
    /// Of each worker.
    workers: BTreeMap<i32, Seen>,
    stall: Duration,
    /// Of each family: bytes that were written to it in all, and a second.
    written: BTreeMap<String, (u64, f64)>,
}

impl Watch {
    /// What suits a moment at this time since the thread began.
    fn look(&mut self, shared: &Shared, at: Duration) -> PriorityOrders {
        if shared.failed_turns.load(Relaxed) > 0 {
            let why = "the autopilot fails, and nobody knows what L0 has";
            return PriorityOrder::normal(why).into();
        }
        if shared.events.background_error().is_some() {
            let why = "RocksDB waits for merges to end before it takes writes again";
            return PriorityOrder::normal(why).called_back().into();
        }
        let since = at.saturating_sub(self.at).as_secs_f64().max(1e-3);
        self.at = at;
        let stall = shared.stall();
        let before = std::mem::replace(&mut self.stall, stall);
        let families: Vec<_> = shared.families.read().values().cloned().collect();
        self.written
            .retain(|name, _| families.iter().any(|family| family.name == *name));
        let bounds = shared.settings.debt_bounds();
        let got_on = self.got_on(&shared.priorities, since);
        let moment = Moment {
            at,
            served: got_on.served,
            moving: got_on.moving,
            awaited_moving: got_on.awaited_moving,
            stalled: stall > before,
            level0: families
                .iter()
                .map(|family| self.level0(shared, family, bounds.max_level0_files, since))
                .collect(),
            max_delayed_bytes: bounds.max_delayed_bytes,
            room_waits: families.iter().any(|it| it.view.lock().room_waits),
        };
        self.decides.after(&moment)
    }

    /// How those got on that give way, the worst of them.
    fn got_on(&mut self, priorities: &Priorities, since: f64) -> GotOn {
        let workers = priorities.workers.lock().clone();
        let each = workers.iter().filter_map(|it| self.of_worker(it, since));
        each.fold(GotOn::default(), GotOn::and)
    }

    fn of_worker(&mut self, worker: &Worker, since: f64) -> Option<GotOn> {
        let now = Seen {
            waited: Waited::of(worker.thread)?,
            at_device: worker.at_device.load(SeqCst),
        };
        let before = self.workers.insert(worker.thread.number(), now)?;
        let asked = now.waited.since(&before.waited);
        let gives_way = worker.at_processors.load(SeqCst);
        let waits = now.at_device && before.at_device && waits_for_device(worker.thread);
        let share = |time: Duration| time.as_secs_f64() / since;
        let awaited = worker.awaited.load(SeqCst);
        Some(GotOn {
            served: asked.served().filter(|_| gives_way),
            moving: waits.then(|| share(asked.total())),
            awaited_moving: (waits && awaited).then(|| share(asked.ran)),
        })
    }

    fn level0(&mut self, shared: &Shared, family: &Family, bound: usize, since: f64) -> Level0 {
        let settings = &family.hooks.settings;
        let own = settings.debt_bounds().max_level0_files;
        let (files, bytes) = family.level0_now();
        Level0 {
            files,
            trigger: family.level0_trigger(),
            max_files: bound.min(own),
            bytes,
            write_buffer_size: settings.write_buffer_size,
            inflow: self.inflow(shared, family, since),
        }
    }

    /// Under attach what is written to all families counts for each, where anybody counts it.
    fn inflow(&mut self, shared: &Shared, family: &Family, since: f64) -> Option<f64> {
        if shared.attached && shared.rocks_statistics.is_none() {
            return None;
        }
        let now = match shared.attached {
            true => shared.written(),
            false => family.counters.user_write_bytes(),
        };
        let known = self
            .written
            .entry(family.name.clone())
            .or_insert((now, 0.0));
        let (before, mean) = *known;
        let rate = now.saturating_sub(before) as f64 / since;
        *known = (now, mean + NEWEST * (rate - mean));
        Some(known.1)
    }
}

/// What threads had of the processors, and how long they waited for them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Waited {
    ran: Duration,
    waited: Duration,
}

impl Waited {
    /// Of one thread.
    pub(super) fn of(thread: ThreadId) -> Option<Waited> {
        let place = format!("/proc/self/task/{}/schedstat", thread.number());
        Waited::read(&fs::read_to_string(place).ok()?)
    }

    /// From `schedstat`: nanoseconds on a processor, nanoseconds in its queue, times.
    fn read(text: &str) -> Option<Waited> {
        let mut fields = text.split_whitespace().map(str::parse);
        let mut next = || fields.next()?.ok().map(Duration::from_nanos);
        Some(Waited {
            ran: next()?,
            waited: next()?,
        })
    }

    /// What came after `before`; nothing where a thread has ended.
    fn since(&self, before: &Waited) -> Waited {
        Waited {
            ran: self.ran.saturating_sub(before.ran),
            waited: self.waited.saturating_sub(before.waited),
        }
    }

    fn total(&self) -> Duration {
        self.ran.saturating_add(self.waited)
    }

    /// The share of the time that they asked for which they got.
    fn served(&self) -> Option<f64> {
        let asked = self.total();
        (asked >= ENOUGH).then(|| self.ran.as_secs_f64() / asked.as_secs_f64())
    }
}

/// Whether a thread is in a system call that waits for the device, and not for a rate limit, a
/// lock or a processor.
fn waits_for_device(thread: ThreadId) -> bool {
    let place = format!("/proc/self/task/{}/stat", thread.number());
    fs::read_to_string(place).is_ok_and(|stat| is_in_io(&stat))
}

/// State D of proc_pid_stat(5); the name before it may hold anything.
fn is_in_io(stat: &str) -> bool {
    stat.rsplit_once(") ")
        .is_some_and(|(_, state)| state.starts_with('D'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_writes_is_read() {
        let millis = Duration::from_millis;
        let read = Waited::read("3000000 7000000 12\n");
        let seen = Waited {
            ran: millis(3),
            waited: millis(7),
        };
        assert_eq!(read, Some(seen));
        assert_eq!(
            (Waited::read("3000000"), Waited::read("x 1 2")),
            (None, None)
        );
    }

    #[test]
    fn who_waits_for_the_device_is_in_state_d() {
        assert!(is_in_io("7 (lissom-worker-0) D 1 7"));
        assert!(!is_in_io("7 (a) D 1) S 1 7"));
        assert!(!is_in_io(""));
    }

    #[test]
    fn the_worst_worker_counts() {
        let of = |served, moving, awaited_moving| GotOn {
            served,
            moving,
            awaited_moving,
        };
        let worst = of(Some(0.5), None, None).and(of(Some(0.1), Some(0.3), Some(0.3)));
        let worst = worst.and(of(None, Some(0.2), None)).and(GotOn::default());
        assert_eq!((worst.served, worst.moving), (Some(0.1), Some(0.2)));
        assert_eq!(worst.awaited_moving, Some(0.3));
    }

    #[test]
    fn who_asked_for_little_tells_nothing() {
        let of = |ran, waited| Waited {
            ran: Duration::from_millis(ran),
            waited: Duration::from_millis(waited),
        };
        let served = |now: Waited| now.since(&of(100, 100)).served();
        assert_eq!(served(of(110, 130)), Some(0.25));
        assert_eq!(served(of(100, 200)), Some(0.0));
        assert_eq!(served(of(109, 110)), None);
        assert_eq!(served(of(0, 0)), None, "a worker has ended");
    }
}
