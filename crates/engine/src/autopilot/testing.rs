//! What tests of several parts need.

use std::path::Path;
use std::sync::Arc;

use lissom_core::{Key, PhysicalLevel, Plan, PlanKind, Reason, plan::Input};
use tempfile::TempDir;

use super::memory::Memory;
use super::pilot::Pilot;
use super::shared::Shared;
use crate::files::state::Stored;
use crate::{Db, Settings};

/// A database whose autopilot has stopped: what waits for a worker is taken up by nobody.
pub(super) struct Stopped {
    pub(super) db: Db,
    pub(super) shared: Arc<Shared>,
    // Goes last.
    directory: TempDir,
}

impl Stopped {
    pub(super) fn new() -> Stopped {
        Stopped::with_families(&[])
    }

    /// With these column families beside the default one.
    pub(super) fn with_families(others: &[&str]) -> Stopped {
        let directory = tempfile::tempdir().expect("a directory");
        let opening = Db::opening(directory.path(), Settings::default());
        let opening = others.iter().fold(opening, |opening, name| {
            opening.family(name, Settings::default())
        });
        let db = opening.open().expect("opened");
        db.autopilot().stop();
        let shared = db.autopilot().shared.clone();
        Stopped {
            db,
            shared,
            directory,
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(super) fn memory(&self) -> Memory {
        Memory::new(self.path().into(), Stored::default())
    }

    pub(super) fn pilot(&self, family: &str) -> Pilot {
        let family = self.shared.family(family).expect("it is driven");
        Pilot::new(&self.shared, family, &self.memory())
    }
}

/// A merge of these files that was asked for by hand.
pub(super) fn merge_of(level: PhysicalLevel, files: Vec<u64>) -> Plan {
    Plan {
        kind: PlanKind::Merge,
        inputs: vec![Input { level, files }],
        output: PhysicalLevel(2),
        output_file_size: 1,
        range: (Key::from("a"), Key::from("b")),
        input_bytes: 1,
        drain: None,
        excess: None,
        awaited: false,
        hurried: false,
        reason: Reason::Manual,
    }
}
