//! The priority at which workers merge, and the thread that keeps them at the right one.
//!
//! No lock is held by a thread at idle priority: it may wait for a processor for seconds, and
//! whoever has to call it back would wait for it.

mod obstacle;
#[cfg(test)]
mod tests;
mod watch;

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use lissom_core::schedule::{CpuPriority, PriorityOrder};
use parking_lot::{Condvar, Mutex};

pub(super) use self::watch::keep;
use crate::ffi::thread::ThreadId;
use crate::settings::Settings;

type SetPriority = fn(ThreadId, CpuPriority) -> io::Result<()>;

/// The priority that holds, and whom it holds for.
pub(super) struct Priorities {
    set_priority: SetPriority,
    /// What holds. Absent at first, and where merges never give way.
    order: Mutex<Option<PriorityOrder>>,
    /// Why merges never give way, where they do not: whoever goes to idle priority has to be
    /// able to come back, or a merge that is needed could be starved for minutes.
    obstacle: Mutex<Option<String>>,
    /// Whether a merge that begins now gives way.
    idle: AtomicBool,
    workers: Mutex<Vec<ThreadId>>,
    ended: Mutex<bool>,
    ends: Condvar,
}

impl Priorities {
    /// For workers of such settings.
    pub(super) fn new(settings: &Settings) -> Priorities {
        Priorities::with(ThreadId::set_priority, obstacle::of(settings))
    }

    fn with(set_priority: SetPriority, obstacle: Option<String>) -> Priorities {
        Priorities {
            set_priority,
            order: Mutex::default(),
            obstacle: Mutex::new(obstacle),
            idle: AtomicBool::new(false),
            workers: Mutex::default(),
            ended: Mutex::default(),
            ends: Condvar::new(),
        }
    }

    /// Why all merges run at normal priority, whatever is ordered, if they do.
    pub(super) fn obstacle(&self) -> Option<String> {
        self.obstacle.lock().clone()
    }

    /// What holds now.
    pub(super) fn order(&self) -> PriorityOrder {
        if let Some(why) = self.obstacle() {
            return PriorityOrder::normal(why);
        }
        let order = self.order.lock().clone();
        order.unwrap_or_else(|| PriorityOrder::normal("nothing was seen yet"))
    }

    /// Holds from now on. Merges that run at idle priority go on at normal priority, and none
    /// the other way: where it was needed a moment ago it will be again.
    fn set(&self, order: PriorityOrder) {
        let ended = self.ended.lock();
        let idle = order.priority == CpuPriority::Idle && !*ended && self.obstacle().is_none();
        *self.order.lock() = Some(order);
        self.idle.store(idle, SeqCst);
        drop(ended);
        if !idle {
            self.call_back();
        }
    }

    /// The calling thread is a worker. It gives way at the processors, not at the device: there
    /// a merge that nobody lets through would not be seen to be starved.
    pub(super) fn enlist(&self) {
        if self.obstacle().is_none()
            && let Err(error) = ThreadId::keep_io_priority()
        {
            let why = "a worker at idle priority would wait for the device until nobody else does";
            self.lose(format!("{why}: {error}"));
        }
        self.workers.lock().extend(ThreadId::current());
    }

    /// Merges that run go on at normal priority: somebody waits for their end.
    pub(super) fn call_back(&self) {
        for worker in &*self.workers.lock() {
            self.come_back(*worker);
        }
    }

    /// From now on nothing gives way: the autopilot ends.
    pub(super) fn end(&self) {
        *self.ended.lock() = true;
        self.idle.store(false, SeqCst);
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

    /// Does work of a worker at the priority that holds. After it the thread is at normal
    /// priority, where it may take locks again.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let _guard = self.give_way();
        work()
    }

    fn give_way(&self) -> Option<GivesWay<'_>> {
        if !self.idle.load(SeqCst) {
            return None;
        }
        // What could be done at the start may be forbidden by now, as to a process that has
        // given up its rights.
        if let Err(why) = obstacle::may_come_back() {
            self.lose(why);
            return None;
        }
        let own = ThreadId::current()?;
        (self.set_priority)(own, CpuPriority::Idle).ok()?;
        let guard = GivesWay {
            priorities: self,
            own,
        };
        // Who called all back meanwhile may have come before this thread went.
        self.idle.load(SeqCst).then_some(guard)
    }

    fn come_back(&self, thread: ThreadId) {
        if let Err(error) = (self.set_priority)(thread, CpuPriority::Normal)
            && error.kind() == io::ErrorKind::PermissionDenied
        {
            let why = "a worker cannot come back from idle priority: open the database anew";
            self.lose(why.into());
        }
    }

    /// Nobody gives way any more.
    fn lose(&self, why: String) {
        self.idle.store(false, SeqCst);
        self.obstacle.lock().get_or_insert(why);
    }
}

/// A worker at idle priority, until this is dropped.
struct GivesWay<'a> {
    priorities: &'a Priorities,
    own: ThreadId,
}

impl Drop for GivesWay<'_> {
    fn drop(&mut self) {
        self.priorities.come_back(self.own);
    }
}
