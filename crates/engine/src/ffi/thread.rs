//! Priorities of threads, at the processors and at the device. Linux only: elsewhere a thread has
//! no number, and keeps its priorities. By system calls, since musl's functions of some of these
//! names do nothing.

use std::io;

use lissom_core::schedule::Priority;

/// A thread of this process, by the kernel's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is none"))]
pub(crate) struct ThreadId(i32);

/// A thread's place at the device, among the requests of all: the kernel's ioprio value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is none"))]
pub(crate) struct IoPlace(i32);

/// Of the kernel's `linux/ioprio.h`.
#[cfg(target_os = "linux")]
mod ioprio {
    pub(super) const WHO_PROCESS: libc::c_int = 1;
    pub(super) const CLASS_SHIFT: libc::c_int = 13;
    pub(super) const CLASS_NONE: libc::c_int = 0;
    pub(super) const CLASS_BEST_EFFORT: libc::c_int = 2;
    pub(super) const CLASS_IDLE: libc::c_int = 3;
}

#[cfg(target_os = "linux")]
impl IoPlace {
    /// After everybody else, as far as the device's I/O scheduler knows places: mq-deadline and
    /// BFQ do, `none` and Kyber do not.
    pub(crate) const IDLE: IoPlace = IoPlace(ioprio::CLASS_IDLE << ioprio::CLASS_SHIFT);

    /// That of the calling thread.
    fn now() -> io::Result<IoPlace> {
        let own: libc::c_int = 0;
        // SAFETY: the call takes numbers, and changes nothing.
        let now = unsafe { libc::syscall(libc::SYS_ioprio_get, ioprio::WHO_PROCESS, own) };
        let now = i32::try_from(now).unwrap_or(-1);
        if now < 0 {
            return Err(io::Error::last_os_error());
        }
        if now >> ioprio::CLASS_SHIFT != ioprio::CLASS_NONE {
            return Ok(IoPlace(now));
        }
        // What the kernel makes of none.
        // SAFETY: as above.
        let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let class = ioprio::CLASS_BEST_EFFORT << ioprio::CLASS_SHIFT;
        Ok(IoPlace(class | ((nice + 20) / 5)))
    }
}

#[cfg(target_os = "linux")]
impl ThreadId {
    /// The calling thread; `None` where threads have no number.
    pub(crate) fn current() -> Option<ThreadId> {
        // SAFETY: the call has no arguments, and cannot fail.
        let number = unsafe { libc::syscall(libc::SYS_gettid) };
        i32::try_from(number).ok().map(ThreadId)
    }

    /// Sets the priority of a thread at the processors, at once.
    ///
    /// # Errors
    /// The kernel's. It lets any thread go to idle priority, and only some come back: those of
    /// a process with `CAP_SYS_NICE`, or with a limit `RLIMIT_NICE` of 20 at least.
    pub(crate) fn set_cpu_priority(self, priority: Priority) -> io::Result<()> {
        let policy = match priority {
            Priority::Normal => libc::SCHED_OTHER,
            Priority::Idle => libc::SCHED_IDLE,
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

    /// Sets the place of a thread at the device, for all that it asks for from now on.
    ///
    /// # Errors
    /// The kernel's; it lets threads of one user go to any of the places used here, and back.
    pub(crate) fn set_io_place(self, place: IoPlace) -> io::Result<()> {
        // SAFETY: the call takes numbers, and changes nothing but the thread's place.
        let done =
            unsafe { libc::syscall(libc::SYS_ioprio_set, ioprio::WHO_PROCESS, self.0, place.0) };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives the calling thread for good the place at the device that it has now, and returns it.
    /// Linux makes that follow the priority at the processors otherwise.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn keep_io_place() -> io::Result<IoPlace> {
        let own = ThreadId::current().ok_or(io::ErrorKind::Unsupported)?;
        let place = IoPlace::now()?;
        own.set_io_place(place)?;
        Ok(place)
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
impl IoPlace {
    pub(crate) const IDLE: IoPlace = IoPlace(0);
}

#[cfg(not(target_os = "linux"))]
impl ThreadId {
    pub(crate) fn current() -> Option<ThreadId> {
        None
    }

    pub(crate) fn set_cpu_priority(self, _: Priority) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) fn set_io_place(self, _: IoPlace) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) fn keep_io_place() -> io::Result<IoPlace> {
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

    /// A thread of its own, which may not come back from idle priority.
    #[test]
    fn a_thread_keeps_its_place_at_the_device_at_idle_priority() {
        let thread = std::thread::spawn(|| {
            let kept = ThreadId::keep_io_place().expect("a place");
            let own = ThreadId::current().expect("a number");
            own.set_cpu_priority(Priority::Idle)
                .expect("anybody may go");
            assert!(!own.is_at_normal_priority());
            assert_eq!(IoPlace::now().expect("a place"), kept);
            kept
        });
        let kept = thread.join().expect("no panic");
        assert_eq!(kept.0 >> ioprio::CLASS_SHIFT, ioprio::CLASS_BEST_EFFORT);
    }

    #[test]
    fn a_thread_comes_back_to_its_place_at_the_device_without_any_right() {
        let thread = std::thread::spawn(|| {
            let kept = ThreadId::keep_io_place().expect("a place");
            let own = ThreadId::current().expect("a number");
            own.set_io_place(IoPlace::IDLE).expect("anybody may go");
            assert_eq!(IoPlace::now().expect("a place"), IoPlace::IDLE);
            own.set_io_place(kept).expect("and come back");
            assert_eq!(IoPlace::now().expect("a place"), kept);
        });
        thread.join().expect("no panic");
    }
}
