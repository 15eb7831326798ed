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
        for plan in plans.iter().take(free) {
            if let Err(refusal) = validate::validate(&seen.tree, &seen.in_flight, plan) {
                let text = format!("a plan was refused: {refusal}");
                shared.journal.note(&self.family.name, text);
                self.family.back_off.lock().postponed(Instant::now());
                return;
            }
            let job = planner::in_flight(plan);
            seen.in_flight.push(job.clone());
            self.last_started = Instant::now();
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
