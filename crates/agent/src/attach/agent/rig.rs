//! A world, and an agent in it that can be dropped at any moment.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::Agent;
use crate::attach::Records;
use crate::decide::{Change, Entry};
use crate::error::Result;
use crate::files::{Places, read_leases};
use crate::metrics::Board;
use crate::settings::Settings;
use crate::testing::{MockConnector, MockGuard, World, usual_settings};

pub(super) const HIGH: u64 = 1_000_000_000;

/// The usual settings, with an event in the server.
pub(super) fn with_event() -> Settings {
    Settings {
        server_lease: Some("ops".into()),
        ..usual_settings()
    }
}

/// A world, and what an agent leaves behind when it is dropped.
pub(super) struct Rig {
    pub(super) connector: MockConnector,
    pub(super) guard: MockGuard,
    pub(super) directory: tempfile::TempDir,
    board: Board,
    pub(super) said: Rc<RefCell<Vec<Entry>>>,
}

pub(super) type TestAgent = Agent<MockConnector, MockGuard>;

impl Rig {
    pub(super) fn new() -> Rig {
        Rig {
            connector: MockConnector::new(World::usual()),
            guard: MockGuard::default(),
            directory: tempfile::tempdir().expect("a directory"),
            board: Board::default(),
            said: Rc::default(),
        }
    }

    /// An agent has ended, and what it delayed was gone from the server then: `cf_hot`.
    pub(super) fn left_without_a_family() -> Rig {
        let rig = Rig::new();
        rig.connector.world().create_family("cf_hot");
        let mut agent = rig.delaying_by(with_event());
        rig.connector.world().drop_family("cf_hot");
        rig.turn(&mut agent, HIGH);
        agent.leave().expect("what is there is restored");
        assert!(rig.said("column family cf_hot; its original options stay in"));
        assert_eq!(rig.recorded(), ["cf_hot"]);
        rig
    }

    pub(super) fn attach(&self, settings: Settings) -> Result<TestAgent> {
        let places = Places {
            state: self.directory.path().join("state"),
            journal: self.directory.path().join("journal"),
        };
        let said = Rc::clone(&self.said);
        let watch = move |entry: &Entry| said.borrow_mut().push(entry.clone());
        let records = Records::open(&places, 1 << 20, self.board.clone(), watch)?;
        let world = self.connector.clone();
        let clock = move || world.world().now;
        let (connector, guard) = (self.connector.clone(), self.guard.clone());
        Agent::attach(settings, connector, guard, records, clock, 0)
    }

    /// One interval under a load.
    pub(super) fn turn(&self, agent: &mut TestAgent, load: u64) {
        {
            let mut world = self.connector.world();
            world.now += Duration::from_secs(1);
            world.counters.wal_bytes += load;
        }
        agent.tick();
    }

    pub(super) fn is_delayed(&self) -> bool {
        let mut world = self.connector.world();
        world
            .family("default")
            .options
            .level0_file_num_compaction_trigger
            == 20
    }

    pub(super) fn is_as_owned(&self) -> bool {
        self.connector.world().is_as_owned()
    }

    pub(super) fn sent(&self) -> Vec<Change> {
        std::mem::take(&mut self.connector.world().sent)
    }

    pub(super) fn said(&self, words: &str) -> bool {
        self.times_said(words) > 0
    }

    pub(super) fn times_said(&self, words: &str) -> usize {
        let said = self.said.borrow();
        let lines = said.iter().map(Entry::to_string);
        lines.filter(|line| line.contains(words)).count()
    }

    /// Whether the metrics have a line, which is given without `lissom_attach_`.
    pub(super) fn shows(&self, line: &str) -> bool {
        let line = format!("lissom_attach_{line}");
        self.board.text().lines().any(|it| it == line)
    }

    /// The names of the column families in the state file, those of all leases in a row.
    pub(super) fn recorded(&self) -> Vec<String> {
        let leases = read_leases(&self.directory.path().join("state"));
        let leases = leases.expect("readable").into_iter();
        let families = leases.flat_map(|lease| lease.families);
        families.map(|(name, _)| name).collect()
    }

    /// Whether the state file says of a column family that it may have been changed.
    pub(super) fn is_recorded_as_changed(&self, name: &str) -> bool {
        let leases = read_leases(&self.directory.path().join("state")).expect("readable");
        let mut leased = leases.iter().filter_map(|it| it.families.get(name));
        leased.any(|leased| leased.changed)
    }

    /// The names of the column families that the event in the server restores.
    pub(super) fn in_event(&self) -> Vec<String> {
        let event = self.connector.world().event.clone();
        let families = event.into_iter().flat_map(|lease| lease.families);
        families.map(|(name, _)| name).collect()
    }

    /// An agent that has delayed already.
    pub(super) fn delaying(&self) -> TestAgent {
        self.delaying_by(usual_settings())
    }

    /// The same, of other settings.
    pub(super) fn delaying_by(&self, settings: Settings) -> TestAgent {
        let mut agent = self.attach(settings).expect("attached");
        self.turn(&mut agent, HIGH);
        self.turn(&mut agent, HIGH);
        assert!(self.is_delayed());
        self.sent();
        agent
    }
}
