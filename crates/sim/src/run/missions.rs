//! Missions end, tuners answer, sessions are summed up.

use super::{NOTHING, Run};
use crate::mission::Counts;
use crate::outcome::{Decision, HeldLimits, SessionOutcome};
use crate::sampling::sampled;
use crate::scenario::Session;

impl Run<'_> {
    /// The policy that a session brings.
    pub(super) fn take_up(&mut self, session: &Session) {
        if let Some(policy) = &session.policy {
            let (tree, in_flight) = (self.tree.manifest().clone(), self.jobs.in_flight());
            self.pilot.follow(policy, tree, in_flight);
            self.news = true;
            self.plan();
        }
    }

    pub(super) fn end_mission(&mut self) {
        let store = &self.scenario.store;
        let over = self.mission.operations >= store.mission_operations as f64 * (1.0 - NOTHING)
            || self.mission.operations >= 1.0
                && self.mission.seconds >= store.mission_seconds * (1.0 - NOTHING);
        if !over {
            return;
        }
        // The outcome of the load is not kept.
        self.outcome.missions += 1;
        self.course
            .push((self.session.operations, self.session.seconds));
        let number = self.outcome.missions;
        let longer = self.noise.factors(self.now);
        let mission = self.mission.mission(number, store.block_bytes, longer);
        let mission = sampled(&mut self.noise, mission, self.scenario.timed_one_in);
        self.mission = Counts::default();
        let decided = self.pilot.end_mission(
            self.tree.manifest().clone(),
            self.jobs.in_flight(),
            &mission,
        );
        if decided.is_new {
            self.outcome.decisions.push(Decision {
                at: self.now - self.began,
                mission: number,
                session: self.measured.unwrap_or(0),
                limits: decided.limits.to_string(),
                why: decided.why,
            });
            self.news = true;
            self.plan();
        }
    }

    /// Notes the limits in force when a session begins, and when they have changed.
    pub(super) fn note_limits(&mut self) {
        let Some(session) = self.measured else {
            return;
        };
        let limits = &self.pilot.state.limits;
        let last = self.outcome.held.last();
        if last.is_some_and(|it| it.session == session && it.limits == *limits) {
            return;
        }
        self.outcome.held.push(HeldLimits {
            at: self.now - self.began,
            session,
            operations: self.session.operations,
            limits: limits.clone(),
        });
    }

    fn course_until(&self, end: (f64, f64)) -> Vec<(f64, f64)> {
        let missions = self.course.iter().copied();
        missions.chain(std::iter::once(end)).collect()
    }

    fn deepest_level(&self) -> u16 {
        let layout = &self.scenario.store.shape.layout;
        let deepest = self.tree.manifest().deepest_occupied(layout);
        deepest.map_or(0, |level| level.0)
    }

    pub(super) fn session_outcome(&mut self, session: &Session, sums: &Counts) -> SessionOutcome {
        let (get, scan, block_reads) = sums.means();
        let (peak_level0_files, peak_level0_bytes) = self.watch.peak_level0();
        let live: f64 = self.keys.iter().sum::<f64>() * self.scenario.store.entry_bytes;
        SessionOutcome {
            name: session.name.clone(),
            seconds: sums.seconds,
            operations: sums.operations,
            user_bytes: sums.user_bytes,
            flush_bytes: sums.flush_bytes,
            compaction_bytes: sums.compaction_bytes(),
            stall: sums.stall(),
            longest_held_back: self.watch.longest_held_back(),
            peak_level0_files,
            peak_level0_bytes,
            busiest_second: self.watch.busiest_second(),
            offered: self.watch.offered(),
            get,
            scan,
            block_reads,
            by_level: sums.by_level(),
            missions: 0,
            steps: 0,
            course: self.course_until((sums.operations, sums.seconds)),
            runs: self.read_costs(session).runs,
            space: self.tree.bytes() / live.max(1.0),
            limits: self.pilot.state.limits.to_string(),
            levels: self.deepest_level(),
        }
    }
}
