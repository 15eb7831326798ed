//! Worker threads: each carries out one plan at a time.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use lissom_core::journal::{Event, Outcome};
use lissom_core::{InFlight, PhysicalLevel, Plan, PlanKind, Reason, validate};
use parking_lot::{Condvar, Mutex};

use super::priority::Which;
use super::quarantine::{ASK_AGAIN, ASK_SOON};
use super::shared::{Family, Shared};
use crate::events::count_compaction;
use crate::events::spared::{Inputs, sparing};
use crate::execute::{Executed, Unread, execute, is_for_want};
use crate::observe::observe;
use crate::statistics::Pieces;

/// How long a worker waits for whoever holds a family's gate alone.
const WAIT_AT_GATE: Duration = Duration::from_millis(50);

/// A plan on its way to a worker.
pub(super) struct Job {
    pub(super) family: Arc<Family>,
    /// Its number in the journal.
    pub(super) number: u64,
    pub(super) plan: Plan,
    /// Input bytes by level.
    pub(super) input_bytes: Vec<(PhysicalLevel, u64)>,
    /// The family's count of changes when its tree was seen.
    pub(super) seen_at: u64,
    /// Tells the levels that the plan reaches over from what they were at other times; of
    /// a plan that came out stale before.
    pub(super) around: Option<u64>,
    /// Of a plan that takes files of L0: the newest one when its tree was seen.
    pub(super) level0: Option<u64>,
}

/// Plans that wait for a worker, in order.
#[derive(Default)]
pub(super) struct Queue {
    jobs: Mutex<VecDeque<Job>>,
    condition: Condvar,
}

impl Queue {
    pub(super) fn push(&self, job: Job) {
        self.jobs.lock().push_back(job);
        self.condition.notify_one();
    }

    /// Wakes all workers, so that they see that they should end.
    pub(super) fn wake(&self) {
        // Taken and released: a worker that has just found nothing to do waits
        // by now, or has not looked yet.
        drop(self.jobs.lock());
        self.condition.notify_all();
    }

    /// The next job; `None` when the worker should end.
    fn take(&self, stopping: impl Fn() -> bool) -> Option<Job> {
        let mut jobs = self.jobs.lock();
        loop {
            if stopping() {
                return None;
            }
            if let Some(job) = jobs.pop_front() {
                return Some(job);
            }
            self.condition.wait(&mut jobs);
        }
    }
}

/// The life of a worker.
pub(super) fn work(shared: &Shared) {
    shared.priorities.enlist();
    while let Some(job) = shared.queue.take(|| shared.stopping()) {
        let executed =
            catch_unwind(AssertUnwindSafe(|| carry_out(shared, &job))).unwrap_or_else(|_| {
                only(Outcome::Failed {
                    error: "the worker panicked".into(),
                })
            });
        finish(shared, &job, executed);
    }
}

/// Cancels the plans that no worker took up, at the end.
pub(super) fn cancel_rest(shared: &Shared) {
    let rest = std::mem::take(&mut *shared.queue.jobs.lock());
    for job in rest {
        finish(shared, &job, only(Outcome::Cancelled));
    }
}

fn carry_out(shared: &Shared, job: &Job) -> Executed {
    let family = &*job.family;
    // Whoever wants to be alone is soon done; if not, other families have work.
    let open = family.gate.try_read_for(WAIT_AT_GATE);
    let may = open.as_ref().is_some_and(|open| **open);
    if !may || shared.paused.load(Relaxed) || shared.stopping() {
        return only(Outcome::Cancelled);
    }
    let Some(handle) = shared.db.cf_handle(&family.name) else {
        return only(Outcome::Cancelled);
    };
    if let Err(why) = still_valid(job, &handle) {
        return only(Outcome::Stale { why });
    }
    let subcompactions = shared.settings.max_subcompactions;
    let merge = || execute(&shared.db, &handle, &job.plan, subcompactions);
    let which = Which::of(&family.name, &job.plan);
    let merge = || shared.priorities.during(which, merge);
    let executed = sparing(Inputs::of(&job.plan), merge);
    if let Outcome::Done { write_bytes, took, .. } = &executed.outcome
        // A move of L0 is a merge where others were flushed over its files.
        && (job.plan.kind == PlanKind::Merge || *write_bytes > 0)
    {
        count_compaction(
            &family.counters,
            job.input_bytes.iter().copied(),
            job.plan.output,
            job.plan.drain.is_some(),
            *write_bytes,
            *took,
        );
        if let Reason::Consolidate { level } = job.plan.reason {
            family.counters.count_for_reads(level, *write_bytes);
        }
    }
    executed
}

/// The planner checked the plan against the tree that it saw; only a tree that
/// has changed since needs another look.
fn still_valid(job: &Job, handle: &impl rust_rocksdb::AsColumnFamilyRef) -> Result<(), String> {
    let family = &*job.family;
    if family.counters.changes.load(Relaxed) == job.seen_at {
        return Ok(());
    }
    let seen = observe(handle).map_err(|error| error.to_string())?;
    let own = family.own_jobs();
    let mut others: Vec<InFlight> = {
        let in_flight = family.in_flight.lock();
        let others = in_flight
            .iter()
            .filter(|(number, _)| **number != job.number);
        others.map(|(_, job)| job.clone()).collect()
    };
    others.extend(seen.foreign(&own));
    validate::validate(&seen.tree, &others, &job.plan).map_err(|refusal| refusal.to_string())
}

fn only(outcome: Outcome) -> Executed {
    Executed {
        outcome,
        mismatch: None,
        unreadable: None,
    }
}

fn finish(shared: &Shared, job: &Job, mut executed: Executed) {
    let family = &*job.family;
    let now = Instant::now();
    let rest = match executed.outcome {
        Outcome::Stale { .. } => ASK_SOON,
        _ => ASK_AGAIN,
    };
    let mut waits = family.back_off.lock();
    executed.outcome = waits.judge(&job.plan, job.around, executed.outcome, now);
    drop(waits);
    count(&mut family.pieces.lock(), &job.plan, &executed);
    back_off(shared, job, &executed, rest);
    if let Some(sentence) = executed.mismatch {
        shared.journal.note(&family.name, sentence);
    }
    shared.journal.write(
        &family.name,
        Event::CompactionEnd {
            compaction: job.number,
            outcome: executed.outcome,
        },
    );
    // Before it is removed: nobody takes it for one of another family.
    let on_drains = usize::from(job.plan.drain.is_some());
    shared.on_drains.fetch_sub(on_drains, Relaxed);
    family.in_flight.lock().remove(&job.number);
    // CompactFiles is no event of RocksDB's.
    family.counters.changes.fetch_add(1, Relaxed);
    family.ended.fetch_add(1, Relaxed);
    shared.busy.fetch_sub(1, Relaxed);
    shared.events.bell().ring();
}

/// `rest` is for how long its inputs are left out where it has used up its attempts.
fn back_off(shared: &Shared, job: &Job, executed: &Executed, rest: Duration) {
    let family = &*job.family;
    let mut back_off = family.back_off.lock();
    match &executed.outcome {
        Outcome::Done { .. } => {
            back_off.succeeded(&job.plan);
            *shared.trouble.lock() = None;
        }
        Outcome::Stale { .. } | Outcome::Cancelled => back_off.postponed(Instant::now()),
        Outcome::Failed { error } => {
            let now = Instant::now();
            let given_up = back_off.failed(&job.plan, now);
            match executed.unreadable {
                Some(Unread::Damaged(file)) => leave_out(shared, family, file, error),
                Some(Unread::Refused(file)) if back_off.refused(file, now) => {
                    set_aside(shared, family, &[file], None, rest, error);
                }
                None if given_up && !is_for_want(error) => {
                    let inputs: Vec<u64> = job.plan.files().collect();
                    set_aside(shared, family, &inputs, job.level0, rest, error);
                }
                Some(Unread::Refused(_)) | None => {
                    let sentence = format!("a compaction failed and is tried again: {error}");
                    shared.complain(&family.name, sentence);
                }
            }
        }
    }
}

/// Keeps a damaged file out of later plans.
fn leave_out(shared: &Shared, family: &Family, file: u64, error: &str) {
    family.quarantine.lock().add_damaged(file);
    let sentence =
        format!("files [{file}] are left out of compactions, since one is damaged: {error}");
    shared.complain(&family.name, sentence);
}

/// Keeps files out of plans for a while: at most one of them may be to blame, and what
/// failed may pass. `level0` as in [`Job`], where the inputs of a plan are set aside.
fn set_aside(
    shared: &Shared,
    family: &Family,
    files: &[u64],
    level0: Option<u64>,
    rest: Duration,
    error: &str,
) {
    let mut quarantine = family.quarantine.lock();
    quarantine.suspect(files, level0, Instant::now() + rest);
    drop(quarantine);
    let minutes = rest.as_secs() / 60;
    let sooner = match level0 {
        Some(_) => "flush or open",
        None => "open",
    };
    let sentence = format!(
        "files {files:?} are left out of compactions for {minutes} min, or until the next \
         {sooner}, since one failed: {error}"
    );
    shared.complain(&family.name, sentence);
}

fn count(pieces: &mut Pieces, plan: &Plan, executed: &Executed) {
    match &executed.outcome {
        Outcome::Done {
            read_bytes,
            write_bytes,
            took,
            ..
        } => {
            pieces.read_bytes += read_bytes;
            pieces.write_bytes += write_bytes;
            pieces.mismatched += u64::from(executed.mismatch.is_some());
            match plan.kind {
                PlanKind::Move => pieces.moved += 1,
                PlanKind::Merge => {
                    pieces.merged += 1;
                    pieces.time += *took;
                    pieces.largest_bytes = pieces.largest_bytes.max(plan.input_bytes);
                    pieces.largest_since_taken = pieces.largest_since_taken.max(plan.input_bytes);
                }
            }
            if let Some(cause) = plan.excess {
                *pieces.excesses.entry(cause).or_default() += 1;
            }
        }
        Outcome::Stale { .. } => pieces.stale += 1,
        Outcome::Cancelled => pieces.cancelled += 1,
        Outcome::Failed { .. } => pieces.failed += 1,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::autopilot::testing::merge_of;
    use crate::{Db, Settings};

    fn job(family: &Arc<Family>, file: u64) -> Job {
        Job {
            family: family.clone(),
            number: 1_000,
            plan: merge_of(PhysicalLevel::L0, vec![file]),
            input_bytes: Vec::new(),
            seen_at: 0,
            around: Some(7),
            level0: None,
        }
    }

    /// As where an application's `CompactFiles` is at the level that it leads to for long.
    #[test]
    fn what_rocksdb_would_not_begin_is_left_out_for_a_minute() {
        let directory = tempfile::tempdir().expect("a directory");
        let db = Db::open(directory.path(), Settings::default()).expect("opened");
        db.put("key", "value").expect("a put");
        db.flush().expect("a flush");
        let handle = db.cf_handle("default").expect("there always is one");
        let file = observe(&handle).expect("a tree").tree.level0()[0].number;
        let shared = &db.autopilot().shared;
        let family = shared.family("default").expect("it is driven");
        let job = job(&family, file);
        let stale = || Outcome::Stale {
            why: "refused".into(),
        };
        let long_ago = Instant::now().checked_sub(Duration::from_secs(30));
        let long_ago = long_ago.expect("the machine runs for longer");
        for _ in 0..30 {
            let mut back_off = family.back_off.lock();
            let judged = back_off.judge(&job.plan, job.around, stale(), long_ago);
            assert_eq!(judged, stale());
        }
        for _ in 0..5 {
            assert_eq!(family.quarantine.lock().files(), BTreeSet::new());
            shared.busy.fetch_add(1, Relaxed);
            finish(shared, &job, only(stale()));
        }
        let mut quarantine = family.quarantine.lock();
        assert_eq!(quarantine.files(), BTreeSet::from([file]));
        quarantine.review(Instant::now() + Duration::from_secs(61), None, |_| true);
        assert_eq!(quarantine.files(), BTreeSet::new());
    }
}
