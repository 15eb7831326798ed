//! What the planner thread, the workers and the database handle share.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lissom_core::journal::TreeSummary;
use lissom_core::planner::Waiting;
use lissom_core::schedule::{DeepOrder, Order};
use lissom_core::shape::RunLimits;
use lissom_core::tuner::{Policy, Tuner};
use lissom_core::{InFlight, Mission, Shape};
use parking_lot::{Mutex, RwLock};
use rust_rocksdb::statistics::Ticker;

use super::backoff::BackOff;
use super::check;
use super::complaints::Complaints;
use super::priority::Priorities;
use super::quarantine::Quarantine;
use super::scheduler::ScheduleReport;
use super::workers::Queue;
use crate::RocksDb;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::ffi;
use crate::ffi::commit_gate::CommitGate;
use crate::files::journal::Journal;
use crate::options::Hooks;
use crate::rate_limit::RateLimit;
use crate::settings::Settings;
use crate::statistics::counters::{Counters, Flushed};
use crate::statistics::{Pieces, Totals, TunerWork};

/// One database.
pub(super) struct Shared {
    pub(super) db: Arc<RocksDb>,
    pub(super) directory: PathBuf,
    pub(super) settings: Settings,
    pub(super) events: Arc<Events>,
    pub(super) journal: Journal,
    pub(super) families: RwLock<BTreeMap<String, Arc<Family>>>,
    /// Held by whoever changes settings: RocksDB and the planner take one change after the other.
    pub(super) applying: Mutex<()>,
    pub(super) queue: Queue,
    /// Plans that wait for a worker or run.
    pub(super) busy: AtomicUsize,
    /// Those of them that are pieces of drains.
    pub(super) on_drains: AtomicUsize,
    pub(super) stop: AtomicBool,
    pub(super) paused: AtomicBool,
    /// Turns of the planner thread that panicked since one went through.
    pub(super) failed_turns: AtomicU32,
    /// The last failure, as a sentence, until a compaction succeeds.
    pub(super) trouble: Mutex<Option<String>>,
    pub(super) complaints: Mutex<Complaints>,
    pub(super) rocks_statistics: Option<ffi::statistics::Statistics>,
    pub(super) rate_limit: Option<Arc<RateLimit>>,
    pub(super) commits: CommitGate,
    pub(super) schedule: Mutex<ScheduleReport>,
    pub(super) priorities: Arc<Priorities>,
    /// Operations bypass this crate's handle: only RocksDB counts them.
    pub(super) attached: bool,
    /// More than one column family was driven at a time: what RocksDB counts for the
    /// database as a whole is no family's from then on.
    pub(super) several: AtomicBool,
    /// Bytes that users had written, by RocksDB's count, before the autopilot began.
    pub(super) written_before: u64,
}

impl Shared {
    pub(super) fn stopping(&self) -> bool {
        self.stop.load(Relaxed)
    }

    pub(super) fn ticker(&self, ticker: Ticker) -> u64 {
        self.rocks_statistics
            .as_ref()
            .and_then(|statistics| statistics.ticker(ticker).ok())
            .unwrap_or(0)
    }

    /// Time that writers were held back so far: RocksDB's count, or, without
    /// its statistics, that of this crate's handle.
    pub(super) fn stall(&self) -> Duration {
        match self.rocks_statistics {
            Some(_) => Duration::from_micros(self.ticker(Ticker::StallMicros)),
            None => self.events.stalled(),
        }
    }

    /// The same for one column family: that of its writes through this crate's handle;
    /// under attach, where nobody counts them, that of the whole database.
    pub(super) fn stall_of(&self, counters: &Counters) -> Duration {
        if self.attached {
            self.stall()
        } else {
            counters.stalled()
        }
    }

    /// Bytes that users have written to the whole database since the autopilot began, by
    /// RocksDB's count.
    pub(super) fn written(&self) -> u64 {
        self.ticker(Ticker::BytesWritten)
            .saturating_sub(self.written_before)
    }

    pub(super) fn family(&self, name: &str) -> Option<Arc<Family>> {
        self.families.read().get(name).cloned()
    }

    /// The same, for who asked for it by its name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn driven(&self, name: &str) -> Result<Arc<Family>> {
        self.family(name).ok_or_else(|| {
            Error::fix(format!(
                "there is no column family \"{name}\" here: check the name"
            ))
        })
    }

    /// The rate that the schedule has ordered; `None` where that is any.
    pub(super) fn ordered_rate(&self) -> Option<u64> {
        self.rate_limit.as_ref()?.ordered()
    }

    /// Ends the schedule's rate until it orders one again: meanwhile flushes and compactions
    /// have the user's bound alone.
    pub(super) fn end_rate(&self) {
        let Some(limit) = &self.rate_limit else {
            return;
        };
        self.schedule.lock().order.bytes_per_second = None;
        if let Err(error) = limit.order(None) {
            self.complain("", error.to_string());
        }
    }

    /// What an order lets run below L0 in a column family, beside what runs in the
    /// others.
    pub(super) fn deep_left(&self, order: &Order, family: &Family) -> DeepOrder {
        let DeepOrder::AtMost(most) = order.deep else {
            return order.deep;
        };
        DeepOrder::AtMost(most.saturating_sub(self.drains_elsewhere(family)))
    }

    /// Pieces of the drains of other column families that wait for a worker or run.
    pub(super) fn drains_elsewhere(&self, family: &Family) -> usize {
        // In this order one that ends meanwhile counts as nobody's.
        let jobs = family.in_flight.lock();
        let own = jobs.values().filter(|job| job.drain.is_some()).count();
        self.on_drains.load(Relaxed).saturating_sub(own)
    }

    /// Whether a policy can follow what is seen of a column family here.
    ///
    /// # Errors
    /// When the autopilot is attached and sees too little.
    pub(super) fn check_policy(&self, family: &str, policy: &Policy) -> Result<()> {
        match self.attached {
            true => check::policy(family, policy, self.rocks_statistics.is_some()),
            false => Ok(()),
        }
    }

    /// Shows a failure, and writes it down unless it was within the last ten minutes: what fails at
    /// every look would push all else out of the journal.
    pub(super) fn complain(&self, family: &str, sentence: String) {
        self.complain_of_news(family, sentence);
    }

    /// The same; whether it was written down.
    pub(super) fn complain_of_news(&self, family: &str, sentence: String) -> bool {
        *self.trouble.lock() = Some(sentence.clone());
        let now = Instant::now();
        let is_news = self.complaints.lock().is_news(family, &sentence, now);
        if is_news {
            self.journal.note(family, sentence);
        }
        is_news
    }
}

/// One column family.
pub(super) struct Family {
    pub(super) name: String,
    /// As it was opened, with what [`Family::reshape`] has changed since.
    settings: Mutex<Settings>,
    /// The name of the tuner that was set last; the planner thread goes by it from its next
    /// look on.
    policy: Mutex<String>,
    pub(super) hooks: Hooks,
    pub(super) counters: Arc<Counters>,
    pub(super) requests: Mutex<Vec<Request>>,
    /// Own plans that wait or run, by their number in the journal.
    pub(super) in_flight: Mutex<BTreeMap<u64, InFlight>>,
    /// Own plans that ended, whatever came of them.
    pub(super) ended: AtomicU64,
    pub(super) quarantine: Mutex<Quarantine>,
    pub(super) back_off: Mutex<BackOff>,
    /// Shared by those that compact, held alone by whoever must have none
    /// compact. False once the family was released.
    pub(super) gate: RwLock<bool>,
    pub(super) pieces: Mutex<Pieces>,
    pub(super) view: Mutex<View>,
    /// The counters when the autopilot began.
    pub(super) begun: (Instant, Totals),
}

impl Family {
    pub(super) fn new(name: &str, hooks: Hooks, counters: Arc<Counters>, totals: Totals) -> Family {
        let settings = &hooks.settings;
        let policy = settings.policy.over(settings.filters).to_string();
        Family {
            name: name.to_owned(),
            policy: Mutex::new(policy),
            settings: Mutex::new(hooks.settings.clone()),
            view: Mutex::new(View::new(hooks.settings.policy.first_limits())),
            hooks,
            counters,
            requests: Mutex::default(),
            in_flight: Mutex::default(),
            ended: AtomicU64::new(0),
            quarantine: Mutex::default(),
            back_off: Mutex::default(),
            gate: RwLock::new(true),
            pieces: Mutex::default(),
            begun: (Instant::now(), totals),
        }
    }

    pub(super) fn own_jobs(&self) -> Vec<InFlight> {
        self.in_flight.lock().values().cloned().collect()
    }

    /// What it goes by now, but for the policy and the rate limit.
    pub(super) fn settings(&self) -> Settings {
        self.settings.lock().clone()
    }

    pub(super) fn shape(&self) -> Shape {
        self.settings.lock().shape()
    }

    /// Filter bits per key, on average over the levels.
    pub(super) fn bloom_bits_per_key(&self) -> f64 {
        self.settings.lock().bloom_bits_per_key
    }

    /// Files from which on L0 is due.
    pub(super) fn level0_trigger(&self) -> u32 {
        self.settings.lock().level0_file_num_compaction_trigger
    }

    /// Files and bytes of L0: what the planner saw there, and what was flushed since. It may wait
    /// for a lock, or fail, while L0 fills.
    pub(super) fn level0_now(&self) -> (usize, u64) {
        let view = self.view.lock();
        let since = self.counters.flushed().since(view.flushed);
        (
            view.tree.level0_files + since.files as usize,
            view.tree.level0_bytes + since.bytes,
        )
    }

    /// Changes dimensions of the tree, or what new files are like; the planner goes by them from
    /// its next look on. Whoever applies does so alone.
    pub(super) fn reshape(&self, settings: Settings) {
        *self.settings.lock() = settings;
    }

    /// The policy that was set last.
    pub(super) fn policy(&self) -> String {
        self.policy.lock().clone()
    }

    pub(super) fn ask(&self, request: Request) {
        let named = match &request {
            Request::Tuner(tuner, _) => Some(tuner.name()),
            _ => None,
        };
        let mut requests = self.requests.lock();
        if let Some(name) = named {
            *self.policy.lock() = name;
        }
        requests.push(request);
    }
}

/// What a user asks of the planner thread.
pub(super) enum Request {
    /// Another tuner; with limits that hold at once.
    Tuner(Box<dyn Tuner>, Option<RunLimits>),
    /// Merge everything into one run; who asks is `alone` where nobody writes meanwhile.
    CompactAll { alone: bool },
    /// Read the files named unreadable again.
    ForgetUnreadable,
    /// Look now.
    Look,
}

/// What the planner thread shows of one column family.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) policy: String,
    pub(super) limits: RunLimits,
    pub(super) tree: TreeSummary,
    /// What was flushed before it was looked at.
    pub(super) flushed: Flushed,
    /// Entries in the tree.
    pub(super) entries: u64,
    pub(super) mission: Option<Mission>,
    pub(super) missions: u64,
    pub(super) space_amplification: Option<f64>,
    pub(super) debt_bytes: u64,
    /// Bytes of L0 that a running merge takes.
    pub(super) level0_merging_bytes: u64,
    /// A running merge keeps L0 from being merged.
    pub(super) level0_held_up: bool,
    /// What would make room for L0 waits for merges below it.
    pub(super) room_waits: bool,
    /// Bytes that begun drains will read, what they rewrite included.
    pub(super) deep_bytes: u64,
    /// What waits below L0 besides.
    pub(super) waiting: Waiting,
    pub(super) drains_ended: u64,
    pub(super) tuner: TunerWork,
    /// The tuner panicked or did not answer, and is asked no more.
    pub(super) tuner_broken: bool,
    /// The tree at this count of changes wanted nothing, and nothing ran.
    pub(super) idle_at: Option<u64>,
    /// Looks at the tree so far.
    pub(super) looks: u64,
    /// Absent since a round has gone through.
    pub(super) failing: Option<Failing>,
}

/// What fails in a column family, again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failing {
    /// How often in a row.
    pub(super) times: u32,
    /// What it failed of last, as a sentence.
    pub(super) why: String,
}

impl Failing {
    /// One more failure after those of before.
    pub(super) fn after(before: Option<&Failing>, why: String) -> Failing {
        let times = before.map_or(0, |it| it.times).saturating_add(1);
        Failing { times, why }
    }
}

impl View {
    fn new(limits: RunLimits) -> View {
        View {
            policy: String::new(),
            limits,
            tree: TreeSummary::default(),
            flushed: Flushed::default(),
            entries: 0,
            mission: None,
            missions: 0,
            space_amplification: None,
            debt_bytes: 0,
            level0_merging_bytes: 0,
            level0_held_up: false,
            room_waits: false,
            deep_bytes: 0,
            waiting: Waiting::default(),
            drains_ended: 0,
            tuner: TunerWork::default(),
            tuner_broken: false,
            idle_at: None,
            looks: 0,
            failing: None,
        }
    }
}
