//! What the kernel does with places at a device.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// I/O schedulers that serve all requests alike.
const BLIND: [&str; 2] = ["none", "kyber"];

/// Why nobody could give way at the device of a directory, if the kernel tells.
pub(super) fn obstacle(directory: &Path) -> Option<String> {
    let scheduler = scheduler(directory)?;
    let blind = BLIND.contains(&scheduler.as_str());
    blind.then(|| {
        format!("the device's I/O scheduler, {scheduler}, serves all alike; mq-deadline does not")
    })
}

/// The I/O scheduler of the device of a directory. `None` where that is not known, as of a
/// file system without one, and of a device that is made of others, which have their own.
fn scheduler(directory: &Path) -> Option<String> {
    let device = fs::metadata(directory).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let place = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let has_parts = fs::read_dir(place.join("slaves")).is_ok_and(|mut it| it.next().is_some());
    if has_parts {
        return None;
    }
    // A partition's is that of its disk.
    let read =
        |place: &Path| -> io::Result<String> { fs::read_to_string(place.join("queue/scheduler")) };
    let told = read(&place).or_else(|_| read(&place.join(".."))).ok()?;
    chosen(&told).map(str::to_owned)
}

/// The one in brackets.
fn chosen(told: &str) -> Option<&str> {
    let (_, behind) = told.split_once('[')?;
    behind.split_once(']').map(|(chosen, _)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_scheduler_is_read_from_what_linux_writes() {
        assert_eq!(
            chosen("none [mq-deadline] kyber bfq \n"),
            Some("mq-deadline")
        );
        assert_eq!(chosen("[none] mq-deadline\n"), Some("none"));
        assert_eq!((chosen("none\n"), chosen("")), (None, None));
    }

    #[test]
    fn a_directory_without_a_device_is_no_obstacle() {
        for place in ["/proc", "/no/such/place"] {
            assert_eq!(obstacle(Path::new(place)), None, "{place}");
        }
    }
}
