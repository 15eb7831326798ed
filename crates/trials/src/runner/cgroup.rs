//! What the control groups of this process leave of their memory limits (cgroups(7)).

use std::fs;
use std::path::Path;

/// Files of a hierarchy of groups.
#[derive(Clone, Copy)]
struct Hierarchy {
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The line of `memory.stat` with what the kernel gives up first.
    idle: &'static str,
}

const UNIFIED: Hierarchy = Hierarchy {
    root: "/sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    idle: "inactive_file",
};

/// As version 1 names them.
const LEGACY: Hierarchy = Hierarchy {
    root: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    idle: "total_inactive_file",
};

/// How a file's text is had; `None` where there is none.
type Read<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// Bytes that this process and its children could still be given; `None` where no
/// group has a limit.
pub(super) fn free_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    free(&groups, &|path| fs::read_to_string(path).ok())
}

/// The least that any group leaves, from those of the process up to the root.
fn free(groups: &str, read: Read<'_>) -> Option<u64> {
    let groups = groups.lines().filter_map(group);
    groups
        .filter_map(|(hierarchy, path)| least(hierarchy, path, read))
        .min()
}

/// The hierarchy and the path of a line of `/proc/self/cgroup`, if it is of memory.
fn group(line: &str) -> Option<(Hierarchy, &str)> {
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    if controllers.is_empty() {
        return Some((UNIFIED, path));
    }
    let of_memory = controllers.split(',').any(|it| it == "memory");
    of_memory.then_some((LEGACY, path))
}

fn least(hierarchy: Hierarchy, path: &str, read: Read<'_>) -> Option<u64> {
    let root = Path::new(hierarchy.root);
    let directory = root.join(path.trim_start_matches('/'));
    let groups = directory.ancestors().take_while(|it| it.starts_with(root));
    groups.filter_map(|it| left(hierarchy, it, read)).min()
}

/// What one group leaves; `None` without a limit.
fn left(hierarchy: Hierarchy, directory: &Path, read: Read<'_>) -> Option<u64> {
    let number = |name: &str| read(&directory.join(name))?.trim().parse::<u64>().ok();
    // No limit is the word max, which is no number.
    let (limit, used) = (number(hierarchy.limit)?, number(hierarchy.used)?);
    let stat = read(&directory.join("memory.stat")).unwrap_or_default();
    let mut lines = stat.lines();
    let idle = lines.find_map(|it| it.strip_prefix(hierarchy.idle)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(idle.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_of(groups: &str, files: &[(&str, &str)]) -> Option<u64> {
        free(groups, &|path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn the_tightest_group_counts() {
        let files = [
            ("/sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("/sys/fs/cgroup/a/b/memory.current", "100\n"),
            ("/sys/fs/cgroup/a/memory.max", "1000\n"),
            ("/sys/fs/cgroup/a/memory.current", "700\n"),
            (
                "/sys/fs/cgroup/a/memory.stat",
                "file 300\ninactive_file 200\n",
            ),
            ("/sys/fs/cgroup/memory.max", "5000\n"),
            ("/sys/fs/cgroup/memory.current", "900\n"),
        ];
        assert_eq!(free_of("0::/a/b\n", &files), Some(500));
        assert_eq!(free_of("0::/\n", &files), Some(4_100));
        assert_eq!(free_of("0::/elsewhere\n", &files), Some(4_100));
        assert_eq!(free_of("0::/a/b\n", &files[..2]), None, "no limit");
        assert_eq!(free_of("", &files), None);
    }

    #[test]
    fn version_1_has_a_hierarchy_for_memory() {
        let directory = "/sys/fs/cgroup/memory/x";
        let limit = format!("{directory}/memory.limit_in_bytes");
        let used = format!("{directory}/memory.usage_in_bytes");
        let stat = format!("{directory}/memory.stat");
        let files = [
            (limit.as_str(), "1000"),
            (used.as_str(), "1200"),
            (stat.as_str(), "inactive_file 1\ntotal_inactive_file 500\n"),
        ];
        let groups = "5:cpu,cpuacct:/\n4:memory:/x\n0::/\n";
        assert_eq!(free_of(groups, &files), Some(300));
        assert_eq!(free_of("4:memory:/\n", &files), None);
    }
}
