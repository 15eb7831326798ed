//! A child and everything that it starts: one process group.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::listen::{Heard, Stream, listen};
use super::system;

/// Names the trial in the environment of all its processes.
pub(super) const MARK: &str = "LISSOM_TRIAL";
/// Lines that may wait to be taken.
const WAITING_LINES: usize = 1024;
/// A group that was asked to end has so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a group that ends.
const LOOK: Duration = Duration::from_millis(5);
/// What was written before the end is waited for so long.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running child. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Pid,
    lines: Receiver<Heard>,
    /// Open as long as the search lives: a child can tell by its end.
    _input: Option<ChildStdin>,
    ended: bool,
}

impl Process {
    /// Starts a program in a process group of its own.
    pub fn start(words: &[String], mark: &str) -> io::Result<Process> {
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env(MARK, mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (sender, lines) = sync_channel(WAITING_LINES);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let process = Process {
            group: Pid::from_child(&child),
            lines,
            _input: child.stdin.take(),
            ended: false,
            child,
        };
        if let Some(output) = output {
            listen(output, Stream::Output, sender.clone())?;
        }
        if let Some(errors) = errors {
            listen(errors, Stream::Errors, sender)?;
        }
        Ok(process)
    }

    /// Its process group, which is also its leader's process id.
    pub fn group(&self) -> i32 {
        self.group.as_raw_pid()
    }

    /// A line that has come, if one has.
    pub fn heard(&self) -> Option<Heard> {
        self.lines.try_recv().ok()
    }

    /// Whether the leader has ended. It is not reaped, so its id stays its own.
    pub fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(self.group), options) {
            Ok(status) => status.is_some(),
            Err(error) => error == Errno::CHILD,
        }
    }

    /// Stops every process of the group.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets every process of the group go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends what is left of a group whose leader has ended; gives the lines that
    /// were still to come, and how the leader ended.
    pub fn last_words(&mut self) -> (Vec<Heard>, String) {
        self.signal(Signal::KILL);
        let until = Instant::now() + LAST_WORDS;
        let mut lines = Vec::new();
        while lines.len() < WAITING_LINES {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let how = match self.child.try_wait() {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "it has not ended".to_owned(),
            Err(error) => format!("how is unknown: {error}"),
        };
        self.ended = true;
        (lines, how)
    }

    /// Asks every process of the group to end, and after a while ends it. False if
    /// one of them could not be ended.
    pub fn end(&mut self) -> bool {
        if self.ended {
            return true;
        }
        self.signal(Signal::TERM);
        // A stopped process takes no signal but this one and SIGKILL.
        self.signal(Signal::CONT);
        let mut gone = self.gone_within(PATIENCE);
        if !gone {
            self.signal(Signal::KILL);
            gone = self.gone_within(PATIENCE);
        }
        if self.has_ended() {
            // Reaps it; how it ended is known.
            let _ = self.child.wait();
        }
        self.ended = true;
        gone
    }

    fn gone_within(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            if self.has_ended() && system::members(self.group()).is_empty() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            thread::sleep(LOOK);
        }
    }

    /// A group that is gone needs no signal.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}
