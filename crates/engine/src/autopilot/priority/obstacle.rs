//! Why merges could not give way, or could not come back.

use std::{fs, io, thread};

use lissom_core::schedule::CpuPriority;
use rustix::process::{Resource, getrlimit};

use super::watch::Waited;
use crate::ffi::thread::ThreadId;
use crate::settings::Settings;

/// What a process needs whose threads come back from idle priority.
const FORBIDDEN: &str = "the process may not come back from idle priority: give it CAP_SYS_NICE, or \
                         a limit on nice of 20 (ulimit -e 20, or LimitNICE=+0 in a unit of systemd)";

/// The limit on nice with which a thread may come back to nice 0.
const NICE: u64 = 20;

/// The bit of `CAP_SYS_NICE`.
const CAP_SYS_NICE: u32 = 23;

/// What keeps workers of such settings from giving way, if anything.
pub(super) fn of(settings: &Settings) -> Option<String> {
    if !settings.idle_cpu_priority {
        return Some("idle_cpu_priority is off".into());
    }
    if settings.max_subcompactions > 1 {
        return Some("threads of subcompactions could not be called back".into());
    }
    let Some(own) = ThreadId::current() else {
        return Some("threads have no idle priority here".into());
    };
    if !own.is_at_normal_priority() {
        return Some("the process has a scheduling policy of its own".into());
    }
    if Waited::of(own).is_none() {
        return Some("the kernel does not tell how long a thread waits for a processor".into());
    }
    may_come_back().and_then(|()| comes_back()).err()
}

/// Whether a thread comes back from idle priority: one that is not needed afterwards.
fn comes_back() -> Result<(), String> {
    let check = || {
        let own = ThreadId::current().ok_or(io::ErrorKind::Unsupported)?;
        own.set_priority(CpuPriority::Idle)?;
        own.set_priority(CpuPriority::Normal)
    };
    let thread = thread::Builder::new().name("lissom-priority".into());
    let result = thread.spawn(check).and_then(|thread| {
        let panicked = |_| io::Error::other("the thread panicked");
        thread.join().map_err(panicked)?
    });
    result.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => FORBIDDEN.into(),
        _ => format!("whether a thread comes back from idle priority cannot be tried: {error}"),
    })
}

/// Whether the process has the right now; an error says what it needs.
pub(super) fn may_come_back() -> Result<(), String> {
    let limit = getrlimit(Resource::Nice).current;
    if limit.is_none_or(|nice| nice >= NICE) {
        return Ok(());
    }
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    match has_capability(&status) {
        Some(false) => Err(FORBIDDEN.into()),
        _ => Ok(()),
    }
}

/// Whether a thread of this `status` has `CAP_SYS_NICE`; `None` where that is not told.
fn has_capability(status: &str) -> Option<bool> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let mask = u64::from_str_radix(line.trim(), 16).ok()?;
    Some(mask & 1 << CAP_SYS_NICE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_is_read_from_what_linux_writes() {
        let of = |mask: &str| has_capability(&format!("Name:\tx\nCapEff:\t{mask}\nCapBnd:\t0\n"));
        assert_eq!(of("000001ffffffffff"), Some(true));
        assert_eq!(of("0000000000800000"), Some(true));
        assert_eq!(
            of("00000000a80425fb"),
            Some(false),
            "a container's by default"
        );
        assert_eq!((of("x"), has_capability("Name:\tx\n")), (None, None));
    }

    #[test]
    fn who_may_not_or_does_not_want_to_is_told_why() {
        let of = |idle_cpu_priority, max_subcompactions| {
            of(&Settings {
                idle_cpu_priority,
                max_subcompactions,
                ..Settings::default()
            })
        };
        assert_eq!(of(false, 1).as_deref(), Some("idle_cpu_priority is off"));
        assert!(of(true, 2).is_some_and(|why| why.contains("subcompactions")));
    }
}
