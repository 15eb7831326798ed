//! What operations and compactions take, and how they share the machine.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The longest that one thing may take of which an operation or a compaction is made, seconds. All
/// of them together, crowded as they may be, are then a time that a clock can tell.
const MOST_SECONDS: f64 = 60.0;

/// The same of one byte: a kilobyte a second.
const MOST_SECONDS_OF_A_BYTE: f64 = 1e-3;

/// The most by which anything may take longer.
const MOST_TIMES: f64 = 1e3;

/// The least of what times are divided by.
const LEAST_SPEED: f64 = 1e-3;

/// Times in seconds, on an otherwise idle machine.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Cores that users and compactions share.
    pub cores: f64,
    /// Reads or writes that the device serves at once without slowing down.
    pub device_queue: f64,
    /// Reading one block at a random place.
    pub block_read: f64,
    /// Reading one byte in sequence, as merges do.
    pub byte_read: f64,
    /// Writing one byte in sequence.
    pub byte_write: f64,
    /// CPU: a put, its write-ahead log included.
    pub put_cpu: f64,
    /// CPU: a get, without what depends on the tree.
    pub get_cpu: f64,
    /// CPU: asking one run for a key, by its fences and its filter.
    pub probe_cpu: f64,
    /// CPU: searching one block that is in memory.
    pub block_cpu: f64,
    /// CPU: bringing one block in.
    pub miss_cpu: f64,
    /// CPU: a scan, without what depends on the tree.
    pub scan_cpu: f64,
    /// CPU: placing a scan in one run.
    pub seek_cpu: f64,
    /// CPU: one entry of any version that a scan passes.
    pub entry_cpu: f64,
    /// CPU: merging one byte of input.
    pub merge_byte_cpu: f64,
    /// CPU: merging one entry of input.
    pub merge_entry_cpu: f64,
    /// CPU: flushing one byte.
    pub flush_byte_cpu: f64,
    /// Beginning and committing one compaction.
    pub compaction: f64,
    /// Writing speed to which RocksDB slows writers down at first, bytes a second.
    pub delayed_write_rate: f64,
    /// By how much a user's block read takes longer for each flush or compaction, while that
    /// one is at the device, as a share of [`Machine::block_read`]: a read waits for what
    /// others transfer, a MiB at a time, long before the queue is full. No unit; 0 by default,
    /// where reads wait for nobody. What a machine has is for `lissom sim --calibrate` to find:
    /// in bench/results/hull-five-sessions.json a get of one block takes 0.12 ms while nothing
    /// is merged, and 0.52 ms with 1.25 busy workers.
    #[serde(default)]
    pub read_interference: f64,
    /// CPU: by how much a put takes longer right after its thread waited for a block, whose
    /// caches others have used meanwhile. Seconds; 0 by default, where puts cost the same
    /// everywhere. In bench/results/hull-five-sessions.json a put takes 22 us where nine of
    /// ten operations read a block and 7.5 us where one does.
    #[serde(default)]
    pub wake_cpu: f64,
}

impl Machine {
    /// Whether there can be such a machine, as a file may not tell.
    ///
    /// # Errors
    /// A sentence that names the constant which cannot be.
    pub fn check(&self) -> Result<(), String> {
        let speeds = self.speeds();
        let (seconds, of_bytes) = (self.seconds(), self.seconds_of_bytes());
        let times = [("read_interference", self.read_interference)];
        let transfers = [
            ("byte_read", self.byte_read),
            ("byte_write", self.byte_write),
        ];
        let above_zero = [&speeds[..], &transfers[..]].concat();
        if let Some((name, value)) = first_outside(&above_zero, f64::MIN_POSITIVE..=f64::MAX) {
            return Err(format!("its {name} is {value}, and has to be above 0"));
        }
        if let Some((name, value)) = first_outside(&speeds, LEAST_SPEED..=f64::MAX) {
            return Err(format!(
                "its {name} is {value}, and has to be {LEAST_SPEED} at least"
            ));
        }
        check_times(&seconds, MOST_SECONDS)?;
        check_times(&of_bytes, MOST_SECONDS_OF_A_BYTE)?;
        check_times(&times, MOST_TIMES)
    }

    /// What times are divided by.
    fn speeds(&self) -> [(&'static str, f64); 3] {
        [
            ("cores", self.cores),
            ("device_queue", self.device_queue),
            ("delayed_write_rate", self.delayed_write_rate),
        ]
    }

    /// What one thing takes.
    fn seconds(&self) -> [(&'static str, f64); 12] {
        [
            ("block_read", self.block_read),
            ("put_cpu", self.put_cpu),
            ("get_cpu", self.get_cpu),
            ("probe_cpu", self.probe_cpu),
            ("block_cpu", self.block_cpu),
            ("miss_cpu", self.miss_cpu),
            ("scan_cpu", self.scan_cpu),
            ("seek_cpu", self.seek_cpu),
            ("entry_cpu", self.entry_cpu),
            ("merge_entry_cpu", self.merge_entry_cpu),
            ("compaction", self.compaction),
            ("wake_cpu", self.wake_cpu),
        ]
    }

    /// What one byte takes.
    fn seconds_of_bytes(&self) -> [(&'static str, f64); 4] {
        [
            ("byte_read", self.byte_read),
            ("byte_write", self.byte_write),
            ("merge_byte_cpu", self.merge_byte_cpu),
            ("flush_byte_cpu", self.flush_byte_cpu),
        ]
    }

    /// Bytes a second that the device reads and writes together, each byte once in each
    /// direction, with its queue full: device_queue * 2 / (byte_read + byte_write).
    pub fn device_bytes_per_second(&self) -> f64 {
        self.device_queue * 2.0 / (self.byte_read + self.byte_write)
    }

    /// How many times as long as alone a block read takes beside these flushes and
    /// compactions, each with the share of time in which it does anything.
    pub fn read_slowdown(&self, beside: impl Iterator<Item = (Demand, f64)>) -> f64 {
        let at_device: f64 = beside
            .map(|(demand, share)| share * demand.device_share())
            .sum();
        1.0 + self.read_interference * at_device
    }

    /// A put, where such a share of the operations waits for a block: so likely has the one
    /// before it.
    pub fn put(&self, waiting: f64) -> Demand {
        Demand {
            cpu: self.put_cpu + waiting * self.wake_cpu,
            device: 0.0,
        }
    }

    /// Share of operations of this kind that wait for a block; those that need several do
    /// so once as well.
    pub fn waiting(&self, operation: Demand) -> f64 {
        if self.block_read > 0.0 {
            (operation.device / self.block_read).min(1.0)
        } else {
            0.0
        }
    }
}

/// Whether these lie from 0 to the most.
fn check_times(constants: &[(&str, f64)], most: f64) -> Result<(), String> {
    if let Some((name, value)) = first_outside(constants, 0.0..=f64::MAX) {
        return Err(format!("its {name} is {value}, and cannot be below 0"));
    }
    if let Some((name, value)) = first_outside(constants, 0.0..=most) {
        return Err(format!("its {name} is {value}, and cannot be above {most}"));
    }
    Ok(())
}

/// The first that lies outside, as what is no number does.
fn first_outside<'a>(
    constants: &[(&'a str, f64)],
    bounds: RangeInclusive<f64>,
) -> Option<(&'a str, f64)> {
    let mut constants = constants.iter().copied();
    constants.find(|(_, value)| !bounds.contains(value))
}

impl Default for Machine {
    /// Two cores of a virtual machine with an NVMe disk behind it, 2026.
    fn default() -> Machine {
        Machine {
            cores: 2.0,
            device_queue: 4.0,
            block_read: 110e-6,
            byte_read: 1.0 / 900e6,
            byte_write: 1.0 / 700e6,
            put_cpu: 9e-6,
            get_cpu: 2.5e-6,
            probe_cpu: 0.35e-6,
            block_cpu: 1.2e-6,
            miss_cpu: 8e-6,
            scan_cpu: 5e-6,
            seek_cpu: 1.5e-6,
            entry_cpu: 0.5e-6,
            merge_byte_cpu: 2.2e-9,
            merge_entry_cpu: 0.8e-6,
            flush_byte_cpu: 3e-9,
            compaction: 3e-3,
            delayed_write_rate: 16e6,
            read_interference: 0.0,
            wake_cpu: 0.0,
        }
    }
}

/// Something that takes CPU and device time by turns, in one thread.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Demand {
    /// Seconds of CPU.
    pub cpu: f64,
    /// Seconds of the device.
    pub device: f64,
}

impl Demand {
    /// Seconds of its thread when nobody else runs.
    pub fn alone(&self) -> f64 {
        self.cpu + self.device
    }

    /// Share of its time that it is at the device when nobody else runs.
    fn device_share(&self) -> f64 {
        let alone = self.alone();
        if alone > 0.0 {
            self.device / alone
        } else {
            0.0
        }
    }

    /// The same with so many times as long at the device.
    pub fn with_device_times(self, times: f64) -> Demand {
        Demand {
            device: self.device * times,
            ..self
        }
    }
}

/// By how much CPU and device slow everyone down who runs now.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Crowding {
    cpu: f64,
    device: f64,
}

impl Crowding {
    /// Of these threads, each by what it does of each kind in turn, and the share
    /// of time in which it does anything.
    pub fn of(machine: &Machine, running: impl Iterator<Item = (Demand, f64)>) -> Crowding {
        let (mut cpu, mut device) = (0.0, 0.0);
        for (demand, share) in running {
            let alone = demand.alone();
            if alone > 0.0 {
                cpu += share * demand.cpu / alone;
                device += share * demand.device / alone;
            }
        }
        Crowding {
            cpu: (cpu / machine.cores).max(1.0),
            device: (device / machine.device_queue).max(1.0),
        }
    }

    /// Seconds that a demand takes now.
    pub fn seconds(&self, demand: Demand) -> f64 {
        demand.cpu * self.cpu + demand.device * self.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(change: &dyn Fn(&mut Machine), words: &str) {
        let mut machine = Machine::default();
        change(&mut machine);
        let sentence = machine.check().expect_err(words);
        assert!(sentence.contains(words), "{sentence}");
    }

    #[test]
    fn a_machine_that_cannot_be_is_refused() {
        assert_eq!(Machine::default().check(), Ok(()));
        refused(&|it| it.cores = 0.0, "cores is 0, and has to be above 0");
        refused(&|it| it.byte_write = -1.0, "byte_write is -1");
        refused(
            &|it| it.put_cpu = -1e-6,
            "put_cpu is -0.000001, and cannot be below 0",
        );
        refused(&|it| it.device_queue = f64::NAN, "device_queue is NaN");
        let mut free = Machine::default();
        (free.block_read, free.wake_cpu) = (0.0, 0.0);
        assert_eq!(free.check(), Ok(()));
    }

    /// Seconds of an operation, of a byte, times as long, and what times are divided by.
    #[test]
    fn a_machine_whose_times_no_clock_can_tell_is_refused() {
        refused(
            &|it| it.put_cpu = 1e16,
            "put_cpu is 10000000000000000, and cannot be above 60",
        );
        refused(&|it| it.compaction = 61.0, "compaction is 61");
        refused(
            &|it| it.byte_write = 1.0,
            "byte_write is 1, and cannot be above 0.001",
        );
        refused(
            &|it| it.read_interference = 1e6,
            "read_interference is 1000000, and cannot be above 1000",
        );
        refused(&|it| it.cores = 1e-300, "and has to be 0.001 at least");
        refused(&|it| it.delayed_write_rate = 1e-300, "delayed_write_rate");
        let mut slow = Machine::default();
        (slow.put_cpu, slow.byte_read, slow.cores) = (60.0, 1e-3, 1e-3);
        assert_eq!(slow.check(), Ok(()));
    }

    #[test]
    fn a_queue_multiplies_what_one_stream_gets_of_the_device() {
        let machine = Machine {
            device_queue: 4.0,
            byte_read: 1.0 / 300e6,
            byte_write: 1.0 / 100e6,
            ..Machine::default()
        };
        assert!((machine.device_bytes_per_second() - 600e6).abs() < 1.0);
    }

    #[test]
    fn a_block_read_waits_for_who_is_at_the_device_and_for_nobody_by_default() {
        let transfer = Demand {
            cpu: 0.0,
            device: 2.0,
        };
        let half = Demand {
            cpu: 1.0,
            device: 1.0,
        };
        let idle = Demand::default();
        // One all the time, one in half of it, one in half of the half that it has.
        let beside = [(transfer, 1.0), (half, 1.0), (half, 0.5), (idle, 1.0)];
        let machine = Machine {
            read_interference: 4.0,
            ..Machine::default()
        };
        assert_eq!(machine.read_slowdown(beside.into_iter()), 8.0);
        assert_eq!(machine.read_slowdown(std::iter::empty()), 1.0);
        let default = Machine::default();
        assert_eq!(default.read_slowdown(beside.into_iter()), 1.0);
        let read = half.with_device_times(8.0);
        assert_eq!((read.cpu, read.device), (1.0, 8.0));
    }

    #[test]
    fn a_put_takes_longer_after_who_waited_for_a_block() {
        let machine = Machine {
            put_cpu: 6e-6,
            wake_cpu: 20e-6,
            block_read: 100e-6,
            ..Machine::default()
        };
        let reading = |blocks: f64| Demand {
            cpu: 1e-6,
            device: blocks * 100e-6,
        };
        let waiting = [0.0, 0.5, 3.0].map(|blocks| machine.waiting(reading(blocks)));
        assert_eq!(waiting, [0.0, 0.5, 1.0]);
        let put = |waiting: f64| machine.put(waiting).cpu * 1e6;
        assert!((put(0.0) - 6.0).abs() < 1e-9 && (put(0.5) - 16.0).abs() < 1e-9);
        assert_eq!(Machine::default().put(1.0), Machine::default().put(0.0));
    }

    #[test]
    fn three_threads_on_two_cores_take_half_as_long_again() {
        let machine = Machine::default();
        let busy = Demand {
            cpu: 1.0,
            device: 0.0,
        };
        let alone = Crowding::of(&machine, [(busy, 1.0); 2].into_iter());
        assert_eq!(alone.seconds(busy), 1.0);
        let crowded = Crowding::of(&machine, [(busy, 1.0); 3].into_iter());
        assert_eq!(crowded.seconds(busy), 1.5);
    }
}
