//! Priorities of threads. Linux only: elsewhere a thread has no number, and keeps its priority.
//! By system calls, since musl's functions of these names do nothing.

use std::io;

use lissom_core::schedule::CpuPriority;

/// A thread of this process, by the kernel's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is none"))]
pub(crate) struct ThreadId(i32);

#[cfg(target_os = "linux")]
impl ThreadId {
    /// The calling thread; `None` where threads have no number.
    pub(crate) fn current() -> Option<ThreadId> {
        // SAFETY: the call has no arguments, and cannot fail.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).ok().map(ThreadId)
    }

    /// Sets the priority of a thread, at once.
    ///
    /// # Errors
    /// The kernel's. It lets any thread go to idle priority, and only some come back: those of
    /// a process with `CAP_SYS_NICE`, or with a limit `RLIMIT_NICE` of 20 at least.
    pub(crate) fn set_priority(self, priority: CpuPriority) -> io::Result<()> {
        let policy = match priority {
            CpuPriority::Normal => libc::SCHED_OTHER,
            CpuPriority::Idle => libc::SCHED_IDLE,
        };
        // The kernel's sched_param, which is a number, and 0 for both policies.
        let parameter: libc::c_int = 0;
        let parameter = &raw const parameter;
        // SAFETY: the parameter is read during the call, and lives longer.
        let done =
            unsafe { libc::syscall(libc::SYS_sched_setscheduler, self.0, policy, parameter) };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Whether the thread has the kernel's default policy: not one that somebody has given it.
    pub(crate) fn is_at_normal_priority(self) -> bool {
        // SAFETY: the call takes a number, and changes nothing.
        let policy = unsafe { libc::syscall(libc::SYS_sched_getscheduler, self.0) };
        policy == libc::c_long::from(libc::SCHED_OTHER)
    }

    /// The kernel's number.
    pub(crate) fn number(self) -> i32 {
        self.0
    }
}

#[cfg(not(target_os = "linux"))]
impl ThreadId {
    pub(crate) fn current() -> Option<ThreadId> {
        None
    }

    pub(crate) fn set_priority(self, _: CpuPriority) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) fn is_at_normal_priority(self) -> bool {
        true
    }

    pub(crate) fn number(self) -> i32 {
        self.0
    }
}
