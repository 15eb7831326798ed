//! Signals, as a flag.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::{flag, low_level};

use crate::error::{Result, TrialsError};

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A flag that is set once the process is asked to end by SIGINT, SIGTERM or
/// SIGHUP. Asked twice, the process ends at once with 1. Whoever has started it with SIGHUP
/// ignored, as `nohup` does, wants it to go on after that.
///
/// # Errors
/// The system refuses to tell of signals.
pub fn asked_to_end() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    // Where it cannot be read, nothing is known to be ignored.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in ENDING {
        let listening = if signal == SIGHUP && is_ignored(signal, &status) {
            disregard(signal)
        } else {
            listen(signal, &asked)
        };
        listening.map_err(|error| {
            TrialsError::new(format!(
                "cannot listen for signals: {error}; trials could not be ended with the search"
            ))
        })?;
    }
    Ok(asked)
}

/// A handler that tells nobody: what is ignored stays so in trials, and a signal that is handled
/// does not. By its default the kernel ends those that stand still when the search dies.
fn disregard(signal: i32) -> io::Result<()> {
    flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

fn listen(signal: i32, asked: &Arc<AtomicBool>) -> io::Result<()> {
    // In this order: the first signal finds the flag down and only raises it.
    flag::register_conditional_shutdown(signal, 1, Arc::clone(asked))?;
    flag::register(signal, Arc::clone(asked))?;
    Ok(())
}

/// By the mask of ignored signals in a `/proc/PID/status`, of which the lowest bit is signal 1.
fn is_ignored(signal: i32, status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Ctrl-Z: trials are process groups of their own, which the terminal does not stop.
#[derive(Debug)]
pub struct Suspension(Arc<AtomicBool>);

impl Suspension {
    /// From here on SIGTSTP does not stop the process but is told.
    ///
    /// # Errors
    /// The system refuses to tell of signals.
    pub fn listen() -> Result<Suspension> {
        let asked = Arc::new(AtomicBool::new(false));
        flag::register(SIGTSTP, Arc::clone(&asked)).map_err(|error| {
            TrialsError::new(format!(
                "cannot listen for signals: {error}; trials could not be stopped with the search"
            ))
        })?;
        Ok(Suspension(asked))
    }

    /// Whether the process was asked to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Stops the process; returns when it is continued.
    pub fn stop_here(&self) {
        self.0.store(false, Ordering::SeqCst);
        // A process that cannot be stopped goes on.
        let _ = low_level::emulate_default_handler(SIGTSTP);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, exit, id};
    use std::thread;
    use std::time::Duration;

    use super::*;

    const CHILD: &str = "LISSOM_SIGNALS_CHILD";
    const TEST: &str = "signals::tests::a_hangup_that_was_ignored_at_the_start_asks_nobody_to_end";

    #[test]
    fn the_mask_of_ignored_signals_is_read() {
        let status = |mask: &str| format!("SigCgt:\tffffffffffffffff\nSigIgn:\t{mask}\n");
        assert!(is_ignored(SIGHUP, &status("0000000000001001")));
        assert!(!is_ignored(SIGHUP, &status("0000000000001000")));
        assert!(is_ignored(SIGINT, &status("0000000000000002")));
        assert!(!is_ignored(SIGHUP, &status("none")) && !is_ignored(SIGHUP, ""));
    }

    /// In a child: whether a hangup asked it to end.
    fn hang_up() -> bool {
        let asked = asked_to_end().expect("registered");
        let pid = id().to_string();
        let killed = Command::new("kill").args(["-HUP", &pid]).status();
        assert!(killed.expect("kill starts").success());
        thread::sleep(Duration::from_millis(200));
        asked.load(Ordering::SeqCst)
    }

    #[test]
    fn a_hangup_that_was_ignored_at_the_start_asks_nobody_to_end() {
        if std::env::var_os(CHILD).is_some() {
            exit(if hang_up() { 3 } else { 4 });
        }
        let program = std::env::current_exe().expect("this program has a path");
        let status = Command::new("/bin/sh")
            .args(["-c", "trap '' HUP; exec \"$0\" \"$@\""])
            .arg(program)
            .args(["--exact", TEST])
            .env(CHILD, "1")
            .status()
            .expect("a shell");
        assert_eq!(status.code(), Some(4));
    }
}
