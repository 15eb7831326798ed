//! The device under a directory, as Linux names it.

use std::fs;
use std::path::{Path, PathBuf};

/// File system and device under a path, which need not exist yet, as `ext4 on /dev/sda1`;
/// `None` where Linux does not tell.
pub fn under(path: &Path) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = std::path::absolute(path).ok()?;
    let mut ancestors = path.ancestors();
    let there = ancestors.find_map(|it| it.canonicalize().ok())?;
    device(&mounts, &there)
}

/// The same of a full path, by the text of proc_pid_mountinfo(5).
fn device(mounts: &str, path: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(mount);
    let above = mounts.filter(|it| path.starts_with(&it.point));
    // Of several at one point the last hides the others.
    let nearest = above.max_by_key(|it| it.point.components().count())?;
    Some(format!("{} on {}", nearest.kind, nearest.source))
}

/// A mounted file system.
struct Mount<'a> {
    point: PathBuf,
    kind: &'a str,
    source: &'a str,
}

fn mount(line: &str) -> Option<Mount<'_>> {
    let (before, behind) = line.split_once(" - ")?;
    let mut behind = behind.split(' ');
    Some(Mount {
        point: PathBuf::from(unescaped(before.split(' ').nth(4)?)),
        kind: behind.next()?,
        source: behind.next()?,
    })
}

/// Blanks and backslashes stand there in octal.
fn unescaped(text: &str) -> String {
    let blanks = text.replace("\\040", " ").replace("\\011", "\t");
    blanks.replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 259:2 / /data rw - xfs /dev/nvme0n1p2 rw
31 30 0:40 / /data/my\\040disk rw shared:5 master:2 - btrfs /dev/sdb rw
32 22 0:41 / /data/my\\040disk rw - tmpfs none rw
no mount at all
";

    #[test]
    fn the_nearest_mount_is_the_device() {
        for (path, wanted) in [
            ("/", "ext4 on /dev/sda1"),
            ("/database", "ext4 on /dev/sda1"),
            ("/data", "xfs on /dev/nvme0n1p2"),
            ("/data/a/b", "xfs on /dev/nvme0n1p2"),
            ("/data/my disk/x", "tmpfs on none"),
        ] {
            let found = device(MOUNTS, Path::new(path));
            assert_eq!(found.as_deref(), Some(wanted), "{path}");
        }
        assert_eq!(device("", Path::new("/")), None);
    }

    #[test]
    fn a_directory_to_be_lies_where_its_parent_does() {
        let parent = tempfile::tempdir().expect("a directory");
        let inside = under(&parent.path().join("search.trials/x"));
        assert_eq!(inside, under(parent.path()));
        assert!(inside.is_some());
    }
}
