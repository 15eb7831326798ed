//! Processes of a trial wherever they have gone: a process may leave its group, but
//! hardly its environment.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::system;
use crate::protocol::TRIAL_VARIABLE;

/// Between two looks at processes that were killed.
const LOOK: Duration = Duration::from_millis(10);
/// A process has taken up its program within this.
const START: Duration = Duration::from_secs(1);

/// Whether a process belongs to the trial of this mark.
pub(super) fn is_marked(pid: i32, mark: &str) -> bool {
    system::has_variable(pid, TRIAL_VARIABLE, mark)
}

/// Kills every process that is meant, and what these start meanwhile, and waits until
/// they are gone.
///
/// # Errors
/// One that lives on.
pub(super) fn end(patience: Duration, is_meant: impl Fn(i32) -> bool) -> Result<(), i32> {
    let now = Instant::now();
    let (until, started_until) = (now + patience, now + patience.min(START));
    // By when they were started, so that no other of the same number is waited for.
    let mut dying: BTreeMap<i32, u64> = BTreeMap::new();
    loop {
        // Before those that are meant are looked for: one that has started meanwhile is among them.
        let starting =
            Instant::now() < started_until && system::processes().any(system::is_starting);
        let meant = system::processes().filter(|pid| is_meant(*pid));
        let stats = meant.filter_map(|pid| Some((pid, system::stat(pid)?.started)));
        dying.extend(stats);
        dying.retain(|pid, started| lives(*pid, *started));
        match dying.keys().next() {
            // One that shows no environment yet may turn out to be meant.
            None if starting => {}
            None => return Ok(()),
            Some(first) if Instant::now() >= until => return Err(*first),
            Some(_) => {}
        }
        for pid in dying.keys() {
            kill(*pid, &is_meant);
        }
        thread::sleep(LOOK);
    }
}

/// Whether a process has not ended. One that is ending has no environment any more.
fn lives(pid: i32, started: u64) -> bool {
    system::stat(pid).is_some_and(|it| it.started == started && !it.ended)
}

/// Kills a process if it is still the one that is meant. Its number may come to be
/// another's at any time; what a descriptor stands for does not change, so that it is
/// looked at again once there is one.
fn kill(pid: i32, is_meant: impl Fn(i32) -> bool) {
    let Some(process) = Pid::from_raw(pid.max(0)).filter(|it| !it.is_init()) else {
        return;
    };
    // A process that is gone needs no signal.
    match pidfd_open(process, PidfdFlags::empty()) {
        Ok(opened) if is_meant(pid) => {
            let _ = pidfd_send_signal(&opened, Signal::KILL);
        }
        // Before Linux 5.3 there are no such descriptors.
        Err(Errno::NOSYS) if is_meant(pid) => {
            let _ = kill_process(process, Signal::KILL);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::process::Process;

    /// A process that has taken up its program, so that its environment can be seen.
    fn start(mark: &str) -> Process {
        let words = ["sleep", "1000"].map(str::to_owned);
        let process = Process::start(&words, mark).expect("sleep starts");
        while system::is_starting(process.group()) {
            thread::sleep(LOOK);
        }
        process
    }

    #[test]
    fn only_what_is_meant_is_killed() {
        let (one, other) = (start("strays-one"), start("strays-other"));
        assert!(is_marked(one.group(), "strays-one"));
        assert!(!is_marked(one.group(), "strays-on"));
        let ended = end(Duration::from_secs(5), |pid| is_marked(pid, "strays-one"));
        assert_eq!(ended, Ok(()));
        assert!(one.has_ended() && !other.has_ended());
        kill(other.group(), |_| false);
        assert!(!other.has_ended(), "looked at again");
        assert_eq!(end(Duration::ZERO, |_| false), Ok(()));
        let lives_on = end(Duration::ZERO, |pid| is_marked(pid, "strays-other"));
        assert_eq!(lives_on, Err(other.group()));
    }
}
