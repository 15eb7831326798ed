//! What the autopilot tells of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use lissom_core::Mission;

use super::scheduler::ScheduleReport;
use super::shared::Family;
use super::{Autopilot, mission, publish};
use crate::error::Result;
use crate::events::BackgroundError;
use crate::ffi::CfRef;
use crate::ffi::snapshot::table_properties;
use crate::statistics::{FamilyStatistics, FilterMemory, Statistics};

/// How a database and its autopilot are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Health {
    /// The autopilot's threads run.
    pub running: bool,
    /// The autopilot starts nothing, on request.
    pub paused: bool,
    /// RocksDB met an error in a flush, a compaction or a write-ahead log. It has stopped background
    /// work for it, and perhaps writes, unless all that it lacked was space for a compaction.
    pub background_error: Option<BackgroundError>,
    /// Files that compactions leave alone, since reading or merging them failed. Those
    /// that RocksDB called damaged stay so until
    /// [`Autopilot::forget_unreadable`]; the others are tried again after an hour, and
    /// at the next open; those that RocksDB would not begin with, as while the application
    /// compacts where they lead, after a minute. What a merge of L0 was to take is tried again
    /// with the next flush, too, unless one of the files could not be read.
    pub unreadable: BTreeMap<String, BTreeSet<u64>>,
    /// Column families whose tuner panicked, did not answer, or answered what cannot be
    /// obeyed: the last limits that have held for long hold until a policy is set.
    pub broken_tuners: BTreeSet<String>,
    /// What fails in `failed_rounds`, as long as it does; else the last failure of the autopilot,
    /// until a compaction succeeds.
    pub trouble: Option<String>,
    /// Column families in which rounds fail, and how many have in a row; under "" those that
    /// failed for the database as a whole. `trouble` says why. Where it is the state file that
    /// cannot be written, no drain begins and all else goes on; otherwise nothing is planned.
    /// Each attempt is followed by twice the rest of the one before, from 100 ms to 10 s.
    pub failed_rounds: BTreeMap<String, u32>,
    /// Journal lines that could not be written.
    pub dropped_journal_lines: u64,
}

impl Autopilot {
    /// What the schedule has ordered last, and why.
    pub fn schedule(&self) -> ScheduleReport {
        let limit = self.shared.rate_limit.as_ref();
        ScheduleReport {
            rate_limit_bytes_per_second: limit.and_then(|limit| limit.bytes_per_second()),
            priority: self.shared.priorities.orders(),
            ..self.shared.schedule.lock().clone()
        }
    }

    /// The mission that ended last in a column family.
    pub fn mission(&self, family: &str) -> Option<Mission> {
        self.shared.family(family)?.view.lock().mission.clone()
    }

    /// Counts and shapes of all column families. Reading filter sizes may open
    /// files: not for every second.
    ///
    /// # Errors
    /// When RocksDB cannot give the properties of its files.
    pub fn statistics(&self) -> Result<Statistics> {
        let families: Vec<_> = self.shared.families.read().values().cloned().collect();
        let mut statistics = Statistics {
            stall: self.shared.stall(),
            ..Statistics::default()
        };
        for family in families {
            let of_family = self.family_statistics(&family)?;
            statistics.families.insert(family.name.clone(), of_family);
        }
        let families = statistics.families.values();
        statistics.user_write_bytes = match self.shared.attached {
            true => self.shared.written(),
            false => families.map(|it| it.total.user_write_bytes).sum(),
        };
        Ok(statistics)
    }

    fn family_statistics(&self, family: &Arc<Family>) -> Result<FamilyStatistics> {
        let view = family.view.lock().clone();
        Ok(FamilyStatistics {
            policy: view.policy,
            limits: view.limits,
            pinned: self.is_pinned(),
            tree: view.tree,
            mission: view.mission,
            total: mission::since_begin(&self.shared, family, view.missions),
            space_amplification: view.space_amplification,
            longest_stall: family.counters.longest_stall(),
            pieces: family.pieces.lock().clone(),
            tuner: view.tuner,
            debt_bytes: view.debt_bytes,
            drains: view.drains_ended,
            filters: FilterMemory {
                bits_per_key: publish::current_bits(&family.hooks),
                bytes: self.filter_bytes(&family.name)?,
            },
        })
    }

    fn filter_bytes(&self, family: &str) -> Result<u64> {
        let Some(handle) = self.shared.db.cf_handle(family) else {
            return Ok(0);
        };
        let tables = table_properties(CfRef::of(&handle)?)?;
        Ok(tables.values().map(|table| table.filter_size).sum())
    }

    /// How the database and the autopilot are.
    pub fn health(&self) -> Health {
        let threads = self.threads.lock();
        let alive = !threads.is_empty() && !threads.iter().any(JoinHandle::is_finished);
        let families = self.shared.families.read();
        Health {
            running: alive && !self.shared.stopping(),
            paused: self.shared.paused.load(Relaxed),
            background_error: self.shared.events.background_error(),
            unreadable: families
                .values()
                .map(|family| (family.name.clone(), family.quarantine.lock().files()))
                .filter(|(_, files)| !files.is_empty())
                .collect(),
            broken_tuners: families
                .values()
                .filter(|family| family.view.lock().tuner_broken)
                .map(|family| family.name.clone())
                .collect(),
            trouble: self.trouble(&families),
            failed_rounds: self.failed_rounds(&families),
            dropped_journal_lines: self.shared.journal.dropped(),
        }
    }

    /// Compactions that succeed end no failure of rounds: in the same family L0 is merged while
    /// the state file cannot be written.
    fn trouble(&self, families: &BTreeMap<String, Arc<Family>>) -> Option<String> {
        let why = |family: &Arc<Family>| {
            let view = family.view.lock();
            view.failing.as_ref().map(|failing| failing.why.clone())
        };
        let failing = families.values().find_map(why);
        failing.or_else(|| self.shared.trouble.lock().clone())
    }

    fn failed_rounds(&self, families: &BTreeMap<String, Arc<Family>>) -> BTreeMap<String, u32> {
        let whole = (String::new(), self.shared.failed_turns.load(Relaxed));
        let failed = |family: &Arc<Family>| {
            let view = family.view.lock();
            let rounds = view.failing.as_ref().map_or(0, |failing| failing.times);
            (family.name.clone(), rounds)
        };
        families
            .values()
            .map(failed)
            .chain([whole])
            .filter(|(_, rounds)| *rounds > 0)
            .collect()
    }
}
