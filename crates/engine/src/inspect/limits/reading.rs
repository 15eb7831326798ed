//! One column family while its journal is read.

use std::collections::BTreeMap;

use lissom_core::journal::{Bounds, Entry, Event, Moment};
use lissom_core::reasons::{self, Decided, NOT_GIVEN, Recent};
use lissom_core::tuner::{Policy, Trial};
use lissom_core::{LogicalLevel, Mission, RunLimit, RunLimits};

use super::came::{Followed, Source};
use super::{Asked, LimitReason};

/// The reason of a limit where neither the state file nor the journal has it.
const GONE: &str = "the decision lies in a part of the journal that is gone or was not read";

/// What was read so far.
pub(super) struct Reading {
    /// The first line of the part that is read.
    read_from: Option<Moment>,
    /// Nothing was ever written before that part.
    from_start: bool,
    recent: Recent,
    /// A policy that brings limits has come. Older journals do not tell of the limits
    /// themselves.
    policy: Option<String>,
    by_level: BTreeMap<LogicalLevel, Followed>,
}

impl Reading {
    /// Before the first line that is read, with the decisions that were kept.
    pub fn new(kept: &[Decided], first: Option<&Entry>) -> Reading {
        let followed = |decided: &Decided| Followed::new(decided.clone(), Source::Kept);
        Reading {
            read_from: first.map(Entry::moment),
            from_start: first.is_some_and(|entry| entry.number <= 1),
            recent: Recent::default(),
            policy: None,
            by_level: kept.iter().map(|it| (it.level, followed(it))).collect(),
        }
    }

    pub fn follow(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Begin { policy, limits, .. } => self.begin(entry, policy, limits),
            Event::Policy { policy, .. } => {
                let why = || format!("{policy} was set as the policy");
                self.policy = brings_limits(policy).then(why);
            }
            Event::Limits { limits, why } => self.take_up(entry, limits, why),
            Event::Mission {
                mission,
                trial,
                pinned,
                bounds,
                ..
            } => {
                if let Some(bounds) = bounds {
                    self.meet(entry, &bounds.limits);
                }
                self.see(entry.moment(), mission);
                if !pinned {
                    self.obey(entry, trial, bounds.as_ref());
                }
            }
            _ => {}
        }
    }

    /// The autopilot begins with the limits that it finds. Journals that count openings tell
    /// of each change by itself.
    fn begin(&mut self, entry: &Entry, policy: &str, limits: &RunLimits) {
        let why = format!("the autopilot began with {policy}");
        let (from_start, counts) = (self.from_start, entry.opening > 0);
        self.policy = (brings_limits(policy) && !counts).then(|| why.clone());
        self.set(entry, limits, |_, before| match before {
            None if from_start => Some((Source::Told, why.clone())),
            None => Some((Source::Gone, GONE.into())),
            Some(_) => (!counts).then(|| (Source::Told, why.clone())),
        });
    }

    /// Limits hold that may be older than what is read.
    fn meet(&mut self, entry: &Entry, limits: &RunLimits) {
        self.set(entry, limits, |_, before| {
            before.is_none().then(|| (Source::Gone, GONE.into()))
        });
    }

    /// Limits come that no tuner gave a reason for.
    fn take_up(&mut self, entry: &Entry, limits: &RunLimits, why: &str) {
        for (level, followed) in &mut self.by_level {
            if followed.source == Source::Untold && followed.decided.limit == limits.get(*level) {
                followed.source = Source::Told;
                followed.decided.why = why.to_owned();
            }
        }
        self.set(entry, limits, |_, _| Some((Source::Told, why.to_owned())));
    }

    /// A tuner's answer is followed. One that keeps the limits in force decides nothing, also
    /// where others wait for their levels.
    fn obey(&mut self, entry: &Entry, trial: &Trial, bounds: Option<&Bounds>) {
        let counts = entry.opening > 0;
        let keeps = bounds.is_some_and(|bounds| bounds.limits == trial.limits);
        let policy = self.policy.take();
        self.set(entry, &trial.limits, |level, before| {
            if keeps && counts && before.is_some() {
                return None;
            }
            if let Some(why) = reasons::said(trial, level) {
                return Some((Source::Told, why));
            }
            let held = bounds.map(|bounds| bounds.limits.get(level));
            Some(match (&policy, before) {
                (_, None) => (Source::Gone, GONE.into()),
                (Some(why), _) => (Source::Told, why.clone()),
                (None, _) if counts || before == held => (Source::Untold, NOT_GIVEN.into()),
                (None, _) => (Source::Gone, GONE.into()),
            })
        });
    }

    /// A mission has ended, under the limits of before.
    fn see(&mut self, at: Moment, mission: &Mission) {
        if let Some((workload, took)) = reasons::measured(mission) {
            let followed = self.by_level.values_mut();
            for followed in followed.filter(|it| !it.is_after(at)) {
                followed.see(&workload, took);
            }
        }
        self.recent.see(mission);
    }

    /// Limits hold from here on; a level whose limit is another one has a new decision, if
    /// `why` has one, given the limit before.
    fn set(
        &mut self,
        entry: &Entry,
        limits: &RunLimits,
        why: impl Fn(LogicalLevel, Option<RunLimit>) -> Option<(Source, String)>,
    ) {
        let at = entry.moment();
        let before = |level: LogicalLevel| match self.by_level.get(&level) {
            Some(it) if it.is_after(at) => Some(limits.get(level)),
            it => it.map(|it| it.decided.limit),
        };
        // The reason comes with its source.
        let changed = reasons::decided(before, limits, at, &self.recent, |_| String::new());
        for mut decided in changed {
            if let Some((source, why)) = why(decided.level, decided.before) {
                decided.why = why;
                let followed = Followed::new(decided, source);
                self.by_level.insert(followed.decided.level, followed);
            }
        }
    }

    /// The reasons of a column family's levels, told in this opening.
    pub fn told(mut self, asked: &Asked<'_>, opening: u64) -> Vec<LimitReason> {
        let deepest = asked.deepest.map_or(0, |level| level.0);
        let levels = (1..=deepest).map(LogicalLevel);
        let told = levels.filter_map(|level| match self.by_level.remove(&level) {
            Some(followed) => Some(LimitReason::of(asked, followed, self.read_from, opening)),
            None => {
                let limit = asked.limits?.get(level);
                Some(LimitReason::unknown(asked, level, limit, GONE))
            }
        });
        told.collect()
    }
}

/// Whether a policy of this name holds limits of its own from its beginning on.
fn brings_limits(policy: &str) -> bool {
    matches!(policy.parse::<Policy>(), Ok(Policy::Fixed(_)))
}
