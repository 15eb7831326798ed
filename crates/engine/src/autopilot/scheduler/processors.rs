//! How busy users keep the processors. Linux only; elsewhere nothing is known.
//!
//! Theirs is what any process of the machine does in user mode, and what the kernel does for
//! this one, but for threads that work in the background. What the kernel does on its own
//! is not theirs: most of it is I/O of merges. It cannot be told from the system calls of
//! other processes without a look at all of them, so those are left out, too.

use std::fs;

/// Names of threads that work in the background.
const BACKGROUND: [&str; 2] = ["lissom-", "rocksdb:"];

/// Times in the kernel's ticks, all processors together.
pub(super) struct Processors {
    /// In user mode, by anybody, and in the kernel by this process.
    busy: u64,
    all: u64,
    /// In either, by threads of this process that work in the background.
    background: u64,
}

impl Processors {
    pub(super) fn now() -> Option<Processors> {
        let (user, all) = machine(&fs::read_to_string("/proc/stat").ok()?)?;
        // Of threads that have ended, too.
        let (_, (_, system)) = task(&fs::read_to_string("/proc/self/stat").ok()?)?;
        let mut background = 0;
        for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
            // It may end meanwhile.
            let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            background += background_ticks(&text).unwrap_or(0);
        }
        Some(Processors {
            busy: user + system,
            all,
            background,
        })
    }

    /// The share of the processors that users kept busy. `None` when no time has passed.
    pub(super) fn user_share_since(&self, before: &Processors) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let busy = self.busy.saturating_sub(before.busy);
        let background = self.background.saturating_sub(before.background);
        Some((busy.saturating_sub(background) as f64 / all as f64).min(1.0))
    }
}

/// Ticks in user mode and all ticks, from the first line of `/proc/stat`: user, nice, system,
/// idle, iowait, irq, softirq, steal; guests are in user already.
fn machine(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .take(8)
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    Some((ticks.first()? + ticks.get(1)?, ticks.iter().sum()))
}

/// Ticks of a background thread, from its `stat`; `None` for others.
fn background_ticks(text: &str) -> Option<u64> {
    let (name, (user, system)) = task(text)?;
    let works = BACKGROUND.iter().any(|prefix| name.starts_with(prefix));
    works.then_some(user + system)
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
        let text = "cpu  100 1 50 800 20 3 4 2 0 0\ncpu0 1 2 3\n";
        assert_eq!(machine(text), Some((101, 980)));
        let kernel = text.replace(" 50 800 ", " 450 400 ");
        assert_eq!(machine(&kernel), Some((101, 980)), "it works for itself");
        let thread = "7 (rocksdb:low) S 1 7 7 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 5 0";
        assert_eq!(background_ticks(thread), Some(42));
        let user = thread.replace("rocksdb:low", "a) b (c");
        assert_eq!(background_ticks(&user), None);
        assert_eq!(task(&user), Some(("a) b (c", (30, 12))));
    }

    #[test]
    fn background_work_is_no_load() {
        let at = |busy, all, background| Processors {
            busy,
            all,
            background,
        };
        let share = at(80, 200, 30).user_share_since(&at(0, 100, 0));
        assert_eq!(share, Some(0.5));
        assert_eq!(at(1, 100, 0).user_share_since(&at(0, 100, 0)), None);
    }
}
