//! The loop beside the data path: observe, ask the tuner, plan, admit, execute.
//!
//! ```text
//! planner thread                                   worker threads
//!   bell (RocksDB's events, ended jobs, a tick)
//!   look at the manifest ........ pilot            take a plan ... workers
//!   end a mission, ask .......... mission, learner look again if the tree changed
//!   plan, save the memory ....... memory           CompactFiles
//!   publish guards and filters .. publish          compare, journal, back off
//!   admit, dispatch -----------------------------> ring the bell
//! ```
//!
//! The planner thread is the only one that decides and the only one that writes
//! the state file. If it dies, RocksDB goes on: its own compaction of L0 keeps
//! writes possible without end.

mod applying;
mod backoff;
mod check;
mod claim;
mod debt;
mod dispatch;
mod glance;
mod learner;
mod memory;
mod mission;
mod pilot;
mod publish;
mod quarantine;
mod report;
mod run;
mod scheduler;
mod shared;
#[cfg(test)]
mod tests;
mod workers;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use lissom_core::tuner::{Policy, Tuner};
use parking_lot::Mutex;

use self::claim::Claim;
pub use self::glance::Glance;
use self::memory::Memory;
pub use self::report::Health;
pub use self::scheduler::ScheduleReport;
use self::scheduler::Scheduler;
use self::shared::{Family, Request, Shared};
use crate::RocksDb;
use crate::apply::{Applied, Plan, Wanted};
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::files::journal::Journal;
use crate::files::{pin, state};
use crate::options::{Hooks, Preparation};

/// Drives the compactions of an open database until it is dropped.
///
/// [`Db`](crate::Db) has one inside. An application that opens RocksDB itself
/// attaches one; what is missing then:
///
/// - operations are counted by RocksDB's statistics, for the database as a
///   whole: each column family's tuner sees the mix of all, deletes count as
///   writes, and the sizes of scans are those of all iterators;
/// - no latencies, no reads, filter hits and false positives by level, no
///   longest stall: the policies `learned` and `lerp` are refused;
/// - without RocksDB's statistics ([`Settings::statistics`](crate::Settings::statistics))
///   no operations at all: `thresholds-LOW-HIGH` and every schedule but `eager` are
///   refused.
pub struct Autopilot {
    shared: Arc<Shared>,
    /// Held for moments only.
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Held by whoever ends the threads.
    ending: Mutex<()>,
    /// Given up once the threads have ended.
    _claim: Claim,
}

impl Autopilot {
    /// Takes over the compactions of a database that was opened with options
    /// from `preparation`. The application goes on using its handle.
    ///
    /// The databases of transactions are types of their own in RocksDB's Rust
    /// binding, which shows no plain handle of them: an autopilot cannot drive
    /// them.
    ///
    /// ```compile_fail,E0308
    /// # fn attach(preparation: lissom::Preparation) -> lissom::Result<lissom::Autopilot> {
    /// use rust_rocksdb::{MultiThreaded, OptimisticTransactionDB};
    /// let db = OptimisticTransactionDB::<MultiThreaded>::open_default("data")?;
    /// lissom::Autopilot::attach(std::sync::Arc::new(db), preparation)
    /// # }
    /// ```
    ///
    /// ```compile_fail,E0308
    /// # fn attach(preparation: lissom::Preparation) -> lissom::Result<lissom::Autopilot> {
    /// use rust_rocksdb::{MultiThreaded, TransactionDB};
    /// let db = TransactionDB::<MultiThreaded>::open_default("data")?;
    /// lissom::Autopilot::attach(std::sync::Arc::new(db), preparation)
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database was opened for reading, or without handles of its column families;
    /// when another autopilot drives it, as that of a [`Db`](crate::Db);
    /// when a column family's options are not from the preparation, or were changed into what
    /// cannot be driven; when a policy or the schedule needs what is not counted under
    /// `attach`; when the state file was written by a newer version.
    pub fn attach(db: Arc<RocksDb>, preparation: Preparation) -> Result<Autopilot> {
        Autopilot::start(db, &preparation, true)
    }

    pub(crate) fn start(
        db: Arc<RocksDb>,
        preparation: &Preparation,
        attached: bool,
    ) -> Result<Autopilot> {
        let directory = db.path().to_owned();
        match db.cf_handle("default") {
            Some(default) if attached => check::writable(&db, &default)?,
            Some(_) => {}
            None => {
                return Err(Error::fix(
                    "the database was opened without handles of its column families, which \
                     the autopilot needs; open it with open_cf_descriptors and name them all, \
                     \"default\" too",
                ));
            }
        }
        let claim = Claim::to(&directory)?;
        for family in db.cf_names() {
            let hooks = preparation.hooks.get(&family).ok_or_else(|| {
                Error::fix(format!(
                    "the column family \"{family}\" was opened without options from this \
                     preparation; call Preparation::options for it and open the database with them"
                ))
            })?;
            check::family(&db, &family, hooks)?;
        }
        let rocks_statistics = check::rocks_statistics(&db)?;
        if attached {
            check::attached(preparation, rocks_statistics.is_some())?;
        }
        let loaded = state::load(&directory)?;
        let journal = Journal::open(&directory, preparation.settings.max_journal_bytes)?;
        if let Some(remark) = loaded.remark {
            journal.note("", remark);
        }
        let shared = Arc::new(Shared {
            rocks_statistics,
            db,
            journal,
            events: preparation.events.clone(),
            settings: preparation.settings.clone(),
            families: Default::default(),
            queue: Default::default(),
            busy: Default::default(),
            stop: Default::default(),
            paused: Default::default(),
            failed_turns: Default::default(),
            trouble: Mutex::default(),
            rate_limit: preparation.rate_limit.clone(),
            commits: preparation.commits.clone(),
            schedule: Mutex::new(ScheduleReport::before(preparation.settings.schedule)),
            attached,
            directory: directory.clone(),
        });
        let autopilot = Autopilot {
            shared,
            threads: Mutex::default(),
            ending: Mutex::default(),
            _claim: claim,
        };
        for (name, hooks) in &preparation.hooks {
            // Options may have been made for a family that comes later.
            if autopilot.shared.db.cf_handle(name).is_some() {
                autopilot.seat(name, hooks.clone());
            }
        }
        let mut memory = Memory::new(directory, loaded.stored);
        let scheduler = Scheduler::new(&autopilot.shared, &mut memory);
        autopilot.spawn(memory, scheduler)?;
        Ok(autopilot)
    }

    fn spawn(&self, memory: Memory, scheduler: Scheduler) -> Result<()> {
        let mut threads = self.threads.lock();
        let shared = self.shared.clone();
        threads.push(thread("lissom-planner".into(), move || {
            run::run(&shared, memory, scheduler);
        })?);
        for worker in 0..self.shared.settings.workers {
            let shared = self.shared.clone();
            let name = format!("lissom-worker-{worker}");
            threads.push(thread(name, move || workers::work(&shared))?);
        }
        Ok(())
    }

    /// False when there is one of that name already: what it runs must not be forgotten.
    fn seat(&self, name: &str, hooks: Hooks) -> bool {
        let counters = self.shared.events.counters(name);
        let stall = self.shared.stall_of(&counters);
        let family = Family::new(name, hooks, counters, stall);
        let mut families = self.shared.families.write();
        let is_free = !families.contains_key(name);
        if is_free {
            families.insert(name.to_owned(), Arc::new(family));
        }
        is_free
    }

    /// Takes over a column family that was created after the start with options
    /// from `preparation`.
    ///
    /// # Errors
    /// When there is no such column family, its options are foreign, it is driven
    /// already, or an attached autopilot cannot see what its policy follows.
    pub fn attach_cf(&self, name: &str, preparation: &Preparation) -> Result<()> {
        let hooks = preparation.hooks.get(name).ok_or_else(|| {
            Error::fix(format!(
                "the preparation has no options for \"{name}\": call Preparation::options first"
            ))
        })?;
        self.shared.check_policy(name, &hooks.settings.policy)?;
        self.adopt_cf(name, hooks.clone())
    }

    pub(crate) fn adopt_cf(&self, name: &str, hooks: Hooks) -> Result<()> {
        check::family(&self.shared.db, name, &hooks)?;
        if !self.seat(name, hooks) {
            return Err(Error::fix(format!(
                "a column family \"{name}\" is driven already: if that one was dropped, call \
                 Autopilot::release_cf first"
            )));
        }
        self.shared.events.bell().ring();
        Ok(())
    }

    /// Leaves a column family alone. Its compactions are aborted, which changes
    /// no data, and have ended when this returns.
    ///
    /// An application that drops a column family releases it first: RocksDB
    /// 11.12 takes a move that meets the drop for a failure of the disk, and
    /// refuses all later writes.
    pub fn release_cf(&self, name: &str) {
        let Some(family) = self.shared.families.write().remove(name) else {
            return;
        };
        let handle = self.shared.db.cf_handle(name);
        let aborted = handle
            .as_ref()
            .and_then(|handle| CfRef::of(handle).and_then(CfRef::abort_compactions).ok());
        *family.gate.write() = false;
        drop(aborted);
        self.shared.events.forget(name);
        self.shared.events.bell().ring();
    }

    /// Does something while the autopilot compacts nothing in a column family:
    /// waits for the pieces that run, and lets none start before `act` returns.
    /// Compactions of RocksDB's own, its brake on L0 and those of `CompactRange`, go on
    /// merging; before they commit each waits for `act` to return, a second at most.
    ///
    /// Ingestion needs it. RocksDB 11.12 chooses an ingested file's level by two
    /// views of the tree, which for a moment differ when a compaction was
    /// committed together with another change of the manifest; the file then
    /// comes to lie below older versions of its keys.
    /// [`Db`](crate::Db) sees to it; an application that attached an autopilot
    /// ingests in here. `act` must neither call this, nor
    /// release the family, nor stop the autopilot.
    pub fn without_compactions<T>(&self, family: &str, act: impl FnOnce() -> T) -> T {
        let driven = self.shared.family(family);
        let _alone = driven.as_ref().map(|driven| driven.gate.write());
        // It fails only where memory has run out, and nothing is held then.
        let _held = self.shared.commits.close(family).ok();
        act()
    }

    fn family(&self, name: &str) -> Result<Arc<Family>> {
        self.shared.family(name).ok_or_else(|| {
            Error::fix(format!(
                "there is no column family \"{name}\" here: check the name"
            ))
        })
    }

    fn ask(&self, family: &str, request: Request) -> Result<()> {
        self.family(family)?.ask(request);
        self.shared.events.bell().ring();
        Ok(())
    }

    /// Changes who chooses the run limits of a column family. Limits of a
    /// `fixed-K` policy hold at once; other policies begin from the present
    /// ones. Not kept over a reopening.
    ///
    /// # Errors
    /// When there is no such column family, or an attached autopilot cannot see what the
    /// policy follows.
    pub fn set_policy(&self, family: &str, policy: &Policy) -> Result<()> {
        applying::set_policy(&self.shared, family, policy)
    }

    /// Takes a configuration while the store runs: see [`Db::apply`](crate::Db::apply).
    ///
    /// # Errors
    /// When a column family is wanted that there is not; RocksDB's. What RocksDB
    /// refuses is in the outcomes.
    pub fn apply(&self, wanted: &Wanted) -> Result<Applied> {
        applying::apply(&self.shared, wanted)
    }

    /// What [`Autopilot::apply`] would do. Changes nothing.
    ///
    /// # Errors
    /// As [`Autopilot::apply`].
    pub fn plan_to_apply(&self, wanted: &Wanted) -> Result<Plan> {
        applying::plan(&self.shared, wanted)
    }

    /// As [`Autopilot::set_policy`], with a tuner of one's own.
    ///
    /// # Errors
    /// When there is no such column family.
    pub fn set_tuner(&self, family: &str, tuner: Box<dyn Tuner>) -> Result<()> {
        self.ask(family, Request::Tuner(tuner, None))
    }

    /// Asks for everything in a column family to be merged into one run, in
    /// pieces like all other work. What is flushed later stays above it. Returns at once.
    ///
    /// # Errors
    /// When there is no such column family.
    pub fn compact(&self, family: &str) -> Result<()> {
        self.ask(family, Request::CompactAll)
    }

    /// Lets compactions read files again that they leave alone, as after they were
    /// restored.
    ///
    /// # Errors
    /// When there is no such column family.
    pub fn forget_unreadable(&self, family: &str) -> Result<()> {
        self.ask(family, Request::ForgetUnreadable)
    }

    /// Holds the run limits of all column families, now and after a reopening,
    /// until [`Autopilot::unpin`]. It makes the file `LISSOM-PIN`, which anyone
    /// may make or remove from outside.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn pin(&self) -> Result<()> {
        pin::set(&self.shared.directory)
    }

    /// Lets tuners change the run limits again, after [`Autopilot::pin`].
    ///
    /// # Errors
    /// When the file `LISSOM-PIN` cannot be removed.
    pub fn unpin(&self) -> Result<()> {
        pin::clear(&self.shared.directory)
    }

    /// Whether the limits are pinned.
    pub fn is_pinned(&self) -> bool {
        pin::is_set(&self.shared.directory)
    }

    /// Starts no compaction until [`Autopilot::unpause`]. Pieces that run end
    /// first; RocksDB's emergency brake on L0 stays. Not kept over a reopening.
    pub fn pause(&self) {
        self.shared.paused.store(true, Relaxed);
    }

    /// Goes on after [`Autopilot::pause`].
    pub fn unpause(&self) {
        self.shared.paused.store(false, Relaxed);
        for family in self.shared.families.read().values() {
            family.ask(Request::Look);
        }
        self.shared.events.bell().ring();
    }

    /// Waits until nothing is left to merge: the planner wants nothing of the
    /// tree as it is, and nobody compacts. What a schedule holds back is still to be
    /// merged. False when `patience` ends first.
    pub fn wait_until_idle(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        loop {
            if self.is_idle() {
                return true;
            }
            if Instant::now() >= deadline || self.shared.stopping() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_idle(&self) -> bool {
        let families: Vec<_> = self.shared.families.read().values().cloned().collect();
        families.iter().all(|family| {
            let changes = family.counters.changes.load(Relaxed);
            family.requests.lock().is_empty() && family.view.lock().idle_at == Some(changes)
        })
    }

    /// Ends the autopilot's threads. Compactions that run are aborted, which
    /// changes no data. The database goes on with RocksDB's own compaction of
    /// L0 alone; the next open picks up from the manifest.
    pub fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
        self.shared.events.bell().ring();
        self.shared.queue.wake();
        // Whoever comes second returns when they have ended, too.
        let _ending = self.ending.lock();
        let threads = std::mem::take(&mut *self.threads.lock());
        let names = self.shared.db.cf_names();
        let handles: Vec<_> = names
            .iter()
            .filter_map(|name| self.shared.db.cf_handle(name))
            .collect();
        let busy = self.shared.busy.load(Relaxed) > 0;
        let aborted: Vec<_> = handles
            .iter()
            .filter(|_| busy)
            .filter_map(|handle| CfRef::of(handle).ok()?.abort_compactions().ok())
            .collect();
        for thread in threads {
            // A thread that panicked has nothing left to end.
            let _ = thread.join();
        }
        drop(aborted);
        workers::cancel_rest(&self.shared);
        self.shared.journal.flush();
    }
}

impl Drop for Autopilot {
    fn drop(&mut self) {
        self.stop();
    }
}

fn thread(name: String, life: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.clone())
        .spawn(life)
        .map_err(|error| {
            Error::fix(format!(
                "cannot start the thread {name}: {error}; free memory, or raise the limit on threads"
            ))
        })
}
