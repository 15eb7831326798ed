//! What the original settings are, given what is in force.

use std::collections::BTreeMap;

use super::{Decision, Pilot};
use crate::decide::actuator::{Unmanaged, delayed, manage};
use crate::decide::lease::{Lease, LeasedFamily, LeasedRateLimiter};
use crate::decide::limiter;
use crate::decide::observation::{Family, Observation};
use crate::decide::stage::Stage;

impl Pilot {
    pub(super) fn note_vanished(
        &mut self,
        known: Option<&Lease>,
        seen: &Observation,
        notes: &mut Vec<String>,
    ) {
        for name in known.into_iter().flat_map(|lease| lease.families.keys()) {
            let gone = !seen.families.contains_key(name);
            if gone && self.courses.remove(name).is_some() {
                notes.push(format!(
                    "column family {name} is gone: its options are not set as long as it is, \
                     since MyRocks would create it"
                ));
            }
        }
    }

    pub(super) fn lease_families(
        &mut self,
        known: Option<&Lease>,
        seen: &Observation,
        notes: &mut Vec<String>,
    ) -> BTreeMap<String, LeasedFamily> {
        // One that is gone stays: MyRocks gives the options that were set last to a family
        // that is created anew under its name.
        let mut families = known.map_or_else(BTreeMap::new, |lease| lease.families.clone());
        for (name, family) in &seen.families {
            let leased = match known.and_then(|lease| lease.families.get(name)) {
                Some(leased) => Some(self.go_on(name, family, leased, notes)),
                None => self.begin(name, family, notes),
            };
            if let Some(leased) = leased {
                families.insert(name.clone(), leased);
            }
        }
        families
    }

    /// A column family that the agent did not know.
    fn begin(
        &mut self,
        name: &str,
        family: &Family,
        notes: &mut Vec<String>,
    ) -> Option<LeasedFamily> {
        match manage(name, family, &self.settings) {
            Ok(leased) => {
                self.left_alone.remove(name);
                Some(leased)
            }
            Err(why) => {
                self.leave_alone(name, &why, notes);
                None
            }
        }
    }

    /// Why a column family is left alone is said once, and of one that nobody would expect to be
    /// looked after only to whoever asked for it.
    fn leave_alone(&mut self, name: &str, why: &Unmanaged, notes: &mut Vec<String>) {
        let said = self.left_alone.insert(name.to_owned(), why.clone());
        let asked = self.settings.column_families.iter().any(|it| it == name);
        let silent = !asked && matches!(why, Unmanaged::System | Unmanaged::NotAskedFor);
        if said.as_ref() != Some(why) && !silent {
            notes.push(format!("column family {name} is left alone: {why}"));
        }
    }

    /// A column family that the agent may have changed stays leased, whatever
    /// becomes of it.
    fn go_on(
        &mut self,
        name: &str,
        family: &Family,
        leased: &LeasedFamily,
        notes: &mut Vec<String>,
    ) -> LeasedFamily {
        let original = leased.originals_under(&family.options);
        let as_it_was = Family {
            options: original,
            ..family.clone()
        };
        let hands_off = manage(name, &as_it_was, &self.settings).err();
        if let Some(why) = &hands_off {
            self.leave_alone(name, why, notes);
        } else {
            self.left_alone.remove(name);
        }
        self.courses.entry(name.to_owned()).or_default().hands_off = hands_off;
        LeasedFamily {
            actuator: leased.actuator,
            original,
            delayed: delayed(&original, leased.actuator, &self.settings),
            changed: leased.changed,
        }
    }

    /// Takes note of the column families that get other options than their original ones.
    pub(super) fn note_changed(&mut self, decisions: &[Decision]) {
        let Some(lease) = &mut self.lease else {
            return;
        };
        let others = decisions
            .iter()
            .filter(|it| it.to != Some(Stage::Original))
            .filter_map(|it| it.change.column_family());
        for name in others {
            if let Some(leased) = lease.families.get_mut(name) {
                leased.changed = true;
            }
        }
    }

    pub(super) fn lease_limiter(
        &mut self,
        known: Option<&Lease>,
        seen: &Observation,
        notes: &mut Vec<String>,
    ) -> Option<LeasedRateLimiter> {
        let now = seen.rate_limiter_bytes_per_sec;
        self.limiter.seen = now;
        if !self.settings.rate_limiter {
            return None;
        }
        if now == 0 {
            if !self.limiter.complained {
                self.limiter.complained = true;
                notes.push(
                    "rocksdb_rate_limiter_bytes_per_sec is 0 and cannot be changed while the \
                     server runs: start it with a value above 0"
                        .into(),
                );
            }
            return None;
        }
        let known = known.and_then(|lease| lease.rate_limiter);
        Some(LeasedRateLimiter {
            original: known.map_or(now, |known| known.original_under(now)),
            step: limiter::step(&self.settings),
        })
    }
}
