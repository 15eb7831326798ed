//! What the server had before, and how that is told from what the agent set.
//!
//! A lease is all that whoever survives the agent needs: the watchdog, the
//! state file, an event in the server.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::actuator::Actuator;
use super::change::Change;
use super::continuity::is_same_start;
use super::limiter;
use super::observation::Instance;
use super::options::{Assignment, FamilyOptions, OptionName, OptionsByFamily};
use super::stage::Stage;
use super::statement::is_legal;

/// The original settings of one server.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lease {
    /// Of which server.
    pub identity: String,
    /// When that server started, by its own clock, in seconds since 1970.
    pub started_at: u64,
    /// When it was first seen, by the same clock; 0 if that is not known.
    #[serde(default)]
    pub seen_at: u64,
    /// The column families that the agent may have changed, also those that are gone.
    pub families: BTreeMap<String, LeasedFamily>,
    /// The rate limiter, if the agent may have changed it.
    pub rate_limiter: Option<LeasedRateLimiter>,
}

/// How a server that answers stands to a lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It is the lease's server, and has been up since.
    InForce,
    /// It is the lease's server, and was started anew: it has its configured settings.
    Ended,
    /// It is another one.
    Foreign,
}

/// The options that keep writers from being held back, which delay nothing.
const FOR_WRITERS: [OptionName; 2] = [
    OptionName::Level0SlowdownWritesTrigger,
    OptionName::Level0StopWritesTrigger,
];

/// One column family's part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeasedFamily {
    /// How it is delayed.
    pub actuator: Actuator,
    /// What it had.
    pub original: FamilyOptions,
    /// What it is given while compaction is delayed.
    pub delayed: FamilyOptions,
    /// Whether it was ever given other options than its original ones, or may have been. It is
    /// noted before they are sent.
    ///
    /// Default in a lease that does not tell: true
    #[serde(default = "possibly")]
    pub changed: bool,
}

fn possibly() -> bool {
    true
}

impl LeasedFamily {
    /// The options of a stage. While draining, compaction is as it was and
    /// writers are not yet held back for what had been delayed.
    pub fn options(&self, stage: Stage) -> FamilyOptions {
        match stage {
            Stage::Original => self.original,
            Stage::Delayed => self.delayed,
            Stage::Draining => FamilyOptions {
                level0_slowdown_writes_trigger: self.delayed.level0_slowdown_writes_trigger,
                level0_stop_writes_trigger: self.delayed.level0_stop_writes_trigger,
                ..self.original
            },
        }
    }

    /// The original settings, given what is in force: a value that the agent
    /// never sets was set by somebody else, or by a restart, and counts from now
    /// on.
    pub fn originals_under(&self, seen: &FamilyOptions) -> FamilyOptions {
        let mut original = self.original;
        for option in OptionName::ALL {
            if seen.get(option) != self.delayed.get(option) {
                original.set(option, seen.get(option));
            }
        }
        original
    }

    /// The stage that options in force stand for. Where they are of several, as after a change
    /// that was taken in part, any that delays counts.
    pub fn stage_of(&self, seen: &FamilyOptions) -> Stage {
        let is_ours = |option: &OptionName| self.is_ours(*option, seen.get(*option));
        let mut ours = OptionName::ALL.into_iter().filter(is_ours).peekable();
        if ours.peek().is_none() {
            Stage::Original
        } else if ours.all(|option| FOR_WRITERS.contains(&option)) {
            Stage::Draining
        } else {
            Stage::Delayed
        }
    }

    /// Whether a value is the agent's, and no original one.
    fn is_ours(&self, option: OptionName, value: i64) -> bool {
        self.delayed.get(option) == value && self.original.get(option) != value
    }

    /// What must be set to take back what the agent set, and nothing else.
    fn restoration(&self, seen: &FamilyOptions) -> Vec<Assignment> {
        seen.changes_to(&self.originals_under(seen))
    }
}

/// The rate limiter's part. The agent sets it to multiples of one step only.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeasedRateLimiter {
    /// Bytes per second that it had.
    pub original: u64,
    /// The step, in bytes per second.
    pub step: u64,
}

impl LeasedRateLimiter {
    /// The original value, given the one in force.
    pub fn original_under(&self, seen: u64) -> u64 {
        if limiter::is_step(self.step, seen) {
            self.original
        } else {
            seen
        }
    }
}

impl Lease {
    /// How a server stands to this lease. Two servers may have the same identity, as
    /// containers do: one that was up already when the lease's was first seen, from
    /// another start, is not that one after a restart.
    pub fn standing(&self, instance: &Instance) -> Standing {
        if instance.identity != self.identity {
            Standing::Foreign
        } else if is_same_start(instance.started_at, self.started_at) {
            Standing::InForce
        } else if instance.started_at > self.seen_at {
            Standing::Ended
        } else {
            Standing::Foreign
        }
    }

    /// Whether both are of one server, from one start of it to its end.
    pub fn is_of_same_run(&self, other: &Lease) -> bool {
        self.identity == other.identity && is_same_start(self.started_at, other.started_at)
    }

    /// Whether anything may have been changed, so that there may be something to restore.
    pub fn may_be_changed(&self) -> bool {
        self.rate_limiter.is_some() || self.families.values().any(|leased| leased.changed)
    }

    /// Whether nothing could be changed.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty() && self.rate_limiter.is_none()
    }

    /// The part on column families that may have been changed and are not among these: nobody
    /// can restore them until they are there again.
    pub fn absent_from(&self, options: &OptionsByFamily) -> Option<Lease> {
        let mut gone = self.clone();
        gone.families
            .retain(|name, leased| leased.changed && !options.contains_key(name));
        gone.rate_limiter = None;
        (!gone.is_empty()).then_some(gone)
    }

    /// The part on one column family.
    #[must_use]
    pub fn only(&self, column_family: &str) -> Lease {
        let mut part = self.clone();
        part.families.retain(|name, _| name == column_family);
        part.rate_limiter = None;
        part
    }

    /// Its column families one by one, and then all else, if there is any: none of them needs
    /// another one to be restored.
    pub fn parts(&self) -> Vec<Lease> {
        let mut rest = self.clone();
        rest.families.clear();
        // An empty lease has itself for its only part, or it would never be settled.
        let has_more = rest.rate_limiter.is_some() || self.is_empty();
        let families = self.families.keys().map(|name| self.only(name));
        families.chain(has_more.then_some(rest)).collect()
    }

    /// What is still to be restored once another lease of the same run is, but for `left`.
    pub fn without(&self, restored: &Lease, left: Option<&Lease>) -> Option<Lease> {
        let is_left = |name: &str| left.is_some_and(|left| left.families.contains_key(name));
        let mut rest = self.clone();
        rest.families
            .retain(|name, _| !restored.families.contains_key(name) || is_left(name));
        if restored.rate_limiter.is_some() {
            rest.rate_limiter = None;
        }
        (!rest.is_empty()).then_some(rest)
    }

    /// This one, and the column families that an earlier one of the same run has besides. What
    /// either may have changed counts as changed.
    #[must_use]
    pub fn with(mut self, earlier: &Lease) -> Lease {
        if self.is_of_same_run(earlier) {
            for (name, leased) in &earlier.families {
                let own = self.families.entry(name.clone()).or_insert(*leased);
                own.changed |= leased.changed;
            }
        }
        self
    }

    /// Two of the same run as one, as far as there are any.
    pub fn join(one: Option<Lease>, other: Option<Lease>) -> Option<Lease> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one.with(&other)),
            (one, other) => one.or(other),
        }
    }

    /// Whether it can be written into statements; one that was read from a file may
    /// have been changed by hand.
    pub fn is_legal(&self) -> bool {
        self.families.keys().all(|name| is_legal(name))
    }

    /// Whether an option of a column family that has this value is to be taken back.
    pub(super) fn takes_back(&self, column_family: &str, set: &Assignment) -> bool {
        let leased = self.families.get(column_family);
        leased.is_some_and(|leased| leased.is_ours(set.option, set.value))
    }

    /// Whether a rate limit is.
    pub(super) fn takes_back_limit(&self, bytes_per_sec: u64) -> bool {
        let leased = self.rate_limiter;
        leased.is_some_and(|leased| leased.original_under(bytes_per_sec) != bytes_per_sec)
    }

    /// What must be set to take back what the agent set, of that which is still
    /// there. A column family that is gone is left out: MyRocks would create it.
    pub fn restoration(&self, options: &OptionsByFamily, rate_limiter: u64) -> Vec<Change> {
        let mut changes: Vec<Change> = self
            .families
            .iter()
            .filter_map(|(name, leased)| {
                let set = leased.restoration(options.get(name)?);
                (!set.is_empty()).then(|| Change::Family {
                    column_family: name.clone(),
                    set,
                })
            })
            .collect();
        if let Some(leased) = &self.rate_limiter {
            let original = leased.original_under(rate_limiter);
            if original != rate_limiter {
                changes.push(Change::RateLimiter {
                    bytes_per_sec: original,
                });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests;
