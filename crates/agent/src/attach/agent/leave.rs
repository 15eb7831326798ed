//! Leaving: the server has its original settings, and nothing of the agent's.

use super::Agent;
use crate::decide::{Event, Lease};
use crate::error::Result;
use crate::server::{Connector, Server};
use crate::watchdog::Guard;

impl<C: Connector, G: Guard> Agent<C, G> {
    /// Gives the server its original settings and lets the guard go. To be tried
    /// again after an error.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not take them.
    pub fn leave(&mut self) -> Result<()> {
        if let (false, Some(lease)) = (self.settings.dry_run, self.pilot.lease().cloned()) {
            let mut server = match self.server.take() {
                Some(server) => server,
                None => self.reconnect()?,
            };
            self.restore(&mut server, &lease)?;
            self.hands.release();
            self.clear_up(&mut server, &lease);
            self.server = Some(server);
        }
        self.records.write(self.now(), Event::End);
        Ok(())
    }

    /// What is left over does no harm: an event ends by itself, and a state file
    /// restores what is restored.
    fn clear_up(&mut self, server: &mut C::Server, lease: &Lease) {
        let dropped = match &self.settings.server_lease {
            Some(schema) => server.drop_event(schema),
            None => Ok(()),
        };
        let forgotten = self.records.ledger.forget(lease);
        for error in [dropped.err(), forgotten.err()].into_iter().flatten() {
            self.records.note(self.now(), error.to_string());
        }
    }
}
