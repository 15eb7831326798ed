//! The priorities at which workers merge, and the thread that keeps them at the right ones.
//!
//! A merge gives way only while it reads and writes entries ([`Merging`]): before and after, it
//! takes locks of RocksDB's and writes its manifest, for which flushes wait. So nobody holds
//! anything at idle priority that those who have to call it back would wait for.

mod device;
mod obstacle;
#[cfg(test)]
mod tests;
mod watch;

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use lissom_core::schedule::{Priority, PriorityOrder};
use parking_lot::{Condvar, Mutex};

use self::obstacle::Obstacles;
pub(super) use self::watch::keep;
use crate::events::stages::{Merging, telling};
use crate::ffi::thread::{IoPlace, ThreadId};
use crate::settings::Settings;

/// What changes the priorities of a thread.
#[derive(Clone, Copy)]
struct Calls {
    cpu: fn(ThreadId, Priority) -> io::Result<()>,
    io: fn(ThreadId, IoPlace) -> io::Result<()>,
}

/// The kernel's.
const CALLS: Calls = Calls {
    cpu: ThreadId::set_cpu_priority,
    io: ThreadId::set_io_place,
};

/// A thread that merges, and its own place at the device.
#[derive(Clone, Copy)]
struct Worker {
    thread: ThreadId,
    place: IoPlace,
}

/// The priorities that hold, and whom they hold for.
pub(super) struct Priorities {
    calls: Calls,
    /// What was ordered last. Absent at first.
    order: Mutex<Option<PriorityOrder>>,
    /// Why merges never give way, where they do not.
    obstacles: Mutex<Obstacles>,
    /// Whether a merge that begins now gives way at the processors, and at the device.
    cpu: AtomicBool,
    io: AtomicBool,
    workers: Mutex<Vec<Worker>>,
    /// Merges that give way at the device.
    at_device: AtomicUsize,
    ended: Mutex<bool>,
    ends: Condvar,
}

impl Priorities {
    /// For workers of such settings, over a database in this directory.
    pub(super) fn new(settings: &Settings, directory: &Path) -> Priorities {
        Priorities::with(CALLS, Obstacles::of(settings, directory))
    }

    fn with(calls: Calls, obstacles: Obstacles) -> Priorities {
        Priorities {
            calls,
            order: Mutex::default(),
            obstacles: Mutex::new(obstacles),
            cpu: AtomicBool::new(false),
            io: AtomicBool::new(false),
            workers: Mutex::default(),
            at_device: AtomicUsize::new(0),
            ended: Mutex::default(),
            ends: Condvar::new(),
        }
    }

    /// Why merges do not give way, whatever is ordered.
    fn obstacles(&self) -> Obstacles {
        self.obstacles.lock().clone()
    }

    /// What holds now.
    pub(super) fn order(&self) -> PriorityOrder {
        let order = self.order.lock().clone();
        let order = order.unwrap_or_else(|| PriorityOrder::normal("nothing was seen yet"));
        self.obstacles().bound(order)
    }

    /// Holds from now on. Merges that run at idle priority go on at normal priority, and none
    /// the other way: where it was needed a moment ago it will be again.
    fn set(&self, order: PriorityOrder) {
        let ended = self.ended.lock();
        let bound = self.obstacles().bound(order.clone());
        let idle = |priority| priority == Priority::Idle && !*ended;
        let (cpu, io) = (idle(bound.cpu), idle(bound.io));
        *self.order.lock() = Some(order);
        self.cpu.store(cpu, SeqCst);
        self.io.store(io, SeqCst);
        drop(ended);
        for worker in &*self.workers.lock() {
            if !io {
                self.come_back_to_device(*worker);
            }
            if !cpu {
                self.come_back(worker.thread);
            }
        }
    }

    /// The calling thread is a worker.
    pub(super) fn enlist(&self) {
        if self.obstacles().everywhere() {
            return;
        }
        // Otherwise it would follow the priority at the processors.
        match (ThreadId::current(), ThreadId::keep_io_place()) {
            (Some(thread), Ok(place)) => self.workers.lock().push(Worker { thread, place }),
            (_, Err(error)) => self.lose(&format!("a thread cannot keep its place there: {error}")),
            (None, _) => self.lose("threads have no number here"),
        }
    }

    /// Merges that run go on at normal priority: somebody waits for their end.
    pub(super) fn call_back(&self) {
        for worker in &*self.workers.lock() {
            self.come_back_to_device(*worker);
            self.come_back(worker.thread);
        }
    }

    /// From now on nothing gives way: the autopilot ends.
    pub(super) fn end(&self) {
        *self.ended.lock() = true;
        self.cpu.store(false, SeqCst);
        self.io.store(false, SeqCst);
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

    /// Merges at the priorities that hold. After it the thread is at normal ones.
    pub(super) fn during<T>(self: &Arc<Self>, merge: impl FnOnce() -> T) -> T {
        let own = ThreadId::current();
        let workers = self.workers.lock();
        let own = workers.iter().find(|it| Some(it.thread) == own).copied();
        drop(workers);
        let Some(own) = own else {
            return merge();
        };
        let gives_way = GivesWay {
            priorities: self.clone(),
            own,
            at_processors: Cell::default(),
            at_device: Cell::default(),
        };
        telling(Rc::new(gives_way), merge)
    }

    fn come_back(&self, thread: ThreadId) {
        if let Err(error) = (self.calls.cpu)(thread, Priority::Normal)
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let why = "a worker cannot come back from idle priority: open the database anew";
            self.lose_processors(why);
        }
    }

    // Who is gone needs no place, and nobody is forbidden to come back to one.
    fn come_back_to_device(&self, worker: Worker) {
        let _ = (self.calls.io)(worker.thread, worker.place);
    }

    /// Nobody gives way any more.
    fn lose(&self, why: &str) {
        self.lose_processors(why);
        self.io.store(false, SeqCst);
        self.obstacles.lock().io.get_or_insert(why.to_owned());
    }

    /// Nobody gives way at the processors any more.
    fn lose_processors(&self, why: &str) {
        self.cpu.store(false, SeqCst);
        self.obstacles.lock().cpu.get_or_insert(why.to_owned());
    }
}

/// A worker that may give way while it merges.
struct GivesWay {
    priorities: Arc<Priorities>,
    own: Worker,
    at_processors: Cell<bool>,
    at_device: Cell<bool>,
}

impl GivesWay {
    // Who called all back meanwhile may have come before this thread went: so what holds is
    // looked at once more afterwards.
    fn at_device(&self) {
        let Priorities { io, calls, .. } = &*self.priorities;
        if io.load(SeqCst) && (calls.io)(self.own.thread, IoPlace::IDLE).is_ok() {
            self.at_device.set(true);
            self.priorities.at_device.fetch_add(1, SeqCst);
            if !io.load(SeqCst) {
                self.priorities.come_back_to_device(self.own);
            }
        }
    }

    fn at_processors(&self) {
        let Priorities { cpu, calls, .. } = &*self.priorities;
        if !cpu.load(SeqCst) {
            return;
        }
        // What could be done at the start may be forbidden by now, as to a process that has
        // given up its rights.
        if let Err(why) = obstacle::may_come_back() {
            return self.priorities.lose_processors(&why);
        }
        if (calls.cpu)(self.own.thread, Priority::Idle).is_ok() {
            self.at_processors.set(true);
            if !cpu.load(SeqCst) {
                self.priorities.come_back(self.own.thread);
            }
        }
    }
}

impl Merging for GivesWay {
    fn begins(&self) {
        self.at_device();
        self.at_processors();
    }

    fn ends(&self) {
        if self.at_processors.take() {
            self.priorities.come_back(self.own.thread);
        }
        if self.at_device.take() {
            self.priorities.at_device.fetch_sub(1, SeqCst);
            self.priorities.come_back_to_device(self.own);
        }
    }
}

impl Drop for GivesWay {
    fn drop(&mut self) {
        self.ends();
    }
}
