//! The watchdog's process.

use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::keeper::{Due, Keeper, SILENCE};
use super::protocol::{Answer, Order, line, message};
use crate::decide::{Lease, Standing};
use crate::error::{Error, Result};
use crate::files;
use crate::server::{Connector, Role, Server, SqlConnector, check_identity, restore};
use crate::signals;

/// Between two looks at what is due.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two tries after many failures.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// So long a session of the agent that has not ended is waited for.
const GRACE: Duration = Duration::from_secs(30);
/// Between two words to the server, so that the session and its lock stay.
const PING: Duration = Duration::from_secs(20);
/// For an earlier watchdog's session to end.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the watchdog: reads what the agent says until it is gone, and restores
/// when it must.
///
/// # Errors
/// When the agent says nothing sensible first, or the server is never reached.
pub fn watch(input: impl Read + Send + 'static, mut output: impl Write) -> Result<()> {
    let orders = listen(input);
    let Ok(Order::Begin {
        account,
        term,
        state,
    }) = orders.recv()
    else {
        return Err(Error::fix(
            "the watchdog is started by `lissom attach`, which tells it what to do first",
        ));
    };
    // What ends the agent must not end the watchdog with it.
    signals::ignore()?;
    let mut child = Child::new(SqlConnector::new(*account, SILENCE), term, state);
    let first = Answer::unless(child.begin().err(), Answer::Ready);
    say(&mut output, &first);
    if first != Answer::Ready {
        return Ok(());
    }
    while child.keeper.due(child.now()) != Due::Leave {
        match orders.recv_timeout(PAUSE) {
            Ok(order) => child.hear(order, &mut output),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) if child.keeper.has_lost_agent() => {
                thread::sleep(PAUSE);
            }
            Err(RecvTimeoutError::Disconnected) => child.lose_agent(),
        }
        child.restore_if_due();
        child.ping();
    }
    Ok(())
}

/// Orders from a pipe; the channel closes with it.
fn listen(input: impl Read + Send + 'static) -> Receiver<Order> {
    let (sender, orders) = channel();
    thread::spawn(move || {
        for line in BufReader::new(input).lines() {
            let Ok(line) = line else { return };
            let Some(order) = message(&line) else {
                continue;
            };
            if sender.send(order).is_err() {
                return;
            }
        }
    });
    orders
}

/// An agent that is gone hears no answer.
fn say(output: &mut impl Write, answer: &Answer) {
    let _ = output
        .write_all(line(answer).as_bytes())
        .and_then(|()| output.flush());
}

struct Child<C: Connector> {
    connector: C,
    server: Option<C::Server>,
    keeper: Keeper,
    /// The agent's state file.
    state: Option<PathBuf>,
    begun: Instant,
    spoken_at: Duration,
    /// Nothing is tried before, after a failure.
    not_before: Duration,
    pause: Duration,
    /// When the settings were first restored after the agent was gone.
    restored_at: Option<Duration>,
}

impl<C: Connector> Child<C> {
    fn new(connector: C, term: Duration, state: Option<PathBuf>) -> Child<C> {
        Child {
            connector,
            server: None,
            keeper: Keeper::new(term),
            state,
            begun: Instant::now(),
            spoken_at: Duration::ZERO,
            not_before: Duration::ZERO,
            pause: PAUSE,
            restored_at: None,
        }
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Before the agent relies on it: it must have its own connection, its lock, and
    /// the privilege to read.
    fn begin(&mut self) -> Result<()> {
        let mut server = self.connector.connect()?;
        if let Some(holder) = server.claim(Role::Watchdog, CLAIM_PATIENCE)? {
            return Err(Error::lost(format!(
                "{holder} at {} holds the watchdog's lock: an earlier watchdog has not ended yet",
                self.connector.place()
            )));
        }
        server.families()?;
        self.spoken_at = self.now();
        self.server = Some(server);
        Ok(())
    }

    fn hear(&mut self, order: Order, output: &mut impl Write) {
        let now = self.now();
        match order {
            Order::Begin { .. } => {}
            Order::Hold { lease } => {
                let held = unharmed(|| self.hold(*lease));
                say(output, &Answer::unless(held.err(), Answer::Held));
            }
            Order::Renew => {
                self.keeper.renew(now);
                let away = self.server.is_none().then(|| self.away());
                say(output, &Answer::unless(away, Answer::Renewed));
            }
            Order::Release => self.keeper.release(),
        }
    }

    /// A lease that this process could not restore is not taken, and the one before stays: the
    /// address may lead to another server by now than when the agent connected.
    fn hold(&mut self, lease: Lease) -> Result<()> {
        // Its session may have ended since it spoke last.
        if self.reach_server_of(&lease).is_err() {
            self.reach_server_of(&lease)?;
        }
        let now = self.now();
        self.keeper.hold(lease, now);
        Ok(())
    }

    /// A connection on which something fails is not used again.
    fn reach_server_of(&mut self, lease: &Lease) -> Result<()> {
        let mut server = self.connection()?;
        self.spoken_at = self.now();
        if check_identity(&mut server, lease)? != Standing::InForce {
            return Err(Error::lost(format!(
                "server {} was restarted meanwhile",
                lease.identity
            )));
        }
        self.server = Some(server);
        Ok(())
    }

    fn away(&self) -> Error {
        Error::lost(format!(
            "it has no connection to the server whose settings it would restore, which {} should \
             lead to",
            self.connector.place()
        ))
    }

    /// Where nothing was changed it is done already.
    fn lose_agent(&mut self) {
        let now = self.now();
        self.keeper.lose_agent(now);
        self.not_before = now;
        let lease = self.keeper.lease();
        if let Some(unchanged) = lease.filter(|lease| !lease.may_be_changed()) {
            self.settle(unchanged, None);
        }
    }

    /// After a failure it waits a little, and longer each time: the address may lead
    /// to another server for hours.
    fn restore_if_due(&mut self) {
        let now = self.now();
        if self.keeper.due(now) != Due::Restore || now < self.not_before {
            return;
        }
        if unharmed(|| self.try_restore()).is_ok() {
            self.pause = PAUSE;
        } else {
            self.not_before = self.now() + self.pause;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A connection on which something fails is not used again.
    fn try_restore(&mut self) -> Result<()> {
        let Some(lease) = self.keeper.lease().cloned() else {
            return Ok(());
        };
        let mut server = self.connection()?;
        self.spoken_at = self.now();
        // Asked before, since it may end meanwhile; whatever the answer is, what can be is restored.
        let ended = self.has_agent_ended(&mut server);
        let left = restore(&mut server, &lease)?.left;
        let ended = ended?;
        if ended {
            self.settle(&lease, left.as_ref());
        }
        if ended || self.need_not_wait() {
            self.keeper.restored();
        }
        self.server = Some(server);
        Ok(())
    }

    /// A session of the agent that has not ended may still carry out what it was told last:
    /// what is restored is final only after that.
    fn has_agent_ended(&self, server: &mut C::Server) -> Result<bool> {
        Ok(self.keeper.has_lost_agent() && server.await_free(Role::Agent, Duration::ZERO)?)
    }

    /// Whether an agent that has not ended is not waited for, or was long enough.
    fn need_not_wait(&mut self) -> bool {
        if !self.keeper.has_lost_agent() {
            return true;
        }
        let now = self.now();
        let since = *self.restored_at.get_or_insert(now);
        now.saturating_sub(since) > GRACE
    }

    /// What a person sets from now on is not to be taken for the agent's; what is gone stays
    /// recorded. If this fails, the next agent looks once more.
    fn settle(&self, lease: &Lease, left: Option<&Lease>) {
        if let Some(state) = &self.state {
            let _ = files::settle_orphaned(state, lease, left);
        }
    }

    /// The connection, which has taken the watchdog's lock unless somebody has it, as its
    /// own first session may for a while, and another agent's watchdog for long.
    fn connection(&mut self) -> Result<C::Server> {
        let mut server = match self.server.take() {
            Some(server) => server,
            None => self.reach()?,
        };
        let holder = server.claim(Role::Watchdog, Duration::ZERO)?;
        let now = self.now();
        self.keeper.see_lock(holder.is_some(), now);
        Ok(server)
    }

    /// Connects again.
    fn reach(&mut self) -> Result<C::Server> {
        let mut server = self.connector.connect()?;
        if let Some(lease) = self.keeper.lease() {
            check_identity(&mut server, lease)?;
        }
        Ok(server)
    }

    fn ping(&mut self) {
        if self.now().saturating_sub(self.spoken_at) < PING {
            return;
        }
        self.spoken_at = self.now();
        let had_one = self.server.is_some();
        self.server = unharmed(|| self.connection()).ok();
        // A session that has ended is replaced at once, or the agent would look for another
        // watchdog.
        if had_one && self.server.is_none() {
            self.server = unharmed(|| self.connection()).ok();
        }
    }
}

/// A panic, as in the driver, must not end whoever is the last to restore.
fn unharmed<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::lost("something went wrong in the driver")))
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
