//! The runner's process, and the lines to and from it.

use std::collections::VecDeque;
use std::io::Write;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::message::{News, Order};
use crate::error::{Result, TrialsError};
use crate::protocol::Tail;
use crate::runner::listen::{Heard, Stream};
use crate::runner::place::{Place, Root};
use crate::runner::process::{self, Process};

/// The runner's directory in that of the search.
const LABEL: &str = "runner";
/// A runner whose input has ended has so long to end its trials before it is ended.
const GOODBYE: Duration = Duration::from_secs(20);
/// Between two looks at one that ends.
const LOOK: Duration = Duration::from_millis(20);

/// A runner that was started. It ends when this is dropped.
pub(super) struct Link {
    process: Process,
    /// Its input ends when this is dropped.
    orders: Option<Sender<String>>,
    /// Its last words for people.
    tail: Tail,
    /// What it printed before it ended and was not taken yet.
    rest: VecDeque<Heard>,
    /// How it ended.
    ending: Option<String>,
    place: Place,
    /// Last, so that it is given up when nothing is left.
    _root: Root,
}

impl Link {
    /// Starts a runner. `root` is where its process is written down, so that the next
    /// search can end what this one may leave.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(root: Root, command: &[String]) -> Result<Link> {
        let place = root.place(LABEL)?;
        let started = Link::start_in(&place, command).inspect_err(|_| {
            let _ = place.remove();
        });
        let (process, orders) = started?;
        Ok(Link {
            process,
            orders: Some(orders),
            tail: Tail::default(),
            rest: VecDeque::new(),
            ending: None,
            place,
            _root: root,
        })
    }

    fn start_in(place: &Place, command: &[String]) -> Result<(Process, Sender<String>)> {
        let cannot = |error: std::io::Error| {
            let program = command.first().map_or("", String::as_str);
            TrialsError::new(format!(
                "cannot start the runner {program:?}: {error}; check --runner"
            ))
        };
        let mut process = Process::start(command, &place.mark()).map_err(cannot)?;
        place.record(process.group())?;
        let (sender, orders) = channel();
        if let Some(input) = process.take_input() {
            thread::Builder::new()
                .name("runner input".to_owned())
                .spawn(move || write(input, orders))
                .map_err(cannot)?;
        }
        Ok((process, sender))
    }

    /// Tells it something. Whether it is still there shows when it is listened to.
    ///
    /// # Errors
    /// The order cannot be written as a line.
    pub fn send(&self, order: &Order) -> Result<()> {
        let line = order.encode()?;
        if let Some(orders) = &self.orders {
            // Nobody takes it where the runner has ended.
            let _ = orders.send(line);
        }
        Ok(())
    }

    /// What it said next, if it has said something.
    ///
    /// # Errors
    /// It has ended, or what it said is no message.
    pub fn news(&mut self) -> Result<Option<News>> {
        while let Some(heard) = self.heard() {
            let is_words = heard.from == Stream::Errors || heard.line.trim().is_empty();
            // Cut off by the end of the runner.
            let is_torn = !heard.line.ends_with('\n');
            if is_words || is_torn {
                self.tail.push(&heard.line);
                continue;
            }
            return News::parse(&heard.line).map(Some);
        }
        match &self.ending {
            None => Ok(None),
            Some(how) => Err(TrialsError::new(format!(
                "the runner ended by itself ({how}); {}",
                self.tail
            ))),
        }
    }

    /// Its last words for people.
    pub fn words(&self) -> &Tail {
        &self.tail
    }

    fn heard(&mut self) -> Option<Heard> {
        if self.ending.is_none() {
            if let Some(heard) = self.process.heard() {
                return Some(heard);
            }
            if self.process.has_ended() {
                let ending = self.process.last_words();
                self.rest = ending.lines.into();
                self.ending = Some(ending.how);
            }
        }
        self.rest.pop_front()
    }

    /// Waits until it has ended by itself, but not for ever.
    fn wait(&self) {
        let until = Instant::now() + GOODBYE;
        while !self.process.has_ended() && Instant::now() < until {
            // It must not wait for somebody who reads.
            while self.process.heard().is_some() {}
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.orders = None;
        self.wait();
        process::end_all(vec![&mut self.process]);
        // What is left is removed by the next search.
        let _ = self.place.remove();
    }
}

/// Writes lines until there are no more or nobody reads them.
fn write(mut input: ChildStdin, orders: Receiver<String>) {
    for order in orders {
        let written = input.write_all(order.as_bytes());
        if written.and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}
