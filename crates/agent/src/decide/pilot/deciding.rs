//! One interval's load, and what follows from it.

use std::time::Duration;

use super::{Course, Decision, Last, Pilot};
use crate::decide::change::{Change, Outcome};
use crate::decide::lease::{LeasedFamily, LeasedRateLimiter};
use crate::decide::limiter;
use crate::decide::observation::{Counters, Family, Observation};
use crate::decide::options::Assignment;
use crate::decide::reason::Reason;
use crate::decide::stage::{Growth, Situation, Stage};

impl Pilot {
    pub(super) fn measure(&mut self, seen: &Observation) {
        let counters = seen.counters.as_ref().ok().copied();
        match &counters {
            Some(total) => {
                let counted = self.counted(total, seen.at);
                self.analyser.learn(total, counted);
            }
            None => self.lose_sight(),
        }
        self.last = Some(Last {
            at: seen.at,
            waited: seen.waited,
            instance: seen.instance.clone(),
            counters,
        });
    }

    /// What was counted since the last interval; `None` when that is not known.
    fn counted(&self, total: &Counters, at: Duration) -> Option<(Counters, Duration)> {
        let last = self.last.as_ref()?;
        let counted = total.since(last.counters.as_ref()?)?;
        // No shorter than it was, or one slow answer would make the load high.
        let interval = at.checked_sub(last.at)? + last.waited;
        (!interval.is_zero()).then_some((counted, interval))
    }

    pub(super) fn decide_family(
        &mut self,
        name: &str,
        family: &Family,
        leased: &LeasedFamily,
        forbidden: Option<&str>,
    ) -> Option<Decision> {
        let from = self.stage(name);
        let (to, why) = self.next_stage(name, family, leased, forbidden);
        // In a dry run the options never become what they should be.
        let now = if self.settings.dry_run {
            leased.options(from)
        } else {
            family.options
        };
        let set: Vec<Assignment> = now.changes_to(&leased.options(to));
        if set.is_empty() {
            return None;
        }
        Some(Decision {
            change: Change::Family {
                column_family: name.to_owned(),
                set,
            },
            from: Some(from),
            to: Some(to),
            why,
        })
    }

    fn next_stage(
        &mut self,
        name: &str,
        family: &Family,
        leased: &LeasedFamily,
        forbidden: Option<&str>,
    ) -> (Stage, Reason) {
        let course = self.courses.entry(name.to_owned()).or_default();
        course.in_force = Some(family.options);
        let situation = Situation {
            settings: &self.settings,
            stage: course.stage,
            family,
            growth: course.note_growth(family),
            leased,
            phase: self.analyser.phase(),
            client_bytes_per_sec: self.analyser.client_bytes_per_sec(),
            forbidden,
            hands_off: course.hands_off.as_ref(),
            given_up: course.given_up,
        };
        let (at_bound, drained) = (situation.is_at_bound(), situation.drained());
        let (to, why) = situation.next();
        let goes_on = course.catches_up && course.hands_off.is_none();
        course.stage = to;
        course.catches_up = at_bound || (goes_on && !drained && to != Stage::Delayed);
        (to, why)
    }

    pub(super) fn decide_limiter(
        &mut self,
        seen: &Observation,
        leased: &LeasedRateLimiter,
        forbidden: Option<&str>,
    ) -> Option<Decision> {
        let (bytes_per_sec, why) = self.next_limit(leased, forbidden);
        let said = self.limiter.announced.replace(bytes_per_sec) == Some(bytes_per_sec);
        if bytes_per_sec == seen.rate_limiter_bytes_per_sec || (said && self.settings.dry_run) {
            return None;
        }
        Some(Decision {
            change: Change::RateLimiter { bytes_per_sec },
            from: None,
            to: None,
            why,
        })
    }

    fn next_limit(&self, leased: &LeasedRateLimiter, forbidden: Option<&str>) -> (u64, Reason) {
        if let Some(why) = forbidden {
            let why = why.to_owned();
            return (leased.original, Reason::Unguarded { why });
        }
        if let Some(column_family) = self.catching_up() {
            // Whatever the load is.
            let lifted = leased.original.max(limiter::highest(leased.step));
            return (lifted, Reason::CatchingUp { column_family });
        }
        let Some(client) = self.analyser.client_bytes_per_sec() else {
            return (leased.original, Reason::LoadUnknown);
        };
        let logged = self.analyser.logged_bytes_per_sec().unwrap_or(0.0);
        let why = Reason::Bandwidth {
            client_bytes_per_sec: Some(client),
            io_limit: self.settings.io_limit_bytes_per_sec,
        };
        let left = limiter::internal_bytes_per_sec(&self.settings, client, logged);
        (left, why)
    }

    /// A column family whose level 0 came to its bound and has not caught up since.
    fn catching_up(&self) -> Option<String> {
        let mut courses = self.courses.iter();
        let (name, _) = courses.find(|(_, course)| course.catches_up)?;
        Some(name.clone())
    }
}

impl Course {
    /// Takes note of what was read back of options that were set.
    pub(super) fn note_read_back(&mut self, set: &[Assignment], outcome: &Outcome) {
        let Some(in_force) = &mut self.in_force else {
            return;
        };
        for it in set {
            if let Some(value) = outcome.read_back(it) {
                in_force.set(it.option, value);
            }
        }
    }

    /// What level 0 gained since it was last seen.
    fn note_growth(&mut self, family: &Family) -> Growth {
        let now = (family.level0_files, family.level0_bytes);
        let before = self.level0.replace(now).unwrap_or(now);
        Growth {
            files: now.0.saturating_sub(before.0),
            bytes: now.1.saturating_sub(before.1),
        }
    }
}
