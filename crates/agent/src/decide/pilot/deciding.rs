//! One interval's load, and what follows from it.

use super::{Decision, Last, Pilot};
use crate::decide::change::Change;
use crate::decide::lease::{LeasedFamily, LeasedRateLimiter};
use crate::decide::limiter;
use crate::decide::observation::{Family, Observation};
use crate::decide::options::Assignment;
use crate::decide::reason::Reason;
use crate::decide::stage::Situation;

impl Pilot {
    pub(super) fn measure(&mut self, seen: &Observation) {
        let settings = &self.settings;
        self.client_bytes_per_sec = self.last.as_ref().and_then(|last| {
            let counted = seen.counters.since(last.counters.as_ref()?)?;
            settings.load_model.client_bytes_per_sec(
                settings.compression_ratio,
                &counted,
                seen.at.saturating_sub(last.at),
            )
        });
        self.phase.after(self.client_bytes_per_sec);
        self.last = Some(Last {
            at: seen.at,
            instance: seen.instance.clone(),
            counters: Some(seen.counters),
        });
    }

    pub(super) fn decide_family(
        &mut self,
        name: &str,
        family: &Family,
        leased: &LeasedFamily,
        forbidden: Option<&str>,
    ) -> Option<Decision> {
        let course = self.courses.entry(name.to_owned()).or_default();
        let from = course.stage;
        let (to, why) = Situation {
            settings: &self.settings,
            stage: from,
            family,
            leased,
            phase: self.phase.now(),
            client_bytes_per_sec: self.client_bytes_per_sec,
            forbidden,
            hands_off: course.hands_off.as_ref(),
            given_up: course.given_up,
        }
        .next();
        course.stage = to;
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

    pub(super) fn decide_limiter(
        &mut self,
        seen: &Observation,
        leased: &LeasedRateLimiter,
        forbidden: Option<&str>,
    ) -> Option<Decision> {
        let (bytes_per_sec, why) = match (forbidden, self.client_bytes_per_sec) {
            (Some(why), _) => {
                let why = why.to_owned();
                (leased.original, Reason::Unguarded { why })
            }
            (None, None) => (leased.original, Reason::LoadUnknown),
            (None, Some(client)) => (
                limiter::internal_bytes_per_sec(&self.settings, client),
                Reason::Bandwidth {
                    client_bytes_per_sec: Some(client),
                    io_limit: self.settings.io_limit_bytes_per_sec,
                },
            ),
        };
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
}
