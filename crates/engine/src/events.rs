//! RocksDB's events: they wake the autopilot, count bytes, and tell of errors.
//!
//! A listener is part of the options that a database is opened with, so it is
//! made before the database and before the autopilot, and shared with both.

pub(crate) mod spared;
pub(crate) mod stages;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use lissom_core::{Layout, LogicalLevel, PhysicalLevel};
use parking_lot::{Condvar, Mutex, RwLock};
use rust_rocksdb::event_listener::{
    BackgroundErrorRecoveryInfo, CompactionJobInfo, DBBackgroundErrorReason, DBWriteStallCondition,
    EventListener, FlushJobInfo, IngestionInfo, MutableStatus, StatusSeverity,
    SubcompactionJobInfo, WriteStallInfo,
};
use rust_rocksdb::properties::{ACTUAL_DELAYED_WRITE_RATE, IS_WRITE_STOPPED};

use crate::RocksDb;
use crate::statistics::counters::Counters;
use crate::statistics::nanos;

/// Shared by a database's listener, its handle and its autopilot.
#[derive(Debug, Default)]
pub(crate) struct Events {
    families: RwLock<HashMap<String, Arc<Counters>>>,
    bell: Bell,
    held_back: Mutex<HashSet<Vec<u8>>>,
    stalling: AtomicBool,
    /// What RocksDB has told of stalls so far, beginnings and ends.
    stall_news: AtomicU64,
    /// A stall was told of that nobody has asked RocksDB about yet.
    in_doubt: AtomicBool,
    /// Nanoseconds that writes through this crate's handle took meanwhile.
    stalled: AtomicU64,
    errors: Mutex<Errors>,
}

#[derive(Debug, Default)]
struct Errors {
    /// So far.
    told: u64,
    /// What RocksDB keeps now, and how severe it is.
    present: Option<(StatusSeverity, BackgroundError)>,
    /// The last one that it was told beside that. RocksDB may keep it: it gives an error up before
    /// it tells of the end.
    beside: Option<(StatusSeverity, BackgroundError)>,
}

/// An error of a flush, a compaction or a write-ahead log that RocksDB keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundError {
    /// RocksDB's message.
    pub message: String,
    /// Whether RocksDB may go on after [`Db::resume`](crate::Db::resume), or by
    /// itself; if not, the database must be opened anew.
    pub recoverable: bool,
}

impl Events {
    /// The counters of a column family, made at the first call.
    pub(crate) fn counters(&self, family: &str) -> Arc<Counters> {
        if let Some(counters) = self.families.read().get(family) {
            return counters.clone();
        }
        self.families
            .write()
            .entry(family.to_owned())
            .or_default()
            .clone()
    }

    /// The counters of the column family that RocksDB calls by this number; `None` of one that the
    /// autopilot does not drive.
    pub(crate) fn counters_of(&self, family: u32) -> Option<Arc<Counters>> {
        let families = self.families.read();
        families.values().find(|it| it.is_of(family)).cloned()
    }

    /// Forgets a dropped column family.
    pub(crate) fn forget(&self, family: &str) {
        self.families.write().remove(family);
    }

    /// Takes up the counters of a column family that was forgotten and stays.
    pub(crate) fn remember(&self, family: &str, counters: &Arc<Counters>) {
        self.families
            .write()
            .insert(family.to_owned(), counters.clone());
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    /// Whether RocksDB delays or stops writes of any column family now.
    #[inline]
    pub(crate) fn stalling(&self) -> bool {
        self.stalling.load(Relaxed)
    }

    /// How often RocksDB has told of a beginning or an end. A write that meets one was held
    /// back, though the stall may have begun after it and ended before it.
    #[inline]
    pub(crate) fn stall_news(&self) -> u64 {
        self.stall_news.load(Relaxed)
    }

    /// Asks RocksDB once whether a stall that it has told of is still there.
    ///
    /// A writer that finds all memtables full begins a stall, waits, and tells of the
    /// beginning only as its write ends (the destructor of `WriteContext` in RocksDB 11.12),
    /// when the flush has told of the end already.
    pub(crate) fn doubt_stall(&self, holds_back: impl FnOnce() -> bool) {
        if !self.stalling() || !self.in_doubt.swap(false, Relaxed) || holds_back() {
            return;
        }
        let mut held_back = self.held_back.lock();
        // Another one may have been told of since.
        if !self.in_doubt.load(Relaxed) {
            held_back.clear();
            self.stalling.store(false, Relaxed);
        }
    }

    /// Counts a write that took `waited` while RocksDB held writers back.
    pub(crate) fn note_stall(&self, waited: Duration) {
        self.stalled.fetch_add(nanos(waited), Relaxed);
    }

    /// Time of all writes while RocksDB held writers back.
    pub(crate) fn stalled(&self) -> Duration {
        Duration::from_nanos(self.stalled.load(Relaxed))
    }

    /// A column family that was dropped holds nobody back: RocksDB gives its share of
    /// the stall up and tells nobody (`ColumnFamilyData::SetDropped` in RocksDB 11.12).
    pub(crate) fn release_writers(&self, family: &str) {
        self.hold_back(family.as_bytes().to_vec(), false);
    }

    fn hold_back(&self, family: Vec<u8>, holds: bool) {
        let mut held_back = self.held_back.lock();
        if holds {
            held_back.insert(family);
            self.in_doubt.store(true, Relaxed);
        } else {
            held_back.remove(&family);
            // An earlier doubt may have been of one that is left, while this one held writers back.
            self.in_doubt.store(!held_back.is_empty(), Relaxed);
        }
        self.stalling.store(!held_back.is_empty(), Relaxed);
        self.stall_news.fetch_add(1, Relaxed);
    }

    pub(crate) fn background_error(&self) -> Option<BackgroundError> {
        let errors = self.errors.lock();
        errors.present.as_ref().map(|(_, error)| error.clone())
    }

    /// RocksDB keeps the more severe of two, of equals the first, and tells of both.
    fn tell_error(&self, message: String, severity: StatusSeverity) {
        let mut errors = self.errors.lock();
        errors.told += 1;
        let kept = errors.present.as_ref().map(|(severity, _)| *severity);
        let error = BackgroundError {
            message,
            recoverable: severity < StatusSeverity::KFatalError,
        };
        let place = match kept < Some(severity) {
            true => &mut errors.present,
            false => &mut errors.beside,
        };
        *place = Some((severity, error));
    }

    /// Of another one it may have told meanwhile.
    fn forget_error(&self, message: &str) {
        let mut errors = self.errors.lock();
        let over = errors
            .present
            .take_if(|(_, error)| error.message == message);
        if over.is_some() {
            errors.present = errors.beside.take();
        }
    }

    /// Asks RocksDB to go on. Forgets the error if it does and has told of no other
    /// meanwhile: whoever forgets that one never asks again.
    pub(crate) fn resume<E>(
        &self,
        resume: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let told = self.errors.lock().told;
        resume()?;
        let mut errors = self.errors.lock();
        if errors.told == told {
            (errors.present, errors.beside) = (None, None);
        }
        Ok(())
    }

    fn changed(&self, family: Option<Vec<u8>>, count: impl FnOnce(&Counters)) {
        let name = family.unwrap_or_default();
        if let Some(counters) = self.families.read().get(&*String::from_utf8_lossy(&name)) {
            count(counters);
            counters.changes.fetch_add(1, Relaxed);
        }
        self.bell.ring();
    }
}

/// Whether RocksDB delays or stops writes at this instant.
pub(crate) fn holds_writers_back(rocks: &RocksDb) -> bool {
    let is_zero = |property| matches!(rocks.property_int_value(property), Ok(Some(0)));
    !(is_zero(IS_WRITE_STOPPED) && is_zero(ACTUAL_DELAYED_WRITE_RATE))
}

/// Wakes the one thread that waits; rings while it works are not lost.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: Mutex<bool>,
    condition: Condvar,
}

impl Bell {
    pub(crate) fn ring(&self) {
        *self.rung.lock() = true;
        self.condition.notify_all();
    }

    /// Waits for the bell, at most for `timeout`.
    pub(crate) fn wait(&self, timeout: Duration) {
        let mut rung = self.rung.lock();
        if !*rung {
            self.condition.wait_for(&mut rung, timeout);
        }
        *rung = false;
    }
}

/// Adds what a compaction did to the counters of the levels. `drains` tells one that merges
/// what has been below L0 for its own sake: it is not what L0 costs.
pub(crate) fn count_compaction(
    counters: &Counters,
    read: impl IntoIterator<Item = (PhysicalLevel, u64)>,
    output: PhysicalLevel,
    drains: bool,
    write_bytes: u64,
    took: Duration,
) {
    let (mut moved, mut of_level0) = (write_bytes, 0);
    for (level, bytes) in read {
        let of_level = &counters.level(level).compaction_read_bytes;
        of_level.fetch_add(bytes, Relaxed);
        counters.compaction_read_bytes.fetch_add(bytes, Relaxed);
        if level == PhysicalLevel::L0 {
            of_level0 += bytes;
        }
        moved += bytes;
    }
    let leaves_level0 = output > PhysicalLevel::L0;
    if !drains && leaves_level0 && output <= Layout::V1.span(LogicalLevel(1)).1 {
        counters.level1_compacted_bytes.fetch_add(moved, Relaxed);
        counters.level0_merged_bytes.fetch_add(of_level0, Relaxed);
    }
    let into = counters.level(output);
    into.compaction_write_bytes.fetch_add(write_bytes, Relaxed);
    into.compaction_micros
        .fetch_add(took.as_micros() as u64, Relaxed);
    counters
        .compaction_write_bytes
        .fetch_add(write_bytes, Relaxed);
}

/// The listener that RocksDB calls. Nothing in it may block or panic.
pub(crate) struct Listener(pub(crate) Arc<Events>);

impl EventListener for Listener {
    fn on_flush_completed(&self, info: &FlushJobInfo) {
        let table = info.table_properties();
        let bytes = table.data_size() + table.index_size() + table.filter_size();
        self.0
            .changed(info.cf_name(), |counters| counters.count_flush(bytes));
    }

    /// RocksDB's own compactions and those of the application: `CompactFiles` is
    /// no event. It does not say how many bytes came from which level, so all
    /// count for the first.
    fn on_compaction_completed(&self, info: &CompactionJobInfo) {
        self.0.changed(info.cf_name(), |counters| {
            if info.status().is_ok() {
                count_compaction(
                    counters,
                    [(physical(info.base_input_level()), info.total_input_bytes())],
                    physical(info.output_level()),
                    info.base_input_level() > 0,
                    info.total_output_bytes(),
                    Duration::from_micros(info.elapsed_micros()),
                );
            }
        });
    }

    // RocksDB tells of these in `CompactFiles`, too, on the calling thread where one thread
    // merges, and without its locks.
    fn on_subcompaction_begin(&self, _: &SubcompactionJobInfo) {
        stages::begins();
    }

    fn on_subcompaction_completed(&self, _: &SubcompactionJobInfo) {
        stages::ends();
    }

    fn on_external_file_ingested(&self, info: &IngestionInfo) {
        self.0.changed(info.cf_name(), |_| ());
    }

    fn on_stall_conditions_changed(&self, info: &WriteStallInfo) {
        let holds = info.cur() != DBWriteStallCondition::KNormal;
        self.0.hold_back(info.cf_name().unwrap_or_default(), holds);
        self.0.bell.ring();
    }

    fn on_background_error(&self, reason: DBBackgroundErrorReason, status: MutableStatus) {
        match status.result() {
            Err(error) if spared::is_spared(reason, error) => status.reset(),
            // RocksDB tells of errors that it does not keep, too.
            Err(error) if status.severity() > StatusSeverity::KNoError => {
                self.0.tell_error(error.to_string(), status.severity());
            }
            _ => {}
        }
        self.0.bell.ring();
    }

    fn on_error_recovery_end(&self, info: &BackgroundErrorRecoveryInfo) {
        if info.new_bg_error().result().is_ok()
            && let Err(over) = info.old_bg_error().result()
        {
            self.0.forget_error(over.as_ref());
        }
        self.0.bell.ring();
    }
}

fn physical(level: i32) -> PhysicalLevel {
    u16::try_from(level).map_or(PhysicalLevel::L0, PhysicalLevel)
}

#[cfg(test)]
mod tests {
    use StatusSeverity::{KFatalError, KHardError, KSoftError};

    use super::*;

    fn family() -> Vec<u8> {
        b"default".to_vec()
    }

    #[test]
    fn a_stall_whose_beginning_is_told_after_its_end_is_over() {
        let events = Events::default();
        let before = events.stall_news();
        events.hold_back(family(), false);
        events.hold_back(family(), true);
        assert!(
            events.stall_news() != before,
            "a write meanwhile was held back"
        );
        assert!(events.stalling());
        events.doubt_stall(|| false);
        assert!(!events.stalling());
    }

    #[test]
    fn a_stall_that_is_over_does_not_outlive_the_one_beside_it() {
        let events = Events::default();
        let other = || b"other".to_vec();
        // Its end was told before.
        events.hold_back(family(), true);
        events.hold_back(other(), true);
        events.doubt_stall(|| true);
        events.hold_back(other(), false);
        assert!(events.stalling());
        events.doubt_stall(|| false);
        assert!(!events.stalling());
    }

    #[test]
    fn a_stall_that_is_there_stays_and_is_asked_about_once() {
        let events = Events::default();
        events.hold_back(family(), true);
        events.doubt_stall(|| true);
        assert!(events.stalling());
        events.doubt_stall(|| panic!("asked again"));
        // It ends while RocksDB is asked, and the next one begins.
        events.hold_back(family(), true);
        events.doubt_stall(|| {
            events.hold_back(family(), true);
            false
        });
        assert!(events.stalling(), "the second one");
        events.hold_back(family(), false);
        assert!(!events.stalling());
    }

    #[test]
    fn the_worse_error_stays_until_it_is_over() {
        let events = Events::default();
        let tell = |message: &str, severity| events.tell_error(message.into(), severity);
        let told = || events.background_error().map(|error| error.message);
        tell("no space for a merge", KSoftError);
        tell("no space for the log", KHardError);
        tell("no space for another merge", KSoftError);
        tell("no space for a flush", KHardError);
        assert_eq!(told().as_deref(), Some("no space for the log"));
        tell("damaged", KFatalError);
        events.forget_error("no space for the log");
        assert_eq!(told().as_deref(), Some("damaged"));
        events.forget_error("damaged");
        // RocksDB may have given up the one before it was told of the other.
        assert_eq!(told().as_deref(), Some("no space for a flush"));
        assert_eq!(events.resume(|| Ok::<(), ()>(())), Ok(()));
        assert_eq!(told(), None);
    }

    #[test]
    fn an_error_that_comes_while_rocksdb_resumes_stays() {
        let events = Events::default();
        let tell = || {
            events.tell_error("no space".into(), KHardError);
        };
        let is_told = || events.background_error().is_some();
        tell();
        assert_eq!(events.resume(|| Err("still none")), Err("still none"));
        assert!(is_told());
        let again = events.resume(|| {
            tell();
            Ok::<(), ()>(())
        });
        assert_eq!(again, Ok(()));
        assert!(is_told(), "of the second one");
        assert_eq!(events.resume(|| Ok::<(), ()>(())), Ok(()));
        assert!(!is_told());
    }
}
