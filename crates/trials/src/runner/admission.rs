//! Whether the machine has room for what a search may need.

use std::path::Path;

use super::system;
use crate::error::{Result, TrialsError};

/// A disk with less than this is full.
const LEAST_FREE_BYTES: u64 = 16 << 20;
/// How the system says so: the disk is full, or what the user may have of it is used up.
const FULL: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// What a search may need at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Demand {
    /// Trials that may be alive at once; all but the running ones wait, and keep what
    /// they hold.
    pub most_alive: usize,
    /// Trials that may be started in all.
    pub most_started: usize,
    /// Trials that run at once.
    pub workers: usize,
    /// Bytes of memory of a trial.
    pub memory_bytes: u64,
    /// Bytes of a trial's directory; absent where only the first trial can tell.
    pub disk_bytes: Option<u64>,
    /// Bytes on the disk that all trials share.
    pub shared_bytes: u64,
    /// Whether trials start anew instead of waiting.
    pub restart: bool,
    /// Whether directories stay when trials end.
    pub keep: bool,
}

/// What is free, in bytes; absent where the system does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Room {
    /// Memory, within the limits of control groups.
    pub memory_bytes: Option<u64>,
    /// The disk of the trials' directories.
    pub disk_bytes: Option<u64>,
}

impl Room {
    /// Of this machine, and of the disk on which `directory` lies or will lie.
    pub fn of(directory: &Path) -> Room {
        Room {
            memory_bytes: system::available_bytes(),
            disk_bytes: free_bytes(directory),
        }
    }
}

/// Whether there is room for a search. `None` if there is; a sentence if there is only
/// when trials start anew instead of waiting.
///
/// # Errors
/// There is not even room for the trials that run; what to lower.
pub fn admit(demand: &Demand, room: &Room) -> Result<Option<String>> {
    let alive = demand.most_alive.max(demand.workers).max(1) as u64;
    let running = demand.workers.max(1) as u64;
    let kept = alive.max(demand.most_started as u64);
    let resources = [
        Resource {
            of: "memory",
            each: Some(demand.memory_bytes),
            shared: 0,
            least: running,
            free: room.memory_bytes,
            advice: "give fewer --workers, or a --memory of at most",
        },
        Resource {
            of: "disk",
            each: demand.disk_bytes,
            shared: demand.shared_bytes,
            least: if demand.keep { kept } else { running },
            free: room.disk_bytes,
            advice: "make room, or give another --directory, no --keep, or fewer --entries: a \
                     trial may take",
        },
    ];
    let mut shortages = Vec::new();
    for resource in resources {
        resource.check()?;
        shortages.extend(resource.shortage(alive));
    }
    let crowded = !demand.restart && !shortages.is_empty();
    Ok(crowded.then(|| {
        format!(
            "{alive} trials may be alive at once and wait for each other, which takes {}: \
             instead of waiting they start anew, as with --restart, which takes more time; give a \
             smaller --memory, fewer --entries or a shorter --budget if they should wait",
            shortages.join(" and ")
        )
    }))
}

/// Something that trials take.
struct Resource {
    of: &'static str,
    /// Bytes of one trial.
    each: Option<u64>,
    /// Bytes of all together.
    shared: u64,
    /// Trials that hold it at once at the least.
    least: u64,
    free: Option<u64>,
    /// In front of how much there is for each.
    advice: &'static str,
}

impl Resource {
    /// Whether it suffices for the least.
    fn check(&self) -> Result<()> {
        let (Some(each), Some(free)) = (self.each, self.free) else {
            return Ok(());
        };
        let needed = self.needed(each, self.least);
        if needed <= free {
            return Ok(());
        }
        let trials = match self.least {
            1 => "a trial".to_owned(),
            more => format!("{more} trials at once"),
        };
        Err(TrialsError::new(format!(
            "{trials} may take {} of {}, where {} are free: {} {}",
            amount(needed),
            self.of,
            amount(free),
            self.advice,
            mebibytes(free.saturating_sub(self.shared) / self.least)
        )))
    }

    fn needed(&self, each: u64, trials: u64) -> u64 {
        each.saturating_mul(trials).saturating_add(self.shared)
    }

    /// What so many trials lack.
    fn shortage(&self, alive: u64) -> Option<String> {
        let needed = self.needed(self.each?, alive);
        let free = self.free.filter(|free| needed > *free)?;
        let (needed, free) = (amount(needed), amount(free));
        Some(format!("{needed} of {}, where {free} are free", self.of))
    }
}

/// Whether the disk has room for the other trials that may be alive, if each takes as
/// much as the first one; otherwise a sentence.
pub(super) fn crowded(directory: &Path, first: u64, most_alive: usize) -> Option<String> {
    let others = (most_alive as u64).saturating_sub(1);
    lacks(first, others, free_bytes(directory)?)
}

fn lacks(first: u64, others: u64, free: u64) -> Option<String> {
    let needed = first.saturating_mul(others);
    (needed > free).then(|| {
        format!(
            "the first trial took {} of disk, and {others} more may be alive at once, where {} \
             are free: instead of waiting, trials started anew, as with --restart",
            amount(first),
            amount(free)
        )
    })
}

/// The directory's disk is full, by what a trial said or by what is free.
///
/// # Errors
/// It is; what to do.
pub(super) fn check_disk(directory: &Path, said: &str) -> Result<()> {
    let free = free_bytes(directory).unwrap_or(u64::MAX);
    if free >= LEAST_FREE_BYTES && !tells_of_full_disk(said) {
        return Ok(());
    }
    Err(TrialsError::new(format!(
        "the disk that holds the trials in {} is full, or a quota on it is used up, which no \
         configuration is to blame for: make room, or give another --directory",
        directory.display()
    )))
}

/// Whether a trial says that its disk is full.
pub(crate) fn tells_of_full_disk(said: &str) -> bool {
    FULL.iter().any(|words| said.contains(words))
}

/// What is free on the disk of a directory that may still be missing.
fn free_bytes(directory: &Path) -> Option<u64> {
    let mut existing = directory.ancestors().filter(|it| it.exists());
    // A relative path ends in nothing, which is where the program runs.
    let place = existing.next().unwrap_or(Path::new("."));
    let disk = rustix::fs::statvfs(place).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn mebibytes(bytes: u64) -> String {
    format!("{}MiB", bytes >> 20)
}

/// Bytes for a sentence.
fn amount(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib >= 1024.0 {
        format!("{:.1} GiB", mib / 1024.0)
    } else {
        format!("{mib:.0} MiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn demand(most_alive: usize, workers: usize) -> Demand {
        Demand {
            most_alive,
            most_started: most_alive,
            workers,
            memory_bytes: GIB,
            disk_bytes: None,
            shared_bytes: 0,
            restart: false,
            keep: false,
        }
    }

    fn room(memory: u64, disk: u64) -> Room {
        Room {
            memory_bytes: Some(memory),
            disk_bytes: Some(disk),
        }
    }

    #[test]
    fn what_waits_needs_memory_too() {
        let free = room(8 * GIB, 0);
        assert_eq!(admit(&demand(8, 1), &free), Ok(None), "exactly enough");
        let note = admit(&demand(32, 1), &free).expect("anew").expect("a note");
        assert!(note.contains("32 trials may be alive at once"), "{note}");
        assert!(
            note.contains("takes 32.0 GiB of memory, where 8.0 GiB are free"),
            "{note}"
        );
        let anew = Demand {
            restart: true,
            ..demand(32, 8)
        };
        assert_eq!(admit(&anew, &free), Ok(None), "only what runs counts");
        let error = admit(&demand(32, 9), &free).expect_err("too much");
        let error = error.to_string();
        assert!(
            error.contains("9 trials at once may take 9.0 GiB"),
            "{error}"
        );
        assert!(error.contains("a --memory of at most 910MiB"), "{error}");
        assert_eq!(
            admit(&demand(0, 0), &room(GIB, 0)),
            Ok(None),
            "one at least"
        );
        let unknown = Room {
            memory_bytes: None,
            disk_bytes: None,
        };
        assert_eq!(admit(&demand(1_000, 1_000), &unknown), Ok(None));
    }

    #[test]
    fn what_waits_needs_room_on_the_disk_too() {
        let with = |most_alive, keep| Demand {
            disk_bytes: Some(4 * GIB),
            keep,
            ..demand(most_alive, 1)
        };
        let free = room(64 * GIB, 40 * GIB);
        assert_eq!(admit(&with(10, false), &free), Ok(None));
        let note = admit(&with(32, false), &free)
            .expect("anew")
            .expect("a note");
        assert!(
            note.contains("takes 128.0 GiB of disk, where 40.0 GiB are free"),
            "{note}"
        );
        let shared = Demand {
            shared_bytes: GIB,
            ..with(10, false)
        };
        assert!(admit(&shared, &free).is_ok_and(|note| note.is_some()));
        let error = admit(&with(32, true), &free).expect_err("all are kept");
        assert!(error.to_string().contains("no --keep"), "{error}");
        let more = |keep| Demand {
            most_started: 32,
            ..with(10, keep)
        };
        assert_eq!(admit(&more(false), &free), Ok(None));
        let error = admit(&more(true), &free).expect_err("also those that ended");
        let error = error.to_string();
        assert!(error.contains("32 trials"), "{error}");
        assert!(error.contains("no --keep"), "{error}");
        let error = admit(&with(1, false), &room(64 * GIB, GIB)).expect_err("too little");
        assert!(error.to_string().contains("another --directory"), "{error}");
    }

    #[test]
    fn the_first_trial_tells_what_the_others_take() {
        assert_eq!(lacks(GIB, 7, 7 * GIB), None);
        let remark = lacks(GIB, 8, 7 * GIB).expect("too little");
        assert!(remark.contains("8 more may be alive at once"), "{remark}");
        let directory = tempfile::tempdir().expect("a directory");
        let missing = directory.path().join("not/there/yet");
        assert_eq!(crowded(&missing, 1, 2), None, "a byte is free");
        assert!(crowded(&missing, u64::MAX, 2).is_some());
        assert!(free_bytes(Path::new("not-there/yet")).is_some());
    }

    #[test]
    fn a_full_disk_is_no_configurations_fault() {
        let directory = tempfile::tempdir().expect("a directory");
        check_disk(directory.path(), "Corruption: bad block").expect("there is room");
        for said in [
            "IO error: No space left on device: while appending to 000012.sst",
            "RocksDB: IO error: While appending to file: 000007.sst: Disk quota exceeded",
        ] {
            let error = check_disk(directory.path(), said).expect_err("full");
            assert!(error.to_string().contains("make room"), "{error}");
        }
    }
}
