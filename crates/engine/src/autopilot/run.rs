//! The planner thread: one for all column families of a database.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lissom_core::schedule::Order;

use super::applying;
use super::memory::Memory;
use super::pilot::Pilot;
use super::scheduler::{Scheduler, free_writers};
use super::shared::{Failing, Request, Shared};
use crate::error::{Error, Result};
use crate::events::BackgroundError;
use crate::files::{pin, request};

/// How long the planner thread sleeps at most; missions end on time to within this.
const TICK: Duration = Duration::from_millis(50);

/// A column family whose round failed rests this long, doubled each time; so does the
/// thread after a panic elsewhere.
const REST: Duration = Duration::from_millis(100);
const LONGEST_REST: Duration = Duration::from_secs(10);

struct Seat {
    pilot: Pilot,
    failing: Option<Failing>,
    resting_until: Option<Instant>,
}

/// What the planner thread knows.
struct Planner {
    memory: Memory,
    scheduler: Scheduler,
    seats: BTreeMap<String, Seat>,
    recovery: Recovery,
}

/// The life of the planner thread.
pub(super) fn run(shared: &Shared, memory: Memory, scheduler: Scheduler) {
    let mut planner = Planner {
        memory,
        scheduler,
        seats: BTreeMap::new(),
        recovery: Recovery::default(),
    };
    take_turns(shared, || planner.turn(shared));
    planner.end(shared);
}

/// Takes turns until the autopilot ends; each says how long nothing needs to be done
/// after it, without news. A panic ends the turn and not the thread: the next one comes
/// after a rest, which news does not cut short.
pub(super) fn take_turns(shared: &Shared, mut turn: impl FnMut() -> Duration) {
    let mut failures = 0_u32;
    while !shared.stopping() {
        match catch_unwind(AssertUnwindSafe(&mut turn)) {
            Ok(wait) => {
                failures = 0;
                let wait = wait.max(Duration::from_millis(1));
                shared.events.bell().wait(wait);
            }
            Err(_) => {
                // What is left to merge L0 is RocksDB's brake, and nobody knows when it has to.
                shared.end_rate();
                let sentence = "the autopilot panicked between two rounds, and tries again";
                shared.complain("", sentence.into());
                rest(shared, rest_after(failures));
                failures = failures.saturating_add(1);
            }
        }
        shared.failed_turns.store(failures, Relaxed);
    }
}

/// The rest after so many failures and one more.
pub(super) fn rest_after(failures: u32) -> Duration {
    let rest = REST.saturating_mul(1 << failures.min(16));
    rest.min(LONGEST_REST)
}

fn rest(shared: &Shared, time: Duration) {
    let end = Instant::now() + time;
    while !shared.stopping() && Instant::now() < end {
        let left = end.saturating_duration_since(Instant::now());
        shared.events.bell().wait(left);
    }
}

impl Planner {
    fn turn(&mut self, shared: &Shared) -> Duration {
        take_seats(shared, &mut self.memory, &mut self.seats);
        self.recovery.try_resume(shared);
        pass_on_requests(shared);
        applying::take_up(shared);
        let pinned = pin::is_set(&shared.directory);
        let order = self.scheduler.order(shared, &mut self.memory);
        let mut wait = TICK.min(self.scheduler.wait(Instant::now()));
        let mut in_turn: Vec<_> = self.seats.iter_mut().collect();
        in_turn.sort_by_cached_key(|(_, seat)| seat.pilot.precedence());
        for (name, seat) in in_turn {
            if let Some(rest) = seat.round(shared, &mut self.memory, name, (pinned, &order)) {
                wait = wait.min(rest);
            }
        }
        free_writers(shared);
        if self.scheduler.keep_bound(shared) {
            // The rounds of the next turn obey.
            wait = Duration::ZERO;
        }
        shared.journal.flush();
        wait
    }

    /// Saves what was learned last.
    fn end(&mut self, shared: &Shared) {
        fenced(shared, "", || self.scheduler.rest(&mut self.memory));
        for (name, seat) in &mut self.seats {
            fenced(shared, name, || seat.pilot.rest(shared, &mut self.memory));
        }
        shared.journal.flush();
    }
}

fn fenced(shared: &Shared, name: &str, act: impl FnOnce() -> Result<()>) {
    let done = catch_unwind(AssertUnwindSafe(act))
        .unwrap_or_else(|_| Err(Error::bug("the autopilot panicked at its end")));
    if let Err(error) = done {
        shared.complain(name, error.to_string());
    }
}

/// What someone asks for from outside.
fn pass_on_requests(shared: &Shared) {
    let asked = match request::take(&shared.directory) {
        Ok(asked) => asked,
        Err(error) => return shared.complain("default", error.to_string()),
    };
    for name in asked {
        match shared.families.read().get(&name) {
            Some(family) => family.ask(Request::CompactAll { alone: false }),
            None => shared.complain(
                &name,
                format!("a merge of column family \"{name}\" was asked for, which does not exist"),
            ),
        }
    }
}

/// Column families come and go.
fn take_seats(shared: &Shared, memory: &mut Memory, seats: &mut BTreeMap<String, Seat>) {
    let families = shared.families.read().clone();
    let is_seated = |name: &String, seat: &Seat| {
        families
            .get(name)
            .is_some_and(|family| seat.pilot.flies(family))
    };
    let gone: Vec<String> = seats
        .iter()
        .filter(|(name, seat)| !is_seated(name, seat))
        .map(|(name, _)| name.clone())
        .collect();
    for name in gone {
        seats.remove(&name);
        if let Err(error) = memory.forget(&name) {
            shared.complain(&name, error.to_string());
        }
    }
    for (name, family) in families {
        seats.entry(name).or_insert_with_key(|name| {
            let pilot = Pilot::new(shared, family, memory);
            shared.journal.write(name, pilot.begin());
            Seat {
                pilot,
                failing: None,
                resting_until: None,
            }
        });
    }
}

impl Seat {
    fn round(
        &mut self,
        shared: &Shared,
        memory: &mut Memory,
        name: &str,
        (pinned, order): (bool, &Order),
    ) -> Option<Duration> {
        if self
            .resting_until
            .is_some_and(|until| Instant::now() < until)
        {
            return None;
        }
        let step = AssertUnwindSafe(|| self.pilot.step(shared, memory, pinned, order));
        let result: Result<Option<Duration>> = catch_unwind(step)
            .unwrap_or_else(|_| Err(Error::bug("the autopilot panicked in one round")));
        match result {
            Ok(rest) => {
                self.resting_until = None;
                let failing = self.pilot.failed_saves().cloned();
                self.tell(shared, name, failing);
                rest
            }
            Err(error) => {
                let failing = Failing::after(self.failing.as_ref(), error.to_string());
                self.resting_until = Some(Instant::now() + rest_after(failing.times - 1));
                // A round that finds no news would pass for one that went through.
                self.pilot.look_again();
                self.tell(shared, name, Some(failing));
                None
            }
        }
    }

    /// Shows what fails, and writes it down unless it is what failed the last time: what
    /// succeeds elsewhere meanwhile makes no news of it.
    fn tell(&mut self, shared: &Shared, name: &str, failing: Option<Failing>) {
        if failing == self.failing {
            return;
        }
        let before = self.failing.as_ref().map(|it| &it.why);
        if let Some(now) = &failing
            && before != Some(&now.why)
        {
            shared.complain(name, now.why.clone());
        }
        self.pilot.family.view.lock().failing.clone_from(&failing);
        self.failing = failing;
    }
}

/// RocksDB tells of an error just before it stops for it: asked in between it answers that all is
/// well, and the error would be forgotten.
const TO_STOP: Duration = Duration::from_millis(100);

/// Asking RocksDB to go on after an error that it permits to go on from.
#[derive(Default)]
struct Recovery {
    attempts: u32,
    /// Of which error, and when to ask next.
    next: Option<(String, Instant)>,
    /// That error was written into the journal.
    told: bool,
}

impl Recovery {
    /// Of an error that is seen for the first time.
    fn of(error: &BackgroundError, now: Instant) -> Recovery {
        Recovery {
            next: Some((error.message.clone(), now + TO_STOP)),
            ..Recovery::default()
        }
    }

    fn try_resume(&mut self, shared: &Shared) {
        let Some(error) = shared.events.background_error() else {
            *self = Recovery::default();
            return;
        };
        let now = Instant::now();
        let is_same = |next: &&(String, Instant)| next.0 == error.message;
        let Some((_, next)) = self.next.as_ref().filter(is_same) else {
            *self = Recovery::of(&error, now);
            let what = format!("RocksDB met an error in background work: {}", error.message);
            self.told = shared.complain_of_news("", what);
            return;
        };
        if !error.recoverable || now < *next {
            return;
        }
        match shared.events.resume(|| shared.db.resume()) {
            Ok(()) if self.told => {
                let what = "RocksDB goes on after an error in background work";
                shared.journal.note("", what);
            }
            Ok(()) => {}
            Err(_) => self.attempts += 1,
        }
        let wait = Duration::from_secs(1).saturating_mul(1 << self.attempts.min(6));
        self.next = Some((error.message, now + wait));
    }
}
