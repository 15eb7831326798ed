//! A worker's way to idle priority as it begins to merge entries, and back.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use lissom_core::schedule::Priority;

use super::{Priorities, Worker};
use crate::events::stages::Merging;
use crate::ffi::thread::IoPlace;

/// A worker that may give way while it merges.
pub(super) struct GivesWay {
    priorities: Arc<Priorities>,
    own: Arc<Worker>,
    /// Where it went; it may have been called back since.
    to_processors: Cell<bool>,
    to_device: Cell<bool>,
}

// Who calls back may come before this thread goes, and find nobody: so whether it may is looked
// at once more afterwards.
impl GivesWay {
    /// Before it merges.
    pub(super) fn new(priorities: Arc<Priorities>, own: Arc<Worker>) -> GivesWay {
        GivesWay {
            priorities,
            own,
            to_processors: Cell::default(),
            to_device: Cell::default(),
        }
    }

    /// Whether it went, though it may have been called back at once.
    fn go_to_device(&self) -> bool {
        let priorities = &*self.priorities;
        if !priorities.may_at_device(&self.own) {
            return false;
        }
        self.to_device.set(true);
        let gone = (priorities.calls.set_io)(self.own.thread, IoPlace::IDLE);
        self.own.at_device.store(true, SeqCst);
        if gone.is_err() || !priorities.may_at_device(&self.own) {
            priorities.come_back_to_device(&self.own);
        }
        gone.is_ok()
    }

    /// The same at the processors.
    fn go_to_processors(&self) -> bool {
        let priorities = &*self.priorities;
        if !priorities.may_at_processors(&self.own) {
            return false;
        }
        // What could be done at the start may be forbidden by now, as to a process that has
        // given up its rights.
        if let Err(why) = (priorities.calls.may_come_back)() {
            priorities.lose_processors(&why);
            return false;
        }
        self.to_processors.set(true);
        let gone = (priorities.calls.set_cpu)(self.own.thread, Priority::Idle);
        self.own.at_processors.store(true, SeqCst);
        if gone.is_err() || !priorities.may_at_processors(&self.own) {
            priorities.come_back_to_processors(&self.own);
        }
        gone.is_ok()
    }
}

impl Merging for GivesWay {
    fn begins(&self) {
        let went = [self.go_to_device(), self.go_to_processors()];
        let would = self.priorities.would_give_way(&self.own);
        let gives_way = went == [true; 2] || would;
        self.own.gives_way.store(gives_way, SeqCst);
        self.own.merges.store(true, SeqCst);
    }

    // Who calls back says that it has before it does, and may not have done it yet.
    fn ends(&self) {
        if self.to_processors.take() {
            self.own.at_processors.store(true, SeqCst);
            self.priorities.come_back_to_processors(&self.own);
        }
        if self.to_device.take() {
            self.own.at_device.store(true, SeqCst);
            self.priorities.come_back_to_device(&self.own);
        }
        self.own.merges.store(false, SeqCst);
    }
}

impl Drop for GivesWay {
    fn drop(&mut self) {
        *self.own.drain.lock() = None;
        self.ends();
    }
}
