//! Handing plans to workers, as far as there are any.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use lissom_core::journal::Event;
use lissom_core::{InFlight, Observation, PhysicalLevel, Plan, Tree, planner, validate};
use rust_rocksdb::{AsColumnFamilyRef, BoundColumnFamily};

use super::super::backoff::surroundings;
use super::super::quarantine::level0_of;
use super::super::shared::Shared;
use super::super::workers::Job;
use super::{LOOK_EVERY, Pilot};
use crate::ffi::CfRef;
use crate::ffi::options::live_options;
use crate::requirements;
use crate::settings::workers_under;

impl Pilot {
    /// Workers that may start a plan: none while the user has compactions
    /// turned off or paused.
    pub(super) fn free_workers(
        &mut self,
        shared: &Shared,
        handle: &Arc<BoundColumnFamily<'_>>,
        now: Instant,
    ) -> usize {
        if shared.paused.load(Relaxed) || shared.events.background_error().is_some() {
            return 0;
        }
        let fresh = self
            .options
            .filter(|(at, _)| now.duration_since(*at) < LOOK_EVERY);
        let (read_at, allowed) = match fresh {
            Some(known) => known,
            None => (now, self.read_options(shared, handle)),
        };
        self.options = Some((read_at, allowed));
        allowed
            .map_or(0, |allowed| allowed.min(shared.settings.workers))
            .saturating_sub(shared.busy.load(Relaxed))
    }

    /// Workers that RocksDB's present options allow. What `SetOptions` has made
    /// foreign is told once; the planner takes what RocksDB makes of it.
    fn read_options(&mut self, shared: &Shared, handle: &impl AsColumnFamilyRef) -> Option<usize> {
        let live = CfRef::of(handle).and_then(live_options);
        let foreign = match &live {
            Ok(live) => {
                let error = requirements::check(live).err();
                error.map(|error| format!("after SetOptions {error}"))
            }
            Err(error) => Some(format!("nothing is compacted: {error}")),
        };
        if foreign != self.foreign {
            if let Some(sentence) = &foreign {
                shared.complain(&self.family.name, sentence.clone());
            }
            self.foreign = foreign;
        }
        let live = live.ok()?;
        let jobs = live.db.max_background_jobs as usize;
        (!live.cf.disable_auto_compactions).then(|| workers_under(jobs))
    }

    pub(super) fn dispatch(
        &mut self,
        shared: &Shared,
        seen: &mut Observation,
        plans: &[Plan],
        free: usize,
    ) {
        let family = self.family.clone();
        let now = Instant::now();
        let waits = |plan: &Plan| family.back_off.lock().waits(plan, now);
        for plan in plans.iter().filter(|plan| !waits(plan)).take(free) {
            if let Err(refusal) = validate::validate(&seen.tree, &seen.in_flight, plan) {
                let text = format!("a plan was refused: {refusal}");
                shared.journal.note(&self.family.name, text);
                self.family.back_off.lock().postponed(Instant::now());
                return;
            }
            let job = planner::in_flight(plan);
            seen.in_flight.push(job.clone());
            self.last_started = Instant::now();
            if plan.drain.is_some() {
                self.last_drained = self.last_started;
            }
            self.start(shared, &seen.tree, plan.clone(), job);
        }
    }

    fn start(&self, shared: &Shared, tree: &Tree, plan: Plan, job: InFlight) {
        let family = &self.family;
        let number =
            shared
                .journal
                .write_numbered(&family.name, |compaction| Event::CompactionBegin {
                    compaction,
                    plan: plan.clone(),
                });
        let compare = family.back_off.lock().came_out_stale(&plan);
        family.in_flight.lock().insert(number, job);
        shared.busy.fetch_add(1, Relaxed);
        let on_drains = usize::from(plan.drain.is_some());
        shared.on_drains.fetch_add(on_drains, Relaxed);
        shared.queue.push(Job {
            family: family.clone(),
            number,
            input_bytes: input_bytes(tree, &plan),
            around: compare.then(|| surroundings(tree, &plan)),
            level0: level0_of(tree, &plan),
            plan,
            seen_at: self.looked.map_or(0, |look| look.changes),
        });
    }
}

fn input_bytes(tree: &Tree, plan: &Plan) -> Vec<(PhysicalLevel, u64)> {
    plan.inputs
        .iter()
        .map(|input| {
            let files = tree.files(input.level).iter();
            let taken = files.filter(|file| input.files.contains(&file.number));
            (input.level, taken.map(|file| file.size).sum())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use lissom_core::DrainId;
    use lissom_core::testing::drawing::parse;

    use super::*;
    use crate::autopilot::testing::Stopped;
    use crate::autopilot::workers::cancel_rest;

    const TWO_DRAINS: &str = "
        1.13: 0-40:4
        2.15: 0-90:16
        3.13: 0-40:4
        4.15: 0-90:64
        drain 1.13 -> 2.15
        drain 3.13 -> 4.15";

    /// Otherwise its attempts would be used up as fast as other merges end.
    #[test]
    fn a_plan_that_failed_rests_while_others_succeed_and_begin() {
        let store = Stopped::new();
        let shared = &store.shared;
        let mut pilot = store.pilot("default");
        let family = pilot.family.clone();
        let mut seen = parse(&format!("{TWO_DRAINS} \n workers 3")).expect("a drawing");
        let plans = planner::plan(&seen).plans;
        assert_eq!(plans.len(), 2, "{plans:?}");
        let now = Instant::now();
        let mut back_off = family.back_off.lock();
        for _ in 0..8 {
            back_off.failed(&plans[0], now);
        }
        back_off.succeeded(&plans[1]);
        assert!(!back_off.waits(&plans[1], now) && back_off.waits(&plans[0], now));
        drop(back_off);
        pilot.dispatch(shared, &mut seen, &plans, 1);
        let begun: Vec<_> = seen.in_flight.iter().map(|job| job.drain).collect();
        assert_eq!(begun, [plans[1].drain]);
        cancel_rest(shared);
    }

    /// One of two workers is on drains, and the planner proposes the deepest first.
    #[test]
    fn a_piece_that_rests_leaves_its_place_to_another_drain() {
        let store = Stopped::new();
        let shared = &store.shared;
        let mut memory = store.memory();
        let mut pilot = store.pilot("default");
        let mut seen = parse(TWO_DRAINS).expect("a drawing");
        pilot.state = seen.state.clone();
        let family = pilot.family.clone();
        let mut planned = || {
            let plans = pilot.plan(shared, &mut memory, &mut seen, Instant::now());
            plans.expect("planned")
        };
        let plans = planned();
        let of = |plans: &[Plan]| -> Vec<_> { plans.iter().map(|plan| plan.drain).collect() };
        assert_eq!(of(&plans), [Some(DrainId(2))]);
        for _ in 0..8 {
            family.back_off.lock().failed(&plans[0], Instant::now());
        }
        assert_eq!(of(&planned()), [Some(DrainId(2)), Some(DrainId(1))]);
        assert_eq!(seen.workers, 2);
    }

    /// The worker that is kept for L0 is one of the database.
    #[test]
    fn another_family_sees_a_piece_of_a_drain_and_looks_again_when_it_ends() {
        let store = Stopped::with_families(&["second"]);
        let shared = &store.shared;
        let (mut pilot, mut other) = (store.pilot("default"), store.pilot("second"));
        let drawing = "1.13: 0-40:4 \n 2.15: 0-90:16 \n drain 1.13 -> 2.15";
        let mut seen = parse(drawing).expect("a drawing");
        other.state = seen.state.clone();
        let plans = planner::plan(&seen).plans;
        pilot.dispatch(shared, &mut seen, &plans, 1);
        assert_eq!(seen.in_flight.len(), 1);
        let handle = shared.db.cf_handle("second").expect("it is there");
        let now = Instant::now();
        let (seen, _) = other.look(shared, &handle, false, now).expect("a look");
        assert_eq!(seen.drains_elsewhere, 1);
        assert!(!other.has_news(shared, now));
        cancel_rest(shared);
        assert!(other.has_news(shared, now));
    }

    /// Whoever writes begins merges of L0 all the time.
    #[test]
    fn a_drain_that_has_waited_longer_goes_first_whatever_was_merged_of_l0() {
        let store = Stopped::with_families(&["second"]);
        let shared = &store.shared;
        let (mut pilot, mut other) = (store.pilot("default"), store.pilot("second"));
        let drawings = [
            "1.13: 0-40:4 \n 2.15: 0-90:16 \n drain 1.13 -> 2.15",
            "L0: 0-9 0-9 0-9 0-9",
        ];
        for (pilot, drawing) in [&mut pilot, &mut other].into_iter().zip(drawings) {
            let mut seen = parse(drawing).expect("a drawing");
            let plans = planner::plan(&seen).plans;
            pilot.dispatch(shared, &mut seen, &plans, 1);
            assert_eq!(seen.in_flight.len(), 1);
        }
        assert!(other.precedence() < pilot.precedence());
        cancel_rest(shared);
    }
}
