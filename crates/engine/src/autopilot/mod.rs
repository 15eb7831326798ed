//! The loop beside the data path: observe, ask the tuner, plan, admit, execute.
//!
//! ```text
//! planner thread                                   worker threads
//!   bell (RocksDB's events, ended jobs, a tick)
//!   look at the manifest ........ pilot            take a plan ... workers
//!   follow the tuner's answer ... learner          look again if the tree changed
//!   end a mission ............... mission          CompactFiles
//!   plan, save the memory ....... memory           compare, journal, back off
//!   publish guards and filters .. publish          ring the bell
//!   admit, dispatch ----------------------------->
//!   ask the tuner of a mission .. learner          tuner threads: answer, ring the bell
//! ```
//!
//! The planner thread is the only one that decides and the only one that writes
//! the state file. If it dies, RocksDB goes on: its own compaction of L0 keeps
//! writes possible without end.

mod applying;
mod backoff;
mod check;
mod claim;
mod complaints;
mod families;
mod glance;
mod learner;
mod memory;
mod mission;
mod pilot;
mod priority;
mod publish;
mod quarantine;
#[cfg(test)]
mod reasons_tests;
mod report;
mod run;
mod scheduler;
mod shared;
mod start;
#[cfg(test)]
mod testing;
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
pub use self::report::Health;
pub use self::scheduler::ScheduleReport;
pub(crate) use self::scheduler::device_rate;
use self::shared::{Request, Shared};
use crate::RocksDb;
use crate::apply::{Applied, Plan, Wanted};
use crate::error::Result;
use crate::ffi::CfRef;
use crate::files::pin;
use crate::options::Preparation;

/// Drives the compactions of an open database until it is dropped.
///
/// [`Db`](crate::Db) has one inside. An application that opens RocksDB itself
/// attaches one; what is missing then:
///
/// - operations are counted by RocksDB's statistics, for the database as a
///   whole: each column family's tuner sees the mix of all, deletes count as
///   writes, and the sizes of scans are those of all iterators. Each key of a MultiGet is
///   a get. A key whose deletion still lies in a memtable counts as found, one that is put
///   together from merge operands alone as absent;
/// - bytes that users wrote are counted for the database as a whole, too
///   ([`Statistics::user_write_bytes`](crate::statistics::Statistics::user_write_bytes)):
///   they are given to a column family while it is the only one, and to none once several
///   have been driven, which then have no write amplification of their own;
/// - no latencies, no reads, filter hits and false positives by level, so no read
///   amplification, and no longest stall: the policies `learned` and `lerp` are refused;
/// - without RocksDB's statistics ([`Settings::statistics`](crate::Settings::statistics))
///   no operations and no bytes of users at all: `thresholds-LOW-HIGH` and every schedule
///   but `eager` are refused.
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
    /// So is a handle whose column families one thread makes and drops, which the
    /// binding's `DB` is without its feature `multi-threaded-cf`: open the database as
    /// [`RocksDb`].
    ///
    /// ```compile_fail,E0308
    /// # fn attach(preparation: lissom::Preparation) -> lissom::Result<lissom::Autopilot> {
    /// use rust_rocksdb::{DBWithThreadMode, SingleThreaded};
    /// let db = DBWithThreadMode::<SingleThreaded>::open_default("data")?;
    /// lissom::Autopilot::attach(std::sync::Arc::new(db), preparation)
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database was opened for reading, or without handles of its column families;
    /// when another autopilot drives it, as that of a [`Db`](crate::Db);
    /// when a column family's options are not from the preparation, or were changed into what
    /// cannot be driven; when a policy or the schedule needs what is not counted under
    /// `attach`; when the state file was written for another layout, or cannot be opened.
    pub fn attach(db: Arc<RocksDb>, preparation: Preparation) -> Result<Autopilot> {
        Autopilot::start(db, &preparation, true)
    }

    fn ask(&self, family: &str, request: Request) -> Result<()> {
        self.shared.driven(family)?.ask(request);
        self.shared.events.bell().ring();
        Ok(())
    }

    /// Changes who chooses the run limits of a column family. Limits of a
    /// `fixed-K` policy hold at once; other policies begin from the present
    /// ones, with what they had learned when they last decided. Not kept over a reopening.
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

    /// Asks for everything in a column family to be merged into one run, in pieces like all other
    /// work, and level by level, so that level 0 has room meanwhile. What is flushed later stays
    /// above it. Returns at once; asked again before it is done, it begins anew with what there is
    /// then.
    ///
    /// # Errors
    /// When there is no such column family.
    pub fn compact(&self, family: &str) -> Result<()> {
        self.ask(family, Request::CompactAll { alone: false })
    }

    /// The same of a database that nobody else has open: it may go at a stretch.
    ///
    /// # Errors
    /// When there is no such column family.
    pub(crate) fn compact_alone(&self, family: &str) -> Result<()> {
        self.ask(family, Request::CompactAll { alone: true })
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
    /// until [`Autopilot::unpin`]. What a lazy
    /// [`Transition`](lissom_core::shape::Transition) lets wait goes on waiting. It makes
    /// the file `LISSOM-PIN`, which anyone may make or remove from outside.
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
    /// first; RocksDB's emergency brake on L0 stays, and so does what RocksDB rewrites by
    /// itself once a snapshot is released. Not kept over a reopening.
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
        // `None` is never: no instant is that late.
        let deadline = Instant::now().checked_add(patience);
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        loop {
            if self.is_idle() {
                return true;
            }
            if is_over() || self.shared.stopping() {
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
        self.shared.priorities.end();
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
        // It held for its interval only.
        self.shared.end_rate();
        self.shared.journal.flush();
    }
}

impl Drop for Autopilot {
    fn drop(&mut self) {
        self.stop();
    }
}
