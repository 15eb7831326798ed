//! A watchdog in memory, which can be made to die.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use super::MockConnector;
use crate::decide::Lease;
use crate::error::{Error, Result};
use crate::files::settle_orphaned;
use crate::server::{Connector, restore};
use crate::watchdog::Guard;

/// What the guards of one agent hold.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// The lease of the guard that is in service.
    pub(crate) lease: Option<Lease>,
    /// Leases that were left to their guards.
    pub(crate) left: Vec<Lease>,
    /// Whether a guard can be had.
    pub(crate) broken: bool,
    /// How often the agent was heard.
    pub(crate) renewals: u32,
    /// Whether the agent has restored everything itself.
    pub(crate) released: bool,
}

/// A guard whose state can be looked at from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct MockGuard(pub(crate) Rc<RefCell<Held>>);

impl MockGuard {
    /// The agent was silent for longer than its lease: the guard that is in service restores
    /// what it can.
    pub(crate) fn run_out(&self, connector: &MockConnector) {
        let lease = self.0.borrow().lease.clone();
        if let (Some(lease), Ok(mut server)) = (lease, connector.clone().connect()) {
            // It tries again later, as long as the agent is silent.
            let _ = restore(&mut server, &lease);
        }
    }

    /// Those whose agent has left them try to restore. Whoever has done so ends.
    pub(crate) fn act(&self, connector: &MockConnector, state: &Path) {
        let mut left = std::mem::take(&mut self.0.borrow_mut().left);
        left.retain(|lease| !has_restored(lease, connector, state));
        self.0.borrow_mut().left = left;
    }
}

/// Whether a lease is restored and, unless an agent has the state file, taken out of it.
fn has_restored(lease: &Lease, connector: &MockConnector, state: &Path) -> bool {
    let server = connector.clone().connect();
    let restored = server.and_then(|mut server| restore(&mut server, lease));
    let Ok(restoration) = restored else {
        return false;
    };
    // If this fails, the next agent looks once more.
    let _ = settle_orphaned(state, lease, restoration.left.as_ref());
    true
}

impl Guard for MockGuard {
    fn hold(&mut self, lease: &Lease) -> Result<()> {
        let mut held = self.0.borrow_mut();
        if held.broken {
            return Err(Error::lost("no watchdog can be started"));
        }
        held.lease = Some(lease.clone());
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        match self.0.borrow().lease {
            Some(_) => Ok(()),
            None => Err(Error::lost("the watchdog ended")),
        }
    }

    fn renew(&mut self) {
        self.0.borrow_mut().renewals += 1;
    }

    fn release(&mut self) {
        let mut held = self.0.borrow_mut();
        held.lease = None;
        held.released = true;
    }

    fn abandon(&mut self) {
        let mut held = self.0.borrow_mut();
        let lease = held.lease.take();
        // Where nothing was changed it ends at once.
        held.left.extend(lease.filter(Lease::may_be_changed));
    }
}
