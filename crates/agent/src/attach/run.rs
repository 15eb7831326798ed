//! The agent in the world: a clock, waiting, signals.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::act::not_restored;
use super::agent::Agent;
use super::records::Records;
use super::restoring::{RestoreReport, restore_recorded};
use crate::connect::Account;
use crate::decide::Entry;
use crate::error::{ErrorKind, Result};
use crate::files::{Ledger, Places};
use crate::metrics::Board;
use crate::server::{Connector, SqlConnector};
use crate::settings::Settings;
use crate::signals;
use crate::watchdog::{Guard, Launch, Watchdog};

/// A signal is noticed within this.
const SLICE: Duration = Duration::from_millis(50);
/// So long the agent itself tries to restore at its end.
const LEAVE_PATIENCE: Duration = Duration::from_secs(15);
/// Between two such tries.
const LEAVE_PAUSE: Duration = Duration::from_secs(1);

/// An agent to be run.
#[derive(Clone, Debug)]
pub struct Attachment {
    /// Where, and who asks.
    pub account: Account,
    /// How it is to behave.
    pub settings: Settings,
    /// Its files.
    pub places: Places,
    /// How its watchdog is started.
    pub launch: Launch,
    /// Where metrics are served, if they are.
    pub metrics: Option<SocketAddr>,
}

impl Attachment {
    /// Runs until the process is asked to end by SIGINT, SIGTERM or SIGHUP, and
    /// restores the settings then. `watch` sees each line of the journal.
    ///
    /// # Errors
    /// When it cannot attach, or not restore.
    pub fn run(self, watch: impl FnMut(&Entry) + 'static) -> Result<()> {
        let asked = signals::asked_to_end()?;
        self.run_until(&asked, watch)
    }

    fn run_until(self, asked: &AtomicBool, watch: impl FnMut(&Entry) + 'static) -> Result<()> {
        self.settings.check()?;
        let board = Board::default();
        let served = self
            .metrics
            .map(|address| board.serve(address))
            .transpose()?;
        let records = Records::open(&self.places, self.settings.max_journal_bytes, board, watch)?;
        let remarks = remarks(&self.account, served);
        let interval = self.settings.interval;
        let mut agent = self.start(records)?;
        for remark in remarks {
            agent.note(remark);
        }
        let mut due = Instant::now();
        while !asked.load(Ordering::SeqCst) {
            agent.tick();
            due += interval;
            // An interval that took too long is not made up for.
            due = due.max(Instant::now());
            wait_until(due, asked);
        }
        leave(&mut agent)
    }

    fn start(self, records: Records) -> Result<Agent<SqlConnector, Watchdog>> {
        let term = self.settings.lease;
        let connector = SqlConnector::new(self.account.clone(), term);
        let watchdog = Watchdog::new(self.launch, self.account, term, &self.places.state);
        let begun = Instant::now();
        Agent::attach(
            self.settings,
            connector,
            watchdog,
            records,
            move || begun.elapsed(),
            unix_seconds(),
        )
    }

    /// Restores what an agent that is gone has left, by the state files. Where they hold
    /// nothing at all, no server is asked, and the report says that an event stays. What the
    /// server does not take is in the report, which [`RestoreReport::check`] looks at.
    ///
    /// # Errors
    /// When an agent is attached, the server cannot be reached, or a file cannot be used.
    pub fn restore(&self) -> Result<RestoreReport> {
        let ledger = Ledger::open(self.places.state.clone())?;
        let schema = self.settings.server_lease.as_deref();
        if ledger.is_empty()? {
            return Ok(RestoreReport::of_nothing(schema));
        }
        let mut server = SqlConnector::new(self.account.clone(), LEAVE_PATIENCE).connect()?;
        let place = self.account.address.to_string();
        restore_recorded(&ledger, &mut server, &place, schema)
    }
}

fn remarks(account: &Account, served: Option<SocketAddr>) -> Vec<String> {
    let served = served.map(|address| format!("metrics are served at http://{address}/metrics"));
    account.remarks().into_iter().chain(served).collect()
}

fn unix_seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn wait_until(due: Instant, asked: &AtomicBool) {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() || asked.load(Ordering::SeqCst) {
            return;
        }
        thread::sleep(left.min(SLICE));
    }
}

/// Tries to restore for a while; after that the watchdog goes on alone.
fn leave<C: Connector, G: Guard>(agent: &mut Agent<C, G>) -> Result<()> {
    let begun = Instant::now();
    loop {
        match agent.leave() {
            Ok(()) => return agent.refusal().map_or(Ok(()), Err),
            Err(error) if begun.elapsed() >= LEAVE_PATIENCE => {
                return Err(not_restored(&agent.place(), &error, begun.elapsed()));
            }
            // It will not be another server, or another privilege, in a second.
            Err(error) if error.kind() == ErrorKind::Fix => {
                return Err(not_restored(&agent.place(), &error, begun.elapsed()));
            }
            Err(_) => thread::sleep(LEAVE_PAUSE),
        }
    }
}
