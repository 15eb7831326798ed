//! Signals, as flags.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Result};

const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// A flag that is set once the process is asked to end. Whoever has started it with SIGHUP
/// ignored, as `nohup` does, wants it to go on after that.
pub(crate) fn asked_to_end() -> Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    // Where it cannot be read, nothing is known to be ignored.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    for signal in ENDING {
        if signal == SIGHUP && is_ignored(signal, &status) {
            continue;
        }
        flag::register(signal, Arc::clone(&asked)).map_err(|error| cannot(&error))?;
    }
    Ok(asked)
}

/// Goes on whatever the process is asked.
pub(crate) fn ignore() -> Result<()> {
    asked_to_end().map(|_| ())
}

/// By the mask of ignored signals in a `/proc/PID/status`, of which the lowest bit is signal 1.
fn is_ignored(signal: i32, status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

fn cannot(error: &io::Error) -> Error {
    Error::fix(format!(
        "cannot listen for signals: {error}; the settings could not be restored at the end"
    ))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, exit, id};
    use std::sync::atomic::Ordering;
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
