//! The start of an autopilot: what it may drive, and its threads.

use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use rust_rocksdb::statistics::Ticker;

use super::claim::Claim;
use super::memory::Memory;
use super::priority::{Obstacles, Place, Priorities};
use super::scheduler::{ScheduleReport, Scheduler, keep_given_device};
use super::shared::Shared;
use super::{Autopilot, check, priority, run, workers};
use crate::RocksDb;
use crate::error::{Error, Result};
use crate::files::journal::Journal;
use crate::files::state;
use crate::options::Preparation;

impl Autopilot {
    pub(crate) fn start(
        db: Arc<RocksDb>,
        preparation: &Preparation,
        attached: bool,
    ) -> Result<Autopilot> {
        let directory = db.path().to_owned();
        check::handles(&db, attached)?;
        let claim = Claim::to(&directory)?;
        check::families(&db, preparation)?;
        let rocks_statistics = check::rocks_statistics(&db)?;
        if attached {
            check::attached(preparation, rocks_statistics.is_some())?;
        }
        let loaded = state::load_to_write(&directory)?;
        let max_bytes = preparation.settings.max_journal_bytes;
        let journal = Journal::open(&directory, max_bytes, loaded.stored.openings)?;
        if let Some(remark) = loaded.remark {
            journal.note("", remark);
        }
        let written_before = rocks_statistics
            .as_ref()
            .map_or(Ok(0), |statistics| statistics.ticker(Ticker::BytesWritten))?;
        let place = Place {
            directory: &directory,
            direct_io: check::direct_io(&db)?,
        };
        let obstacles = Obstacles::of(&preparation.settings, &place);
        let shared = Arc::new(Shared {
            rocks_statistics,
            db,
            journal,
            events: preparation.events.clone(),
            settings: preparation.settings.clone(),
            families: Default::default(),
            applying: Mutex::default(),
            queue: Default::default(),
            busy: Default::default(),
            on_drains: Default::default(),
            stop: Default::default(),
            paused: Default::default(),
            failed_turns: Default::default(),
            trouble: Mutex::default(),
            complaints: Mutex::default(),
            rate_limit: preparation.rate_limit.clone(),
            commits: preparation.commits.clone(),
            schedule: Mutex::new(ScheduleReport::before(preparation.settings.schedule)),
            priorities: Arc::new(Priorities::new(obstacles)),
            attached,
            several: Default::default(),
            written_before,
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
        let mut stored = loaded.stored;
        stored.openings = autopilot.shared.journal.opening();
        keep_given_device(&autopilot.shared, &mut stored);
        let mut memory = Memory::new(directory, stored);
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
        let shared = self.shared.clone();
        threads.push(thread("lissom-priority".into(), move || {
            priority::keep(&shared);
        })?);
        for worker in 0..self.shared.settings.workers {
            let shared = self.shared.clone();
            let name = format!("lissom-worker-{worker}");
            threads.push(thread(name, move || workers::work(&shared))?);
        }
        Ok(())
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
