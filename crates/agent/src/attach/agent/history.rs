//! A history of servers behind one address, and of agents and watchdogs beside them.

use std::path::Path;
use std::time::Duration;

use super::Agent;
use crate::attach::Records;
use crate::attach::restoring::restore_recorded;
use crate::decide::{Change, Family, Lease};
use crate::error::Result;
use crate::files::{Ledger, Places, read_leases};
use crate::metrics::Board;
use crate::server::Connector;
use crate::settings::Settings;
use crate::testing::{MockConnector, MockGuard, World, usual_family, usual_settings};
use crate::watchdog::Guard;

/// The bound on files in level 0.
const CAP: u64 = 20;

fn settings(rate_limiter: bool) -> Settings {
    let mut settings = usual_settings();
    settings.max_level0_files = CAP;
    settings.rate_limiter = rate_limiter;
    // Without it nobody would delay a family by a switch.
    settings.server_lease = Some("ops".into());
    settings
}

/// Three families: two that are delayed by triggers, one by a switch.
fn world() -> World {
    let mut world = World::usual();
    let dynamic = Family {
        dynamic_level_bytes: true,
        ..usual_family()
    };
    for (name, family) in [("cf_dynamic", dynamic), ("cf_hot", usual_family())] {
        world.families.insert(name.into(), family.clone());
        world.owned.insert(name.into(), family);
    }
    world.rate_limiter = 77_000_001;
    world.owned_rate_limiter = 77_000_001;
    world
}

pub(super) fn is_delayed(name: &str, family: &Family) -> bool {
    let options = &family.options;
    options.level0_file_num_compaction_trigger == CAP as i64
        || (name == "cf_dynamic" && options.disable_auto_compactions)
}

fn names_family(change: &Change, name: &str) -> bool {
    matches!(change, Change::Family { column_family, .. } if column_family == name)
}

pub(super) struct History {
    pub(super) connector: MockConnector,
    pub(super) guard: MockGuard,
    settings: Settings,
    places: Places,
    /// None while one was killed and no other could begin.
    agent: Option<Agent<MockConnector, MockGuard>>,
    /// Servers that were replaced, as they were then.
    old: Vec<World>,
    servers: u32,
    _directory: tempfile::TempDir,
}

impl History {
    pub(super) fn new(rate_limiter: bool) -> History {
        let directory = tempfile::tempdir().expect("a directory");
        let mut history = History {
            connector: MockConnector::new(world()),
            guard: MockGuard::default(),
            settings: settings(rate_limiter),
            places: Places {
                state: directory.path().join("state"),
                journal: directory.path().join("journal"),
            },
            agent: None,
            old: Vec::new(),
            servers: 0,
            _directory: directory,
        };
        history.agent = Some(history.attach().expect("attached"));
        history
    }

    fn attach(&self) -> Result<Agent<MockConnector, MockGuard>> {
        let records = Records::open(&self.places, 1 << 16, Board::default(), |_| ())?;
        let world = self.connector.clone();
        Agent::attach(
            self.settings.clone(),
            self.connector.clone(),
            self.guard.clone(),
            records,
            move || world.world().now,
            0,
        )
    }

    fn state(&self) -> &Path {
        &self.places.state
    }

    /// An interval. Whoever is delayed at the bound must be told to resume in
    /// it, and no family may appear by it.
    pub(super) fn tick(&mut self, high: bool) {
        let (names, at_bound) = {
            let mut world = self.connector.world();
            world.now += Duration::from_secs(1);
            world.counters.wal_bytes += if high { 1_000_000_000 } else { 0 };
            world.sent.clear();
            let names: Vec<String> = world.families.keys().cloned().collect();
            let at_bound: Vec<String> = world
                .families
                .iter()
                .filter(|(name, family)| is_delayed(name, family) && family.level0_files >= CAP)
                .map(|(name, _)| name.clone())
                .collect();
            (names, at_bound)
        };
        let well = self.tick_or_begin();
        let world = self.connector.world();
        assert!(
            world.families.keys().eq(names.iter()),
            "families: {names:?}"
        );
        for name in at_bound.iter().filter(|_| well) {
            let told = world.sent.iter().any(|change| names_family(change, name));
            assert!(told, "{name} was not resumed");
        }
    }

    /// Whether an agent has completed an interval.
    fn tick_or_begin(&mut self) -> bool {
        if let Some(agent) = &mut self.agent {
            agent.tick();
            return agent.is_well();
        }
        self.let_watchdogs_act();
        self.agent = self.attach().ok();
        false
    }

    /// The agent is killed, and its watchdog with it or not.
    pub(super) fn kill(&mut self, both: bool) {
        self.agent = None;
        if both {
            self.guard.0.borrow_mut().lease = None;
        }
        self.guard.abandon();
    }

    /// Those that were left by an agent try to restore.
    pub(super) fn let_watchdogs_act(&mut self) {
        self.guard.act(&self.connector, self.state());
        self.watch();
    }

    /// A watchdog that has not done its work is connected to its server while that answers.
    pub(super) fn watch(&self) {
        let mut world = self.connector.world();
        let held = self.guard.0.borrow();
        let mut left = held.left.iter();
        let is_watched = left.any(|lease| lease.identity == world.identity);
        world.watched = is_watched;
    }

    /// The server is replaced by another one.
    pub(super) fn fail_over(&mut self) {
        self.servers += 1;
        let mut fresh = world();
        fresh.identity = format!("server {}", self.servers);
        fresh.started_at = 1_000 + self.connector.world().now.as_secs();
        let replaced = self.answer(fresh);
        self.old.push(replaced);
    }

    /// The server is replaced by one that was itself replaced, if there is one.
    pub(super) fn fail_back(&mut self, which: usize) {
        if self.old.is_empty() {
            return;
        }
        let back = self.old.swap_remove(which % self.old.len());
        let replaced = self.answer(back);
        self.old.push(replaced);
    }

    /// Another server answers from now on. Returns the one that did so far.
    fn answer(&self, mut server: World) -> World {
        let mut current = self.connector.world();
        server.now = current.now;
        server.generation = current.generation + 1;
        server.reachable = true;
        server.calls_left = None;
        std::mem::replace(&mut *current, server)
    }

    /// All leases that somebody other than the agent has.
    fn leases(&self) -> Vec<Lease> {
        let held = self.guard.0.borrow();
        let recorded = read_leases(self.state()).expect("readable");
        let left = held.lease.iter().chain(&held.left);
        left.cloned().chain(recorded).collect()
    }

    /// Were the agent to die now, everything could be restored.
    pub(super) fn check(&self) {
        let leases = self.leases();
        check_server(&self.connector.world(), &leases);
        for world in &self.old {
            check_server(world, &leases);
        }
    }

    /// The agent, if there is one, ends in an orderly way, on a server that answers. It may never
    /// have noticed that its own was replaced: nothing was set at the other one then.
    pub(super) fn leave(&mut self) {
        self.heal();
        let Some(mut agent) = self.agent.take() else {
            return;
        };
        let mut left = agent.leave();
        for _ in 0..2 {
            if left.is_err() {
                left = agent.leave();
            }
        }
        // What it did not restore is left to its watchdog.
        self.guard.abandon();
        let world = self.connector.world();
        match left {
            _ if !world.refuses_nothing() => {}
            Err(error) => {
                let sentence = error.to_string();
                assert!(sentence.contains("instead of"), "{sentence}");
            }
            // One that has seen no server, or changed none, has none to restore.
            Ok(()) => {
                let lease = agent.pilot.lease().filter(|lease| lease.may_be_changed());
                assert!(lease.is_none() || world.is_as_owned());
            }
        }
    }

    /// All servers, one after the other, are restored by what is left of the agents: each has
    /// its original settings then, unless it refuses them.
    pub(super) fn restore(&mut self) {
        self.restore_answering();
        for world in std::mem::take(&mut self.old) {
            self.answer(world);
            self.restore_answering();
        }
    }

    /// What the server refuses stays recorded, until it refuses it no more.
    fn restore_answering(&mut self) {
        self.heal();
        let restored = self.restore_once();
        if self.connector.world().refuses_nothing() {
            restored.expect("nothing is refused");
        } else {
            let recorded = read_leases(self.state()).expect("readable");
            check_server(&self.connector.world(), &recorded);
            check_all_but_refused(&self.connector.world());
            self.connector.world().obey();
            self.restore_once().expect("nothing is refused any more");
        }
        assert!(self.connector.world().is_as_owned());
    }

    /// The watchdogs, and then `--restore`.
    fn restore_once(&mut self) -> Result<()> {
        self.let_watchdogs_act();
        let ledger = Ledger::open(self.places.state.clone())?;
        let mut server = self.connector.clone().connect()?;
        restore_recorded(&ledger, &mut server, "the mock", Some("ops"))?.check()
    }

    fn heal(&self) {
        let mut world = self.connector.world();
        world.reachable = true;
        world.lies = 0;
        world.calls_left = None;
    }
}

fn check_server(world: &World, leases: &[Lease]) {
    if world.is_as_owned() {
        return;
    }
    let restored = leases
        .iter()
        .filter(|lease| lease.identity == world.identity)
        .any(|lease| {
            let mut copy = World::usual();
            copy.families = world.families.clone();
            copy.owned = world.owned.clone();
            copy.rate_limiter = world.rate_limiter;
            copy.owned_rate_limiter = world.owned_rate_limiter;
            for change in lease.restoration(&world.options(), world.rate_limiter) {
                copy.make(&change);
            }
            copy.is_as_owned()
        });
    assert!(restored, "nobody could restore {world:#?}");
}

fn check_all_but_refused(world: &World) {
    for (name, family) in &world.families {
        let is_refused = world.refusing.as_ref() == Some(name);
        let is_as_owned = family.options == world.owned[name].options;
        assert!(is_refused || is_as_owned, "{name} was not restored");
    }
    let is_as_owned = world.rate_limiter == world.owned_rate_limiter;
    assert!(world.refuses_rate_limiter || is_as_owned);
}
