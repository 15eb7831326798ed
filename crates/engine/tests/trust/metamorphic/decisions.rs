//! Random decisions about the tree. None may change an answer.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use lissom::Db;
use lissom::core::PhysicalLevel;
use lissom::ffi::CfRef;

use super::history::{FAMILIES, family_name};
use super::store::{Store, with_merge};
use super::whims::{Whims, random_policy, random_settings};
use crate::PATIENCE;
use crate::random::Random;

/// Who decides about a store while the history goes on.
pub trait Decider {
    fn open(&mut self, path: &Path) -> Result<Store, String>;
    /// Before an operation.
    fn meddle(&mut self, store: &Store) -> Result<(), String>;
    /// No snapshot and no iterator lives.
    fn rest(&mut self, store: &Store) -> Result<(), String>;
    /// Before the store is closed.
    fn count(&mut self, store: &Store) -> Result<(), String>;
    /// Whether to close now, and what to do to the directory.
    fn reopen(&mut self, path: &Path) -> bool;
    /// What was decided last.
    fn log(&self) -> String;
}

/// Stock RocksDB decides alone.
pub struct Nobody;

impl Decider for Nobody {
    fn open(&mut self, path: &Path) -> Result<Store, String> {
        Store::stock(path)
    }
    fn meddle(&mut self, _: &Store) -> Result<(), String> {
        Ok(())
    }
    fn rest(&mut self, _: &Store) -> Result<(), String> {
        Ok(())
    }
    fn count(&mut self, _: &Store) -> Result<(), String> {
        Ok(())
    }
    fn reopen(&mut self, _: &Path) -> bool {
        false
    }
    fn log(&self) -> String {
        "stock RocksDB".into()
    }
}

/// Lissom under a hostile hand.
pub struct Hostile {
    random: Random,
    log: Vec<String>,
    paused: bool,
    /// Families in which automatic compactions are off, for the time being.
    off: BTreeMap<String, u32>,
    pub work: Work,
}

/// What the autopilots under one decider did.
#[derive(Clone, Copy, Default, Debug)]
pub struct Work {
    pub merged: u64,
    pub moved: u64,
    pub drains: u64,
    pub interrupted: u64,
    pub mismatched: u64,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Work) {
        self.merged += other.merged;
        self.moved += other.moved;
        self.drains += other.drains;
        self.interrupted += other.interrupted;
        self.mismatched += other.mismatched;
    }
}

impl Hostile {
    pub fn new(seed: u64) -> Hostile {
        Hostile {
            random: Random::new(seed),
            log: Vec::new(),
            paused: false,
            off: BTreeMap::new(),
            work: Work::default(),
        }
    }

    fn note(&mut self, text: impl Into<String>) {
        self.log.push(text.into());
    }

    fn family(&mut self, db: &Db) -> String {
        let name = family_name(self.random.below(u64::from(FAMILIES)) as u8);
        if db.family(&name).is_some() {
            name
        } else {
            "default".into()
        }
    }
}

impl Decider for Hostile {
    fn open(&mut self, path: &Path) -> Result<Store, String> {
        let settings = random_settings(&mut self.random);
        self.note(format!("open with {settings:?}"));
        self.paused = false;
        let mut opening = Db::opening(path, settings).customise(|_, options| with_merge(options));
        if self.random.percent(50) {
            let others = random_settings(&mut self.random);
            self.note(format!("the default family with {others:?}"));
            opening = opening.family("default", others);
        }
        match opening.open() {
            Ok(db) => Ok(Store::Lissom(Box::new(db))),
            Err(error) => Err(format!("Lissom does not open: {error}")),
        }
    }

    fn meddle(&mut self, store: &Store) -> Result<(), String> {
        let Store::Lissom(db) = store else {
            return Ok(());
        };
        self.end_of_off(db)?;
        if !self.random.percent(8) {
            return Ok(());
        }
        let family = self.family(db);
        match self.random.below(20) {
            0..5 => {
                let policy = random_policy(&mut self.random);
                self.note(format!("{family}: policy {policy}"));
                db.set_policy(&family, &policy).map_err(text)
            }
            5..7 => {
                self.note(format!("{family}: whims"));
                let whims = Whims::new(self.random.fork());
                let set = db.autopilot().set_tuner(&family, Box::new(whims));
                set.map_err(text)
            }
            7..9 => {
                self.paused = !self.paused;
                self.note(format!("paused: {}", self.paused));
                if self.paused {
                    db.autopilot().pause();
                } else {
                    db.autopilot().unpause();
                }
                Ok(())
            }
            9..13 => self.abort(db, &family),
            13 => {
                self.note("pin");
                db.pin().map_err(text)
            }
            14 => {
                self.note("unpin");
                db.unpin().map_err(text)
            }
            15..17 => {
                self.note(format!("{family}: compact"));
                db.autopilot().compact(&family).map_err(text)
            }
            17 => {
                self.note(format!("{family}: RocksDB's CompactRange"));
                let handle = db.cf_handle(&family).ok_or("the family is gone")?;
                db.compact_range_cf(&handle, None::<&[u8]>, None::<&[u8]>);
                Ok(())
            }
            18 => self.turn_off(db, family),
            _ => {
                if self.random.percent(10) {
                    self.note("the autopilot stops for good");
                    db.autopilot().stop();
                }
                Ok(())
            }
        }
    }

    fn rest(&mut self, store: &Store) -> Result<(), String> {
        let Store::Lissom(db) = store else {
            return Ok(());
        };
        check_health(db)?;
        if !db.health().running || self.random.percent(50) {
            return Ok(());
        }
        for (family, left) in &mut self.off {
            *left = 0;
            self.log.push(format!("{family}: compactions on"));
        }
        self.end_of_off(db)?;
        self.paused = false;
        db.autopilot().unpause();
        self.note("settle");
        check_settled(db)
    }

    fn count(&mut self, store: &Store) -> Result<(), String> {
        let Store::Lissom(db) = store else {
            return Ok(());
        };
        for family in db.statistics().map_err(text)?.families.values() {
            let pieces = &family.pieces;
            self.work += Work {
                merged: pieces.merged,
                moved: pieces.moved,
                drains: family.drains,
                interrupted: pieces.stale + pieces.cancelled,
                mismatched: pieces.mismatched,
            };
        }
        Ok(())
    }

    fn reopen(&mut self, path: &Path) -> bool {
        if self.random.percent(40) {
            return false;
        }
        self.off.clear();
        let state = path.join("LISSOM");
        let bytes = fs::read(&state).unwrap_or_default();
        match self.random.below(10) {
            0..3 => {
                self.note("the state file is lost");
                let _ = fs::remove_file(&state);
            }
            3 if !bytes.is_empty() => {
                let left = self.random.below(bytes.len() as u64) as usize;
                self.note(format!("the state file is cut to {left} bytes"));
                fs::write(&state, &bytes[..left]).expect("a writable directory");
            }
            // Its first line holds the version, of which a newer one is refused.
            4 if bytes.len() > 100 => {
                let at = self.random.within(60, bytes.len() as u64 - 2) as usize;
                self.note(format!("byte {at} of the state file is flipped"));
                let mut torn = bytes;
                torn[at] ^= 0x10;
                fs::write(&state, torn).expect("a writable directory");
            }
            5 => {
                self.note("the journal is lost");
                let _ = fs::remove_file(path.join("LISSOM-JOURNAL"));
            }
            _ => self.note("reopen"),
        }
        true
    }

    fn log(&self) -> String {
        let from = self.log.len().saturating_sub(40);
        self.log[from..].join("\n  ")
    }
}

impl Hostile {
    /// Compactions under way are aborted, and for a moment none starts.
    fn abort(&mut self, db: &Db, family: &str) -> Result<(), String> {
        let handle = db.cf_handle(family).ok_or("the family is gone")?;
        let wait = Duration::from_micros(self.random.below(3_000));
        self.note(format!("{family}: abort for {wait:?}"));
        let guard = CfRef::of(&handle)
            .and_then(CfRef::abort_compactions)
            .map_err(text)?;
        std::thread::sleep(wait);
        drop(guard);
        Ok(())
    }

    fn turn_off(&mut self, db: &Db, family: String) -> Result<(), String> {
        self.note(format!("{family}: disable_auto_compactions"));
        let handle = db.cf_handle(&family).ok_or("the family is gone")?;
        db.set_options_cf(&handle, &[("disable_auto_compactions", "true")])
            .map_err(text)?;
        self.off.insert(family, 30);
        Ok(())
    }

    fn end_of_off(&mut self, db: &Db) -> Result<(), String> {
        for left in self.off.values_mut() {
            *left = left.saturating_sub(1);
        }
        let over: Vec<String> = self
            .off
            .iter()
            .filter(|(_, left)| **left == 0)
            .map(|(family, _)| family.clone())
            .collect();
        for family in over {
            self.off.remove(&family);
            if let Some(handle) = db.cf_handle(&family) {
                db.set_options_cf(&handle, &[("disable_auto_compactions", "false")])
                    .map_err(text)?;
            }
        }
        Ok(())
    }
}

/// Nothing is wrong, whatever was done to it.
fn check_health(db: &Db) -> Result<(), String> {
    let health = db.health();
    let well = health.background_error.is_none()
        && health.unreadable.is_empty()
        && health.dropped_journal_lines == 0;
    if !well {
        return Err(format!("not well: {health:?}"));
    }
    let statistics = db.statistics().map_err(text)?;
    for (name, family) in &statistics.families {
        if family.pieces.failed > 0 {
            return Err(format!("{name}: compactions failed: {:?}", family.pieces));
        }
    }
    Ok(())
}

/// Left alone the tree comes to rest, and then L0 is under its trigger and the
/// landing level is empty.
pub fn check_settled(db: &Db) -> Result<(), String> {
    if !db.autopilot().wait_until_idle(PATIENCE) {
        return Err(format!("it does not settle: {:#?}", db.health()));
    }
    let statistics = db.statistics().map_err(text)?;
    for (name, family) in &statistics.families {
        let handle = db.cf_handle(name).ok_or("the family is gone")?;
        let seen = lissom::observe::observe(&handle).map_err(text)?;
        let landed = seen.tree.files(PhysicalLevel::LANDING).len();
        // The largest trigger that `random_settings` gives.
        if seen.tree.level0().len() >= 5 || landed > 0 {
            return Err(format!(
                "{name} rests with {} files in L0 and {landed} on the landing level",
                seen.tree.level0().len()
            ));
        }
        if family.tree.runs.len() > 200 {
            return Err(format!("{name} has {} runs", family.tree.runs.len()));
        }
    }
    Ok(())
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
