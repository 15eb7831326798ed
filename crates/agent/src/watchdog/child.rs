//! The watchdog's process.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::keeper::{Due, Keeper};
use super::protocol::{Answer, Order, line, message};
use crate::error::{Error, ErrorKind, Result};
use crate::server::{Connector, Role, Server, SqlConnector, restore};
use crate::signals;

/// Between two looks at what is due.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two words to the server, so that the session and its lock stay.
const PING: Duration = Duration::from_secs(20);
/// The server ends a session that is silent for longer.
const SILENCE: Duration = Duration::from_secs(90);
/// For an earlier watchdog's session to end.
const CLAIM_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the watchdog: reads what the agent says until it is gone, and restores
/// when it must.
///
/// # Errors
/// When the agent says nothing sensible first, or the server is never reached.
pub fn watch(input: impl Read + Send + 'static, mut output: impl Write) -> Result<()> {
    let orders = listen(input);
    let Ok(Order::Begin { account, term }) = orders.recv() else {
        return Err(Error::fix(
            "the watchdog is started by `lissom attach`, which tells it what to do first",
        ));
    };
    // What ends the agent must not end the watchdog with it.
    signals::ignore()?;
    let mut child = Child {
        connector: SqlConnector::new(*account, SILENCE),
        server: None,
        keeper: Keeper::new(term),
        begun: Instant::now(),
        spoken_at: Duration::ZERO,
    };
    let first = match child.reach(CLAIM_PATIENCE) {
        Ok(()) => Answer::Ready,
        Err(error) => Answer::Failed {
            why: error.to_string(),
        },
    };
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
            Err(RecvTimeoutError::Disconnected) => child.keeper.lose_agent(child.now()),
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
    begun: Instant,
    spoken_at: Duration,
}

impl<C: Connector> Child<C> {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn hear(&mut self, order: Order, output: &mut impl Write) {
        let now = self.now();
        match order {
            Order::Begin { .. } => {}
            Order::Hold { lease } => {
                self.keeper.hold(*lease, now);
                say(output, &Answer::Held);
            }
            Order::Renew => {
                self.keeper.renew(now);
                say(output, &Answer::Renewed);
            }
            Order::Release => self.keeper.release(),
        }
    }

    fn restore_if_due(&mut self) {
        if self.keeper.due(self.now()) != Due::Restore {
            return;
        }
        match self.try_restore() {
            Ok(()) => self.keeper.restored(),
            // Also after a refusal: the address may lead to the right server again.
            Err(_) => self.server = None,
        }
    }

    fn try_restore(&mut self) -> Result<()> {
        let Some(lease) = self.keeper.lease().cloned() else {
            return Ok(());
        };
        if self.server.is_none() {
            self.reach(Duration::ZERO)?;
        }
        self.spoken_at = self.now();
        match &mut self.server {
            Some(server) => restore(server, &lease).map(|_| ()),
            None => Err(Error::lost("there is no connection")),
        }
    }

    /// Connects, and takes the watchdog's lock. A second connection need not get
    /// it: the first one's session may still hold it.
    fn reach(&mut self, patience: Duration) -> Result<()> {
        let mut server = self.connector.connect()?;
        if !patience.is_zero() {
            server.claim(Role::Watchdog, patience)?;
            server.families()?;
        } else if let Err(error) = server.claim(Role::Watchdog, patience)
            && error.kind() == ErrorKind::Fix
        {
            return Err(error);
        }
        self.spoken_at = self.now();
        self.server = Some(server);
        Ok(())
    }

    fn ping(&mut self) {
        if self.now().saturating_sub(self.spoken_at) < PING {
            return;
        }
        self.spoken_at = self.now();
        let answered = match &mut self.server {
            Some(server) => server.instance().map(|_| ()),
            None => self.reach(Duration::ZERO),
        };
        if answered.is_err() {
            self.server = None;
        }
    }
}

#[cfg(test)]
#[path = "child_tests.rs"]
mod tests;
