//! All decisions about one server, interval by interval.
//!
//! Each interval goes: [`Pilot::see`] (which server is it, what are its original
//! settings), the lease is put into safe hands by the caller, [`Pilot::decide`], once more
//! where it has changed the lease, the caller acts and reads back, [`Pilot::settle`].

mod counting;
mod deciding;
mod leasing;

use std::collections::BTreeMap;
use std::time::Duration;

use lissom_core::schedule::Phase;
use serde::{Deserialize, Serialize};

use self::counting::Counting;
use super::actuator::Unmanaged;
use super::change::{Change, Outcome};
use super::continuity::{Continuity, continuity};
use super::lease::Lease;
use super::load::Analyser;
use super::observation::{Counters, Instance, Observation};
use super::options::FamilyOptions;
use super::reason::Reason;
use super::stage::Stage;
use crate::settings::Settings;

/// After so many refusals in a row a column family is not delayed any more.
const MAX_REFUSALS: u32 = 3;

/// Decides what one server's settings should be.
#[derive(Clone, Debug)]
pub struct Pilot {
    settings: Settings,
    analyser: Analyser,
    lease: Option<Lease>,
    courses: BTreeMap<String, Course>,
    left_alone: BTreeMap<String, Unmanaged>,
    last: Option<Last>,
    limiter: Limiter,
    counting: Counting,
}

/// What was seen last.
#[derive(Clone, Debug)]
struct Last {
    at: Duration,
    /// How long the counters took before that.
    waited: Duration,
    instance: Instance,
    /// Absent when too much may have happened since.
    counters: Option<Counters>,
}

/// How one column family is doing.
#[derive(Clone, Debug, Default)]
struct Course {
    /// What was decided last, whether or not the server took it.
    stage: Stage,
    /// The options that the server was last read to have.
    in_force: Option<FamilyOptions>,
    /// Level 0 came to its bound and has not caught up since.
    catches_up: bool,
    refusals: u32,
    given_up: Option<u32>,
    hands_off: Option<Unmanaged>,
    /// Files and bytes of its level 0 when they were last seen.
    level0: Option<(u64, u64)>,
}

/// How the rate limiter is doing.
#[derive(Clone, Copy, Debug, Default)]
struct Limiter {
    seen: u64,
    announced: Option<u64>,
    complained: bool,
}

/// What [`Pilot::see`] noticed.
#[derive(Clone, PartialEq, Debug)]
pub struct Sight {
    /// How this server follows upon the last one.
    pub continuity: Continuity,
    /// The lease of a server that is out of reach now.
    pub abandoned: Option<Lease>,
    /// The lease of a server that was restarted: what it holds is no more.
    pub ended: Option<Lease>,
    /// Sentences without a full stop, each said once.
    pub notes: Vec<String>,
}

/// A change and why.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// What is set.
    #[serde(flatten)]
    pub change: Change,
    /// The stage of the column family before; absent for the rate limiter.
    pub from: Option<Stage>,
    /// The stage after.
    pub to: Option<Stage>,
    /// Why.
    pub why: Reason,
}

impl Decision {
    /// Whether it delays compaction, rather than resuming it.
    pub fn delays(&self) -> bool {
        self.to == Some(Stage::Delayed)
    }
}

impl Pilot {
    /// A pilot that has not seen its server yet.
    pub fn new(settings: Settings) -> Pilot {
        Pilot {
            analyser: Analyser::new(&settings),
            settings,
            lease: None,
            courses: BTreeMap::new(),
            left_alone: BTreeMap::new(),
            last: None,
            limiter: Limiter::default(),
            counting: Counting::default(),
        }
    }

    /// The server's original settings, once it has been seen.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// The load's phase.
    pub fn phase(&self) -> Phase {
        self.analyser.phase()
    }

    /// What clients use, if it is known.
    pub fn client_bytes_per_sec(&self) -> Option<f64> {
        self.analyser.client_bytes_per_sec()
    }

    /// The stage that was decided last for a column family.
    pub fn stage(&self, column_family: &str) -> Stage {
        self.courses
            .get(column_family)
            .map_or(Stage::Original, |course| course.stage)
    }

    /// The stage of a column family by the options that the server was last read to have,
    /// whatever was decided.
    pub fn verified_stage(&self, column_family: &str) -> Stage {
        let leased = self
            .lease
            .as_ref()
            .and_then(|lease| lease.families.get(column_family));
        let course = self.courses.get(column_family);
        let (Some(leased), Some(course)) = (leased, course) else {
            return Stage::Original;
        };
        let by_options = course
            .in_force
            .map_or(Stage::Original, |options| leased.stage_of(&options));
        match (by_options, course.stage) {
            // Level 0 catches up under either options, which may be the same.
            (Stage::Original, Stage::Draining) if !self.settings.dry_run => Stage::Draining,
            _ => by_options,
        }
    }

    /// Whether no column family is in another stage than its original one, and the
    /// rate limiter had its original value when it was last seen.
    pub fn is_original(&self) -> bool {
        let limiter = self.lease.as_ref().and_then(|lease| lease.rate_limiter);
        limiter.is_none_or(|leased| leased.original == self.limiter.seen)
            && self
                .courses
                .values()
                .all(|course| course.stage == Stage::Original)
    }

    /// The connection was lost, or the counters cannot be read: what is known of the
    /// load is stale, so it counts as low.
    pub fn lose_sight(&mut self) {
        self.analyser = Analyser::new(&self.settings);
        if let Some(last) = &mut self.last {
            last.counters = None;
        }
    }

    /// Takes note of which server answers and what its original settings are.
    pub fn see(&mut self, seen: &Observation) -> Sight {
        let before = self
            .last
            .as_ref()
            .map(|last| (&last.instance, seen.at.saturating_sub(last.at)));
        let mut sight = Sight {
            continuity: continuity(before, &seen.instance),
            abandoned: None,
            ended: None,
            notes: Vec::new(),
        };
        if sight.continuity != Continuity::Same {
            self.begin_anew();
        }
        let mut known = self.lease.take();
        match sight.continuity {
            Continuity::Other => sight.abandoned = known.take(),
            // It has its configured settings, whether or not some are as the agent's.
            Continuity::Restarted => sight.ended = known.take(),
            Continuity::First | Continuity::Same => {}
        }
        self.note_vanished(known.as_ref(), seen, &mut sight.notes);
        let families = self.lease_families(known.as_ref(), seen, &mut sight.notes);
        let rate_limiter = self.lease_limiter(known.as_ref(), seen, &mut sight.notes);
        sight.notes.extend(self.note_counting(seen));
        let (started_at, seen_at) = match &known {
            // The same start, read a second time, may differ by a second.
            Some(known) => (known.started_at, known.seen_at),
            None => (seen.instance.started_at, seen.instance.clock()),
        };
        self.lease = Some(Lease {
            identity: seen.instance.identity.clone(),
            started_at,
            seen_at,
            families,
            rate_limiter,
        });
        sight
    }

    fn begin_anew(&mut self) {
        self.lose_sight();
        self.last = None;
        self.courses.clear();
        self.left_alone.clear();
        self.counting.unmoved = 0;
        self.limiter = Limiter::default();
    }

    /// What should be set now. With `forbidden` everything goes back to its
    /// original settings. The lease tells from now on what is changed by it, and must be in
    /// safe hands anew before a delay is sent.
    pub fn decide(&mut self, seen: &Observation, forbidden: Option<&str>) -> Vec<Decision> {
        self.measure(seen);
        let Some(lease) = self.lease.clone() else {
            return Vec::new();
        };
        let mut decisions = Vec::new();
        for (name, leased) in &lease.families {
            if let Some(family) = seen.families.get(name) {
                decisions.extend(self.decide_family(name, family, leased, forbidden));
            }
        }
        // Whatever resumes goes first.
        decisions.sort_by_key(Decision::delays);
        if let Some(leased) = &lease.rate_limiter {
            decisions.extend(self.decide_limiter(seen, leased, forbidden));
        }
        self.note_changed(&decisions);
        decisions
    }

    /// What came of a decision.
    pub fn settle(&mut self, decision: &Decision, outcome: &Outcome) {
        let Change::Family { column_family, set } = &decision.change else {
            return;
        };
        let Some(course) = self.courses.get_mut(column_family) else {
            return;
        };
        course.note_read_back(set, outcome);
        match outcome {
            Outcome::Applied => course.refusals = 0,
            Outcome::NotApplied { .. } | Outcome::Refused { .. } if decision.delays() => {
                course.refusals += 1;
                if course.refusals >= MAX_REFUSALS {
                    course.given_up = Some(course.refusals);
                }
            }
            // A resumption is tried again in every interval.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
