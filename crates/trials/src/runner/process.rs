//! A child and everything that it starts: one process group, and what has left it.

use std::fs;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::listen::{Heard, Stream, listen};
use super::{strays, system};
use crate::protocol::TRIAL_VARIABLE;

/// Lines that may wait to be taken.
const WAITING_LINES: usize = 1024;
/// Groups that were asked to end have so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at groups that end.
const LOOK: Duration = Duration::from_millis(5);
/// What was written before the end is waited for so long.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The highest `oom_score_adj`, which needs no privilege.
const FIRST_TO_GO: &str = "1000";

/// The number of the signal that no process can take for itself.
const KILL: i32 = Signal::KILL.as_raw();

/// How a leader ended.
#[derive(Debug)]
pub(crate) struct Ending {
    /// What was still to come of its output.
    pub lines: Vec<Heard>,
    /// In words.
    pub how: String,
    /// Whether it was killed (SIGKILL), which nobody does to himself.
    pub killed: bool,
}

/// A running child. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    group: Pid,
    /// What its processes have in their environment.
    mark: String,
    lines: Receiver<Heard>,
    /// Open as long as the search lives: a child can tell by its end.
    input: Option<ChildStdin>,
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
            .env(TRIAL_VARIABLE, mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (sender, lines) = sync_channel(WAITING_LINES);
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let process = Process {
            group: Pid::from_child(&child),
            mark: mark.to_owned(),
            lines,
            input: child.stdin.take(),
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

    /// Has the system end it before any other process when memory runs out: not the search,
    /// and nobody who has nothing to do with it. What it starts inherits that. Where the
    /// system does not take it, its own choice holds.
    pub fn goes_first(&self) {
        let score = format!("/proc/{}/oom_score_adj", self.group());
        let _ = fs::write(score, FIRST_TO_GO);
    }

    /// Its process group, which is also its leader's process id.
    pub fn group(&self) -> i32 {
        self.group.as_raw_pid()
    }

    /// Its standard input, to be written to; it ends when that is dropped.
    pub fn take_input(&mut self) -> Option<ChildStdin> {
        self.input.take()
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

    /// Stops every process of the group; one that has left it runs on.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets every process of the group go on.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Ends what is left of a group whose leader has ended, and says how that was.
    pub fn last_words(&mut self) -> Ending {
        self.signal(Signal::KILL);
        // One that lives on is found again by whoever takes the directory next.
        let _ = self.end_strays();
        let until = Instant::now() + LAST_WORDS;
        let mut lines = Vec::new();
        while lines.len() < WAITING_LINES {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let (how, killed) = match self.child.try_wait() {
            Ok(Some(status)) => (status.to_string(), status.signal() == Some(KILL)),
            Ok(None) => ("it has not ended".to_owned(), false),
            Err(error) => (format!("how is unknown: {error}"), false),
        };
        self.ended = true;
        Ending { lines, how, killed }
    }

    /// Whether nothing is left of the group.
    fn is_gone(&self) -> bool {
        self.has_ended() && system::members(self.group()).is_empty()
    }

    /// Reaps the leader, and ends what has left the group. False if something is left.
    fn finish(&mut self) -> bool {
        let gone = self.is_gone();
        if self.has_ended() {
            // How it ended is known.
            let _ = self.child.wait();
        }
        self.ended = true;
        self.end_strays() && gone
    }

    /// Ends processes that have left the group. False if one of them could not be.
    fn end_strays(&self) -> bool {
        strays::end(PATIENCE, |pid| strays::is_marked(pid, &self.mark)).is_ok()
    }

    /// A group that is gone needs no signal.
    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }
}

/// Asks every process of all groups to end, and after a while ends them. Gives the
/// groups of which something is left.
pub(crate) fn end_all(mut processes: Vec<&mut Process>) -> Vec<i32> {
    processes.retain(|it| !it.ended);
    for process in &processes {
        process.signal(Signal::TERM);
        // A stopped process takes no signal but this one and SIGKILL.
        process.signal(Signal::CONT);
    }
    for stubborn in wait_for(&processes) {
        stubborn.signal(Signal::KILL);
    }
    wait_for(&processes);
    let finished = processes.into_iter().map(|it| (it.group(), it.finish()));
    let left = finished.filter(|(_, gone)| !gone);
    left.map(|(group, _)| group).collect()
}

/// Waits for all of them together; gives those that do not end.
fn wait_for<'a>(processes: &'a [&mut Process]) -> Vec<&'a Process> {
    let until = Instant::now() + PATIENCE;
    let mut waiting: Vec<&Process> = processes.iter().map(|it| &**it).collect();
    loop {
        waiting.retain(|it| !it.is_gone());
        if waiting.is_empty() || Instant::now() >= until {
            return waiting;
        }
        thread::sleep(LOOK);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
            self.end_strays();
        }
    }
}
