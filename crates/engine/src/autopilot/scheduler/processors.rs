//! How busy users keep the processors. Linux only; elsewhere nothing is known.
//!
//! Theirs is what any process of the machine does in user mode, and what the kernel does for
//! this one, but for threads that work in the background. What the kernel does on its own
//! is not theirs: most of it is I/O of merges. It cannot be told from the system calls of
//! other processes without a look at all of them, so those are left out, too.
//!
//! A process that may use some of the processors only, as in a container, is shown the ticks
//! of the whole machine all the same. What others do there is nothing to it, and cannot be told
//! from what they do on its own processors: theirs is then what this process does, as a share
//! of those that it may use.

use std::collections::BTreeMap;
use std::fs;

/// Processors that this process may use, by its affinity and its control group.
pub(super) fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Names of threads that work in the background.
const BACKGROUND: [&str; 2] = ["lissom-", "rocksdb:"];

/// Times in the kernel's ticks, all processors together that this process may use.
pub(super) struct Processors {
    /// Of users, and of background threads in either mode.
    busy: u64,
    all: u64,
    /// In either, by each thread of this process that works in the background, by its number.
    background: BTreeMap<u32, u64>,
}

impl Processors {
    /// Of so many that are [available].
    pub(super) fn now(available: usize) -> Option<Processors> {
        let machine = Machine::of(&fs::read_to_string("/proc/stat").ok()?)?;
        // Of threads that have ended, too.
        let text = fs::read_to_string("/proc/self/stat").ok()?;
        let (_, own) = task(&text)?;
        let (busy, all) = machine.share(available, own);
        let mut background = BTreeMap::new();
        for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
            // It may end meanwhile.
            let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            background.extend(background_ticks(&text));
        }
        Some(Processors {
            busy,
            all,
            background,
        })
    }

    /// The share of the processors that users kept busy. `None` when no time has passed, and
    /// when a background thread has ended.
    pub(super) fn user_share_since(&self, before: &Processors) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let busy = self.busy.saturating_sub(before.busy);
        let background = self.background_since(before)?;
        Some((busy.saturating_sub(background) as f64 / all as f64).min(1.0))
    }

    /// Ticks of background threads. What one did that has ended is among those of the process,
    /// and nobody tells how much of it came last.
    fn background_since(&self, before: &Processors) -> Option<u64> {
        let mut known = before.background.keys();
        if known.any(|number| !self.background.contains_key(number)) {
            return None;
        }
        let since = |(number, ticks): (&u32, &u64)| {
            ticks.saturating_sub(before.background.get(number).copied().unwrap_or(0))
        };
        Some(self.background.iter().map(since).sum())
    }
}

/// Ticks of the whole machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Machine {
    user: u64,
    all: u64,
    processors: usize,
}

impl Machine {
    /// From `/proc/stat`, whose first line has user, nice, system, idle, iowait, irq, softirq,
    /// steal of all processors together; guests are in user already. Each processor has a
    /// line after it.
    fn of(text: &str) -> Option<Machine> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .take(8)
            .map(|field| field.parse().ok())
            .collect::<Option<_>>()?;
        let others = text.lines().skip(1);
        Some(Machine {
            user: ticks.first()? + ticks.get(1)?,
            all: ticks.iter().sum(),
            processors: others.filter(|line| line.starts_with("cpu")).count(),
        })
    }

    /// Busy ticks and all ticks as they count for a process that has spent so many in user
    /// mode and in the kernel, and may use so many processors.
    fn share(&self, available: usize, (user, system): (u64, u64)) -> (u64, u64) {
        if available >= self.processors {
            return (self.user + system, self.all);
        }
        let of_them = self.all as f64 * available as f64 / self.processors as f64;
        (user + system, of_them as u64)
    }
}

/// The number of a background thread, and its ticks, from its `stat`; `None` for others.
fn background_ticks(text: &str) -> Option<(u32, u64)> {
    let (number, _) = text.split_once(' ')?;
    let (name, (user, system)) = task(text)?;
    let works = BACKGROUND.iter().any(|prefix| name.starts_with(prefix));
    works.then_some((number.parse().ok()?, user + system))
}

/// The name of a thread or process, and its ticks in user mode and in the kernel, from its
/// `stat`.
fn task(text: &str) -> Option<(&str, (u64, u64))> {
    let (head, tail) = text.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    // utime and stime are fields 14 and 15; the tail begins with field 3.
    let mut fields = tail.split_whitespace().skip(11);
    let user = fields.next()?.parse().ok()?;
    let system = fields.next()?.parse().ok()?;
    Some((name, (user, system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_writes_is_read() {
        let text = "cpu  100 1 50 800 20 3 4 2 0 0\ncpu0 1 2 3\ncpu1 1 2 3\nintr 7 0\n";
        let seen = Machine {
            user: 101,
            all: 980,
            processors: 2,
        };
        assert_eq!(Machine::of(text), Some(seen));
        let kernel = text.replace(" 50 800 ", " 450 400 ");
        assert_eq!(Machine::of(&kernel), Some(seen), "it works for itself");
        let thread = "7 (rocksdb:low) S 1 7 7 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 5 0";
        assert_eq!(background_ticks(thread), Some((7, 42)));
        let user = thread.replace("rocksdb:low", "a) b (c");
        assert_eq!(background_ticks(&user), None);
        assert_eq!(task(&user), Some(("a) b (c", (30, 12))));
    }

    /// A process that may use 4 of 64 processors and keeps two of them busy, a quarter of that
    /// in the background, while others keep half of the machine busy.
    #[test]
    fn who_may_use_some_of_the_processors_is_measured_against_those() {
        let at = |seconds: u64, available: usize| {
            let machine = Machine {
                user: 32 * 100 * seconds,
                all: 64 * 100 * seconds,
                processors: 64,
            };
            let (busy, all) = machine.share(available, (150 * seconds, 50 * seconds));
            Processors {
                busy,
                all,
                background: BTreeMap::from([(1, 50 * seconds)]),
            }
        };
        let share = |available| at(10, available).user_share_since(&at(0, available));
        assert_eq!(share(4), Some(0.375));
        // The whole machine's: what others do counts, and nothing is scaled.
        assert_eq!(share(64), Some(0.5));
        assert_eq!(share(128), share(64));
    }

    #[test]
    fn background_work_is_no_load() {
        let at = |busy, all, background: &[(u32, u64)]| Processors {
            busy,
            all,
            background: background.iter().copied().collect(),
        };
        let before = at(0, 100, &[(1, 7)]);
        let share = |now: &[(u32, u64)]| at(80, 200, now).user_share_since(&before);
        assert_eq!(share(&[(1, 37)]), Some(0.5));
        assert_eq!(share(&[(1, 27), (2, 10)]), Some(0.5), "one has begun");
        assert_eq!(share(&[(2, 30)]), None, "one has ended");
        assert_eq!(before.user_share_since(&before), None);
    }
}
