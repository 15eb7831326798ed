//! The loop body for one column family: observe, ask the tuner, plan, admit.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lissom_core::journal::{Event, TreeSummary};
use lissom_core::schedule::{Debt, DeepOrder, Level0Order, Order};
use lissom_core::shape::RunLimits;
use lissom_core::tuner::{Policy, Question};
use lissom_core::{Layout, Observation, Plan, Tree, TreeState, planner};
use rust_rocksdb::{AsColumnFamilyRef, BoundColumnFamily};

use super::debt::{debt_bytes, deep_bytes};
use super::learner::Learner;
use super::memory::Memory;
use super::mission::Clock;
use super::publish::Published;
use super::quarantine::Quarantine;
use super::shared::{Family, Request, Shared};
use crate::error::{Error, Result};
use crate::files::state::StoredFamily;
use crate::observe::{Seen, observe};

/// Without news the tree is looked at this often: some changes, such as
/// DeleteFilesInRange, are no events of RocksDB's.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);

/// While all workers are busy, news can wait this long: nothing could start.
const LOOK_WHEN_BUSY: Duration = Duration::from_millis(100);

/// What a tuner has learned is saved this often.
const SAVE_EVERY: Duration = Duration::from_secs(10);

/// The planner thread's knowledge of one column family.
pub(super) struct Pilot {
    pub(super) family: Arc<Family>,
    /// RocksDB's number for it.
    id: Option<u32>,
    pub(super) state: TreeState,
    pub(super) learner: Learner,
    /// How long the learner took for its last answer.
    pub(super) answered_in: Duration,
    /// What the schedule lets run.
    pub(super) order: Order,
    pub(super) clock: Clock,
    pub(super) published: Published,
    /// Limits that someone set by hand, until they are taken up.
    pub(super) wanted: Option<RunLimits>,
    pub(super) looked: Option<Look>,
    pub(super) saved: Instant,
    /// Something was planned that could not start.
    pub(super) waiting: bool,
    pub(super) options: Option<(Instant, Option<usize>)>,
    /// Why the present options would be refused at open.
    pub(super) foreign: Option<String>,
    pub(super) last_started: Instant,
}

/// When the tree was last looked at, and at which counts.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) at: Instant,
    pub(super) changes: u64,
    pub(super) ended: u64,
}

impl Pilot {
    pub(super) fn new(shared: &Shared, family: Arc<Family>, memory: &Memory) -> Pilot {
        let settings = &family.hooks.settings;
        let policy = settings.policy.clone();
        let mut learner = Learner::new(policy.tuner_exploring(settings.exploration));
        let id = shared.db.cf_handle(&family.name).map(|handle| handle.id());
        let stored = memory.family(&family.name);
        if stored.is_some_and(|stored| !stored.is_of(id)) {
            let text = "what was known of a dropped column family of this name is left aside";
            shared.journal.note(&family.name, text);
        }
        let stored = stored.filter(|stored| stored.is_of(id));
        if let Some(stored) = stored {
            *family.quarantine.lock() = Quarantine::remembered(stored.unreadable.clone());
            if stored.policy == learner.name()
                && let Err(why) = learner.restore(&stored.tuner)
            {
                shared.journal.note(&family.name, why);
            }
        }
        let state = stored.map_or_else(
            || TreeState::new(policy.first_limits()),
            |stored| stored.tree.clone(),
        );
        let wanted = fixed_limits(&policy).filter(|limits| *limits != state.limits);
        let now = Instant::now();
        Pilot {
            clock: Clock::new(shared, &family, now),
            family,
            id,
            state,
            learner,
            answered_in: Duration::ZERO,
            order: shared.schedule.lock().order.clone(),
            published: Published::default(),
            wanted,
            looked: None,
            saved: now,
            waiting: false,
            options: None,
            foreign: None,
            last_started: now,
        }
    }

    /// Who is served first while workers are few: column families whose L0 is
    /// over its trigger, then those that have waited longest.
    pub(super) fn precedence(&self) -> impl Ord + use<> {
        let trigger = self.family.shape.level0_file_num_compaction_trigger as usize;
        let level0_files = self.family.view.lock().tree.level0_files;
        (level0_files < trigger, self.last_started)
    }

    /// Whether this is the pilot of a column family, not of one that was dropped
    /// and had the same name.
    pub(super) fn flies(&self, family: &Arc<Family>) -> bool {
        Arc::ptr_eq(&self.family, family)
    }

    /// What the journal begins with.
    pub(super) fn begin(&self) -> Event {
        Event::Begin {
            version: lissom_core::journal::VERSION,
            policy: self.learner.name().to_owned(),
            limits: self.state.limits.clone(),
        }
    }

    /// One round. Returns how long nothing needs to be done, without news.
    pub(super) fn step(
        &mut self,
        shared: &Shared,
        memory: &mut Memory,
        pinned: bool,
        order: &Order,
    ) -> Result<Option<Duration>> {
        let Some(handle) = shared.db.cf_handle(&self.family.name) else {
            return Ok(None);
        };
        let now = Instant::now();
        let asked = self.take_requests(pinned);
        let mission_over = self.clock.is_over(shared, &self.family, now);
        let resting = self.family.back_off.lock().remaining(now);
        // While nothing may start, the tree is not looked at for what waits: a look
        // holds RocksDB's mutex.
        let due = self.waiting && resting.is_none() && self.free_workers(shared, &handle, now) > 0;
        let new_order = !self.order.is_like(order);
        if !(asked || mission_over || due || new_order || self.has_news(shared, now)) {
            return Ok(resting);
        }
        self.order.clone_from(order);
        let (mut seen, busy_elsewhere) = self.look(shared, &handle, pinned, now)?;
        self.keep_bound(shared, &mut seen);
        if mission_over {
            self.end_mission(shared, &mut seen, now);
        }
        self.take_up_wanted(&mut seen);
        let plans = self.plan(shared, &mut seen)?;
        self.remember(memory, now)?;
        self.published.guards(&self.family.hooks, &seen)?;
        if let Err(error) = self.published.filters(&self.family.hooks, &seen, &handle) {
            // No reason to merge nothing: new files get the bits of before.
            let sentence = format!("the filters' bits stay as they are: {error}");
            shared.complain(&self.family.name, sentence);
        }
        self.show(&seen, &plans, busy_elsewhere);
        let free = self.free_workers(shared, &handle, now);
        self.waiting = !plans.is_empty();
        if resting.is_none() && free > 0 && !plans.is_empty() {
            self.dispatch(shared, seen, plans, free);
        }
        Ok(resting)
    }

    fn take_requests(&mut self, pinned: bool) -> bool {
        let requests = {
            let mut waiting = self.family.requests.lock();
            if !waiting.is_empty() {
                // Until the tree is looked at with them in mind, it is not idle.
                self.family.view.lock().idle_at = None;
            }
            std::mem::take(&mut *waiting)
        };
        let any = !requests.is_empty();
        for request in requests {
            match request {
                Request::Tuner(tuner, limits) => {
                    self.learner = Learner::new(tuner);
                    self.answered_in = Duration::ZERO;
                    // Limits that a pin has held back go with their policy.
                    if pinned || limits.is_some() {
                        self.wanted = limits;
                    }
                }
                Request::CompactAll => {
                    self.state.compact_all = true;
                    self.state.compact_all_after = None;
                }
                Request::ForgetUnreadable => {
                    *self.family.quarantine.lock() = Quarantine::default();
                }
                Request::Look => {}
            }
        }
        any
    }

    fn has_news(&self, shared: &Shared, now: Instant) -> bool {
        let all_busy = shared.busy.load(Relaxed) >= shared.settings.workers;
        self.looked.is_none_or(|look| {
            let age = now.duration_since(look.at);
            let changed = look.changes != self.family.counters.changes.load(Relaxed)
                || look.ended != self.family.ended.load(Relaxed);
            changed && !(all_busy && age < LOOK_WHEN_BUSY) || age >= LOOK_EVERY
        })
    }

    /// The observation, and whether somebody else compacts.
    fn look(
        &mut self,
        shared: &Shared,
        handle: &Arc<BoundColumnFamily<'_>>,
        pinned: bool,
        now: Instant,
    ) -> Result<(Observation, bool)> {
        let family = &self.family;
        // Counted before looking: what changes meanwhile is looked at again.
        self.looked = Some(Look {
            at: now,
            changes: family.counters.changes.load(Relaxed),
            ended: family.ended.load(Relaxed),
        });
        // Own jobs before the manifest: one that ends in between is then held
        // for running, which is safe, rather than for unknown.
        let mut in_flight = family.own_jobs();
        let seen = observe(handle)?;
        let foreign = seen.foreign(&in_flight);
        let busy_elsewhere = foreign.is_some();
        in_flight.extend(foreign);
        let Seen { tree, .. } = seen;
        let unreadable = self.left_out(&tree, now);
        let observation = Observation {
            shape: family.shape.clone(),
            tree,
            state: self.state.clone(),
            in_flight,
            unreadable,
            workers: shared.settings.workers,
            level0: self.order.level0,
            deep: shared.deep_left(&self.order, family),
            pinned,
        };
        Ok((observation, busy_elsewhere))
    }

    /// Files of the tree that no plan may take.
    fn left_out(&self, tree: &Tree, now: Instant) -> BTreeSet<u64> {
        let mut quarantine = self.family.quarantine.lock();
        if !quarantine.files().is_empty() {
            let places = tree.places();
            quarantine.review(now, |file| places.contains_key(&file));
        }
        quarantine.files()
    }

    /// L0 may have come to its bound since the schedule last looked.
    fn keep_bound(&self, shared: &Shared, seen: &mut Observation) {
        let debt = Debt::of_level0(&seen.tree);
        let order = debt.bounded(&shared.settings.debt_bounds(), self.order.clone());
        if order != self.order {
            (seen.level0, seen.deep) = (order.level0, order.deep);
        }
    }

    fn end_mission(&mut self, shared: &Shared, seen: &mut Observation, now: Instant) {
        let pinned = seen.pinned;
        let family = self.family.clone();
        let mut mission = self.clock.end(shared, &family, now);
        // What it has cost is part of what a tuner decides by, so that a replay decides alike.
        mission.tuner_time = self.answered_in;
        let question = Question {
            shape: &seen.shape,
            tree: &seen.tree,
            limits: &self.state.limits,
            mission: &mission,
        };
        let begun = Instant::now();
        let answer = self.learner.ask(&question, &mission);
        let took = begun.elapsed();
        self.answered_in = took;
        match answer {
            Ok(Some(trial)) => {
                let limits = trial.limits.clone();
                self.count_answer(limits != self.state.limits, took);
                let wanted = trial.clone();
                shared.journal.write(
                    &family.name,
                    Event::Mission {
                        mission: Box::new(mission.clone()),
                        tree: TreeSummary::of(&seen.tree, &Layout::V1),
                        trial,
                        pinned,
                    },
                );
                if pinned {
                    self.state.consolidate.clear();
                } else {
                    self.state.take_up(&wanted);
                }
                seen.state = self.state.clone();
                if !pinned {
                    self.change_limits(seen, limits);
                }
            }
            Ok(None) => {}
            Err(sentence) => shared.journal.note(&self.family.name, sentence),
        }
        let mut view = self.family.view.lock();
        view.missions = mission.number;
        view.mission = Some(mission);
    }

    fn count_answer(&mut self, changes: bool, took: Duration) {
        let steps = self.learner.steps();
        let work = &mut self.family.view.lock().tuner;
        work.asked += 1;
        work.changed += u64::from(changes);
        work.steps = steps;
        work.took += took;
    }

    /// Limits of a policy that was set hold whatever waits; a tuner that answers with
    /// the present ones keeps what it asked for before.
    fn take_up_wanted(&mut self, seen: &mut Observation) {
        if !seen.pinned
            && let Some(limits) = self.wanted.take()
        {
            self.set_limits(seen, limits);
        }
    }

    fn change_limits(&mut self, seen: &mut Observation, limits: RunLimits) {
        if limits != self.state.limits {
            self.set_limits(seen, limits);
        }
    }

    fn set_limits(&mut self, seen: &mut Observation, limits: RunLimits) {
        if limits != *self.state.wanted_limits() {
            self.state = planner::with_limits(seen, limits);
            seen.state = self.state.clone();
        }
    }

    /// What the planner proposes, of which nothing has started. Its new memory
    /// is taken up.
    fn plan(&mut self, shared: &Shared, seen: &mut Observation) -> Result<Vec<Plan>> {
        let planned = catch_unwind(AssertUnwindSafe(|| planner::plan(seen))).map_err(|_| {
            Error::bug(format!(
                "the planner panicked on the tree of column family \"{}\"; RocksDB goes on alone",
                self.family.name
            ))
        })?;
        self.write_drains(shared, &planned.state);
        self.state = planned.state;
        seen.state = self.state.clone();
        Ok(planned.plans)
    }

    fn write_drains(&self, shared: &Shared, next: &TreeState) {
        let name = &self.family.name;
        let lacks = |state: &TreeState, id| state.drains.iter().all(|drain| drain.id != id);
        for drain in &self.state.drains {
            if lacks(next, drain.id) {
                shared
                    .journal
                    .write(name, Event::DrainEnd { drain: drain.id });
                self.family.view.lock().drains_ended += 1;
            }
        }
        for drain in &next.drains {
            if lacks(&self.state, drain.id) {
                let drain = drain.clone();
                shared.journal.write(name, Event::DrainBegin { drain });
            }
        }
    }

    /// Makes the planner's memory durable, when it changed.
    fn remember(&mut self, memory: &mut Memory, now: Instant) -> Result<()> {
        let unreadable = self.family.quarantine.lock().damaged().clone();
        let learned = now.duration_since(self.saved) >= SAVE_EVERY;
        let same = memory.family(&self.family.name).is_some_and(|stored| {
            stored.id == self.id && stored.tree == self.state && stored.unreadable == unreadable
        });
        if same && !learned {
            return Ok(());
        }
        self.saved = now;
        memory.keep(
            &self.family.name,
            StoredFamily {
                id: self.id,
                layout: Layout::V1,
                shape: Some(self.family.shape.clone()),
                tree: self.state.clone(),
                policy: self.learner.name().to_owned(),
                tuner: self.learner.state(),
                unreadable,
            },
        )
    }

    /// Saves what was learned last, at the end.
    pub(super) fn rest(&mut self, memory: &mut Memory) -> Result<()> {
        self.saved = Instant::now() - SAVE_EVERY;
        self.remember(memory, Instant::now())
    }

    fn show(&self, seen: &Observation, plans: &[Plan], busy_elsewhere: bool) {
        let debt = debt_bytes(seen, plans);
        // What waits is not done.
        let waits = debt > 0 && (seen.level0 != Level0Order::Merge || seen.deep != DeepOrder::All);
        let idle = plans.is_empty() && seen.in_flight.is_empty() && !busy_elsewhere && !waits;
        let mut view = self.family.view.lock();
        self.learner.name().clone_into(&mut view.policy);
        view.tuner_broken = self.learner.is_broken();
        view.limits = self.state.limits.clone();
        view.tree = TreeSummary::of(&seen.tree, &Layout::V1);
        view.entries = seen.tree.iter().map(|(_, file)| file.entries).sum();
        view.space_amplification = seen.tree.space_amplification();
        view.debt_bytes = debt;
        view.deep_bytes = deep_bytes(seen);
        view.idle_at = self.looked.filter(|_| idle).map(|look| look.changes);
        view.looks += 1;
    }
}

/// The limits that a policy means to hold from the first moment on.
pub(super) fn fixed_limits(policy: &Policy) -> Option<RunLimits> {
    match policy {
        Policy::Fixed(limits) => Some(limits.clone()),
        _ => None,
    }
}
