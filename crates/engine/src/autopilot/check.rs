//! What must be right before the autopilot takes over.

use lissom_core::schedule::ScheduleKind;
use lissom_core::tuner::Policy;
use rust_rocksdb::{AsColumnFamilyRef, CompactionOptions, ErrorKind as RocksKind};

use crate::RocksDb;
use crate::error::{Error, Result};
use crate::ffi::CfRef;
use crate::ffi::options::live_options;
use crate::ffi::options_text::live_options_text;
use crate::ffi::statistics::Statistics as RocksStatistics;
use crate::options::{Hooks, Preparation};
use crate::requirements;

/// Whether flushes and compactions bypass the operating system's cache.
pub(super) fn direct_io(db: &RocksDb) -> Result<bool> {
    let Some(default) = db.cf_handle("default") else {
        return Ok(false);
    };
    let options = live_options(CfRef::of(&default)?)?;
    Ok(options.db.use_direct_io_for_flush_and_compaction)
}

/// Whether RocksDB starts threads of its own to compress what a compaction of a column family
/// writes (`parallel_threads`).
pub(super) fn compresses_in_parallel(db: &RocksDb, family: &str) -> bool {
    let lines = db
        .cf_handle(family)
        .and_then(|handle| live_options_text(CfRef::of(&handle).ok()?).ok());
    lines.is_some_and(|lines| has_parallel_threads(&lines.cf))
}

/// Whether any of the compression options, of all levels and of the last one, has more than one.
fn has_parallel_threads(lines: &str) -> bool {
    let parts = lines.split("parallel_threads=").skip(1);
    let digits = |part: &str| -> String { part.chars().take_while(char::is_ascii_digit).collect() };
    parts
        .map(digits)
        .any(|number| number.parse().is_ok_and(|it: u32| it > 1))
}

/// Column families have handles, and under attach the database may be written.
pub(super) fn handles(db: &RocksDb, attached: bool) -> Result<()> {
    match db.cf_handle("default") {
        Some(default) if attached => writable(db, &default),
        Some(_) => Ok(()),
        None => Err(Error::fix(
            "the database was opened without handles of its column families, which \
             the autopilot needs; open it with open_cf_descriptors and name them all, \
             \"default\" too",
        )),
    }
}

/// A handle that was opened read-only, or as a secondary, compacts nothing; and who has
/// the directory open for writing may have an autopilot of its own there.
fn writable(db: &RocksDb, handle: &impl AsColumnFamilyRef) -> Result<()> {
    // RocksDB refuses to compact no files; the question is why.
    let none = std::iter::empty::<&String>();
    let refusal = db.compact_files_cf(handle, &CompactionOptions::default(), none, 1);
    match refusal {
        Err(error) if error.kind() == RocksKind::NotSupported => Err(Error::fix(format!(
            "the database was opened for reading, and an autopilot compacts ({error}): open it \
             for writing, in the one process that does"
        ))),
        _ => Ok(()),
    }
}

/// Every column family was opened with options from the preparation.
pub(super) fn families(db: &RocksDb, preparation: &Preparation) -> Result<()> {
    for name in db.cf_names() {
        let hooks = preparation.hooks.get(&name).ok_or_else(|| {
            Error::fix(format!(
                "the column family \"{name}\" was opened without options from this \
                 preparation; call Preparation::options for it and open the database with them"
            ))
        })?;
        family(db, &name, hooks)?;
    }
    Ok(())
}

/// The handle leads where it should, the options are ours, and the hooks are those that
/// the column family was opened with.
pub(super) fn family(db: &RocksDb, family: &str, hooks: &Hooks) -> Result<()> {
    let handle = db.cf_handle(family).ok_or_else(|| {
        Error::fix(format!(
            "there is no column family \"{family}\": check the name, or create it first"
        ))
    })?;
    let target = CfRef::of(&handle)?;
    target.verify(family, db.path())?;
    requirements::check(&live_options(target)?)?;
    if hooks.guards.is_used_by(target)? {
        return Ok(());
    }
    Err(Error::fix(format!(
        "the column family \"{family}\" was not opened with the options that this preparation \
         made last for it: open it with those, or make options for it once only"
    )))
}

/// Whether an attached autopilot can see what its policies and its schedule follow;
/// `counted` when RocksDB collects statistics.
pub(super) fn attached(preparation: &Preparation, counted: bool) -> Result<()> {
    check_policies(preparation, counted)?;
    check_schedule(preparation, counted)
}

/// An attached autopilot sees the load only in RocksDB's statistics.
fn check_schedule(preparation: &Preparation, counted: bool) -> Result<()> {
    let schedule = preparation.settings.schedule;
    if !counted && schedule != ScheduleKind::Eager {
        return Err(Error::fix(format!(
            "the schedule {schedule} follows the load, which under attach only RocksDB's \
             statistics count; set the setting statistics to ExceptHistogramOrTimers, or choose \
             eager"
        )));
    }
    Ok(())
}

fn check_policies(preparation: &Preparation, counted: bool) -> Result<()> {
    preparation
        .hooks
        .iter()
        .try_for_each(|(family, hooks)| policy(family, &hooks.settings.policy, counted))
}

/// Whether a policy can follow what an attached autopilot sees: no operations without
/// RocksDB's statistics, and with them no latencies.
pub(super) fn policy(family: &str, policy: &Policy, counted: bool) -> Result<()> {
    if policy.learns() {
        return Err(Error::fix(format!(
            "the policy {policy} of column family \"{family}\" learns from latencies, which \
             only Lissom's own handle measures; open the database with Db::open, or choose \
             another policy"
        )));
    }
    if !counted && matches!(policy, Policy::Thresholds { .. }) {
        return Err(Error::fix(format!(
            "the policy {policy} of column family \"{family}\" follows the operations, which \
             under attach only RocksDB's statistics count; set the setting statistics to \
             ExceptHistogramOrTimers"
        )));
    }
    Ok(())
}

/// RocksDB's statistics, if it collects any.
pub(super) fn rocks_statistics(db: &RocksDb) -> Result<Option<RocksStatistics>> {
    match db.cf_handle("default") {
        Some(handle) => Ok(RocksStatistics::of(CfRef::of(&handle)?)?),
        None => Ok(None),
    }
}
