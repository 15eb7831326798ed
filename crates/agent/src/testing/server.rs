//! A MyRocks server in memory, with faults.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::time::Duration;

use super::usual_family;
use crate::decide::event::{EVENT_INTERVAL, Traces, create};
use crate::decide::{
    Change, Counters, Families, Family, Instance, Lease, OptionName, OptionsByFamily,
};
use crate::error::{Error, Result};
use crate::server::{Connector, Role, Server};

/// The world behind the seam.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) identity: String,
    pub(crate) started_at: u64,
    pub(crate) now: Duration,
    pub(crate) counters: Counters,
    /// Whether the counters cannot be read.
    pub(crate) uncounted: bool,
    pub(crate) rate_limiter: u64,
    pub(crate) owned_rate_limiter: u64,
    pub(crate) families: Families,
    /// What each family has after a restart, and should have at the end.
    pub(crate) owned: Families,
    /// What families that are gone had, by their names.
    dropped: OptionsByFamily,
    /// A column family whose options cannot be read.
    pub(crate) unreadable: Option<String>,
    pub(crate) reachable: bool,
    /// What each call takes.
    pub(crate) slowness: Duration,
    /// So many settings are answered with OK and not made.
    pub(crate) lies: u32,
    /// A column family whose settings are refused.
    pub(crate) refusing: Option<String>,
    /// Whether those of the rate limiter are.
    pub(crate) refuses_rate_limiter: bool,
    /// After so many calls the connection is lost.
    pub(crate) calls_left: Option<u32>,
    /// Connections of an earlier generation are gone.
    pub(crate) generation: u32,
    /// Another agent's session holds the lock.
    pub(crate) occupied: bool,
    /// An earlier agent's watchdog is at work.
    pub(crate) watched: bool,
    pub(crate) event: Option<Lease>,
    /// Whether the user has the privilege to see it.
    pub(crate) event_is_seen: bool,
    /// Whether events run, and may be put there.
    pub(crate) events_run: bool,
    /// All that was set, and taken or not.
    pub(crate) sent: Vec<Change>,
}

impl World {
    /// One family, `default`.
    pub(crate) fn usual() -> World {
        let families = Families::from([("default".into(), usual_family())]);
        World {
            identity: "here".into(),
            started_at: 1_000,
            now: Duration::ZERO,
            counters: Counters::default(),
            uncounted: false,
            rate_limiter: 0,
            owned_rate_limiter: 0,
            owned: families.clone(),
            families,
            dropped: OptionsByFamily::new(),
            unreadable: None,
            reachable: true,
            slowness: Duration::ZERO,
            lies: 0,
            refusing: None,
            refuses_rate_limiter: false,
            calls_left: None,
            generation: 0,
            occupied: false,
            watched: false,
            event: None,
            event_is_seen: true,
            events_run: true,
            sent: Vec::new(),
        }
    }

    /// A family that must be there.
    pub(crate) fn family(&mut self, name: &str) -> &mut Family {
        self.families.get_mut(name).expect("it is there")
    }

    /// The options in force.
    pub(crate) fn options(&self) -> OptionsByFamily {
        self.families
            .iter()
            .map(|(name, family)| (name.clone(), family.options))
            .collect()
    }

    fn check_readable(&self, is_asked_for: impl Fn(&str) -> bool) -> Result<()> {
        match self.unreadable.as_deref() {
            Some(name) if is_asked_for(name) => Err(Error::fix(format!("{name} is unreadable"))),
            _ => Ok(()),
        }
    }

    fn refuses(&self, change: &Change) -> bool {
        match change.column_family() {
            Some(name) => self.refusing.as_deref() == Some(name),
            None => self.refuses_rate_limiter,
        }
    }

    /// Whether no settings are refused.
    pub(crate) fn refuses_nothing(&self) -> bool {
        self.refusing.is_none() && !self.refuses_rate_limiter
    }

    /// Nothing is refused any more.
    pub(crate) fn obey(&mut self) {
        self.refusing = None;
        self.refuses_rate_limiter = false;
    }

    /// Whether some other session holds a role's lock.
    fn is_held(&self, role: Role) -> bool {
        match role {
            Role::Agent => self.occupied,
            Role::Watchdog => self.watched,
        }
    }

    fn check_events(&self) -> Result<()> {
        if self.events_run {
            Ok(())
        } else {
            Err(Error::fix("no event runs at the mock"))
        }
    }

    /// What its event does.
    fn take_back(&mut self, lease: &Lease) {
        for change in lease.restoration(&self.options(), self.rate_limiter) {
            if !self.refuses(&change) {
                self.make(&change);
            }
        }
    }

    /// All connections end.
    pub(crate) fn cut(&mut self) {
        self.generation += 1;
    }

    /// The server starts again, with its configured settings.
    pub(crate) fn restart(&mut self) {
        self.cut();
        self.started_at = 1_000 + self.now.as_secs() + 3;
        self.now += Duration::from_secs(6);
        self.counters = Counters::default();
        self.rate_limiter = self.owned_rate_limiter;
        self.dropped.clear();
        for (name, family) in &mut self.families {
            family.options = self.owned[name].options;
        }
    }

    /// A family is dropped. Its options are kept by its name until a restart.
    pub(crate) fn drop_family(&mut self, name: &str) {
        self.owned.remove(name);
        if let Some(family) = self.families.remove(name) {
            self.dropped.insert(name.into(), family.options);
        }
    }

    /// A family is created, with the options that were kept by its name.
    pub(crate) fn create_family(&mut self, name: &str) {
        let owned = usual_family();
        let mut family = owned.clone();
        if let Some(options) = self.dropped.remove(name) {
            family.options = options;
        }
        self.owned.insert(name.into(), owned);
        self.families.insert(name.into(), family);
    }

    /// Its owner sets an option, for now and for later.
    pub(crate) fn own(&mut self, name: &str, option: OptionName, value: i64) {
        for families in [&mut self.families, &mut self.owned] {
            if let Some(family) = families.get_mut(name) {
                family.options.set(option, value);
            }
        }
    }

    /// Whether everything is as its owner gave it.
    pub(crate) fn is_as_owned(&self) -> bool {
        self.rate_limiter == self.owned_rate_limiter
            && self
                .families
                .iter()
                .all(|(name, family)| family.options == self.owned[name].options)
    }

    /// As the server does: a family that is not there is created.
    pub(crate) fn make(&mut self, change: &Change) {
        match change {
            Change::Family { column_family, set } => {
                let fresh = || (column_family.clone(), usual_family());
                if !self.families.contains_key(column_family) {
                    self.families.extend([fresh()]);
                    self.owned.extend([fresh()]);
                }
                for it in set {
                    self.family(column_family).options.set(it.option, it.value);
                }
            }
            // It cannot be changed from or to 0.
            Change::RateLimiter { bytes_per_sec } if self.rate_limiter > 0 => {
                self.rate_limiter = *bytes_per_sec;
            }
            Change::RateLimiter { .. } => {}
        }
    }
}

/// Connects to a world.
#[derive(Clone, Debug)]
pub(crate) struct MockConnector(Rc<RefCell<World>>);

impl MockConnector {
    pub(crate) fn new(world: World) -> MockConnector {
        MockConnector(Rc::new(RefCell::new(world)))
    }

    /// The world, to look at it and to change it.
    pub(crate) fn world(&self) -> RefMut<'_, World> {
        self.0.borrow_mut()
    }
}

impl Connector for MockConnector {
    type Server = MockServer;

    fn connect(&mut self) -> Result<MockServer> {
        let world = self.world();
        if !world.reachable {
            return Err(Error::lost("cannot reach the mock"));
        }
        let generation = world.generation;
        drop(world);
        Ok(MockServer {
            world: self.clone(),
            generation,
            is_claimed: false,
        })
    }

    fn place(&self) -> String {
        "the mock".into()
    }
}

/// A connection to a world.
#[derive(Debug)]
pub(crate) struct MockServer {
    world: MockConnector,
    generation: u32,
    /// Whether this session holds the agent's lock.
    is_claimed: bool,
}

impl MockServer {
    /// The world, if the connection still leads there.
    fn reach(&mut self) -> Result<RefMut<'_, World>> {
        let mut world = self.world.world();
        let slowness = world.slowness;
        world.now += slowness;
        match world.calls_left {
            Some(0) => {
                world.calls_left = None;
                world.cut();
            }
            Some(left) => world.calls_left = Some(left - 1),
            None => {}
        }
        if world.generation == self.generation && world.reachable {
            Ok(world)
        } else {
            Err(Error::lost("the mock is gone"))
        }
    }
}

impl Server for MockServer {
    fn instance(&mut self) -> Result<Instance> {
        let world = self.reach()?;
        let clock = 1_000 + world.now.as_secs();
        Ok(Instance {
            identity: world.identity.clone(),
            started_at: world.started_at,
            uptime: clock.saturating_sub(world.started_at),
        })
    }

    fn counters(&mut self) -> Result<Counters> {
        let world = self.reach()?;
        if world.uncounted {
            return Err(Error::fix("the mock counts nothing"));
        }
        Ok(world.counters)
    }

    fn families(&mut self) -> Result<Families> {
        let world = self.reach()?;
        world.check_readable(|_| true)?;
        Ok(world.families.clone())
    }

    fn options(&mut self, column_families: &[&str]) -> Result<OptionsByFamily> {
        let world = self.reach()?;
        let is_asked_for = |name: &str| column_families.contains(&name);
        world.check_readable(is_asked_for)?;
        let mut options = world.options();
        options.retain(|name, _| is_asked_for(name));
        Ok(options)
    }

    fn rate_limiter_bytes_per_sec(&mut self) -> Result<u64> {
        Ok(self.reach()?.rate_limiter)
    }

    fn set(&mut self, change: &Change) -> Result<()> {
        let mut world = self.reach()?;
        world.sent.push(change.clone());
        if world.refuses(change) {
            return Err(Error::refused("the mock refuses"));
        }
        if world.lies > 0 {
            world.lies -= 1;
        } else {
            world.make(change);
        }
        Ok(())
    }

    fn claim(&mut self, role: Role, _patience: Duration) -> Result<Option<String>> {
        let held = self.reach()?.is_held(role);
        self.is_claimed |= role == Role::Agent && !held;
        Ok(held.then(|| "another session".into()))
    }

    fn release(&mut self, role: Role) -> Result<()> {
        drop(self.reach()?);
        self.is_claimed &= role != Role::Agent;
        Ok(())
    }

    fn await_free(&mut self, role: Role, _patience: Duration) -> Result<bool> {
        Ok(!self.reach()?.is_held(role))
    }

    /// The event acts, if it has anything to do and nobody holds the agent's lock.
    fn await_event(&mut self, own: Option<&Lease>) -> Result<()> {
        let is_claimed = self.is_claimed;
        let mut world = self.reach()?;
        let seen = world.event.clone().filter(|_| world.event_is_seen);
        let Some(lease) = seen else {
            return Ok(());
        };
        let body = create("ops", &lease, 1);
        let traces = Traces::of([body.as_str()].into_iter()).besides(own);
        let is_done = |world: &World| {
            let left = traces.in_force(&world.families, world.rate_limiter);
            left.is_empty()
        };
        if is_done(&world) {
            return Ok(());
        }
        world.check_events()?;
        if is_claimed {
            return Err(Error::fix("the event waits for the lock"));
        }
        world.take_back(&lease);
        if is_done(&world) {
            Ok(())
        } else {
            Err(Error::fix("the event has not taken all back"))
        }
    }

    fn await_unseen_event(&mut self) -> Result<()> {
        let is_claimed = self.is_claimed;
        let mut world = self.reach()?;
        world.now += Duration::from_secs(EVENT_INTERVAL + 1);
        let is_free = !is_claimed && !world.occupied && world.events_run;
        if let Some(lease) = world.event.clone().filter(|_| is_free) {
            world.take_back(&lease);
        }
        Ok(())
    }

    fn prepare_event(&mut self, schema: &str) -> Result<()> {
        self.reach()?.check_events()?;
        self.drop_event(schema)
    }

    fn put_event(&mut self, _schema: &str, lease: &Lease, _lifetime: Duration) -> Result<()> {
        let mut world = self.reach()?;
        world.check_events()?;
        world.event = Some(lease.clone());
        Ok(())
    }

    fn event_runs(&mut self, _schema: &str) -> Result<bool> {
        let world = self.reach()?;
        Ok(world.events_run && world.event.is_some())
    }

    fn narrow_event(&mut self, _schema: &str, lease: &Lease, _lifetime: Duration) -> Result<()> {
        if let Some(event) = &mut self.reach()?.event {
            event.clone_from(lease);
        }
        Ok(())
    }

    fn drop_event(&mut self, _schema: &str) -> Result<()> {
        self.reach()?.event = None;
        Ok(())
    }
}
