//! What holds whatever the server, the network and the watchdog do, in whatever
//! order.

use std::time::Duration;

use proptest::prelude::*;

use super::Agent;
use crate::attach::Records;
use crate::decide::{Change, Family, Lease, OptionName};
use crate::files::{Places, read_leases};
use crate::metrics::Board;
use crate::settings::Settings;
use crate::testing::{MockConnector, MockGuard, World, usual_family, usual_settings};

/// The number of cases, unless the environment asks for another.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[derive(Clone, Debug)]
enum Step {
    /// An interval at high or low load.
    Tick(bool),
    /// So many more files in every level 0.
    Flush(u64),
    /// Level 0 is compacted where it may be.
    Compact,
    /// So many settings are answered with OK and not made.
    Lie(u32),
    /// The connection is lost after so many calls.
    Break(u32),
    Reachable(bool),
    Restart,
    /// The server is replaced by another one.
    Failover,
    Vanish,
    Appear,
    /// The owner sets an option.
    Own(usize),
    GuardDies,
    GuardBroken(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => any::<bool>().prop_map(Step::Tick),
        10 => Just(Step::Tick(true)),
        4 => (1u64..12).prop_map(Step::Flush),
        3 => Just(Step::Compact),
        1 => (1u32..5).prop_map(Step::Lie),
        1 => (0u32..12).prop_map(Step::Break),
        2 => any::<bool>().prop_map(Step::Reachable),
        1 => Just(Step::Restart),
        1 => Just(Step::Failover),
        1 => Just(Step::Vanish),
        1 => Just(Step::Appear),
        1 => any::<usize>().prop_map(Step::Own),
        1 => Just(Step::GuardDies),
        1 => any::<bool>().prop_map(Step::GuardBroken),
    ]
}

/// Values that the agent never sets by itself.
const OWNED: [(OptionName, i64); 5] = [
    (OptionName::Level0FileNumCompactionTrigger, 7),
    (OptionName::Level0SlowdownWritesTrigger, 500),
    (OptionName::Level0StopWritesTrigger, 900),
    (OptionName::MaxBytesForLevelBase, 123_456_789),
    (OptionName::DisableAutoCompactions, 1),
];

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

fn is_delayed(name: &str, family: &Family) -> bool {
    let options = &family.options;
    options.level0_file_num_compaction_trigger == CAP as i64
        || (name == "cf_dynamic" && options.disable_auto_compactions)
}

fn names_family(change: &Change, name: &str) -> bool {
    matches!(change, Change::Family { column_family, .. } if column_family == name)
}

struct Rig {
    connector: MockConnector,
    guard: MockGuard,
    places: Places,
    agent: Option<Agent<MockConnector, MockGuard>>,
    /// Servers that were replaced, as they were then.
    old: Vec<World>,
    servers: u32,
    _directory: tempfile::TempDir,
}

impl Rig {
    fn new(rate_limiter: bool) -> Rig {
        let directory = tempfile::tempdir().expect("a directory");
        let places = Places {
            state: directory.path().join("state"),
            journal: directory.path().join("journal"),
        };
        let connector = MockConnector::new(world());
        let guard = MockGuard::default();
        let records = Records::open(&places, 1 << 16, Board::default(), |_| ()).expect("files");
        let clock_world = connector.clone();
        let agent = Agent::attach(
            settings(rate_limiter),
            connector.clone(),
            guard.clone(),
            records,
            move || clock_world.world().now,
            0,
        )
        .expect("attached");
        Rig {
            connector,
            guard,
            places,
            agent: Some(agent),
            old: Vec::new(),
            servers: 0,
            _directory: directory,
        }
    }

    fn apply(&mut self, step: &Step) {
        if let Step::Tick(high) = step {
            return self.tick(*high);
        }
        if let Step::Failover = step {
            return self.fail_over();
        }
        let mut world = self.connector.world();
        match step {
            Step::Flush(files) => world
                .families
                .values_mut()
                .for_each(|family| family.level0_files += files),
            Step::Compact => world
                .families
                .iter_mut()
                .filter(|(name, family)| !is_delayed(name, family))
                .for_each(|(_, family)| family.level0_files = 0),
            Step::Lie(count) => world.lies = *count,
            Step::Break(calls) => world.calls_left = Some(*calls),
            Step::Reachable(reachable) => world.reachable = *reachable,
            Step::Restart => world.restart(),
            Step::Vanish => world.drop_family("cf_hot"),
            Step::Appear => {
                if !world.families.contains_key("cf_hot") {
                    world.create_family("cf_hot");
                }
            }
            Step::Own(which) => {
                let (option, value) = OWNED[which % OWNED.len()];
                world.own("default", option, value);
            }
            Step::GuardDies => self.guard.0.borrow_mut().lease = None,
            Step::GuardBroken(broken) => self.guard.0.borrow_mut().broken = *broken,
            Step::Tick(_) | Step::Failover => {}
        }
    }

    /// An interval. Whoever is delayed at the bound must be told to resume in
    /// it, and no family may appear by it.
    fn tick(&mut self, high: bool) {
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
        let agent = self.agent.as_mut().expect("it lives");
        agent.tick();
        let well = agent.is_well();
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

    fn fail_over(&mut self) {
        self.servers += 1;
        let mut fresh = world();
        fresh.identity = format!("server {}", self.servers);
        let mut current = self.connector.world();
        fresh.now = current.now;
        fresh.started_at = 1_000 + current.now.as_secs();
        fresh.generation = current.generation + 1;
        let replaced = std::mem::replace(&mut *current, fresh);
        self.old.push(replaced);
    }

    /// All leases that somebody other than the agent has.
    fn leases(&self) -> Vec<Lease> {
        let held = self.guard.0.borrow();
        let recorded = read_leases(&self.places.state).expect("readable");
        let left = held.lease.iter().chain(&held.left);
        left.cloned().chain(recorded).collect()
    }

    /// Were the agent to die now, everything could be restored.
    fn check(&self) {
        let leases = self.leases();
        check_server(&self.connector.world(), &leases);
        for world in &self.old {
            check_server(world, &leases);
        }
    }

    /// The agent ends in an orderly way, on a server that answers.
    fn leave(&mut self) {
        {
            let mut world = self.connector.world();
            world.reachable = true;
            world.lies = 0;
            world.calls_left = None;
        }
        let mut agent = self.agent.take().expect("it lives");
        let mut left = agent.leave();
        for _ in 0..2 {
            if left.is_err() {
                left = agent.leave();
            }
        }
        if let Err(error) = left {
            // It never noticed that the server was replaced; nothing was set there.
            let sentence = error.to_string();
            assert!(sentence.contains("instead of"), "{sentence}");
        }
        assert!(self.connector.world().is_as_owned());
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

proptest! {
    // Longer: PROPTEST_CASES=5000 cargo test --release -p lissom-agent
    #![proptest_config(ProptestConfig { cases: cases(64), ..ProptestConfig::default() })]

    /// Whatever happens, in whatever order: somebody can always restore, whoever
    /// is delayed at the bound is told to resume, no family is created, and the
    /// last settings of a server that answers are its original ones; a family that is
    /// created anew after the end can be restored, too.
    #[test]
    fn no_history_leaves_a_server_delayed(
        steps in prop::collection::vec(step(), 1..80),
        rate_limiter in any::<bool>(),
    ) {
        let mut rig = Rig::new(rate_limiter);
        for step in &steps {
            rig.apply(step);
            rig.check();
        }
        rig.leave();
        rig.check();
        rig.apply(&Step::Appear);
        rig.check();
    }
}
