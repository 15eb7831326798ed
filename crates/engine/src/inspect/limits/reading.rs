//! One column family while its journal is read.

use std::collections::{BTreeMap, VecDeque};

use lissom_core::cost_model::Workload;
use lissom_core::journal::{Entry, TreeSummary};
use lissom_core::{LogicalLevel, Mission, RunLimits};

use super::LimitReason;
use super::came::{Decided, Took, is_same};

/// Missions before a decision that its outcome is compared with.
const BEFORE: usize = 12;

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    limits: Option<RunLimits>,
    deepest: u16,
    /// The last missions.
    recent: VecDeque<(Workload, Took)>,
    by_level: BTreeMap<u16, Decided>,
}

/// Where no tuner gave a reason.
fn unsaid(before: Option<u16>) -> &'static str {
    match before {
        Some(_) => "it was set by hand or with a policy",
        None => "it was decided before the journal begins",
    }
}

impl Reading {
    /// A mission has ended, under the limits of before.
    pub fn see(&mut self, mission: &Mission, tree: &TreeSummary) {
        let levels = tree.runs.iter().filter_map(|run| run.level);
        self.deepest = levels.map(|level| level.0).max().unwrap_or(0);
        let workload = Workload::of_mission(&mission.operations);
        let (Some(workload), Some(took)) = (workload, Took::of(mission)) else {
            return;
        };
        for decided in self.by_level.values_mut() {
            decided.see(&workload, took);
        }
        self.recent.push_back((workload, took));
        if self.recent.len() > BEFORE {
            self.recent.pop_front();
        }
    }

    /// Limits hold from here on; a level whose limit is another one has a new reason.
    pub fn set(
        &mut self,
        entry: &Entry,
        limits: &RunLimits,
        why: impl Fn(LogicalLevel) -> Option<String>,
    ) {
        let workload = self.recent.back().map(|(workload, _)| *workload);
        let took_before = workload.and_then(|workload| self.took_under(&workload));
        for level in lissom_core::Layout::V1.logical_levels() {
            let limit = limits.get(level).get();
            let old = self.limits.as_ref().map(|old| old.get(level).get());
            if old == Some(limit) {
                continue;
            }
            let reason = LimitReason {
                column_family: entry.column_family.clone(),
                level: level.0,
                limit,
                before: old,
                at_seconds: entry.at.as_secs_f64(),
                why: why(level).unwrap_or_else(|| unsaid(old).into()),
                missions_since: 0,
                missions_elsewhere: 0,
                took_before,
                took_since: None,
            };
            let decided = Decided {
                reason,
                workload,
                since: Took::default(),
            };
            self.by_level.insert(level.0, decided);
        }
        self.limits = Some(limits.clone());
    }

    /// Seconds that an operation took in the last missions under a workload.
    fn took_under(&self, workload: &Workload) -> Option<f64> {
        let mut all = Took::default();
        for (of, took) in &self.recent {
            if is_same(of, workload) {
                all.add(*took);
            }
        }
        all.mean()
    }

    pub fn told(self) -> impl Iterator<Item = LimitReason> {
        let deepest = self.deepest;
        let levels = self.by_level.into_iter();
        levels
            .filter(move |(level, _)| *level <= deepest)
            .map(|(_, decided)| LimitReason {
                missions_since: decided.since.missions,
                took_since: decided.since.mean(),
                ..decided.reason
            })
    }
}
