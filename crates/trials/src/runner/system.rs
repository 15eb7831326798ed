//! What Linux tells of processes and memory, by its files under `/proc`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::cgroup;

/// What is needed of `/proc/PID/stat`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stat {
    /// Its process group.
    pub group: i32,
    /// Whether it has ended and only waits to be reaped.
    pub ended: bool,
    /// When it was started, in ticks since the machine was.
    pub started: u64,
}

/// Process ids.
pub(super) fn processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The processes of a group that have not ended.
pub(super) fn members(group: i32) -> Vec<i32> {
    let members = processes().filter(|pid| is_member(*pid, group));
    members.collect()
}

/// Whether a process is of a group and has not ended.
pub(super) fn is_member(pid: i32, group: i32) -> bool {
    stat(pid).is_some_and(|it| it.group == group && !it.ended)
}

/// What is known of a process; `None` once it is gone.
pub(super) fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name, in parentheses, may hold spaces and parentheses itself.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, behind) = text.rsplit_once(')')?;
    let fields: Vec<&str> = behind.split_whitespace().collect();
    // Fields 3, 5 and 22 of proc_pid_stat(5).
    Some(Stat {
        ended: matches!(*fields.first()?, "Z" | "X" | "x"),
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Whether a process was started with this variable in its environment.
pub(super) fn has_variable(pid: i32, name: &str, value: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let wanted = format!("{name}={value}");
    let mut variables = environment.split(|byte| *byte == 0);
    variables.any(|it| it == wanted.as_bytes())
}

/// Whether a process is just taking up its program (execve): it has neither arguments nor
/// an environment then, as a thread of the kernel, which has no program either.
pub(super) fn is_starting(pid: i32) -> bool {
    let is_empty = |name| fs::read(format!("/proc/{pid}/{name}")).is_ok_and(|it| it.is_empty());
    is_empty("environ")
        && is_empty("cmdline")
        && fs::read_link(format!("/proc/{pid}/exe")).is_ok()
        && stat(pid).is_some_and(|it| !it.ended)
}

/// Bytes of memory that a process holds, swapped and shared ones included; 0 once it is
/// gone.
pub(super) fn held_bytes(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    held(&status, "VmRSS:", "VmSwap:").unwrap_or(0)
}

/// The same with shared pages divided among those that share them; `None` where the
/// kernel does not tell.
pub(super) fn proportional_bytes(pid: i32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    held(&rollup, "Pss:", "SwapPss:")
}

/// What is in memory and what was swapped.
fn held(text: &str, resident: &str, swapped: &str) -> Option<u64> {
    let swapped = bytes(text, swapped).unwrap_or(0);
    Some(bytes(text, resident)?.saturating_add(swapped))
}

/// Bytes of memory that trials could still be given: what the machine has, and what
/// control groups leave of their limits. `None` where the kernel does not tell.
pub(super) fn available_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let machine = bytes(&machine, "MemAvailable:");
    machine.into_iter().chain(cgroup::free_bytes()).min()
}

/// Bytes on the disk of the files under a directory. A file with another name elsewhere
/// is not its own.
pub(super) fn directory_bytes(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => directory_bytes(&entry.path()),
            Ok(about) if about.nlink() == 1 => about.blocks().saturating_mul(512),
            _ => 0,
        })
        .fold(0, u64::saturating_add)
}

/// Names the time since the machine was started; empty where the kernel does not
/// tell.
pub(super) fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}

/// The bytes behind a name that is followed by a number and `kB`.
fn bytes(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines();
    let rest = lines.find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = rest.split_whitespace().next()?.parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_survives_strange_names() {
        let rest = "S 1 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 1";
        let wanted = Stat {
            group: 42,
            ended: false,
            started: 98_765,
        };
        for name in ["sh", "a b", "a) Z 7 (b", ""] {
            assert_eq!(
                parse_stat(&format!("17 ({name}) {rest}")),
                Some(wanted),
                "{name}"
            );
        }
        let zombie = format!("17 (sh) {}", rest.replacen('S', "Z", 1));
        assert!(parse_stat(&zombie).is_some_and(|it| it.ended));
        for damaged in ["", "17", "17 (sh)", "17 (sh) S 1"] {
            assert_eq!(parse_stat(damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_directory_holds_what_is_its_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let (own, inner) = (directory.path().join("own"), directory.path().join("inner"));
        fs::create_dir(&inner).expect("new");
        fs::write(&own, vec![7; 10_000]).expect("writable");
        let one = directory_bytes(directory.path());
        fs::write(inner.join("file"), vec![7; 10_000]).expect("writable");
        assert!(directory_bytes(directory.path()) >= one);
        fs::hard_link(&own, inner.join("link")).expect("one file system");
        let linked = directory_bytes(directory.path());
        assert_eq!(
            linked,
            directory_bytes(&inner),
            "what has two names is shared"
        );
        assert_eq!(directory_bytes(&inner.join("missing")), 0);
    }

    #[test]
    fn this_process_is_found() {
        let pid = std::process::id() as i32;
        let this = stat(pid).expect("it runs");
        assert!(!this.ended);
        assert!(members(this.group).contains(&pid));
        assert!(held_bytes(pid) > 100_000);
        assert!(available_bytes().is_some_and(|it| it > 0));
        assert!(!has_variable(pid, "LISSOM_NO_SUCH_VARIABLE", "x"));
        assert!(!is_starting(pid));
        assert_eq!(held_bytes(-1), 0);
        assert_eq!(bytes("Rss: 12 kB\nPss:   7 kB\n", "Pss:"), Some(7 * 1024));
        assert_eq!(bytes("Pss: x kB\n", "Pss:"), None);
        let status = "VmRSS:\t 10 kB\nVmSwap:\t 5 kB\n";
        assert_eq!(held(status, "VmRSS:", "VmSwap:"), Some(15 * 1024));
        assert_eq!(held("VmSwap:\t 5 kB\n", "VmRSS:", "VmSwap:"), None);
    }
}
