//! Leaving: the server has its original settings, and nothing of the agent's but what restores
//! a column family that is gone, should it be created again.

use super::Agent;
use crate::attach::hands::EVENT_LIFETIME;
use crate::decide::{Event, Lease};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Server};
use crate::watchdog::Guard;

impl<C: Connector, G: Guard> Agent<C, G> {
    /// Gives the server its original settings and lets the guard go. To be tried
    /// again after an error.
    ///
    /// # Errors
    /// When the server cannot be reached, or does not take them. What another agent has left
    /// is no error: [`Agent::refusal`] tells of it.
    pub fn leave(&mut self) -> Result<()> {
        let mut restored = !self.settings.dry_run;
        if let (false, Some(lease)) = (self.settings.dry_run, self.pilot.lease().cloned()) {
            match self.leave_server(&lease) {
                Err(error) if !lease.may_be_changed() => {
                    self.leave_unchanged(&lease, &error);
                    restored = false;
                }
                left => left?,
            }
        }
        match self.refusal() {
            None => self.records.write(self.now(), Event::End { restored }),
            Some(refusal) => self.note(refusal.to_string()),
        }
        Ok(())
    }

    fn leave_server(&mut self, lease: &Lease) -> Result<()> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.reconnect()?,
        };
        let left = self.restore(&mut server, lease)?;
        // That is its own server: what was found out of another one is of no use here.
        self.recall_left(lease)?;
        let earlier = self.restore_left(&mut server)?;
        self.hands.release();
        let left = Lease::join(left, earlier);
        self.clear_up(&mut server, lease, left.as_ref());
        self.server = Some(server);
        Ok(())
    }

    /// A server that this agent has never changed need not answer: nobody would have anything to
    /// restore there. An event ends by itself, and what an earlier agent left stays recorded.
    fn leave_unchanged(&mut self, lease: &Lease, error: &Error) {
        self.hands.release();
        self.note(format!(
            "the server is left without a last look at it: {error}"
        ));
        if let Err(error) = self.records.ledger.forget_unchanged(lease) {
            self.note(error.to_string());
        }
    }

    /// What is left over does no harm: an event ends by itself, and a state file
    /// restores what is restored.
    fn clear_up(&mut self, server: &mut C::Server, lease: &Lease, left: Option<&Lease>) {
        self.not_taken_back = None;
        if let Err(error) = self.clear_event(server, lease, left) {
            self.note(error.to_string());
        }
        match self.records.ledger.settle(lease, left) {
            Ok(files) => {
                // At the end it is said once more.
                self.left_told = None;
                let gone = self.gone(left);
                self.tell_left(gone.as_ref(), &files);
            }
            Err(error) => self.note(error.to_string()),
        }
    }

    /// It may be of another agent, which put it while this one was away: it acts first, but for
    /// what this one has just restored.
    fn clear_event(
        &mut self,
        server: &mut C::Server,
        lease: &Lease,
        left: Option<&Lease>,
    ) -> Result<()> {
        let Some(schema) = self.settings.server_lease.clone() else {
            return Ok(());
        };
        let known = left.into_iter().fold(lease.clone(), Lease::with);
        match self.claim_after_event(server, Some(&known)) {
            // That is told last, and is no good end.
            Err(error) if error.kind() == ErrorKind::Fix => {
                self.not_taken_back = Some(error);
                return Ok(());
            }
            acted => acted?,
        }
        match left {
            None => self.hands.drop_own_event(server, &schema),
            Some(left) => server.put_event(&schema, left, EVENT_LIFETIME),
        }
    }
}
