//! What the kernel makes of places at a device.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Devices that are made of others are looked into so deep.
const DEPTH: usize = 8;

/// The first Linux whose mq-deadline knows places.
const MQ_DEADLINE: (u32, u32) = (5, 14);

/// Whether requests at idle priority are served after all others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Places {
    Heeded,
    /// By this I/O scheduler.
    Ignored(String),
    /// The kernel does not tell, as of a file system that is no single device's.
    Unknown,
}

/// At the device of a directory.
pub(super) fn places(directory: &Path) -> Places {
    let Ok(about) = fs::metadata(directory) else {
        return Places::Unknown;
    };
    let (major, minor) = (
        rustix::fs::major(about.dev()),
        rustix::fs::minor(about.dev()),
    );
    let place = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = version_of(&version).unwrap_or_default();
    let disks = disks(place, DEPTH);
    let places = disks.iter().map(|disk| of_disk(disk, version));
    places.reduce(both).unwrap_or(Places::Unknown)
}

/// The disks that a device is made of: itself, if it is one.
fn disks(place: PathBuf, depth: usize) -> Vec<PathBuf> {
    let parts = fs::read_dir(place.join("slaves")).into_iter().flatten();
    let parts: Vec<PathBuf> = parts.filter_map(|it| Some(it.ok()?.path())).collect();
    if parts.is_empty() || depth == 0 {
        return vec![place];
    }
    let disks = parts.into_iter().flat_map(|part| disks(part, depth - 1));
    disks.collect()
}

fn of_disk(disk: &Path, version: (u32, u32)) -> Places {
    // A partition's queue is that of its disk.
    let queues = [disk.to_owned(), disk.join("..")];
    let read = |queue: &PathBuf| fs::read_to_string(queue.join("queue/scheduler")).ok();
    let told = queues.iter().find_map(read);
    told.as_deref()
        .map_or(Places::Unknown, |told| of_scheduler(told, version))
}

fn of_scheduler(told: &str, version: (u32, u32)) -> Places {
    match chosen(told) {
        Some("bfq") => Places::Heeded,
        Some("mq-deadline") if version >= MQ_DEADLINE => Places::Heeded,
        Some(other) => Places::Ignored(other.to_owned()),
        None => Places::Unknown,
    }
}

/// The one in brackets, or the only one.
fn chosen(told: &str) -> Option<&str> {
    let mut words = told.split_whitespace();
    let bracketed = |word: &&str| word.starts_with('[') && word.ends_with(']');
    let only = told
        .split_whitespace()
        .next()
        .filter(|_| words.clone().count() == 1);
    let found = words.find(bracketed).or(only)?;
    Some(found.trim_matches(['[', ']']))
}

/// Of a device that is made of both.
fn both(one: Places, other: Places) -> Places {
    match (&one, &other) {
        (Places::Heeded, Places::Heeded) => one,
        (Places::Ignored(_), Places::Ignored(_)) => one,
        _ => Places::Unknown,
    }
}

/// The first two numbers.
fn version_of(release: &str) -> Option<(u32, u32)> {
    let (major, rest) = release.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_is_read_from_what_linux_writes() {
        let of = |told| of_scheduler(told, (6, 1));
        let ignored = |name: &str| Places::Ignored(name.into());
        assert_eq!(of("none [mq-deadline] kyber bfq \n"), Places::Heeded);
        assert_eq!(of("[bfq] mq-deadline none\n"), Places::Heeded);
        assert_eq!(of("[none] mq-deadline \n"), ignored("none"));
        assert_eq!(of("none\n"), ignored("none"), "it has no other");
        assert_eq!(of("mq-deadline [kyber] none\n"), ignored("kyber"));
        assert_eq!((of(""), of("a b\n")), (Places::Unknown, Places::Unknown));
        let before = of_scheduler("[mq-deadline] none\n", (5, 13));
        assert_eq!(before, ignored("mq-deadline"));
    }

    #[test]
    fn a_version_is_its_first_two_numbers() {
        let cases = ["6.18.44-fc", "5.14-rc1", "4.19+", "x", ""].map(version_of);
        let known = [Some((6, 18)), Some((5, 14)), Some((4, 19))];
        assert_eq!((&cases[..3], &cases[3..]), (&known[..], &[None, None][..]));
    }

    #[test]
    fn disks_of_one_mind_are_needed() {
        let ignored = || Places::Ignored("none".into());
        assert_eq!(both(Places::Heeded, Places::Heeded), Places::Heeded);
        assert_eq!(both(ignored(), ignored()), ignored());
        assert_eq!(both(Places::Heeded, ignored()), Places::Unknown);
        assert_eq!(both(Places::Unknown, ignored()), Places::Unknown);
    }

    #[test]
    fn a_device_is_looked_into() {
        let place = tempfile::tempdir().expect("a directory");
        let disk = |name: &str, scheduler: &str| {
            let queue = place.path().join(name).join("queue");
            fs::create_dir_all(&queue).expect("a directory");
            fs::write(queue.join("scheduler"), scheduler).expect("a file");
        };
        disk("dm/slaves/sda", "[mq-deadline] none\n");
        disk("dm/slaves/sdb/part", "none\n");
        disk("dm/slaves/sdb", "[none] bfq\n");
        let found = disks(place.path().join("dm"), DEPTH);
        let mut places: Vec<_> = found.iter().map(|it| of_disk(it, (6, 1))).collect();
        places.sort_by_key(|it| *it == Places::Heeded);
        assert_eq!(places, [Places::Ignored("none".into()), Places::Heeded]);
        fs::remove_dir_all(place.path().join("dm/slaves/sdb/part")).expect("it goes");
        let partition = place.path().join("dm/slaves/sda/sda1");
        fs::create_dir_all(&partition).expect("a directory");
        assert_eq!(of_disk(&partition, (6, 1)), Places::Heeded);
    }

    #[test]
    fn a_directory_without_a_device_is_unknown() {
        for place in ["/proc", "/no/such/place"] {
            assert_eq!(places(Path::new(place)), Places::Unknown, "{place}");
        }
    }
}
