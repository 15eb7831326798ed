//! The agent's side of the watchdog.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Guard;
use super::protocol::{Answer, Order, line, message};
use crate::connect::Account;
use crate::decide::Lease;
use crate::error::{Error, Result};

/// For the watchdog to connect, and to take a lease.
const READY_PATIENCE: Duration = Duration::from_secs(15);
const HOLD_PATIENCE: Duration = Duration::from_secs(3);
/// For it to end after its release.
const LEAVE_PATIENCE: Duration = Duration::from_secs(2);

/// How the watchdog's process is started: a program that calls
/// [`watch`](super::watch) with its standard input and output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables that are added to its environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// A watchdog process, started when it is first needed.
#[derive(Debug)]
pub struct Watchdog {
    launch: Launch,
    account: Account,
    term: Duration,
    state: Option<PathBuf>,
    running: Option<Running>,
    /// Processes that were left to restore by themselves.
    left: Vec<Child>,
}

#[derive(Debug)]
struct Running {
    process: Child,
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    /// Since when an answer is due.
    asked_at: Option<Instant>,
}

impl Watchdog {
    /// A watchdog that restores after `term` of silence. What it has restored for good it
    /// takes out of the state file.
    pub fn new(launch: Launch, account: Account, term: Duration, state: &Path) -> Watchdog {
        // It may stand elsewhere, and only text goes through its pipe.
        let state = std::path::absolute(state).ok();
        Watchdog {
            launch,
            account,
            term,
            state: state.filter(|path| path.to_str().is_some()),
            running: None,
            left: Vec::new(),
        }
    }

    fn start(&mut self) -> Result<Running> {
        let mut running = spawn(&self.launch)?;
        let order = Order::Begin {
            account: Box::new(self.account.clone()),
            term: self.term,
            state: self.state.clone(),
        };
        let ready = running
            .tell(order)
            .and_then(|()| running.await_answer(&Answer::Ready, READY_PATIENCE));
        match ready {
            Ok(()) => Ok(running),
            Err(error) => {
                self.left.push(running.leave());
                Err(error)
            }
        }
    }

    fn stopped(&mut self) -> Option<Error> {
        let term = self.term;
        let running = self.running.as_mut()?;
        let heard = running.listen();
        if let Ok(Some(status)) = running.process.try_wait() {
            return Some(Error::lost(format!("the watchdog ended ({status})")));
        }
        if let Err(error) = heard {
            return Some(error);
        }
        let silence = running.asked_at?.elapsed();
        (silence > term).then(|| {
            Error::lost(format!(
                "the watchdog has not answered for {} s",
                silence.as_secs()
            ))
        })
    }
}

fn spawn(launch: &Launch) -> Result<Running> {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.arguments)
        .envs(launch.environment.iter().cloned())
        .env_remove("MYSQL_PWD")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    apart(&mut command);
    let cannot = |why: String| {
        Error::fix(format!(
            "cannot start the watchdog {}: {why}; nothing is delayed without it",
            launch.program.display()
        ))
    };
    let mut process = command.spawn().map_err(|error| cannot(error.to_string()))?;
    match (process.stdin.take(), process.stdout.take()) {
        (Some(input), Some(output)) => Ok(Running {
            process,
            orders: orders(input),
            answers: answers(output),
            asked_at: None,
        }),
        _ => Err(cannot("it has no pipes".into())),
    }
}

/// A signal to the agent's process group, as from a terminal, is not for it.
#[cfg(unix)]
fn apart(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn apart(_command: &mut Command) {}

/// Written by a thread: a watchdog that does not read must not keep the agent waiting.
/// The pipe closes with the channel.
fn orders(mut input: ChildStdin) -> Sender<Order> {
    let (sender, orders) = channel::<Order>();
    thread::spawn(move || {
        for order in orders {
            let written = input.write_all(line(&order).as_bytes());
            if written.and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    });
    sender
}

fn answers(output: ChildStdout) -> Receiver<Answer> {
    let (sender, answers) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { return };
            let Some(answer) = message(&line) else {
                continue;
            };
            if sender.send(answer).is_err() {
                return;
            }
        }
    });
    answers
}

impl Running {
    fn tell(&mut self, order: Order) -> Result<()> {
        self.asked_at.get_or_insert_with(Instant::now);
        self.orders
            .send(order)
            .map_err(|_| Error::lost("the watchdog does not listen"))
    }

    /// Takes note of answers that have come meanwhile, of which the last one counts.
    fn listen(&mut self) -> Result<()> {
        let mut heard = Ok(());
        while let Ok(answer) = self.answers.try_recv() {
            self.asked_at = None;
            heard = match answer {
                Answer::Failed { why } => Err(cannot_work(&why)),
                Answer::Ready | Answer::Held | Answer::Renewed => Ok(()),
            };
        }
        heard
    }

    fn await_answer(&mut self, wanted: &Answer, patience: Duration) -> Result<()> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.answers.recv_timeout(left) {
                Ok(Answer::Failed { why }) => return Err(cannot_work(&why)),
                Ok(answer) => {
                    self.asked_at = None;
                    if answer == *wanted {
                        return Ok(());
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.mute()),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Error::lost(format!(
                        "the watchdog has not answered in {} s",
                        patience.as_secs()
                    )));
                }
            }
        }
    }

    /// Its output has ended, and so does it.
    fn mute(&mut self) -> Error {
        let status = match self.process.try_wait() {
            Ok(Some(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        Error::lost(format!("the watchdog ended{status} before it answered"))
    }

    /// Closes its pipe: it restores what it holds, and ends.
    fn leave(self) -> Child {
        self.process
    }
}

impl Guard for Watchdog {
    fn hold(&mut self, lease: &Lease) -> Result<()> {
        if self.stopped().is_some() {
            self.abandon();
        }
        let mut running = match self.running.take() {
            Some(running) => running,
            None => self.start()?,
        };
        let order = Order::Hold {
            lease: Box::new(lease.clone()),
        };
        let held = running
            .tell(order)
            .and_then(|()| running.await_answer(&Answer::Held, HOLD_PATIENCE));
        match held {
            Ok(()) => self.running = Some(running),
            Err(_) => self.left.push(running.leave()),
        }
        held
    }

    fn check(&mut self) -> Result<()> {
        self.left
            .retain_mut(|process| matches!(process.try_wait(), Ok(None)));
        if self.running.is_none() {
            return Err(Error::lost("there is no watchdog"));
        }
        match self.stopped() {
            None => Ok(()),
            Some(error) => {
                self.abandon();
                Err(error)
            }
        }
    }

    fn renew(&mut self) {
        if let Some(running) = &mut self.running {
            // A watchdog that does not listen is noticed by `check`.
            let _ = running.tell(Order::Renew);
        }
    }

    fn release(&mut self) {
        let Some(mut running) = self.running.take() else {
            return;
        };
        let _ = running.tell(Order::Release);
        let mut process = running.leave();
        let deadline = Instant::now() + LEAVE_PATIENCE;
        while matches!(process.try_wait(), Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn abandon(&mut self) {
        if let Some(running) = self.running.take() {
            self.left.push(running.leave());
        }
    }
}

fn cannot_work(why: &str) -> Error {
    Error::lost(format!("the watchdog cannot work: {why}"))
}

#[cfg(test)]
#[path = "parent_tests.rs"]
mod tests;
