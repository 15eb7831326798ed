//! The priorities at which workers merge, and the thread that keeps them at the right ones.
//!
//! A merge gives way only while it reads and writes entries (`gives_way`): before and after, it
//! takes the lock of the database and writes the manifest, for which flushes wait.

mod device;
mod gives_way;
mod obstacle;
#[cfg(test)]
mod tests;
mod watch;

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use lissom_core::planner::Urged;
use lissom_core::schedule::{Priority, PriorityOrder, PriorityOrders};
use lissom_core::{DrainId, Plan};
use parking_lot::{Condvar, Mutex};

use self::gives_way::GivesWay;
pub(super) use self::obstacle::{Obstacles, Place};
pub(super) use self::watch::keep;
use crate::events::stages::telling;
use crate::ffi::thread::{IoPlace, ThreadId};

/// What the kernel is asked for.
#[derive(Clone, Copy)]
struct Calls {
    set_cpu: fn(ThreadId, Priority) -> io::Result<()>,
    set_io: fn(ThreadId, IoPlace) -> io::Result<()>,
    may_come_back: fn() -> Result<(), String>,
}

const KERNEL: Calls = Calls {
    set_cpu: ThreadId::set_cpu_priority,
    set_io: ThreadId::set_io_place,
    may_come_back: obstacle::may_come_back,
};

/// A thread that merges.
struct Worker {
    thread: ThreadId,
    /// Its own place at the device.
    place: IoPlace,
    /// RocksDB merges entries on it.
    merges: AtomicBool,
    /// What it merges gives way everywhere, or would if it were not needed, or had not been a while
    /// ago: none goes back that was called back.
    gives_way: AtomicBool,
    /// What it merges may give way at the device.
    may_at_device: AtomicBool,
    /// L0 does not wait for what it merges.
    deep: AtomicBool,
    /// Reads wait for it.
    awaited: AtomicBool,
    /// The drain that what it merges is a piece of.
    drain: Mutex<Option<DrainOf>>,
    /// Where it gives way now.
    at_processors: AtomicBool,
    at_device: AtomicBool,
}

/// Whether a merge that begins now gives way at the processors, and at the device.
#[derive(Default)]
struct GiveWay {
    cpu: AtomicBool,
    io: AtomicBool,
}

impl GiveWay {
    fn set(&self, (cpu, io): (bool, bool)) {
        self.cpu.store(cpu, SeqCst);
        self.io.store(io, SeqCst);
    }
}

/// The priorities that hold, and whom they hold for.
pub(super) struct Priorities {
    calls: Calls,
    /// What was ordered last. Absent at first.
    orders: Mutex<Option<PriorityOrders>>,
    /// Why merges never give way, where they do not.
    obstacles: Mutex<Obstacles>,
    /// Merges that make room for L0, and those for which it does not wait.
    level0: GiveWay,
    deep: GiveWay,
    /// Those of both that reads wait for give way only where this says so, too.
    awaited: GiveWay,
    /// Who waits for the end of merges, and lets none give way meanwhile.
    urgent: AtomicUsize,
    workers: Mutex<Vec<Arc<Worker>>>,
    ended: Mutex<bool>,
    ends: Condvar,
}

impl Priorities {
    /// For workers between these obstacles.
    pub(super) fn new(obstacles: Obstacles) -> Priorities {
        Priorities::with(KERNEL, obstacles)
    }

    fn with(calls: Calls, obstacles: Obstacles) -> Priorities {
        Priorities {
            calls,
            orders: Mutex::default(),
            obstacles: Mutex::new(obstacles),
            level0: GiveWay::default(),
            deep: GiveWay::default(),
            awaited: GiveWay::default(),
            urgent: AtomicUsize::new(0),
            workers: Mutex::default(),
            ended: Mutex::default(),
            ends: Condvar::new(),
        }
    }

    /// Why merges do not give way, whatever is ordered.
    fn obstacles(&self) -> Obstacles {
        self.obstacles.lock().clone()
    }

    /// What holds now.
    pub(super) fn orders(&self) -> PriorityOrders {
        let orders = self.orders.lock().clone();
        let orders = orders.unwrap_or_else(|| PriorityOrder::normal("nothing was seen yet").into());
        let obstacles = self.obstacles();
        PriorityOrders {
            level0: obstacles.bound(orders.level0),
            deep: obstacles.bound(orders.deep),
            awaited: obstacles.bound(orders.awaited),
        }
    }

    /// Whether all merges give way at the processors and at a device that is known to heed it,
    /// those that run and those that begin, or would if they were not needed now.
    pub(super) fn all_give_way(&self) -> bool {
        if !self.obstacles.lock().nowhere() {
            return false;
        }
        let gives_way = |it: &Arc<Worker>| !it.merges.load(SeqCst) || it.gives_way.load(SeqCst);
        let order = self.orders().level0;
        order.called_back
            || order.gives_way_everywhere() && self.workers.lock().iter().all(gives_way)
    }

    /// Whether what a worker merges would give way everywhere if it were not needed now.
    fn would_give_way(&self, worker: &Worker) -> bool {
        let orders = self.orders.lock();
        let Some(orders) = orders.as_ref() else {
            return false;
        };
        let own = match worker.deep.load(SeqCst) {
            true => &orders.deep,
            false => &orders.level0,
        };
        let called_back =
            own.called_back || worker.awaited.load(SeqCst) && orders.awaited.called_back;
        called_back && worker.may_at_device.load(SeqCst)
    }

    /// Holds from now on. Merges that run at idle priority go on at normal priority, and none
    /// the other way: where it was needed a moment ago it will be again.
    fn set(&self, orders: impl Into<PriorityOrders>) {
        let orders = orders.into();
        let ended = self.ended.lock();
        let idle = |priority| priority == Priority::Idle && !*ended;
        let of = |order: &PriorityOrder| (idle(order.cpu), idle(order.io));
        self.level0.set(of(&orders.level0));
        self.deep.set(of(&orders.deep));
        self.awaited.set(of(&orders.awaited));
        *self.orders.lock() = Some(orders);
        drop(ended);
        for worker in &*self.workers.lock() {
            self.heed(worker);
        }
    }

    /// A worker comes back from where what it merges may not give way.
    fn heed(&self, worker: &Worker) {
        if !worker.may_at_device.load(SeqCst) || !self.ordered(worker, |it| &it.io) {
            self.come_back_to_device(worker);
        }
        if !self.ordered(worker, |it| &it.cpu) {
            self.come_back_to_processors(worker);
        }
    }

    /// Pieces of these drains of a column family, which run, matter more from now on than their
    /// plans said.
    pub(super) fn urge(&self, family: &str, urged: &Urged) {
        for worker in &*self.workers.lock() {
            let drain = worker.drain.lock();
            let id = drain.as_ref().filter(|(of, _)| of == family);
            let Some(id) = id.map(|(_, id)| *id) else {
                continue;
            };
            drop(drain);
            if urged.awaited.contains(&id) {
                worker.awaited.store(true, SeqCst);
            }
            if urged.hurried.contains(&id) {
                worker.deep.store(false, SeqCst);
            }
            self.heed(worker);
        }
    }

    /// The calling thread is a worker.
    pub(super) fn enlist(&self) {
        if self.obstacles().everywhere() {
            return;
        }
        // Otherwise its place at the device would follow its priority at the processors.
        match (ThreadId::current(), ThreadId::keep_io_place()) {
            (Some(thread), Ok(place)) => self.workers.lock().push(Arc::new(Worker {
                thread,
                place,
                merges: AtomicBool::new(false),
                gives_way: AtomicBool::new(false),
                may_at_device: AtomicBool::new(false),
                deep: AtomicBool::new(false),
                awaited: AtomicBool::new(false),
                drain: Mutex::default(),
                at_processors: AtomicBool::new(false),
                at_device: AtomicBool::new(false),
            })),
            (_, Err(error)) => {
                let why = "a thread cannot keep its place at the device";
                self.lose(&format!("{why}: {error}"));
            }
            (None, _) => self.lose("threads have no number here"),
        }
    }

    /// Until what is returned is dropped, merges go on at normal priority, those that run and
    /// those that begin: somebody waits for their end.
    pub(super) fn urgent(&self) -> Urgent<'_> {
        self.urgent.fetch_add(1, SeqCst);
        self.call_back();
        Urgent(&self.urgent)
    }

    fn call_back(&self) {
        for worker in &*self.workers.lock() {
            self.come_back_to_device(worker);
            self.come_back_to_processors(worker);
        }
    }

    /// From now on nothing gives way: the autopilot ends.
    pub(super) fn end(&self) {
        *self.ended.lock() = true;
        self.level0.set((false, false));
        self.deep.set((false, false));
        self.awaited.set((false, false));
        self.ends.notify_all();
        self.call_back();
    }

    /// Waits as long; whether the autopilot goes on.
    fn wait(&self, time: Duration) -> bool {
        let mut ended = self.ended.lock();
        if !*ended {
            self.ends.wait_for(&mut ended, time);
        }
        !*ended
    }

    /// Merges at the priorities that hold for such a merge. After it the thread is at normal ones.
    pub(super) fn during<T>(self: &Arc<Self>, it: Which, merge: impl FnOnce() -> T) -> T {
        let own = ThreadId::current();
        let workers = self.workers.lock();
        let own = workers.iter().find(|it| Some(it.thread) == own).cloned();
        drop(workers);
        let Some(own) = own else {
            return merge();
        };
        own.may_at_device.store(it.may_at_device, SeqCst);
        own.deep.store(it.deep, SeqCst);
        own.awaited.store(it.awaited, SeqCst);
        *own.drain.lock() = it.drain;
        let gives_way = GivesWay::new(self.clone(), own);
        telling(Rc::new(gives_way), merge)
    }

    fn come_back_to_processors(&self, worker: &Worker) {
        if !worker.at_processors.swap(false, SeqCst) {
            return;
        }
        if let Err(error) = (self.calls.set_cpu)(worker.thread, Priority::Normal)
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let why = "a worker cannot come back from idle priority: open the database anew";
            self.lose_processors(why);
        }
    }

    // Who is gone needs no place. The kernel forbids a way back to the real-time class alone, to
    // a process that has given up the right to it.
    fn come_back_to_device(&self, worker: &Worker) {
        if worker.at_device.swap(false, SeqCst) {
            let _ = (self.calls.set_io)(worker.thread, worker.place);
        }
    }

    /// Nobody gives way any more: of threads that cannot be called back.
    pub(super) fn lose(&self, why: &str) {
        self.lose_processors(why);
        self.obstacles.lock().io.get_or_insert(why.to_owned());
        self.call_back();
    }

    /// Nobody gives way at the processors any more.
    fn lose_processors(&self, why: &str) {
        self.obstacles.lock().cpu.get_or_insert(why.to_owned());
    }

    /// Whether orders have what a worker merges give way at a place.
    fn ordered(&self, worker: &Worker, place: fn(&GiveWay) -> &AtomicBool) -> bool {
        let of = |order| place(order).load(SeqCst);
        let own = match worker.deep.load(SeqCst) {
            true => &self.deep,
            false => &self.level0,
        };
        of(own) && (!worker.awaited.load(SeqCst) || of(&self.awaited))
    }

    fn may_at_processors(&self, worker: &Worker) -> bool {
        let hindered = self.obstacles.lock().cpu.is_some();
        let ordered = self.ordered(worker, |it| &it.cpu);
        ordered && self.urgent.load(SeqCst) == 0 && !hindered
    }

    fn may_at_device(&self, worker: &Worker) -> bool {
        let hindered = self.obstacles.lock().io.is_some();
        let ordered = self.ordered(worker, |it| &it.io);
        let may = ordered && worker.may_at_device.load(SeqCst);
        may && self.urgent.load(SeqCst) == 0 && !hindered
    }
}

/// A drain, and its column family.
type DrainOf = (String, DrainId);

/// A merge, as far as its priority goes by it.
#[derive(Clone)]
pub(super) struct Which {
    /// It may give way at the device.
    may_at_device: bool,
    /// L0 does not wait for it.
    deep: bool,
    /// Reads wait for it.
    awaited: bool,
    /// The drain that it is a piece of, which may come to [matter more](Priorities::urge).
    drain: Option<DrainOf>,
}

impl Which {
    /// Of this plan of a column family.
    pub(super) fn of(family: &str, plan: &Plan) -> Which {
        Which {
            may_at_device: plan.may_give_way_at_device(),
            deep: !plan.makes_room_for_level0(),
            awaited: plan.is_awaited_by_reads(),
            drain: plan.drain.map(|id| (family.to_owned(), id)),
        }
    }
}

/// While it lives, nothing gives way.
pub(super) struct Urgent<'a>(&'a AtomicUsize);

impl Drop for Urgent<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
