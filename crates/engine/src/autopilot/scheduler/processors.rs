//! How busy the processors are, and how much of that is background work. Linux
//! only; elsewhere nothing is known.

use std::fs;

/// Names of threads that work in the background.
const BACKGROUND: [&str; 2] = ["lissom-", "rocksdb:"];

/// Times in the kernel's ticks, all processors together.
pub(super) struct Processors {
    busy: u64,
    all: u64,
    background: u64,
}

impl Processors {
    pub(super) fn now() -> Option<Processors> {
        let (busy, all) = machine(&fs::read_to_string("/proc/stat").ok()?)?;
        let mut background = 0;
        for task in fs::read_dir("/proc/self/task").ok()?.flatten() {
            // A thread may end meanwhile.
            let text = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            background += background_ticks(&text).unwrap_or(0);
        }
        Some(Processors {
            busy,
            all,
            background,
        })
    }

    /// The share of the processors that was busy with anything but this process's
    /// background threads. `None` when no time has passed.
    pub(super) fn user_share_since(&self, before: &Processors) -> Option<f64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let busy = self.busy.saturating_sub(before.busy);
        let background = self.background.saturating_sub(before.background);
        Some((busy.saturating_sub(background) as f64 / all as f64).min(1.0))
    }
}

/// Busy and all ticks, from the first line of `/proc/stat`: user, nice, system, idle,
/// iowait, irq, softirq, steal; guests are in user already.
fn machine(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .take(8)
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let all: u64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4).copied().unwrap_or(0);
    Some((all - idle, all))
}

/// Ticks of a background thread, from its `stat`; `None` for others.
fn background_ticks(text: &str) -> Option<u64> {
    let (head, tail) = text.rsplit_once(") ")?;
    let (_, name) = head.split_once('(')?;
    BACKGROUND
        .iter()
        .any(|prefix| name.starts_with(prefix))
        .then_some(())?;
    // utime and stime are fields 14 and 15; the tail begins with field 3.
    let mut fields = tail.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_writes_is_read() {
        let text = "cpu  100 1 50 800 20 3 4 2 0 0\ncpu0 1 2 3\n";
        assert_eq!(machine(text), Some((160, 980)));
        let thread = "7 (rocksdb:low) S 1 7 7 0 -1 4194304 1 0 0 0 30 12 0 0 20 0 1 0 5 0";
        assert_eq!(background_ticks(thread), Some(42));
        let user = thread.replace("rocksdb:low", "a) b (c");
        assert_eq!(background_ticks(&user), None);
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
