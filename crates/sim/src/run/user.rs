//! The user's thread: how fast operations go, and what they write.

use std::rc::Rc;

use super::{NOTHING, PATIENCE, Run, Step, Stuck};
use crate::machine::{Crowding, Demand};
use crate::mission::{Counts, Times};
use crate::pace::Pace;
use crate::reads::{Asked, Costs, costs};
use crate::scenario::{Mix, Session};
use crate::watch::{Passed, Watch};

/// RocksDB lowers the speed of delayed writers by this for each further file.
const DELAY_STEP: f64 = 0.8;

impl Run<'_> {
    pub(super) fn session(&mut self, session: &Session) -> Result<Counts, Stuck> {
        self.session = Counts::default();
        self.pace = Pace::new(session.rate);
        self.watch = Watch::new(session.rate.is_some());
        self.note_level0();
        self.note_limits();
        self.costs = None;
        let mut left = session.operations as f64;
        let mut waited = 0.0;
        while left > NOTHING * session.operations as f64 {
            let step = self.step(session);
            let seconds = self.until_next(session, &step, left);
            let stands_still = step.rate <= 0.0 && step.free_rate > 0.0 && self.jobs.is_empty();
            waited = if stands_still { waited + seconds } else { 0.0 };
            if !seconds.is_finite() || waited > PATIENCE {
                return Err(Stuck(format!(
                    "writes have stopped for ever after {:.1} s, with {} files in L0",
                    self.now,
                    self.tree.files(0).len()
                )));
            }
            let operations = (step.rate * seconds).min(left);
            left -= operations;
            self.write(session, operations);
            let held_back = if session.mix.writes() > 0.0 && step.free_rate > 0.0 {
                seconds * (1.0 - step.rate / step.free_rate).max(0.0)
            } else {
                0.0
            };
            for counts in self.counts() {
                counts.operations(session, operations, &step.costs, step.times);
                counts.seconds += seconds;
                counts.stalled(held_back);
                counts.user_cpu += operations * step.cpu;
            }
            self.watch.pass(&Passed {
                seconds,
                done: step.rate,
                offered: self.pace.offered(),
                background: self.jobs.bytes_per_second(&step.crowding),
                held_back: held_back > 0.0,
            });
            self.pace.pass(seconds, step.rate);
            self.pass(&step.crowding, seconds);
            self.seal_memtable();
            self.end_mission();
            self.note_limits();
        }
        if session.settles {
            self.settle_session()?;
        }
        Ok(std::mem::take(&mut self.session))
    }

    /// What counts for the mission counts for the session and the whole run.
    pub(super) fn counts(&mut self) -> [&mut Counts; 3] {
        [&mut self.mission, &mut self.session, &mut self.total]
    }

    pub(super) fn step(&mut self, session: &Session) -> Step {
        let machine = &self.scenario.machine;
        let costs = self.read_costs(session);
        let slowdown = machine.read_slowdown(self.jobs.demands());
        let get = costs.get.with_device_times(slowdown);
        let scan = costs.scan.with_device_times(slowdown);
        let mix = &session.mix;
        let gets = mix.get_present + mix.get_absent;
        let waiting = gets * machine.waiting(costs.get) + mix.scan * machine.waiting(costs.scan);
        let put = machine.put(waiting);
        let sum = |of: fn(&Demand) -> f64| {
            gets * of(&get) + mix.scan * of(&scan) + mix.writes() * of(&put)
        };
        let mean = Demand {
            cpu: sum(|it| it.cpu),
            device: sum(|it| it.device),
        };
        let stopped = mix.writes() > 0.0 && self.writes_are_stopped();
        let offered = self.pace.asked();
        let delayed = self.delayed_rate(mix);
        // A user who is held to a rate is idle between operations.
        let busy = (offered.min(delayed) * mean.alone()).min(1.0);
        let user = (!stopped).then_some((mean, busy));
        let crowding = Crowding::of(machine, self.jobs.demands().chain(user));
        let free_rate = (1.0 / crowding.seconds(mean).max(1e-12)).min(offered);
        let rate = if stopped { 0.0 } else { free_rate.min(delayed) };
        let times = Times {
            get: crowding.seconds(get),
            scan: crowding.seconds(scan),
            put: crowding.seconds(put),
        };
        Step {
            crowding,
            rate,
            free_rate,
            times,
            cpu: mean.cpu,
            costs,
        }
    }

    pub(super) fn read_costs(&mut self, session: &Session) -> Rc<Costs> {
        if let Some(costs) = &self.costs {
            return Rc::clone(costs);
        }
        let keys: f64 = self.keys.iter().sum();
        let classes = self.classes.operations(&session.keys, keys);
        let in_memory = self.in_memory(session, &classes);
        let asked = Asked {
            tree: &self.tree,
            keys: &self.keys,
            classes: &classes,
            in_memory: &in_memory,
            mix: &session.mix,
            scan_length: session.scan_length,
        };
        let found = Rc::new(costs(&self.scenario.store, &self.scenario.machine, &asked));
        self.costs = Some(Rc::clone(&found));
        found
    }

    /// Chance by class that a memtable, half full on average, holds a key.
    pub(super) fn in_memory(&self, session: &Session, classes: &[f64]) -> Vec<f64> {
        let store = &self.scenario.store;
        let mix = &session.mix;
        let entries = 0.5 * store.shape.write_buffer_size as f64 / store.entry_bytes;
        let updates = entries * mix.update / mix.writes().max(1e-12);
        let of = |(share, keys): (&f64, &f64)| -(-updates * share / keys.max(1.0)).exp_m1();
        classes.iter().zip(&self.keys).map(of).collect()
    }

    pub(super) fn writes_are_stopped(&self) -> bool {
        let store = &self.scenario.store;
        let level0 = self.tree.files(0).len() >= store.level0_stop_writes_trigger as usize;
        level0 || self.memtable_is_full() && self.memtables() >= store.max_write_buffer_number
    }

    /// Operations a second that RocksDB lets through while L0 is too long.
    pub(super) fn delayed_rate(&self, mix: &Mix) -> f64 {
        let store = &self.scenario.store;
        let trigger = store.shape.level0_slowdown_writes_trigger as usize;
        let files = self.tree.files(0).len();
        let written = mix.writes() * store.entry_bytes;
        if files < trigger || written <= 0.0 {
            return f64::INFINITY;
        }
        let slower = DELAY_STEP.powi((files - trigger) as i32);
        self.scenario.machine.delayed_write_rate * slower / written
    }

    /// Seconds until something changes; infinite when nothing will.
    pub(super) fn until_next(&self, session: &Session, step: &Step, left: f64) -> f64 {
        let store = &self.scenario.store;
        let changes = self.pace.left(step.rate).min(self.until_asked());
        let ends = self.jobs.first_end(&step.crowding).min(changes);
        if step.rate <= 0.0 {
            return ends;
        }
        let mission = (store.mission_operations as f64 - self.mission.operations).max(1.0);
        let written = session.mix.writes() * store.entry_bytes;
        let room = (store.shape.write_buffer_size as f64 - self.memtable.bytes).max(0.0);
        let full = if written > 0.0 {
            room / written
        } else {
            f64::INFINITY
        };
        let operations = left.min(mission).min(full);
        let mission = (store.mission_seconds - self.mission.seconds).max(1.0 / step.rate);
        (operations / step.rate).min(ends).min(mission)
    }

    pub(super) fn write(&mut self, session: &Session, operations: f64) {
        let mix = &session.mix;
        if mix.writes() <= 0.0 {
            return;
        }
        let bytes = operations * mix.writes() * self.scenario.store.entry_bytes;
        self.memtable.bytes += bytes;
        for counts in self.counts() {
            counts.user_bytes += bytes;
        }
        let keys: f64 = self.keys.iter().sum();
        let asked = self.classes.operations(&session.keys, keys.max(1.0));
        let shares = self.classes.keys();
        for class in 0..self.keys.len() {
            let fresh = operations * mix.put * shares[class];
            let deletes = (operations * mix.delete * asked[class]).min(0.9 * self.keys[class]);
            self.memtable.fresh[class] += fresh;
            self.memtable.draws[class] += operations * mix.update * asked[class] + deletes;
            self.memtable.deletes[class] += deletes;
            self.keys[class] += fresh - deletes;
        }
    }
}
