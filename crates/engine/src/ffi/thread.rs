//! Priorities of threads. Linux only: elsewhere a thread has no number, and keeps its priority.
//! By system calls, since musl's functions of these names do nothing.

use std::io;

use lissom_core::schedule::CpuPriority;

/// A thread of this process, by the kernel's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is none"))]
pub(crate) struct ThreadId(i32);

/// Of the kernel's `linux/ioprio.h`.
#[cfg(target_os = "linux")]
const IOPRIO_WHO_PROCESS: libc::c_int = 1;
#[cfg(target_os = "linux")]
const IOPRIO_CLASS_SHIFT: libc::c_int = 13;
#[cfg(target_os = "linux")]
const IOPRIO_CLASS_NONE: libc::c_int = 0;
#[cfg(target_os = "linux")]
const IOPRIO_CLASS_BEST_EFFORT: libc::c_int = 2;

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

    /// Gives the calling thread for good the place at the device that it has now. Linux makes
    /// that follow the priority otherwise, and a thread at idle priority is served after all
    /// others by some I/O schedulers (mq-deadline, BFQ), whatever time the device has.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn keep_io_priority() -> io::Result<()> {
        let own: libc::c_int = 0;
        // SAFETY: the calls take numbers, and change nothing but the calling thread.
        let now = unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, own) };
        let now = libc::c_int::try_from(now).unwrap_or(-1);
        if now < 0 {
            return Err(io::Error::last_os_error());
        }
        let place = if now >> IOPRIO_CLASS_SHIFT == IOPRIO_CLASS_NONE {
            // What the kernel makes of it.
            // SAFETY: as above.
            let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
            IOPRIO_CLASS_BEST_EFFORT << IOPRIO_CLASS_SHIFT | (nice + 20) / 5
        } else {
            now
        };
        // SAFETY: as above.
        match unsafe { libc::syscall(libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS, own, place) } {
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

    pub(crate) fn keep_io_priority() -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) fn is_at_normal_priority(self) -> bool {
        true
    }

    pub(crate) fn number(self) -> i32 {
        self.0
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn io_priority() -> libc::c_long {
        // SAFETY: the call takes numbers, and changes nothing.
        unsafe { libc::syscall(libc::SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0) }
    }

    /// A thread of its own, which may not come back.
    #[test]
    fn a_thread_keeps_its_place_at_the_device_at_idle_priority() {
        let thread = std::thread::spawn(|| {
            ThreadId::keep_io_priority().expect("a place");
            let before = io_priority();
            let own = ThreadId::current().expect("a number");
            own.set_priority(CpuPriority::Idle).expect("anybody may go");
            assert!(!own.is_at_normal_priority());
            ThreadId::keep_io_priority().expect("a place");
            (before, io_priority())
        });
        let (before, after) = thread.join().expect("no panic");
        assert_eq!(before, after);
        let class = libc::c_long::from(IOPRIO_CLASS_BEST_EFFORT);
        assert_eq!(after >> IOPRIO_CLASS_SHIFT, class);
    }
}
