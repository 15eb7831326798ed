//! The loop body for one column family: observe, ask the tuner, plan, admit.

mod counts;
mod debt;
mod dispatch;
mod good;
mod limits;
mod look;
mod plan;
mod remember;
mod requests;
mod shelf;
mod show;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lissom_core::filters::FilterAllocation;
use lissom_core::journal::Event;
use lissom_core::reasons::Reasons;
use lissom_core::schedule::Order;
use lissom_core::shape::RunLimits;
use lissom_core::tuner::Policy;
use lissom_core::{Observation, Plan, Shape, TreeState, planner};

use rust_rocksdb::{AsColumnFamilyRef, BoundColumnFamily};

use self::counts::Counts;
use self::good::Good;
use self::limits::{Ended, Heard};
use self::remember::Unsaved;
use self::shelf::Shelf;
use super::learner::Learner;
use super::memory::Memory;
use super::mission::Clock;
use super::publish::Published;
use super::quarantine::Quarantine;
use super::shared::{Family, Shared};
use crate::error::Result;
use crate::execute::has_compaction_filter;
use crate::statistics::counters::Flushed;

/// Without news the tree is looked at this often: some changes, such as
/// DeleteFilesInRange, are no events of RocksDB's.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// While the entries of files are still to be read, the next look comes this soon.
const LOOK_TO_COUNT: Duration = Duration::from_millis(100);

/// While all workers are busy, news can wait this long: nothing could start.
const LOOK_WHEN_BUSY: Duration = Duration::from_millis(100);

/// The planner thread's knowledge of one column family.
pub(super) struct Pilot {
    pub(super) family: Arc<Family>,
    /// RocksDB's number for it.
    id: Option<u32>,
    /// The dimensions of the tree, as the journal tells them.
    shape: Shape,
    state: TreeState,
    reasons: Reasons,
    learner: Learner,
    /// The mission that the learner is asked of.
    ended: Option<Ended>,
    /// What came of the last question, until it is followed.
    heard: Option<Heard>,
    /// How long the learner took for its last answer.
    answered_in: Duration,
    /// Limits to go back to when the learner is asked no more.
    good: Good,
    /// What other learners had learned.
    shelf: Shelf,
    /// What the schedule lets run.
    order: Order,
    clock: Clock,
    published: Published,
    counts: Counts,
    /// RocksDB moves nothing here.
    moves_rewrite: bool,
    /// Limits that someone set by hand, until they are taken up.
    wanted: Option<RunLimits>,
    looked: Option<Look>,
    /// When the memory was last made durable.
    saved: Instant,
    /// Attempts since, if they failed.
    unsaved: Option<Unsaved>,
    /// From when on something may start that was planned and could not.
    waiting: Option<Instant>,
    /// When RocksDB's options were read, and the workers that they allow.
    options: Option<(Instant, Option<usize>)>,
    /// Why the present options would be refused at open.
    foreign: Option<String>,
    /// When a plan was last handed to a worker.
    last_started: Instant,
    /// When a piece of a drain was.
    last_drained: Instant,
}

/// When the tree was last looked at, and at which counts.
#[derive(Clone, Copy)]
struct Look {
    at: Instant,
    changes: u64,
    ended: u64,
    flushed: Flushed,
    drains_elsewhere: usize,
}

impl Pilot {
    pub(super) fn new(shared: &Shared, family: Arc<Family>, memory: &Memory) -> Pilot {
        let settings = &family.hooks.settings;
        let policy = settings.policy.over(settings.filters);
        let mut learner = Learner::new(policy.tuner_within(settings.allowance()));
        let handle = shared.db.cf_handle(&family.name);
        let id = handle.as_ref().map(|handle| handle.id());
        let moves_rewrite = handle.as_ref().is_some_and(has_compaction_filter);
        let stored = memory.family(&family.name);
        if stored.is_some_and(|stored| !stored.is_of(id)) {
            let text = "what was known of a dropped column family of this name is left aside";
            shared.journal.note(&family.name, text);
        }
        let stored = stored.filter(|stored| stored.is_of(id));
        if let Some(stored) = stored {
            *family.quarantine.lock() = Quarantine::remembered(stored.unreadable.clone());
        }
        let mut shelf = stored.map_or_else(Shelf::default, Shelf::of);
        hand_over(shared, &family, &mut shelf, &mut learner);
        let mut state = stored.map_or_else(
            || TreeState::new(policy.first_limits()),
            |stored| stored.tree.clone(),
        );
        // Whoever wanted levels merged for the reads' sake asks anew if that still pays.
        state.give_up_merges();
        // The program that asked for everything may have had the database for itself.
        state.compact_all_by_levels();
        let reasons = remember::reasons(stored, learner.name());
        let wanted = fixed_limits(&policy).filter(|limits| *limits != state.limits);
        let good = state.wanted_limits().clone();
        let now = Instant::now();
        Pilot {
            clock: Clock::new(shared, &family, now),
            shape: family.shape(),
            family,
            id,
            state,
            reasons,
            learner,
            ended: None,
            heard: None,
            answered_in: Duration::ZERO,
            good: Good::new(good),
            shelf,
            order: shared.schedule.lock().order.clone(),
            published: Published::default(),
            counts: Counts::default(),
            moves_rewrite,
            wanted,
            looked: None,
            saved: now,
            unsaved: None,
            waiting: None,
            options: None,
            foreign: None,
            last_started: now,
            last_drained: now,
        }
    }

    /// Who is served first while workers are few: column families whose L0 is
    /// over its trigger, then the others; of each those first that have waited longest. What the
    /// others wait for is a worker that may be on drains: their merges of L0 are none of that.
    pub(super) fn precedence(&self) -> impl Ord + use<> {
        let trigger = self.family.level0_trigger() as usize;
        let is_over = self.family.view.lock().tree.level0_files >= trigger;
        let waits_since = match is_over {
            true => self.last_started,
            false => self.last_drained,
        };
        (!is_over, waits_since)
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
            allowance: self.family.hooks.settings.allowance(),
            shape: Some(self.shape.clone()),
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
        let asked = self.take_requests(shared, pinned);
        self.hear(shared, pinned);
        let heard = self.heard.is_some();
        // It goes on until the tuner was heard on the one before, and until its time has paid
        // for what that took.
        let mission_over = !heard
            && self.clock.is_over(shared, &self.family, now)
            && self.learner.may_be_asked(self.clock.lasted(now));
        let resting = self.family.back_off.lock().remaining(now);
        // While nothing may start, the tree is not looked at for what waits: a look
        // holds RocksDB's mutex.
        let may_start = resting.is_none() && self.waiting.is_some_and(|from| from <= now);
        let due = may_start && self.free_workers(shared, &handle, now) > 0;
        let new_order = !self.order.is_like(order);
        let to_save = self.unsaved.is_some() && !self.saving_rests(now);
        let news = heard || to_save || self.has_news(shared, now);
        if !(asked || mission_over || due || new_order || news) {
            return Ok(resting);
        }
        self.order.clone_from(order);
        let (mut seen, busy_elsewhere) = self.look(shared, &handle, pinned, now)?;
        self.follow_answer(&mut seen);
        let ended = mission_over.then(|| self.end_mission(shared, &seen, now));
        let busy = busy_elsewhere || ended.is_some();
        let done = self.work(shared, memory, &handle, &mut seen, busy, now);
        if let Some(ended) = ended {
            self.ask(shared, ended, seen);
        }
        done
    }

    /// Plans, and starts what may start. Returns how long nothing needs to be done, without
    /// news.
    fn work(
        &mut self,
        shared: &Shared,
        memory: &mut Memory,
        handle: &Arc<BoundColumnFamily<'_>>,
        seen: &mut Observation,
        busy: bool,
        now: Instant,
    ) -> Result<Option<Duration>> {
        self.take_up_wanted(seen);
        let plans = self.plan(shared, memory, seen, now)?;
        self.published.guards(&self.family.hooks, seen)?;
        // Until the files are counted, new ones get the bits of before, unless all get the same.
        let hooks = &self.family.hooks;
        if hooks.settings.filters == FilterAllocation::Uniform || self.counts.are_whole() {
            let bits = self.family.bloom_bits_per_key();
            self.published.filters(hooks, bits, seen)?;
        }
        let (resting, waiting) = self.rests(&plans, now);
        self.waiting = waiting;
        let free = self.free_workers(shared, handle, now);
        if resting.is_none() && free > 0 && !plans.is_empty() {
            self.dispatch(shared, seen, &plans, free);
        }
        let urged = planner::urged(seen);
        shared.priorities.urge(&self.family.name, &urged);
        self.show(seen, &plans, busy || self.unsaved.is_some());
        Ok(resting)
    }

    /// How long nothing may start, and when the first of these plans may that waits for no
    /// failure.
    fn rests(&self, plans: &[Plan], now: Instant) -> (Option<Duration>, Option<Instant>) {
        let back_off = self.family.back_off.lock();
        let from = |plan: &Plan| back_off.waits_until(plan).unwrap_or(now);
        let first = plans.iter().map(from).min();
        (back_off.remaining(now), first)
    }

    fn has_news(&self, shared: &Shared, now: Instant) -> bool {
        let all_busy = shared.busy.load(Relaxed) >= shared.settings.workers;
        self.looked.is_none_or(|look| {
            let age = now.duration_since(look.at);
            let changed = look.changes != self.family.counters.changes.load(Relaxed)
                || look.ended != self.family.ended.load(Relaxed);
            // What has ended there may have kept a drain from going on here.
            let freed = !self.state.drains.is_empty()
                && shared.drains_elsewhere(&self.family) < look.drains_elsewhere;
            let changed = changed || freed;
            let to_count = self.counts.has_more() && age >= LOOK_TO_COUNT;
            changed && !(all_busy && age < LOOK_WHEN_BUSY) || to_count || age >= LOOK_EVERY
        })
    }

    /// Looks at the tree in the next round, whatever has happened since.
    pub(super) fn look_again(&mut self) {
        self.looked = None;
    }

    /// Follows the last answer and saves what was learned, at the end.
    pub(super) fn rest(&mut self, shared: &Shared, memory: &mut Memory) -> Result<()> {
        let heard = self.hear_out(shared);
        let learned = self.learner.state();
        self.keep(memory, learned, Instant::now())?;
        heard
    }
}

/// Gives a learner what one of its name had learned.
fn hand_over(shared: &Shared, family: &Family, shelf: &mut Shelf, learner: &mut Learner) {
    if let Some(why) = shelf.hand_over(learner) {
        let sentence = format!("{why}: what cannot be taken up is kept");
        shared.journal.note(&family.name, sentence);
    }
}

/// The limits that a policy means to hold from the first moment on.
pub(super) fn fixed_limits(policy: &Policy) -> Option<RunLimits> {
    match policy {
        Policy::Fixed(limits) => Some(limits.clone()),
        _ => None,
    }
}
