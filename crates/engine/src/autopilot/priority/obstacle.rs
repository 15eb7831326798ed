//! Why merges could not give way, or could not come back.

use std::path::Path;
use std::{fs, io, thread};

use lissom_core::schedule::{Priority, PriorityOrder};
use rustix::process::{Resource, getrlimit};

use super::device::{self, Places};
use super::watch::Waited;
use crate::ffi::thread::ThreadId;
use crate::settings::Settings;

/// What a process needs whose threads come back from idle priority.
const FORBIDDEN: &str = "the process may not come back from idle priority: give it CAP_SYS_NICE, or \
                         a limit on nice of 20 (ulimit -e 20, or LimitNICE=+0 in a unit of systemd)";

/// The limit on nice with which a thread may come back to nice 0.
const NICE: u64 = 20;

/// The bit of `CAP_SYS_NICE`.
const CAP_SYS_NICE: u32 = 23;

/// Where merges read and write.
pub(in super::super) struct Place<'a> {
    pub directory: &'a Path,
    /// They bypass the operating system's cache.
    pub direct_io: bool,
}

/// What keeps merges from giving way at the processors, and at the device: whoever goes to idle
/// priority has to be able to come back, or a merge that is needed could be starved for minutes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in super::super) struct Obstacles {
    pub cpu: Option<String>,
    pub io: Option<String>,
    /// The device is known to serve others first.
    pub device_heeds_places: bool,
}

impl Obstacles {
    /// Of workers of such settings.
    pub(in super::super) fn of(settings: &Settings, place: &Place<'_>) -> Obstacles {
        let both = of_both(settings);
        let off = |on: bool, name: &str| (!on).then(|| format!("{name} is off"));
        let places = device::places(place.directory);
        Obstacles {
            cpu: off(settings.idle_cpu_priority, "idle_cpu_priority")
                .or_else(|| both.clone())
                .or_else(at_processors),
            io: off(settings.idle_io_priority, "idle_io_priority")
                .or(both)
                .or_else(|| at_device(place.direct_io, &places)),
            device_heeds_places: places == Places::Heeded,
        }
    }

    /// Whether nothing gives way anywhere.
    pub(super) fn everywhere(&self) -> bool {
        self.cpu.is_some() && self.io.is_some()
    }

    /// Whether nothing keeps merges from giving way, at a device that is known to heed it.
    pub(super) fn nowhere(&self) -> bool {
        self.cpu.is_none() && self.io.is_none() && self.device_heeds_places
    }

    /// What is left of an order, and why.
    pub(super) fn bound(&self, order: PriorityOrder) -> PriorityOrder {
        let (cpu, io) = match (&self.cpu, &self.io) {
            (Some(cpu), Some(io)) if cpu == io => return PriorityOrder::normal(cpu),
            (Some(cpu), Some(io)) => return PriorityOrder::normal(format!("{cpu}, {io}")),
            (cpu, io) => (cpu, io),
        };
        let mut bound = order;
        let mut leave = |priority: &mut Priority, place, why: &Option<String>| {
            if let Some(why) = why
                && std::mem::take(priority) == Priority::Idle
            {
                bound.why = format!("{}; not at the {place}: {why}", bound.why);
            }
        };
        leave(&mut bound.cpu, "processors", cpu);
        leave(&mut bound.io, "device", io);
        bound
    }
}

fn of_both(settings: &Settings) -> Option<String> {
    if settings.max_subcompactions > 1 {
        return Some("threads of subcompactions could not be called back".into());
    }
    let Some(own) = ThreadId::current() else {
        return Some("threads have no idle priority here".into());
    };
    if !own.is_at_normal_priority() {
        return Some("the process has a scheduling policy of its own".into());
    }
    if Waited::of(own).is_none() {
        return Some("the kernel does not tell how long a thread waits for a processor".into());
    }
    None
}

fn at_processors() -> Option<String> {
    may_come_back().and_then(|()| comes_back()).err()
}

fn at_device(direct_io: bool, places: &Places) -> Option<String> {
    if !direct_io {
        // A sync of the log may wait for what a merge has in the file system's journal.
        let why = "what others sync could wait for it: set use_direct_io_for_flush_and_compaction";
        return Some(format!("their I/O is buffered, and {why}"));
    }
    match places {
        Places::Ignored(scheduler) => Some(format!(
            "the I/O scheduler of the device, {scheduler}, serves all alike; mq-deadline (from \
             Linux 5.14) and bfq do not"
        )),
        Places::Heeded | Places::Unknown => None,
    }
}

/// Whether a thread comes back from idle priority: one that is not needed afterwards.
fn comes_back() -> Result<(), String> {
    let check = || {
        let own = ThreadId::current().ok_or(io::ErrorKind::Unsupported)?;
        own.set_cpu_priority(Priority::Idle)?;
        own.set_cpu_priority(Priority::Normal)
    };
    let thread = thread::Builder::new().name("lissom-priority".into());
    let result = thread.spawn(check).and_then(|thread| {
        let panicked = |_| io::Error::other("the thread panicked");
        thread.join().map_err(panicked)?
    });
    result.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => FORBIDDEN.into(),
        _ => format!("whether a thread comes back from idle priority cannot be tried: {error}"),
    })
}

/// Whether the process has the right now; an error says what it needs.
pub(super) fn may_come_back() -> Result<(), String> {
    let limit = getrlimit(Resource::Nice).current;
    if limit.is_none_or(|nice| nice >= NICE) {
        return Ok(());
    }
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    match has_capability(&status) {
        Some(false) => Err(FORBIDDEN.into()),
        _ => Ok(()),
    }
}

/// Whether a thread of this `status` has `CAP_SYS_NICE`; `None` where that is not told.
fn has_capability(status: &str) -> Option<bool> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let mask = u64::from_str_radix(line.trim(), 16).ok()?;
    Some(mask & 1 << CAP_SYS_NICE != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_is_read_from_what_linux_writes() {
        let of = |mask: &str| has_capability(&format!("Name:\tx\nCapEff:\t{mask}\nCapBnd:\t0\n"));
        assert_eq!(of("000001ffffffffff"), Some(true));
        assert_eq!(of("0000000000800000"), Some(true));
        assert_eq!(
            of("00000000a80425fb"),
            Some(false),
            "a container's by default"
        );
        assert_eq!((of("x"), has_capability("Name:\tx\n")), (None, None));
    }

    #[test]
    fn who_may_not_or_does_not_want_to_is_told_why() {
        let of = |idle_cpu_priority, idle_io_priority, max_subcompactions| {
            let settings = Settings {
                idle_cpu_priority,
                idle_io_priority,
                max_subcompactions,
                ..Settings::default()
            };
            let place = Place {
                directory: Path::new("/proc"),
                direct_io: true,
            };
            Obstacles::of(&settings, &place)
        };
        let off = of(false, false, 1);
        assert_eq!(off.cpu.as_deref(), Some("idle_cpu_priority is off"));
        assert_eq!(off.io.as_deref(), Some("idle_io_priority is off"));
        assert!(off.everywhere());
        let subcompactions = of(true, true, 2);
        assert_eq!(subcompactions.cpu, subcompactions.io);
        let why = subcompactions.io.unwrap_or_default();
        assert!(why.contains("subcompactions"), "{why}");
    }

    #[test]
    fn a_device_that_serves_all_alike_is_no_place_to_give_way_at() {
        assert_eq!(at_device(true, &Places::Heeded), None);
        assert_eq!(at_device(true, &Places::Unknown), None);
        let why = at_device(true, &Places::Ignored("none".into())).unwrap_or_default();
        assert!(why.contains("none, serves all alike"), "{why}");
        let why = at_device(false, &Places::Heeded).unwrap_or_default();
        assert!(
            why.contains("use_direct_io_for_flush_and_compaction"),
            "{why}"
        );
    }

    #[test]
    fn an_order_is_kept_as_far_as_it_can_be() {
        let order = PriorityOrder::idle("there is room");
        let bound = |cpu: Option<&str>, io: Option<&str>| {
            let obstacles = Obstacles {
                cpu: cpu.map(str::to_owned),
                io: io.map(str::to_owned),
                ..Obstacles::default()
            };
            obstacles.bound(order.clone())
        };
        assert_eq!(bound(None, None), order);
        assert_eq!(bound(Some("x"), Some("x")), PriorityOrder::normal("x"));
        assert_eq!(bound(Some("x"), Some("y")), PriorityOrder::normal("x, y"));
        let at_device = bound(Some("x"), None);
        assert_eq!(
            (at_device.cpu, at_device.io),
            (Priority::Normal, Priority::Idle)
        );
        assert_eq!(at_device.why, "there is room; not at the processors: x");
        let at_processors = bound(None, Some("y"));
        assert_eq!(at_processors.why, "there is room; not at the device: y");
        assert_eq!(at_processors.cpu, Priority::Idle);
    }
}
